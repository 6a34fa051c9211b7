// The spectrum, with past peaks that fall slowly. It is also said in words: its highest bin.

const FLOOR_DB = -140;
const CEILING_DB = 0;
const FALL_DB_PER_S = 3;
const SAY_EVERY_MS = 500;

class Spectrum {
  constructor({ name }) {
    this.canvas = element("canvas", { role: "img" });
    this.saidAt = 0;
    this.words = element("span");
    this.waterfall = new Waterfall();
    this.node = element("figure", {}, element("figcaption", {}, `Spectrum of ${name} `, this.words), this.canvas, this.waterfall.canvas, element("p", { class: "read" }, "Blue: now. Orange: past peaks. Below: the last 10 s, the newest on top."));
  }

  update({ freq_hz, span_hz, dbfs: bins }, atMs, look) {
    if (!bins.length) return;
    if (!this.hold || this.hold.length !== bins.length || this.center !== freq_hz) this.hold = bins.slice();
    this.center = freq_hz;
    const fallen = ((atMs - (this.heldAt ?? atMs)) / 1000) * FALL_DB_PER_S;
    this.heldAt = atMs;
    bins.forEach((db, n) => (this.hold[n] = Math.max(db, this.hold[n] - fallen)));
    this.range(bins);
    const frame = { ...fit(this.canvas, 210), left: 40, foot: 186 };
    this.axes(frame, freq_hz, span_hz, look);
    this.line(frame, this.hold, look.hold, 1);
    this.line(frame, bins, look.line, 1.4);
    this.waterfall.update(bins, atMs, look, this.low, this.high, frame.left);
    if (atMs - this.saidAt < SAY_EVERY_MS) return;
    this.saidAt = atMs;
    this.say(this.describe(bins, freq_hz, span_hz));
  }

  /** The scale follows the signal in steps of 10 dB, and narrows slowly. */
  range(bins) {
    const sorted = Float64Array.from(bins).sort();
    const low = Math.max(FLOOR_DB, Math.floor((sorted[Math.floor(sorted.length * 0.05)] - 12) / 10) * 10);
    const high = Math.min(CEILING_DB, Math.ceil((sorted.at(-1) + 6) / 10) * 10);
    this.low = this.low === undefined ? low : low < this.low ? low : Math.abs(low - this.low) > 10 ? this.low + 10 : this.low;
    this.high = Math.max(high, this.high ?? high, this.low + 40);
  }

  axes({ pen, width, left, foot }, center, span, look) {
    pen.font = "12px system-ui, sans-serif";
    pen.strokeStyle = look.rule;
    pen.fillStyle = look.soft;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (let db = this.high; db >= this.low; db -= 20) {
      const y = Math.round(this.y(db, foot)) + 0.5;
      pen.beginPath();
      pen.moveTo(left, y);
      pen.lineTo(width, y);
      pen.stroke();
      pen.fillText(signed(db), left - 6, y + 4);
    }
    pen.textAlign = "left";
    pen.fillText("dBFS", left + 4, 14);
    const marks = width < 480 ? 2 : 4;
    for (let n = 0; n <= marks; n += 1) {
      pen.textAlign = n === 0 ? "left" : n === marks ? "right" : "center";
      pen.fillText(this.at(span * (n / marks - 0.5), center, span), left + ((width - left) * n) / marks, foot + 18);
    }
  }

  y(db, foot) {
    const share = (Math.max(this.low, Math.min(this.high, db)) - this.low) / (this.high - this.low);
    return foot - share * (foot - 8);
  }

  line({ pen, width, left, foot }, bins, colour, thick) {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.lineJoin = "round";
    pen.globalAlpha = thick > 1 ? 1 : 0.5;
    pen.beginPath();
    bins.forEach((db, n) => pen.lineTo(left + ((width - left) * (n + 0.5)) / bins.length, this.y(db, foot)));
    pen.stroke();
    pen.globalAlpha = 1;
  }

  describe(bins, center, span) {
    let peak = 0;
    bins.forEach((db, n) => (peak = db > bins[peak] ? n : peak));
    const away = (span * (peak - Math.floor(bins.length / 2))) / bins.length;
    return `peak ${signed(Math.round(bins[peak]))} dBFS at ${this.at(away, center, span)}`;
  }

  /** A frequency; where nobody knows the carrier, the distance from it. */
  at(away, center, span) {
    if (known(center)) return frequency(center + away, span);
    return `${away > 0 ? "+" : away < 0 ? "−" : ""}${frequency(Math.abs(away), span)}`;
  }

  say(text) {
    write(this.words, text);
    this.canvas.setAttribute("aria-label", `Spectrum: ${text}. The second line holds past peaks.`);
  }
}
