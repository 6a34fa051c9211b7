// Elements and texts. Text from outside is always text: nothing here parses HTML.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; a child may be a string. */
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same in SVG. */
function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Writes a text only if it changed, so that a browser lays out nothing in vain. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Rows by key: keeps those that stay, adds new ones, removes the rest. */
class Rows {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.rows = new Map();
  }

  update(items, keyOf, change) {
    const seen = new Set();
    for (const item of items) {
      const key = keyOf(item);
      seen.add(key);
      let row = this.rows.get(key);
      if (!row) {
        row = this.make(item);
        this.rows.set(key, row);
        this.parent.append(row.node);
      }
      change(row, item);
    }
    for (const [key, row] of this.rows) {
      if (!seen.has(key)) {
        row.node.remove();
        this.rows.delete(key);
      }
    }
  }
}

/** A row of a table: the first cell heads it. */
function tableRow(classes) {
  const cells = classes.map((name, n) => element(n === 0 ? "th" : "td", n === 0 ? { scope: "row", class: name } : { class: name }));
  return { node: element("tr", {}, ...cells), cells };
}

function table(caption, columns) {
  const head = columns.map(([title, name]) => element("th", { scope: "col", class: name }, title));
  const body = element("tbody");
  const node = element("table", {}, element("caption", { class: "unseen" }, caption), element("thead", {}, element("tr", {}, ...head)), body);
  return { node: element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, node), body };
}

function section(title, lead) {
  const node = element("section", {}, element("h2", {}, title));
  if (lead) node.append(element("p", { class: "lead" }, lead));
  return node;
}

/** Names and values; a value that is not known is left out. */
class Figures {
  constructor() {
    this.node = element("dl", { class: "figures" });
    this.rows = new Rows(this.node, ([name]) => {
      const value = element("dd");
      return { node: element("div", {}, element("dt", {}, name), value), value };
    });
  }

  update(pairs) {
    this.rows.update(pairs.filter(([, text]) => text !== UNKNOWN && text !== undefined), ([name]) => name, (row, [, text, look]) => {
      write(row.value, text);
      row.value.className = look ?? "";
    });
  }
}
