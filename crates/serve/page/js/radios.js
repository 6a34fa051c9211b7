// Streams of radios: rates, lost samples, and UHD's letters as they come.

const LETTERS = [
  ["O", "overflow: the host took samples too late"],
  ["U", "underflow: the radio ran out of samples"],
  ["L", "late: a command or packet came after its time"],
  ["S", "sequence error: packets to the radio were lost"],
  ["D", "dropped: packets from the radio were lost"],
];
const TAPE = 120;
/** The column before the letters. */
const LOST = 5;
const MEASURED_OVER_NS = 2e9;

class Radios {
  constructor() {
    const columns = [["Stream", ""], ["Carrier", "n more"], ["Rate", "n"], ["Measured", "n more"], ["Samples", "n more"], ["Lost", "n"]];
    const { node, body } = table("Streams of radios", [...columns, ...LETTERS.map(([letter]) => [letter, "n letter"])]);
    node.querySelectorAll("thead .letter").forEach((head, n) => head.setAttribute("title", LETTERS[n][1]));
    this.tape = element("p", { class: "tape", "aria-hidden": "true" });
    this.letters = "";
    this.node = section("Streams", "O overflow, U underflow, L late, S lost on the way to the radio, D lost on the way here.");
    this.node.append(node, this.tape);
    this.rows = new Rows(body, () => ({ ...tableRow(["", "n more", "n", "n more", "n more", "n", ...Array(5).fill("n")]), seen: {}, past: [] }));
  }

  update(snapshot) {
    this.rows.update(snapshot.radios, (r) => `${r.name} ${r.direction}`, (row, radio) => this.show(row, radio, snapshot.t_ns));
    this.tape.classList.toggle("none", !this.letters);
    if (this.letters) {
      this.tape.replaceChildren(element("bdi", {}, this.letters));
    } else if (!this.tape.firstChild) {
      this.tape.append(element("bdi", {}, "Letters appear here as they come. None since this page opened."));
    }
  }

  show(row, radio, now) {
    const lost = radio.lost_samples;
    const texts = [`${radio.name} ${DIRECTIONS[radio.direction] ?? radio.direction}`, frequency(radio.freq_hz, radio.rate_sps ?? 1e6), scaled(radio.rate_sps, "S/s"), this.measured(row, radio, now), count(radio.samples), count(lost)];
    texts.forEach((text, n) => write(row.cells[n], text));
    row.cells[LOST].className = lost > 0 ? "n bad" : "n";
    LETTERS.forEach(([letter], n) => this.letter(row, row.cells[LOST + 1 + n], letter, radio.letters?.[letter]));
  }

  /** From the samples of the last seconds; a dash until there are two. */
  measured(row, radio, now) {
    if (!known(radio.samples)) return UNKNOWN;
    row.past.push([now, radio.samples]);
    while (row.past.length > 2 && now - row.past[0][0] > MEASURED_OVER_NS) row.past.shift();
    const [then, had] = row.past[0];
    return now > then ? scaled(((radio.samples - had) * 1e9) / (now - then), "S/s") : UNKNOWN;
  }

  letter(row, cell, letter, value) {
    const before = row.seen[letter];
    if (known(before) && value > before) {
      this.letters = (this.letters + letter.repeat(Math.min(TAPE, value - before))).slice(-TAPE);
      cell.classList.remove("flash");
      void cell.offsetWidth; // begins the animation anew
      cell.classList.add("flash");
    }
    row.seen[letter] = value;
    write(cell, count(value));
    cell.classList.toggle("bad", value > 0);
    cell.classList.toggle("none", !(value > 0));
  }
}

const DIRECTIONS = { rx: "receive", tx: "transmit" };
