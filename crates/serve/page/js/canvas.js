// Canvases: colours of the page, and pixels of the screen.

/** Colours of the page's paper, as it is now. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: of("ink"), soft: of("soft"), rule: of("rule"), paper: of("paper"), line: of("c0"), hold: of("c1"), dark: matchMedia("(prefers-color-scheme: dark)").matches };
}

/** Fits a canvas to its place, in pixels of the screen. */
function fit(canvas, height) {
  const width = canvas.clientWidth || 600;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}
