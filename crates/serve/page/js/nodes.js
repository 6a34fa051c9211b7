// Nodes of a cluster.

class Nodes {
  constructor() {
    const { node, body } = table("Nodes of the cluster", [["Node", ""], ["State", ""], ["Load", "n"], ["Waveforms", ""]]);
    this.node = section("Nodes");
    this.node.append(node);
    this.rows = new Rows(body, () => tableRow(["", "", "n", ""]));
  }

  update({ nodes }) {
    this.rows.update(nodes, (node) => node.name, ({ cells }, { name, alive, load, waveforms = [] }) => {
      [name, alive ? "alive" : "not heard", percent(load), waveforms.join(", ") || UNKNOWN].forEach((text, n) => write(cells[n], text));
      cells[1].className = alive ? "" : "bad";
    });
  }
}
