//! Environments and paths of a study: drawn, and what their parts did.

use crate::sweep::{Noise, SiteFacts, SweepOutcome};
use takt_lab::nodes::{NodeFigures, WayFigures};
use takt_testbed::environment::EnvironmentFacts;
use takt_testbed::net::{Ceiling, SetBy, Topology, Towards};

use takt_page::{Cell, Column, Drawing, Row, Section, Table, Unit, count};

/// Platforms of rounds, each as a drawing under the name that the paper gives it.
pub(super) fn section(outcome: &SweepOutcome) -> Option<Section> {
    let drawing = |site: &SiteFacts| {
        let topology: Topology = read(site, "topology")?;
        let stands_for = [&site.path, &site.environment].into_iter().find_map(|name| outcome.paper.places.get(name));
        let stands_for = stands_for.map(|words| format!(" ({words})")).unwrap_or_default();
        let caption = format!("{}{stands_for}", site.name());
        Some(Drawing { id: format!("place-{}", site.name()), caption, topology })
    };
    let drawings: Vec<Drawing> = outcome.sites.iter().filter_map(drawing).collect();
    (!drawings.is_empty()).then(|| Section {
        id: "places".into(),
        title: "Environments and paths".into(),
        lead:
            "Boxes are network namespaces, lines are veth pairs, and a double edge is a process of takt that forwards frames. \
               The addresses of a box are below it."
                .into(),
        drawings,
        ..Section::default()
    })
}

fn read<T: serde::de::DeserializeOwned>(site: &SiteFacts, name: &str) -> Option<T> {
    serde_json::from_value(site.in_force.get(name)?.clone()).ok()
}

/// The limits that were found in force.
pub(super) fn limits(site: &SiteFacts) -> String {
    let holder: EnvironmentFacts = read(site, "holder").unwrap_or_default();
    let cpus = holder.cpus.map(|cpus| format!("{cpus} CPUs"));
    let memory = holder.memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20));
    [cpus, memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Which node lost how many, and what it cost.
pub(super) fn nodes(outcome: &SweepOutcome) -> Table {
    let row = |site: &SiteFacts, node: &NodeFigures| {
        let cpu = node.cpu_cores.map_or_else(|| "a neighbour's".to_owned(), |cores| Unit::CORES.show(cores, 2));
        let limit = node.limit_used.map_or_else(String::new, |share| Unit::SHARE.show(share, 2));
        Row::plain([
            Cell::text(format!("{}: {}", site.name(), node.node)),
            Cell::text(count(node.to_radio.in_frames)),
            Cell::text(lost(&node.to_radio)),
            Cell::text(count(node.to_host.in_frames)),
            Cell::text(lost(&node.to_host)),
            Cell::text(cpu),
            Cell::text(limit),
        ])
    };
    let of = |site: &SiteFacts| -> Vec<_> { site.nodes.iter().map(|node| row(site, node)).collect() };
    let heads = ["frames to the radio", "of them lost", "frames to the host", "of them lost", "CPU", "of its limit"];
    let (columns, rows) = (Column::row("node", &heads, &[]), outcome.sites.iter().flat_map(of).collect());
    Table::new("nodes", "Nodes on the way", columns, rows).with_note(
        "All rounds that count, load and answers together. CPU is that of the node's own processes and kernel threads; if it \
         has none, its neighbour that sends to it does its work. If each way has a limit, the use is that of the busier way.",
    )
}

/// `12 % (ring 11 %, queue 1 %)`.
fn lost(way: &WayFigures) -> String {
    let share = |frames: u64| Unit::SHARE.show(frames as f64 / way.in_frames.max(1) as f64, 3);
    let places: Vec<String> = way.lost.iter().map(|(place, frames)| format!("{place} {}", share(*frames))).collect();
    match places.as_slice() {
        [] => Unit::SHARE.show(0.0, 3),
        [one] => one.clone(),
        _ => format!("{} ({})", share(way.lost_frames()), places.join(", ")),
    }
}

/// Throughput of limited paths before the first round, both ways.
pub(super) fn ceilings(outcome: &SweepOutcome) -> Table {
    let row = |site: &SiteFacts, ceiling: &Ceiling| {
        let way = match ceiling.towards {
            Towards::Radio => "to the radio",
            Towards::Host => "to the host",
        };
        let set_by = match ceiling.set_by {
            SetBy::Path => "the path",
            SetBy::Machine => "the machine",
            SetBy::Nobody => "nothing: the limit is not in force",
        };
        Row::plain([
            Cell::text(format!("{} {way}, {}", site.name(), Unit::BYTES.show(ceiling.payload_bytes as f64, 4))),
            Cell::text(Unit::DATAGRAMS_PER_S.show(ceiling.datagrams_per_s, 3)),
            Cell::text(ceiling.specified_per_s.map_or_else(String::new, |most| Unit::DATAGRAMS_PER_S.show(most, 3))),
            Cell::text(set_by),
        ])
    };
    let of = |site: &SiteFacts| -> Vec<_> {
        read::<Vec<Ceiling>>(site, "ceilings").unwrap_or_default().iter().map(|ceiling| row(site, ceiling)).collect()
    };
    let columns = Column::row("path", &["carried flat out", "specified"], &["set by"]);
    let title = "Ceilings of limited paths, found before the first round";
    Table::new("ceilings", title, columns, outcome.sites.iter().flat_map(of).collect())
}

/// Sites of rounds, what was in force, and what set their results.
pub(super) fn sites(sites: &[SiteFacts]) -> Table {
    let row = |site: &SiteFacts| {
        let text = |pointer: &str| match site.in_force.pointer(pointer) {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let set_by: Vec<String> = site.set_by.iter().map(|(who, rounds)| format!("{who} {rounds}")).collect();
        Row::plain([
            Cell::text(site.name()),
            Cell::text(text("/placement/how")),
            Cell::text(text("/accelerator")),
            Cell::text(limits(site)),
            Cell::text(set_by.join(", ")),
        ])
    };
    let columns = Column::row("site", &[], &["cores", "accelerator", "limits in force", "result set by, rounds"]);
    Table::new("sites", "Sites", columns, sites.iter().map(row).collect()).with_note(
        "Set by the load: all offered datagrams arrived. By the path: it reached its rate, or lost datagrams. By the \
         machine: a core was full, or a socket lost datagrams.",
    )
}

/// The same point, measured twice.
pub(super) fn noise(outcome: &SweepOutcome) -> Table {
    let row = |noise: &Noise| {
        let ratio = noise.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
        Row::plain([Cell::text(&noise.point), Cell::text(ratio), Cell::text(&noise.quantity)])
    };
    let (columns, rows) =
        (Column::row("point", &["second over first"], &["of"]), outcome.noise.iter().map(row).collect());
    Table::new("noise", "The same point, measured twice", columns, rows).with_note(
        "One point, measured twice in each block: an A/A pair. Ignore differences between levels that are not larger than \
         this.",
    )
}
