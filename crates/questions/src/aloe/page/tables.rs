//! The tables of the study, the paper's columns beside ours.

use crate::aloe::{AloeOutcome, InterfacePoint, LongestPoint, Role, SplitPoint, TwoOverOne};
use crate::study::Figure;

use super::figures::platform;
use crate::check::page::component_or_host;
use crate::study::page::cell;
use takt_page::significant;
use takt_page::{Cell, Column, Row, Table, Unit, count};

/// Heads the columns beside the paper's ARM.
const EMULATED: &str = "emulated aarch64";

pub(super) fn longest(outcome: &AloeOutcome) -> Vec<Table> {
    let row = |p: &LongestPoint| {
        let ended = p.ended_by.iter().map(|(who, n)| format!("{} {n}", component_or_host(who)));
        Row::plain([
            Cell::text(format!("{}, {}", Unit::SECONDS.show(p.slot_us * 1e-6, 3), platform((p.nodes, p.workers)))),
            cell(&p.bits, Unit::prefixed("bit"), 1.0),
            cell(&p.throughput_bps, Unit::BITS_PER_S, 1.0),
            cell(&p.used_share, Unit::SHARE, 1.0),
            if p.nodes > 1 { cell(&p.cable_used_share, Unit::SHARE, 1.0) } else { Cell::text("–") },
            Cell::text(
                p.skipped
                    .as_ref()
                    .map_or_else(|| ended.collect::<Vec<_>>().join(", "), |why| format!("not run: {why}")),
            ),
        ])
    };
    let numbers = ["longest packet", "throughput", "slot in use", "cable in use"];
    let columns = Column::row("slot, platform", &numbers, &["ended by, rounds"]);
    let all = Table::new("longest-packets", "Longest packets", columns, outcome.longest.iter().map(row).collect());
    let all = all.with_note(
        "The paper's Figure 2 has no numbers. It shows that two cores almost double one, and that short slots carry less.",
    );
    let paper = format!("almost {}", Unit::TIMES.show(outcome.paper.longest.two_over_one, 2));
    let row = |one: &TwoOverOne, what: &str, paper: &str| {
        let slot = Cell::text(format!("{}, {what}", Unit::SECONDS.show(one.slot_us * 1e-6, 3)));
        Row::plain([slot, cell(&one.ratio, Unit::TIMES, 1.0), Cell::text(paper)])
    };
    let cores = outcome.two_over_one.iter().map(|one| row(one, "2 cores", &paper));
    let nodes = outcome.two_nodes.over_one_core.iter().map(|one| row(one, "2 nodes", "–"));
    let columns = Column::row("slot, platform", &["over one core", "paper"], &[]);
    let ratio = Table::new("two-over-one", "Two over one", columns, cores.chain(nodes).collect()).with_note(
        "Throughput of both in the same block. takt cuts the chain where it loads the fuller core least; how even that can be \
         depends on its most expensive component. Between two nodes the cable decides, not the cores.",
    );
    vec![all, ratio]
}

/// The UTRAN chain on two nodes.
pub(super) fn split(outcome: &AloeOutcome) -> Vec<Table> {
    let row = |p: &SplitPoint| {
        let pair = match p.pair() {
            [first, second] if first == second => format!("2 {first}"),
            [first, second] => format!("{first}, {second}"),
        };
        let cut: Vec<String> = p.cut_after.iter().map(|(after, n)| format!("after {after} {n}")).collect();
        Row::plain([
            Cell::text(format!("{}, {pair}", Unit::SECONDS.show(p.slot_us * 1e-6, 3))),
            Cell::text(format!("{} of {}", count(p.misses), count(p.slots))),
            Cell::text(format!("{} of {}", p.same_output, p.rounds)),
            cell(&p.period_ns, Unit::SECONDS, 1e-9),
            cell(&p.bridges_ns, Unit::SECONDS, 1e-9),
            cell(&p.clock_off_ns, Unit::SECONDS, 1e-9),
            Cell::text(cut.join(", ")),
        ])
    };
    let numbers = ["missed", "same output", "period", "bridges", "clocks apart"];
    let columns = Column::row("slot, pair", &numbers, &["cut, rounds"]);
    let rows: Vec<Row> = outcome.two_nodes.split.iter().filter(|p| p.rounds > 0).map(row).collect();
    let cable = outcome.two_nodes.cable_bps.map_or_else(String::new, |bps| Unit::BITS_PER_S.show(bps, 3));
    let table = Table::new("split", "The UTRAN chain on two nodes", columns, rows).with_note(format!(
        "Joined by {cable}. An aarch64 is emulated. The chain's source is on the first node, its sink on the second; the mapper \
         cuts between them. Same output: rounds whose sinks received what they receive on one node. Period: the shortest slot \
         that the mapper expects to hold, by the busiest core or the cable. Bridges: time of both workers for the bridges' \
         ends. The paper: slots of 10 ms on two cores, of 20 ms on two ARMs, where 10 ms left no time for TCP/IP."
    ));
    vec![table]
}

pub(super) fn interface(outcome: &AloeOutcome) -> Vec<Table> {
    let row = |p: &InterfacePoint| {
        let place = if p.reader == "same-core" { "one core" } else { "core to core" };
        Row::plain([
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
    let largest = Unit::TIMES.show(paper.largest_over_mean, 2);
    let known = [largest, range(paper.x86_bps), count(paper.measurements)].map(Cell::text);
    let not_known = ["–"; 5].map(Cell::text);
    let theirs = std::iter::once(Cell::text("paper, x86, 100 kbit")).chain(not_known).chain(known);
    let mut rows: Vec<Row> = outcome.interface.iter().map(row).collect();
    if !rows.is_empty() {
        rows.push(Row::plain(theirs));
    }
    let times = ["latency", "median", "hand-over", "hand-over, 99.9 %", "over two copies"];
    let numbers = [&times[..], &["largest over mean", "throughput", "measured"]].concat();
    let there = outcome.elsewhere.interface_bps.value.map(|bps| Unit::BITS_PER_S.show(bps, 3));
    let there = there.map(|bps| format!("; on the emulated aarch64, {bps} with such packets on one core"));
    let note = format!("The paper's ARM: {}{}.", range(paper.arm_bps), there.unwrap_or_default());
    vec![Table::new("interfaces", "Interfaces", Column::row("packet, reader", &numbers, &[]), rows).with_note(note)]
}

pub(super) fn overhead(outcome: &AloeOutcome) -> Vec<Table> {
    let (costs, there, paper) = (&outcome.overhead, &outcome.elsewhere, &outcome.paper.overhead);
    let row = |name: &str, [figure, there]: [&Figure; 2], x86_us: f64, arm_us: f64| {
        let ratio = figure.value.filter(|ns| *ns > 0.0).map(|ns| Unit::TIMES.show(x86_us * 1e3 / ns, 2));
        let [x86, arm] = [x86_us, arm_us].map(|us| Cell::text(Unit::SECONDS.show(us * 1e-6, 4)));
        Row::plain([
            Cell::text(name),
            cell(figure, Unit::SECONDS, 1e-9),
            cell(there, Unit::SECONDS, 1e-9),
            x86,
            arm,
            Cell::text(ratio.unwrap_or_default()),
        ])
    };
    let mut rows = vec![
        row("T_base", [&costs.base_ns, &there.base_ns], paper.x86_base_us, paper.arm_base_us),
        row("T_module", [&costs.module_ns, &there.module_ns], paper.x86_module_us, paper.arm_module_us),
    ];
    rows.retain(|_| !costs.points.is_empty());
    let columns = Column::row("", &["here", EMULATED, "paper, x86", "paper, ARM", "x86 over here"], &[]);
    let model = Table::new("model", "T = T_base + N · T_module", columns, rows).with_note(format!(
        "Floor of T_module: a bare call with two readings of the clock and a histogram, {} here.",
        Unit::SECONDS.show(outcome.floors.measured_call_ns * 1e-9, 3)
    ));
    let beat = costs.beat.iter().map(|p| {
        Row::plain([
            Cell::text(format!("{}, {} components", Unit::SECONDS.show(p.slot_us * 1e-6, 3), p.components)),
            cell(&p.share, Unit::SHARE, 1.0),
            Cell::text(Unit::SHARE.show(paper.x86_us(p.components as f64) / p.slot_us, 3)),
        ])
    });
    let columns = Column::row("slot", &["measured", "paper's model, x86"], &[]);
    let beat = Table::new("beat", "Relative overhead, slot by slot", columns, beat.collect())
        .with_note("Time that is neither waiting nor execution, over the slot.");
    vec![model, beat]
}

pub(super) fn roles(outcome: &AloeOutcome) -> Vec<Table> {
    let row = |role: &Role| {
        let once = role.once_ns.as_ref().map(|ns| format!("0; once {}", cell(ns, Unit::SECONDS, 1e-9).text));
        let here = match (&role.per_slot_ns, once) {
            (Some(figure), _) => cell(figure, Unit::SECONDS, 1e-9),
            (None, Some(once)) => Cell::text(once),
            (None, None) => Cell::text("no cost a slot"),
        };
        let arm = role.paper_arm_us.map_or_else(|| "–".to_owned(), |us| Unit::SECONDS.show(us * 1e-6, 4));
        Row::plain([
            Cell::text(format!("{}: {}", role.name, role.does)),
            here,
            role.elsewhere_ns.as_ref().map_or_else(|| Cell::text("–"), |ns| cell(ns, Unit::SECONDS, 1e-9)),
            Cell::text(Unit::SECONDS.show(role.paper_x86_us * 1e-6, 4)),
            Cell::text(arm),
            Cell::text(&role.how),
        ])
    };
    let shown = outcome.roles.iter().any(|role| role.per_slot_ns.is_some() || role.once_ns.is_some());
    let how = "how takt does it, and how it was measured";
    let columns = Column::row("role", &["here", EMULATED, "paper, x86", "paper, ARM"], &[how]);
    let rows = if shown { outcome.roles.iter().map(row).collect() } else { Vec::new() };
    vec![Table::new("by-role", "Time a slot, by role", columns, rows)]
}

pub(super) fn memory(outcome: &AloeOutcome) -> Vec<Table> {
    let (memory, paper) = (&outcome.memory, &outcome.paper.memory);
    let unit = Unit::prefixed("B");
    let row = |name: &str, here: &Figure, paper: Option<u64>| {
        let paper = paper.map_or_else(|| "–".to_owned(), |bytes| unit.show(bytes as f64, 4));
        Row::plain([Cell::text(name), cell(here, unit, 1.0), Cell::text(paper)])
    };
    let mut rows = vec![
        row("base, written", &memory.base_bytes, Some(paper.base_bytes)),
        row("base, resident, the program's file included", &memory.base_resident_bytes, None),
        row("each component", &memory.component_bytes, Some(paper.component_bytes)),
    ];
    rows.retain(|_| !memory.points.is_empty());
    let table = Table::new("memory-use", "Memory", Column::row("", &["here", "paper, Linux"], &[]), rows);
    let note = "A component: its state, its link, its histogram; the slope over chains of several lengths.";
    vec![table.with_note(note)]
}
