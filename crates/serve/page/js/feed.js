// The connection to a process. After a loss the page tries again by itself, more and more rarely.

const FAST_MS = 16;
const CALM_MS = 500;
const HIDDEN_MS = 1000;
const LONGEST_PAUSE_MS = 15000;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** How often this reader wants to see a snapshot. */
function everyMs() {
  if (document.hidden) return HIDDEN_MS;
  return calm.matches ? CALM_MS : FAST_MS;
}

class Feed {
  /** `on` has functions: hello, snapshot, answer, problem, lost, ended. */
  constructor(pid, on) {
    this.pid = pid;
    this.on = on;
    this.tries = 0;
    this.closed = false;
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    const at = new URL(`api/live?pid=${encodeURIComponent(this.pid)}&every_ms=${everyMs()}`, location.href);
    at.protocol = at.protocol === "https:" ? "wss:" : "ws:";
    at.hash = "";
    const socket = new WebSocket(at);
    // One that was replaced, or that nobody watches any more, may still speak.
    const isMine = () => this.socket === socket && !this.closed;
    socket.onmessage = (message) => isMine() && this.take(message.data);
    socket.onclose = () => isMine() && this.gone();
    this.socket = socket;
  }

  take(text) {
    let line;
    try {
      line = JSON.parse(text);
    } catch {
      return;
    }
    this.tries = 0;
    if (line.hello) this.on.hello(line.hello);
    else if (line.snapshot) this.on.snapshot(line.snapshot);
    else if (line.set) this.on.answer(line.set);
    else if (line.problem) this.over(line.problem);
    else if (line.end) this.over();
  }

  /** The process is over, or can't be read: trying again would change nothing. */
  over(problem) {
    this.closed = true;
    this.socket.close();
    if (problem) this.on.problem(problem);
    else this.on.ended();
  }

  gone() {
    const pause = Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.tries);
    this.tries += 1;
    this.timer = setTimeout(() => this.open(), pause);
    this.on.lost(pause);
  }

  send(value) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(value));
    return true;
  }

  again() {
    this.tries = 0;
    this.socket.close();
    this.open();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
