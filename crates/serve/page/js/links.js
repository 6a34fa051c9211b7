// Links over the air.

/** A link that carries packets, in the words of both ends. */
const isUp = (link) => ["attached", "connected"].includes(link.state);

/** One that did so once. */
const isLost = (link) => link.state === "lost" || (Boolean(link.state && link.loss_reason) && !isUp(link));

const linkLook = (link) => `state ${isUp(link) ? "holds" : isLost(link) ? "fails" : "unknown"}`;

class Links {
  constructor() {
    this.node = section("Links");
    this.rows = new Rows(this.node, ({ name }) => {
      const figures = new Figures();
      return { node: element("div", { class: "one" }, element("h3", {}, name), figures.node), figures };
    });
  }

  update({ links }) {
    this.rows.update(links, (link) => link.name, ({ figures }, link) => figures.update([
      ["state", link.state, linkLook(link)],
      ["lost last by", link.loss_reason],
      ["SNR", known(link.snr_db) ? `${digits(link.snr_db)} dB` : UNKNOWN],
      ["MCS", known(link.mcs) ? String(link.mcs) : UNKNOWN],
      ["BLER", percent(link.bler)],
      ["throughput", scaled(link.throughput_bps, "bit/s")],
    ]));
  }
}
