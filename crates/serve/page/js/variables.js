// Variables, and fields for those that can be set.

/** What may be set has a field; an answer of the process stands beside it. */
class Variables {
  constructor(send) {
    this.send = send;
    const { node, body } = table("Variables", [["Variable", ""], ["Value", "n"], ["Accepts", "more"], ["Set", ""]]);
    this.node = section("Variables", "A new value takes effect at the next slot edge.");
    this.said = element("p", { class: "soft", role: "status" });
    this.node.append(node, this.said);
    this.rows = new Rows(body, (variable) => this.make(variable));
  }

  make({ name, settable }) {
    const row = tableRow(["", "n", "none more", ""]);
    if (settable) row.cells[3].append(this.form(row, name));
    return row;
  }

  form(row, name) {
    row.input = element("input", { "aria-label": `New value of ${name}`, autocomplete: "off", spellcheck: "false" });
    const form = element("form", {}, row.input, element("button", { type: "submit" }, "Set"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.set(name, row);
    });
    return form;
  }

  set(name, row) {
    const value = typed(row.input.value, row.value);
    if (value === undefined) return write(this.said, `Type a value for ${name}${row.accepts ? `: ${row.accepts}` : ""}.`);
    const sent = this.send({ set: { name, value } });
    write(this.said, sent ? `Asked to set ${name} to ${value}.` : `Not sent: the connection is lost. Set ${name} again once it is back.`);
  }

  answer({ name, refused }) {
    write(this.said, refused ? `${name} was not set: ${refused}` : `${name} is set.`);
  }

  update({ variables }) {
    this.rows.update(variables, (variable) => `${variable.name} ${variable.settable}`, (row, { name, value, unit, range, expected }) => {
      row.value = value;
      row.accepts = expected ?? (range ? `${signed(range[0])} to ${signed(range[1])}` : "");
      [name, value === undefined ? UNKNOWN : `${typeof value === "number" ? signed(value) : value}${unit ? ` ${unit}` : ""}`, row.accepts].forEach((text, n) => write(row.cells[n], text));
    });
  }
}

const signedBack = (text) => text.replace(/^−/, "-");

/** What was typed, as the kind of value that the variable has now. */
function typed(text, now) {
  const word = signedBack(text.trim());
  if (word === "") return undefined;
  if (typeof now === "string") return word;
  if (word === "true" || word === "false") return word === "true";
  const number = Number(word.replace(",", "."));
  return Number.isFinite(number) ? number : word;
}
