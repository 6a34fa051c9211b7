// One process on the page: its sections, as fast as each can be read, and the end of the connection.

const TEXT_EVERY_MS = 120;
const NEWS_EVERY_MS = 5000;

/** Sections in their order: whether a snapshot has one, and what makes it. */
const PARTS = [
  ["radios", (s) => s.radios?.length > 0, () => new Radios()],
  ["slots", (s) => s.slots, () => new Slots()],
  ["links", (s) => s.links?.length > 0, () => new Links()],
  ["components", (s) => s.components?.length > 0, () => new Graph()],
  ["signal", (s) => s.spectra?.length > 0 || s.constellations?.length > 0 || s.outputs?.length > 0, (view) => new Signal((value) => view.feed.send(value))],
  ["nodes", (s) => s.nodes?.length > 0, () => new Nodes()],
  ["variables", (s) => s.variables?.length > 0, (view) => new Variables((value) => view.feed.send(value))],
];

/** One process on the page. */
class View {
  constructor(pid) {
    this.parts = new Map();
    this.textAt = 0;
    this.newsAt = 0;
    this.missesSaid = undefined;
    this.paused = false;
    byId("sections").replaceChildren(...PARTS.map(([name]) => element("div", { "data-part": name })));
    headline("", "Connecting");
    this.connected();
    byId("says").replaceChildren();
    byId("pause").hidden = true;
    byId("what").textContent = `process ${pid}`;
    this.feed = new Feed(pid, {
      hello: (hello) => this.hello(hello),
      snapshot: (snapshot) => this.take(snapshot),
      answer: (answer) => this.parts.get("variables")?.answer(answer),
      problem: ({ what, fix }) => this.refused(what, fix),
      ended: () => this.ended(),
      lost: (pause) => this.lost(pause),
    });
  }

  hello({ kind, title, command, version, pid }) {
    this.connected();
    byId("what").textContent = `takt ${kind} · ${title}`;
    document.title = `${title} · takt live`;
    this.facts = [`process ${pid}`, `takt ${version}`];
    this.command = command;
    this.say();
    this.parts.get("signal")?.again();
  }

  /** What was typed. */
  say() {
    byId("says").replaceChildren(element("code", {}, this.command ?? ""));
  }

  connected() {
    byId("lost").hidden = true;
    byId("sections").classList.remove("stale");
    byId("pause").hidden = false;
  }

  take(snapshot) {
    if (!byId("lost").hidden) this.connected();
    if (this.paused) return;
    const first = !this.latest;
    this.latest = snapshot;
    if (first || !this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => this.draw());
    }
  }

  /** The signal at each frame, words and tables as fast as they can be read. */
  draw() {
    this.waiting = false;
    if (this.isClosed) return;
    const [snapshot, now] = [this.latest, performance.now()];
    const words = now - this.textAt >= TEXT_EVERY_MS;
    if (words) this.textAt = now;
    for (const [name, has, make] of PARTS) {
      if (!words && name !== "signal") continue;
      const place = document.querySelector(`[data-part=${name}]`);
      place.hidden = !has(snapshot);
      if (place.hidden) continue;
      if (!this.parts.has(name)) {
        this.parts.set(name, make(this));
        place.append(this.parts.get(name).node);
      }
      this.parts.get(name).update(snapshot, now, this.culprits(snapshot));
    }
    // A frame may still be due when the last line has come.
    if (words && !this.isOver) this.sum(snapshot, now);
  }

  culprits(snapshot) {
    const counts = new Map();
    for (const { component } of snapshot.slots?.recent_misses ?? []) counts.set(component, (counts.get(component) ?? 0) + 1);
    return counts;
  }

  sum(snapshot, now) {
    headline(...verdict(snapshot));
    const facts = [`running ${lasted(snapshot.t_ns)}`, ...this.facts ?? []];
    if (known(snapshot.speed) && Math.abs(snapshot.speed - 1) > 0.001) facts.splice(1, 0, `${percent(snapshot.speed)} of real time`);
    if (snapshot.left_out > 0) facts.push(`left out: ${count(snapshot.left_out)}`);
    showFacts(facts);
    this.sayIfEmpty(!PARTS.some(([, has]) => has(snapshot)));
    this.tellMisses(snapshot, now);
  }

  sayIfEmpty(isEmpty) {
    if (isEmpty) empty("Nothing to show yet", "This process counts nothing so far. The page shows what comes as soon as it streams.");
    else if (this.wasEmpty) this.say();
    this.wasEmpty = isEmpty;
  }

  /** Screen readers hear of new misses, every few seconds at most. */
  tellMisses({ slots }, now) {
    const misses = slots?.misses;
    if (!known(misses)) return;
    this.missesSaid ??= misses;
    if (misses <= this.missesSaid || now - this.newsAt < NEWS_EVERY_MS) return;
    this.newsAt = now;
    const last = slots.recent_misses?.at(-1);
    byId("news").textContent = `${plural(misses - this.missesSaid, "slot")} missed${last?.component ? `, the last one by ${last.component}, ${time(last.late_ns)} late` : ""}.`;
    this.missesSaid = misses;
  }

  lost(pause) {
    byId("sections").classList.add("stale");
    const again = element("button", { type: "button", id: "again" }, "Try now");
    again.addEventListener("click", () => this.feed.again());
    const words = `The connection to takt serve is lost. The page tries again in ${digits(pause / 1000)} s. If takt serve has ended, start it again.`;
    if (byId("lost").hidden || !byId("again")) byId("lost").replaceChildren(element("span", {}, words), again);
    else write(byId("lost").firstChild, words);
    byId("lost").hidden = false;
  }

  /** After a lost connection, a process that shows itself no more has ended meanwhile. */
  refused(what, fix) {
    if (this.latest) this.ended();
    else this.over("This process can't be shown", `${sentence(what)} ${fix ? sentence(fix) : ""}`);
  }

  ended() {
    this.over("This process has ended", this.latest ? "The figures below are its last ones." : "It has counted nothing.");
  }

  over(title, words) {
    this.isOver = true;
    byId("lost").hidden = true;
    byId("pause").hidden = true;
    byId("sections").classList.add("stale");
    headline("unknown", title);
    byId("says").textContent = words.trim();
  }

  pause(paused) {
    this.paused = paused;
    byId("pause").setAttribute("aria-pressed", paused);
    write(byId("pause"), paused ? "Resume" : "Pause");
  }

  close() {
    this.isClosed = true;
    this.feed.close();
  }
}
