//! The tables of the study, the paper's columns beside ours.

use takt_lab::check::HOST;
use takt_studies::Figure;
use takt_studies::aloe::{InterfacePoint, LongestPoint, Outcome, Role};

use super::super::common::{cell, cells, columns};
use crate::quantity::significant;
use crate::{Cell, Row, Table, Unit, count};

pub(super) fn longest(outcome: &Outcome) -> Vec<Table> {
    let row = |p: &LongestPoint| {
        let cores = if p.workers == 1 { "1 core".to_owned() } else { format!("{} cores", p.workers) };
        let ended = p.ended_by.iter().map(|(who, n)| {
            let who = if who == HOST { "late release" } else { who };
            format!("{who} {n}")
        });
        cells(vec![
            Cell::text(format!("{}, {cores}", Unit::SECONDS.show(p.slot_us * 1e-6, 3))),
            cell(&p.bits, Unit::prefixed("bit"), 1.0),
            cell(&p.throughput_bps, Unit::BITS_PER_S, 1.0),
            cell(&p.used_share, Unit::SHARE, 1.0),
            Cell::text(ended.collect::<Vec<_>>().join(", ")),
        ])
    };
    let all = Table {
        id: "longest-packets".into(),
        title: "Longest packets".into(),
        columns: columns("slot, cores", &["longest packet", "throughput", "of the slot in use"], &["ended by, rounds"]),
        rows: outcome.longest.iter().map(row).collect(),
        note: "The paper's Figure 2 is a drawing without numbers; of it: two cores almost double one, and short slots carry less."
            .into(),
    };
    let ratio = Table {
        id: "two-over-one".into(),
        title: "Two cores over one".into(),
        columns: columns("slot", &["here", "paper"], &[]),
        rows: outcome
            .two_over_one
            .iter()
            .map(|one| {
                let paper = format!("almost {}", Unit::TIMES.show(outcome.paper.longest.two_over_one, 2));
                let here = cell(&one.ratio, Unit::TIMES, 1.0);
                cells(vec![Cell::text(Unit::SECONDS.show(one.slot_us * 1e-6, 3)), here, Cell::text(paper)])
            })
            .collect(),
        note: "Throughput of both in the same block. The chain is cut where it loads the fuller core least; how even that can be \
               depends on its costliest component."
            .into(),
    };
    vec![all, ratio]
}

pub(super) fn interface(outcome: &Outcome) -> Vec<Table> {
    let row = |p: &InterfacePoint| {
        let place = if p.reader == "same-core" { "one core" } else { "core to core" };
        cells(vec![
            Cell::text(format!("{}, {place}", Unit::prefixed("bit").show(p.packet_bits as f64, 3))),
            cell(&p.mean_ns, Unit::SECONDS, 1e-9),
            cell(&p.median_ns, Unit::SECONDS, 1e-9),
            cell(&p.hand_over_ns, Unit::SECONDS, 1e-9),
            cell(&p.hand_over_p99_9_ns, Unit::SECONDS, 1e-9),
            cell(&p.over_floor, Unit::TIMES, 1.0),
            cell(&p.largest_over_mean, Unit::TIMES, 1.0),
            cell(&p.throughput_bps, Unit::BITS_PER_S, 1.0),
            Cell::text(count(p.measured)),
        ])
    };
    let paper = &outcome.paper.interface;
    let range = |[low, high]: [f64; 2]| format!("{} to {} Gb/s", significant(low / 1e9, 2), significant(high / 1e9, 2));
    let theirs = cells(vec![
        Cell::text("paper, x86, 100 kbit"),
        Cell::text("–"),
        Cell::text("–"),
        Cell::text("–"),
        Cell::text("–"),
        Cell::text("–"),
        Cell::text(Unit::TIMES.show(paper.largest_over_mean, 2)),
        Cell::text(range(paper.x86_bps)),
        Cell::text(count(paper.measurements)),
    ]);
    let numbers = [
        "latency",
        "median",
        "hand-over",
        "hand-over, 99.9 %",
        "over two copies",
        "largest over mean",
        "throughput",
        "measured",
    ];
    let rows: Vec<Row> = outcome.interface.iter().map(row).collect();
    vec![Table {
        id: "interfaces".into(),
        title: "Interfaces".into(),
        columns: columns("packet, reader", &numbers, &[]),
        rows: if rows.is_empty() { rows } else { rows.into_iter().chain([theirs]).collect() },
        note: format!("The paper's ARM: {}.", range(paper.arm_bps)),
    }]
}

pub(super) fn overhead(outcome: &Outcome) -> Vec<Table> {
    let (costs, paper) = (&outcome.overhead, &outcome.paper.overhead);
    let row = |name: &str, figure: &Figure, x86_us: f64, arm_us: f64| {
        let ratio = figure.value.filter(|ns| *ns > 0.0).map(|ns| Unit::TIMES.show(x86_us * 1e3 / ns, 2));
        cells(vec![
            Cell::text(name),
            cell(figure, Unit::SECONDS, 1e-9),
            Cell::text(Unit::SECONDS.show(x86_us * 1e-6, 4)),
            Cell::text(Unit::SECONDS.show(arm_us * 1e-6, 4)),
            Cell::text(ratio.unwrap_or_default()),
        ])
    };
    let model = Table {
        id: "model".into(),
        title: "T = T_base + N · T_module".into(),
        columns: columns("", &["here", "paper, x86", "paper, ARM", "x86 over here"], &[]),
        rows: if costs.points.is_empty() {
            Vec::new()
        } else {
            vec![
                row("T_base", &costs.base_ns, paper.x86_base_us, paper.arm_base_us),
                row("T_module", &costs.module_ns, paper.x86_module_us, paper.arm_module_us),
            ]
        },
        note: format!(
            "Floor of T_module: a bare call with two readings of the clock and a histogram, {} here.",
            Unit::SECONDS.show(outcome.floors.measured_call_ns * 1e-9, 3)
        ),
    };
    let beat = costs.beat.iter().map(|p| {
        cells(vec![
            Cell::text(format!("{}, {} components", Unit::SECONDS.show(p.slot_us * 1e-6, 3), p.components)),
            cell(&p.share, Unit::SHARE, 1.0),
            Cell::text(Unit::SHARE.show(paper.x86_us(p.components as f64) / p.slot_us, 3)),
        ])
    });
    let beat = Table {
        id: "beat".into(),
        title: "Relative overhead on the beat".into(),
        columns: columns("slot", &["measured", "paper's model, x86"], &[]),
        rows: beat.collect(),
        note: "Neither waiting nor execution, over the slot.".into(),
    };
    vec![model, beat]
}

pub(super) fn roles(outcome: &Outcome) -> Vec<Table> {
    let row = |role: &Role| {
        let once = role.once_ns.as_ref().map(|ns| format!("0; once {}", cell(ns, Unit::SECONDS, 1e-9).text));
        let here = match (&role.per_slot_ns, once) {
            (Some(figure), _) => cell(figure, Unit::SECONDS, 1e-9),
            (None, Some(once)) => Cell::text(once),
            (None, None) => Cell::text("no cost a slot"),
        };
        let arm = role.paper_arm_us.map_or_else(|| "–".to_owned(), |us| Unit::SECONDS.show(us * 1e-6, 4));
        cells(vec![
            Cell::text(format!("{}: {}", role.name, role.does)),
            here,
            Cell::text(Unit::SECONDS.show(role.paper_x86_us * 1e-6, 4)),
            Cell::text(arm),
            Cell::text(&role.how),
        ])
    };
    let shown = outcome.roles.iter().any(|role| role.per_slot_ns.is_some() || role.once_ns.is_some());
    vec![Table {
        id: "by-role".into(),
        title: "Time a slot, by role".into(),
        columns: columns(
            "role",
            &["here", "paper, x86", "paper, ARM"],
            &["what does it here, and how it was measured"],
        ),
        rows: if shown { outcome.roles.iter().map(row).collect() } else { Vec::new() },
        note: String::new(),
    }]
}

pub(super) fn memory(outcome: &Outcome) -> Vec<Table> {
    let (memory, paper) = (&outcome.memory, &outcome.paper.memory);
    let unit = Unit::prefixed("B");
    let paper_bytes = |bytes: u64| Cell::text(unit.show(bytes as f64, 4));
    let rows = vec![
        cells(vec![Cell::text("base, written"), cell(&memory.base_bytes, unit, 1.0), paper_bytes(paper.base_bytes)]),
        cells(vec![
            Cell::text("base, in memory at all, the program's file included"),
            cell(&memory.base_resident_bytes, unit, 1.0),
            Cell::text("–"),
        ]),
        cells(vec![
            Cell::text("each component"),
            cell(&memory.component_bytes, unit, 1.0),
            paper_bytes(paper.component_bytes),
        ]),
    ];
    vec![Table {
        id: "memory-use".into(),
        title: "Memory".into(),
        columns: columns("", &["here", "paper, Linux"], &[]),
        rows: if memory.points.is_empty() { Vec::new() } else { rows },
        note: "A component: its state, its link, its histogram; the slope over chains of several lengths.".into(),
    }]
}
