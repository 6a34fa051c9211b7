// Slots: how late they were released, which were missed, and by whom.

const RECENT_MS = 10000;
const NO_END_NS = 1e15;
const CHART = { width: 520, height: 220, left: 44, right: 8, top: 10, bottom: 40 };

/** A histogram that moves: blue bars show the last seconds, grey ones the whole run. Heights are logarithmic, since the rare are what counts. */
class Lateness {
  constructor() {
    this.past = [];
    this.svg = drawn("svg", { viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img" });
    this.words = element("span");
    this.node = element("figure", {}, element("figcaption", {}, "Lateness of slots ", this.words), this.svg);
  }

  update(bars, atMs) {
    const bins = bars.map(([upper_ns, count]) => ({ upper_ns, count }));
    const recent = this.recent(bins, atMs);
    const edges = bins.map((bin) => bin.upper_ns).join();
    if (edges !== this.edges) this.frame(bins);
    this.edges = edges;
    this.scale(Math.max(10, ...bins.map((bin) => bin.count)));
    bins.forEach((bin, n) => {
      this.place(this.all[n], bin.count);
      this.place(this.now[n], recent[n]);
    });
    this.describe(bins);
  }

  /** Counts of the last seconds. */
  recent(bins, atMs) {
    const now = new Map(bins.map((bin) => [bin.upper_ns, bin.count]));
    if (!this.past.length || atMs - this.past.at(-1).at >= 250) this.past.push({ at: atMs, counts: now });
    while (this.past.length > 1 && atMs - this.past[0].at > RECENT_MS) this.past.shift();
    const before = this.past[0].counts;
    return bins.map((bin) => Math.max(0, bin.count - (before.get(bin.upper_ns) ?? 0)));
  }

  frame(bins) {
    const { width, height, left, right, bottom } = CHART;
    const step = (width - left - right) / Math.max(1, bins.length);
    const gap = step > 6 ? 2 : 0.5;
    this.grid = drawn("g");
    const bar = (name) => bins.map((_, n) => drawn("rect", { class: name, x: left + n * step + gap / 2, width: Math.max(0.5, step - gap) }));
    this.all = bar("bar-all");
    this.now = bar("bar-now");
    const foot = height - bottom;
    const axis = drawn("line", { class: "axis", x1: left, x2: width - right, y1: foot, y2: foot });
    const every = Math.ceil(bins.length / 7);
    const ends = bins.flatMap((bin, n) => (n % every === every - 1 || bins.length <= 7 ? [drawn("text", { x: left + (n + 1) * step, y: foot + 16, "text-anchor": n === bins.length - 1 ? "end" : "middle" }, bin.upper_ns < NO_END_NS ? time(bin.upper_ns) : "more")] : []));
    const title = drawn("text", { x: left, y: height - 4 }, "late by at most; blue: the last 10 s, grey: the whole run");
    this.svg.replaceChildren(this.grid, ...this.all, ...this.now, axis, ...ends, title);
    this.top = undefined;
  }

  scale(most) {
    const top = Math.ceil(Math.log10(most));
    if (top === this.top) return;
    this.top = top;
    const every = Math.ceil(top / 5);
    const lines = [];
    for (let decade = every; decade <= top; decade += every) {
      const y = this.y(10 ** decade);
      lines.push(drawn("line", { class: "grid", x1: CHART.left, x2: CHART.width - CHART.right, y1: y, y2: y }));
      lines.push(drawn("text", { x: CHART.left - 6, y: y + 4, "text-anchor": "end" }, decade < 3 ? 10 ** decade : scaled(10 ** decade, "").replace(" ", "")));
    }
    this.grid.replaceChildren(...lines);
  }

  /** Zero stands on the axis, one a little above it. */
  y(value) {
    const foot = CHART.height - CHART.bottom;
    const share = value <= 0 ? 0 : (Math.log10(value) + 0.4) / (this.top + 0.4);
    return foot - share * (foot - CHART.top);
  }

  place(rect, value) {
    const y = this.y(value);
    rect.setAttribute("y", y);
    rect.setAttribute("height", CHART.height - CHART.bottom - y);
    rect.setAttribute("visibility", value > 0 ? "visible" : "hidden");
  }

  describe(bins) {
    const all = bins.reduce((sum, bin) => sum + bin.count, 0);
    const within = (share) => {
      let sum = 0;
      return bins.find((bin) => (sum += bin.count) >= share * all)?.upper_ns;
    };
    const text = all > 0 ? `half within ${time(within(0.5))}, 99.9 % within ${time(within(0.999))}` : "no slot yet";
    write(this.words, text);
    if (this.svg.getAttribute("aria-label") !== text) this.svg.setAttribute("aria-label", `Histogram of lateness: ${text}`);
  }
}

class Slots {
  constructor() {
    this.node = section("Slots");
    this.lateness = new Lateness();
    this.figures = new Figures();
    const { node, body } = table("Recent misses", [["Slot", ""], ["Culprit", ""], ["Stage", ""], ["Late by", "n"]]);
    this.body = body;
    this.misses = node;
    this.none = element("p", { class: "soft" }, "No slot was missed.");
    this.node.append(element("div", { class: "pair" }, this.lateness.node, element("div", {}, this.figures.node, this.none, node)));
    this.rows = new Rows(body, () => tableRow(["", "", "", "n"]));
  }

  update(snapshot, atMs) {
    const slots = snapshot.slots;
    this.figures.update([
      ["slots", count(slots.count)],
      ["missed", count(slots.misses), slots.misses > 0 ? "bad" : ""],
      ["length of a slot", time(slots.slot_ns)],
    ]);
    if (slots.lateness?.length) this.lateness.update(slots.lateness, atMs);
    this.lateness.node.hidden = !slots.lateness?.length;
    const recent = slots.recent_misses ?? [];
    const latest = recent.slice(-8).reverse();
    this.misses.hidden = latest.length === 0;
    this.none.hidden = latest.length > 0 || slots.misses > 0 || !known(slots.misses);
    this.rows.update(latest, (miss) => `${miss.slot} ${miss.component} ${miss.stage}`, ({ cells }, miss) => {
      [count(miss.slot), miss.component ?? "not known", miss.stage ?? UNKNOWN, time(miss.late_ns)].forEach((text, n) => write(cells[n], text));
    });
    latest.forEach((miss) => this.body.append(this.rows.rows.get(`${miss.slot} ${miss.component} ${miss.stage}`).node));
  }
}
