// The page: which processes run, and which one is shown.

const LIST_EVERY_MS = 2000;

/** The list, and which process of it the address names. */
class App {
  constructor() {
    this.rows = new Rows(byId("processes"), ({ pid }) => {
      const [title, kind] = [document.createTextNode(""), element("small")];
      const link = element("a", { href: `#pid=${pid}` }, title, kind);
      return { node: element("li", {}, link), link, title, kind };
    });
    byId("pause").addEventListener("click", () => this.view?.pause(!this.view.paused));
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("main").focus();
      byId("main").scrollIntoView();
    });
    addEventListener("hashchange", () => this.choose());
    for (const [target, name] of [[document, "visibilitychange"], [calm, "change"]]) {
      target.addEventListener(name, () => this.view?.feed.send({ every_ms: everyMs() }));
    }
    this.look();
  }

  async look() {
    try {
      const answer = await fetch("api/processes", { cache: "no-store" });
      if (!answer.ok) this.refused(await answer.text());
      else this.list(await answer.json());
    } catch {
      this.unreachable();
    }
    setTimeout(() => this.look(), LIST_EVERY_MS);
  }

  list({ processes, unreadable }) {
    this.processes = processes;
    this.rows.update(processes, ({ pid }) => pid, (row, { pid, kind, title }) => {
      if (row.title.data !== title) row.title.data = title;
      write(row.kind, `${kind} · process ${pid}`);
      if (Number(pid) === this.pid) row.link.setAttribute("aria-current", "page");
      else row.link.removeAttribute("aria-current");
    });
    const hidden = unreadable > 0 ? `${plural(unreadable, "socket")} without a process that answers. takt clean removes what a kill left. ` : "";
    write(byId("processes-note"), hidden + (processes.length === 0 ? "No takt process runs." : ""));
    if (!this.view) this.choose();
  }

  /** The process in the address, else the first. */
  choose() {
    const named = Number(/^#pid=(\d+)$/.exec(location.hash)?.[1]);
    const pid = named || this.processes?.[0]?.pid;
    if (!pid) return this.nothing();
    if (pid === this.pid && this.view) return;
    this.view?.close();
    this.pid = pid;
    byId("pause").setAttribute("aria-pressed", "false");
    write(byId("pause"), "Pause");
    this.view = new View(pid);
    if (this.processes) this.list({ processes: this.processes });
  }

  nothing() {
    byId("what").textContent = "takt live";
    empty("Nothing runs", "No process of takt streams or runs slots on this machine. Start one in a terminal, and it appears here by itself:", "takt emulate n200 &\ntakt rate --addr 127.0.0.1 --rx 25M --duration 60s");
  }

  refused(text) {
    if (!this.view) empty("takt serve refuses this page", text);
  }

  unreachable() {
    if (!this.view) empty("takt serve does not answer", "The page tries again every 2 seconds. Check that takt serve still runs, or start it again:", "takt serve");
  }
}

new App();
