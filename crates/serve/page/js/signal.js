// The section of spectra and constellations.

class Signal {
  constructor() {
    this.node = section("Signal");
    const [left, right] = [element("div"), element("div")];
    this.grid = element("div", { class: "signal" }, left, right);
    this.node.append(this.grid);
    this.spectra = new Rows(left, (tap) => new Spectrum(tap));
    this.constellations = new Rows(right, (tap) => new Constellation(tap));
    this.look = colours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.look = colours()));
  }

  update({ spectra = [], constellations = [] }, atMs) {
    this.grid.classList.toggle("both", spectra.length > 0 && constellations.length > 0);
    const change = (part, tap) => part.update(tap, atMs, this.look);
    const keyOf = (tap) => `${tap.name} ${tap.modulation ?? ""}`;
    this.spectra.update(spectra, keyOf, change);
    this.constellations.update(constellations, keyOf, change);
  }
}
