// The waterfall: a row for each moment, the newest on top.

const WATERFALL_ROWS = 150;
const ROW_EVERY_MS = 66;

const RAMPS = {
  light: [[253, 253, 251], [199, 221, 236], [93, 166, 214], [0, 96, 158], [10, 28, 46]],
  dark: [[21, 24, 27], [12, 52, 84], [0, 114, 178], [93, 180, 234], [255, 240, 190]],
};

/** 256 colours from quiet to loud. */
function ramp(stops) {
  return Array.from({ length: 256 }, (_, n) => {
    const at = (n / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    return stops[low].map((value, c) => value + (stops[low + 1][c] - value) * (at - low));
  });
}

/** A ring of rows: each new one replaces the oldest, and the drawing begins at the newest. */
class Waterfall {
  constructor() {
    this.canvas = element("canvas", { class: "waterfall", "aria-hidden": "true" });
    this.store = document.createElement("canvas");
    this.at = 0;
    this.drawnAt = 0;
  }

  update(bins, atMs, look, low, high, left) {
    if (this.store.width !== bins.length || this.dark !== look.dark) this.begin(bins.length, look.dark);
    this.row = this.row ? this.row.map((db, n) => Math.max(db, bins[n])) : bins.slice();
    if (atMs - this.drawnAt < ROW_EVERY_MS) return;
    this.drawnAt = atMs;
    this.add(this.row, low, high);
    this.row = undefined;
    this.draw(left);
  }

  begin(width, dark) {
    this.store.width = width;
    this.store.height = WATERFALL_ROWS;
    this.ramp = ramp(dark ? RAMPS.dark : RAMPS.light);
    this.dark = dark;
    this.row = undefined;
  }

  add(bins, low, high) {
    const pen = this.store.getContext("2d");
    const line = pen.createImageData(bins.length, 1);
    bins.forEach((db, n) => {
      const shade = Math.round(255 * Math.max(0, Math.min(1, (db - low - 6) / (high - low - 6))));
      line.data.set([...this.ramp[shade], 255], n * 4);
    });
    this.at = (this.at + WATERFALL_ROWS - 1) % WATERFALL_ROWS;
    pen.putImageData(line, 0, this.at);
  }

  draw(left) {
    const { pen, width, height } = fit(this.canvas, WATERFALL_ROWS);
    const newer = WATERFALL_ROWS - this.at;
    pen.drawImage(this.store, 0, this.at, this.store.width, newer, left, 0, width - left, newer);
    if (this.at > 0) pen.drawImage(this.store, 0, 0, this.store.width, this.at, left, newer, width - left, height - newer);
  }
}
