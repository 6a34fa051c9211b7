// The waveform as a graph: who feeds whom, on which core, how loaded, how late.

const BOX = { width: 142, height: 62, apart: 38, between: 18 };
const TRACK = BOX.width - 58;
const HIGH_LOAD = 0.9;

/** Edges without those that close a cycle: these lead back to a component from which the search came. */
function forward(components) {
  const edges = new Map(components.map((c) => [c.name, []]));
  const state = new Map();
  const visit = ({ name, edges: targets = [] }) => {
    state.set(name, "open");
    for (const to of targets) {
      const next = components.find((c) => c.name === to);
      if (!next || state.get(to) === "open") continue;
      edges.get(name).push(to);
      if (!state.has(to)) visit(next);
    }
    state.set(name, "done");
  };
  components.forEach((component) => state.has(component.name) || visit(component));
  return edges;
}

/** Columns by the longest way from a source. */
function columns(components) {
  const edges = forward(components);
  const column = new Map(components.map((c) => [c.name, 0]));
  for (let moved = true; moved; ) {
    moved = false;
    for (const [from, targets] of edges) {
      for (const to of targets) {
        if (column.get(to) > column.get(from)) continue;
        column.set(to, column.get(from) + 1);
        moved = true;
      }
    }
  }
  return column;
}

/** Left and top of each box. */
function places(components) {
  const column = columns(components);
  const stacks = new Map();
  for (const { name } of components) {
    const at = column.get(name);
    stacks.set(at, [...(stacks.get(at) ?? []), name]);
  }
  const used = [...stacks.keys()].sort((a, b) => a - b);
  const most = Math.max(...[...stacks.values()].map((stack) => stack.length));
  const tall = (n) => n * BOX.height + (n - 1) * BOX.between;
  const place = new Map();
  used.forEach((at, n) => {
    const stack = stacks.get(at);
    const top = (tall(most) - tall(stack.length)) / 2;
    stack.forEach((name, row) => place.set(name, { x: n * (BOX.width + BOX.apart), y: top + row * (BOX.height + BOX.between) }));
  });
  return { place, width: used.length * (BOX.width + BOX.apart) - BOX.apart, height: tall(most) };
}

function curve(from, to) {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = x2 > x1 ? (x2 - x1) / 2 : 60;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}`;
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

class Graph {
  constructor() {
    this.svg = drawn("svg", { role: "group", "aria-label": "Components of the waveform" });
    this.node = section("Waveform", "Each box is a component. The bar is its share of a core; the time is its longest execution.");
    this.node.append(element("div", { class: "graph", tabindex: "0", role: "region", "aria-label": "Waveform" }, this.svg));
  }

  update(snapshot, _, culprits) {
    const all = snapshot.components;
    const shape = JSON.stringify(all.map((c) => [c.name, c.edges]));
    if (shape !== this.shape) this.draw(all);
    this.shape = shape;
    all.forEach((component) => this.show(this.boxes.get(component.name), component, culprits));
  }

  draw(all) {
    const { place, width, height } = places(all);
    this.svg.setAttribute("viewBox", `-1 -1 ${width + 2} ${height + 2}`);
    this.svg.setAttribute("width", width + 2);
    this.svg.setAttribute("height", height + 2);
    const arrow = drawn("marker", { id: "arrow", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 6, markerHeight: 6, orient: "auto" }, drawn("path", { d: "M0 0L6 3L0 6z", fill: "currentColor", opacity: ".6" }));
    const edges = all.flatMap((from) => (from.edges ?? []).filter((to) => place.has(to)).map((to) => drawn("path", { class: "edge", d: curve(place.get(from.name), place.get(to)), "marker-end": "url(#arrow)" })));
    this.boxes = new Map(all.map((component) => [component.name, this.box(component, place.get(component.name))]));
    this.svg.replaceChildren(drawn("defs", {}, arrow), ...edges, ...[...this.boxes.values()].map((box) => box.node));
  }

  box({ name }, { x, y }) {
    const facts = drawn("text", { x: 10, y: 36 });
    const late = drawn("text", { x: BOX.width - 10, y: 36, "text-anchor": "end" });
    const load = drawn("rect", { class: "load", x: 10, y: 46, width: 0, height: 6, rx: 3 });
    const share = drawn("text", { x: BOX.width - 10, y: 53, "text-anchor": "end" });
    const title = drawn("title");
    const node = drawn("g", { transform: `translate(${x} ${y})`, role: "img" }, title, drawn("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 6 }), drawn("text", { class: "name", x: 10, y: 19 }, shortened(name, 18)), facts, late, drawn("rect", { class: "track", x: 10, y: 46, width: TRACK, height: 6, rx: 3 }), load, share);
    return { node, facts, late, load, share, title };
  }

  show(box, { name, core, load_share, worst_ns }, culprits) {
    const share = known(load_share) ? Math.min(1, Math.max(0, load_share)) : 0;
    write(box.facts, known(core) ? `core ${core}` : "any core");
    write(box.share, known(load_share) ? `${Math.round(load_share * 100)} %` : UNKNOWN);
    write(box.late, known(worst_ns) ? time(worst_ns) : "");
    box.load.setAttribute("width", share * TRACK);
    box.load.classList.toggle("high", share >= HIGH_LOAD);
    const missed = culprits.get(name) ?? 0;
    box.node.classList.toggle("missed", missed > 0);
    write(box.title, `${name}: load ${percent(load_share)}, longest ${time(worst_ns)}${missed > 0 ? `, ${plural(missed, "recent miss")}` : ""}`);
  }
}
