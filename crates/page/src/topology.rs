//! A path as a drawing: namespaces as boxes, cables between them, addresses where they are.

use std::fmt::Write as _;

use takt_path::topology::{Link, LinkEnd, Node, NodeKind, Topology};

use crate::svg::{self, N, text, text_width};
use crate::xml::Escaped;

/// From the middle of one box to the middle of the next, user units, as all lengths here.
const PITCH: f64 = 212.0;
const BOX: f64 = 142.0;
const LINE: f64 = 17.0;
const TOP: f64 = 14.0;

/// The drawing as an SVG file of its own, light or dark as the viewer prefers.
pub fn to_svg(topology: &Topology) -> String {
    let (style, namespace) = svg::own_file();
    draw(topology, &style, namespace)
}

pub fn to_inline_svg(topology: &Topology) -> String {
    draw(topology, "", "")
}

/// The drawing in a line, for a terminal.
pub fn to_line(topology: &Topology) -> String {
    let box_of = |node: &Node| match node.notes.as_slice() {
        [] => format!("[{}]", node.name),
        notes => format!("[{}: {}]", node.name, notes.join(", ")),
    };
    let mut line = topology.nodes.first().map(box_of).unwrap_or_default();
    for (link, node) in topology.links.iter().zip(topology.nodes.iter().skip(1)) {
        let end = |end: &LinkEnd| match &end.address {
            Some(address) => format!("{} {address}", end.interface),
            None => end.interface.clone(),
        };
        let rate = link.rate_bps.map(|bps| format!(" ({})", rate(bps))).unwrap_or_default();
        let [near, far] = &link.ends;
        let _ = write!(line, " {} --{rate} {} {}", end(near), end(far), box_of(node));
    }
    line
}

fn draw(topology: &Topology, style: &str, namespace: &str) -> String {
    let lines = topology.nodes.iter().map(|node| node.notes.len() + 1).max().unwrap_or(1);
    let height = LINE * lines as f64 + 14.0;
    let (width, all) = (PITCH * topology.nodes.len() as f64, TOP + height + 2.0 * LINE + 12.0);
    let mut svg = String::new();
    let _ = write!(
        svg,
        r#"<svg class="figure topology"{namespace} width="{0}" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">{style}"#,
        N(width),
        N(all),
        Escaped(&description(topology))
    );
    let middle = TOP + height / 2.0;
    for (index, link) in topology.links.iter().enumerate() {
        cable(&mut svg, link, PITCH * (index as f64 + 0.5), middle);
    }
    for (index, node) in topology.nodes.iter().enumerate() {
        let x = PITCH * (index as f64 + 0.5);
        namespace_box(&mut svg, node, x, height);
        addresses(&mut svg, topology, index, x, TOP + height);
    }
    svg.push_str("</svg>\n");
    svg
}

/// For a screen reader.
fn description(topology: &Topology) -> String {
    let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
    format!("Path {}: {}.", topology.name, names.join(" to "))
}

fn cable(svg: &mut String, link: &Link, from: f64, y: f64) {
    let (left, right) = (from + BOX / 2.0, from + PITCH - BOX / 2.0);
    let _ = write!(svg, r#"<path class="axis" d="M{} {}H{}"/>"#, N(left), N(y), N(right));
    if let Some(rate) = link.rate_bps.map(rate) {
        text(svg, "tick", ((left + right) / 2.0, y - 6.0), "middle", &rate);
    }
}

fn rate(bps: u64) -> String {
    match bps {
        1_000_000_000.. => format!("{} Gb/s", bps as f64 / 1e9),
        1_000_000.. => format!("{} Mb/s", bps as f64 / 1e6),
        _ => format!("{} kb/s", bps as f64 / 1e3),
    }
}

fn namespace_box(svg: &mut String, node: &Node, x: f64, height: f64) {
    // Takt's own nodes have a double edge, the kernel's a single one.
    let edges = if node.kind == NodeKind::Hop { 2 } else { 1 };
    for edge in 0..edges {
        let inset = 3.0 * f64::from(edge);
        let _ = write!(
            svg,
            r#"<rect class="axis" fill="none" x="{}" y="{}" width="{}" height="{}" rx="3"/>"#,
            N(x - BOX / 2.0 + inset),
            N(TOP + inset),
            N(BOX - 2.0 * inset),
            N(height - 2.0 * inset)
        );
    }
    text(svg, "title", (x, TOP + LINE + 2.0), "middle", &text_width::cut(&node.name, BOX - 8.0));
    for (line, note) in node.notes.iter().enumerate() {
        let y = TOP + LINE * (line as f64 + 2.0) + 2.0;
        text(svg, "tick", (x, y), "middle", &text_width::cut(note, BOX - 4.0));
    }
}

/// Below a box: its interfaces that have an address, the one nearer to the host first. A bridge has none: there, the
/// names of its ports.
fn addresses(svg: &mut String, topology: &Topology, index: usize, x: f64, below: f64) {
    let to_host = index.checked_sub(1).and_then(|before| topology.links.get(before)).map(|link| &link.ends[1]);
    let away = topology.links.get(index).map(|link| &link.ends[0]);
    let ends = || to_host.into_iter().chain(away);
    let mut lines: Vec<String> =
        ends().filter_map(|end| Some(format!("{} {}", end.interface, end.address.as_ref()?))).collect();
    if lines.is_empty() && topology.nodes.get(index).is_some_and(|node| node.kind == NodeKind::Switch) {
        lines.push(ends().map(|end| end.interface.as_str()).collect::<Vec<_>>().join(", "));
    }
    for (line, words) in lines.iter().enumerate() {
        let shown = text_width::cut(words, PITCH - 4.0);
        text(svg, "tick", (x, below + LINE * (line as f64 + 1.0)), "middle", &shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(interface: &str, address: Option<&str>) -> LinkEnd {
        LinkEnd { interface: interface.into(), address: address.map(str::to_owned) }
    }

    fn path() -> Topology {
        let node = |name: &str, kind, notes: &[&str]| Node {
            name: name.into(),
            kind,
            notes: notes.iter().map(ToString::to_string).collect(),
        };
        Topology {
            name: "router-hw".into(),
            nodes: vec![
                node("host", NodeKind::End, &[]),
                node("hardware", NodeKind::Hop, &["35.7 µs a frame", "66 ns a byte of it", "<ring>"]),
                node("radio", NodeKind::End, &[]),
            ],
            links: vec![
                Link { ends: [end("host0", Some("10.0.1.2/24")), end("lan0", None)], rate_bps: Some(100_000_000) },
                Link { ends: [end("wan0", None), end("radio0", Some("192.168.10.2/24"))], rate_bps: None },
            ],
        }
    }

    #[test]
    fn a_drawing_names_what_is_there_and_escapes_it() {
        let svg = to_svg(&path());
        for word in ["host0 10.0.1.2/24", "radio0 192.168.10.2/24", "100 Mb/s", "hardware", "&lt;ring&gt;"] {
            assert!(svg.contains(word), "{word}: {svg}");
        }
        assert!(!svg.contains("<ring>") && !svg.contains("lan0"));
        assert_eq!(svg.matches("<rect").count(), 4, "a hop has a double edge");
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(!to_inline_svg(&path()).contains("<style>"));
    }

    #[test]
    fn a_line_says_the_same_as_the_drawing() {
        assert_eq!(
            to_line(&path()),
            "[host] host0 10.0.1.2/24 -- (100 Mb/s) lan0 [hardware: 35.7 µs a frame, 66 ns a byte of it, <ring>] wan0 -- radio0 \
             192.168.10.2/24 [radio]"
        );
    }
}
