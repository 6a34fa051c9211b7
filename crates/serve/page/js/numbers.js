// Numbers as readers want them. An unknown value is a dash, never 0.

const UNKNOWN = "–";
const THIN = "\u202f";

/** Three significant digits. */
function digits(value) {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** A true minus sign. */
const signed = (text) => String(text).replace(/^-/, "−");

const known = (value) => value !== undefined && value !== null && Number.isFinite(value);

/** With a prefix of the SI: `25 MS/s`. */
function scaled(value, unit) {
  if (!known(value)) return UNKNOWN;
  for (const [size, prefix] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size * 0.9995) return `${digits(value / size)} ${prefix}${unit}`;
  }
  return `${digits(value)} ${unit}`;
}

/** Hertz with the digits that tell neighbours apart. */
function frequency(hz, span) {
  if (!known(hz)) return UNKNOWN;
  const [size, unit] = Math.abs(hz) >= 1e9 ? [1e9, "GHz"] : Math.abs(hz) >= 1e6 ? [1e6, "MHz"] : [1e3, "kHz"];
  const places = Math.min(6, Math.max(0, Math.ceil(Math.log10(size / Math.max(span, 1))) + 2));
  return `${(hz / size).toFixed(places)} ${unit}`;
}

function time(ns) {
  if (!known(ns)) return UNKNOWN;
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 999.5e3) return `${digits(ns / 1e3)} µs`;
  if (size < 999.5e6) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e9)} s`;
}

/** How long something has run. */
function lasted(ns) {
  const s = Math.max(0, Math.floor(ns / 1e9));
  const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  if (d > 0) return `${d} d ${h} h`;
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s % 60} s` : `${s} s`;
}

/** Grouped by thin spaces. */
function count(value) {
  if (!known(value)) return UNKNOWN;
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

const percent = (share) => (known(share) ? `${digits(share * 100)} %` : UNKNOWN);

const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
