// Sums a snapshot up in a sentence: that nothing was lost, or what was.

/** The state, and the sentence with its decisive words. */
function verdict({ radios = [], slots, links = [] }) {
  const bad = [...lossOf(radios), ...missesOf(slots), ...links.filter(isLost).map((link) => `link ${link.name} lost`)];
  if (bad.length > 0) return ["fails", capital(bad.join(", "))];
  const good = [];
  const received = radios.filter((radio) => radio.direction === "rx");
  if (received.length > 0 && received.every((radio) => known(radio.lost_samples))) good.push("no sample lost");
  else if (radios.length > 0 && received.length === 0 && errors(radios) === 0) good.push("no error in the stream");
  if (known(slots?.misses)) good.push("no slot missed");
  return good.length > 0 ? ["holds", capital(good.join(", "))] : ["unknown", "Running"];
}

/** Events of all letters; not known where nobody counts one. */
function errors(radios) {
  const counts = radios.flatMap((radio) => Object.values(radio.letters ?? {}));
  return counts.length > 0 ? counts.reduce((sum, n) => sum + n, 0) : undefined;
}

function lossOf(radios) {
  const samples = radios.reduce((sum, radio) => sum + (radio.lost_samples ?? 0), 0);
  if (samples > 0) return [`${plural(samples, "sample")} lost`];
  return errors(radios) > 0 ? [`${plural(errors(radios), "error")} in the stream`] : [];
}

function missesOf(slots) {
  return slots?.misses > 0 ? [`${count(slots.misses)} of ${plural(slots.count, "slot")} missed`] : [];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
