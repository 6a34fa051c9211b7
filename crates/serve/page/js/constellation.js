// Received symbols in the plane.

class Constellation {
  constructor({ name, modulation }) {
    const words = modulation ? `${name}, ${modulation}` : name;
    this.canvas = element("canvas", { role: "img", "aria-label": `Constellation of ${words}` });
    this.node = element("figure", { class: "constellation" }, element("figcaption", {}, `Constellation of ${words}`), this.canvas);
  }

  update({ points }, _, look) {
    const side = Math.min(320, this.canvas.clientWidth || 240);
    const { pen, width } = fit(this.canvas, side);
    const far = points.reduce((most, [i, q]) => Math.max(most, Math.abs(i), Math.abs(q)), 0) || 1;
    this.reach = Math.max(far, (this.reach ?? far) * 0.98);
    const [cx, cy, size] = [width / 2, side / 2, (side / 2 - 6) / (this.reach * 1.05)];
    this.cross(pen, cx, cy, side / 2, look);
    pen.fillStyle = look.line;
    pen.globalAlpha = 0.75;
    points.forEach(([i, q]) => pen.fillRect(cx + i * size - 1.5, cy - q * size - 1.5, 3, 3));
    pen.globalAlpha = 1;
  }

  cross(pen, cx, cy, half, look) {
    pen.strokeStyle = look.rule;
    pen.strokeRect(cx - half + 0.5, cy - half + 0.5, 2 * half - 1, 2 * half - 1);
    pen.beginPath();
    pen.moveTo(cx - half, cy);
    pen.lineTo(cx + half, cy);
    pen.moveTo(cx, cy - half);
    pen.lineTo(cx, cy + half);
    pen.stroke();
  }
}
