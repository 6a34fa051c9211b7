// The section of spectra and constellations, and the choice of an output to show.

class Signal {
  constructor(send) {
    this.send = send;
    this.node = section("Signal");
    const [left, right] = [element("div"), element("div")];
    this.grid = element("div", { class: "signal" }, left, right);
    this.node.append(this.chooser(), this.grid);
    this.spectra = new Rows(left, (tap) => new Spectrum(tap));
    this.constellations = new Rows(right, (tap) => new Constellation(tap));
    this.look = colours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.look = colours()));
  }

  chooser() {
    this.select = element("select", { id: "tap" }, element("option", { value: "" }, "none"));
    this.select.addEventListener("change", () => this.ask());
    this.choice = element("p", { class: "choice" }, element("label", { for: "tap" }, "Output of a component "), this.select);
    this.options = new Rows(this.select, (name) => ({ node: element("option", { value: name }, name) }));
    return this.choice;
  }

  /** Also after a lost connection: the process has forgotten what this page wants. */
  ask() {
    this.send({ taps: this.select.value ? [this.select.value] : [] });
  }

  again() {
    if (this.select.value) this.ask();
  }

  update({ spectra = [], constellations = [], outputs = [] }, atMs) {
    this.choice.hidden = outputs.length === 0;
    this.options.update(outputs, (name) => name, () => {});
    this.grid.classList.toggle("both", spectra.length > 0 && constellations.length > 0);
    const change = (part, tap) => part.update(tap, atMs, this.look);
    const keyOf = (tap) => `${tap.name} ${tap.modulation ?? ""}`;
    this.spectra.update(spectra, keyOf, change);
    this.constellations.update(constellations, keyOf, change);
  }
}
