//! The sentences of the study.

use takt_base::shown::{self, significant};
use takt_base::words::sentence;

use super::{AloeOutcome, Elsewhere, Errors, TwoOverOne};
use crate::study::Figure;

/// A time from nanoseconds.
pub(super) fn time(ns: f64) -> String {
    shown::time(ns * 1e-9)
}

pub(super) fn figure(figure: &Figure, decimals: usize) -> String {
    figure.shown(|value| format!("{value:.decimals$}")).unwrap_or_else(|| "unknown".to_owned())
}

/// A time with its interval, from nanoseconds.
fn interval(of: &Figure) -> String {
    of.shown(time).unwrap_or_else(|| "unknown".to_owned())
}

pub(super) fn rate(bps: f64) -> String {
    shown::scaled(bps, "b/s")
}

/// Sentences on the figures, the model first.
pub(super) fn summary(outcome: &AloeOutcome) -> Vec<String> {
    let (costs, paper) = (&outcome.overhead, &outcome.paper);
    let mut summary = Vec::new();
    if let (Some(base), Some(module)) = (costs.base_ns.value, costs.module_ns.value) {
        // An intercept that may be nothing has no ratio. The upper end of its interval bounds it, or where even that is
        // nothing, all that the shortest chain takes.
        let shortest = costs.points.first().and_then(|point| point.overhead_ns.value).unwrap_or(base);
        let base_at_most = costs.base_ns.estimate.map_or(base, |e| e.high());
        let base_at_most = if base_at_most > 0.0 { base_at_most } else { shortest };
        summary.push(format!(
            "overhead of a slot with N components: {} + N * {}; the paper: {} µs + N * {} µs on its x86, at least {} and {} \
             times as much",
            interval(&costs.base_ns),
            interval(&costs.module_ns),
            paper.overhead.x86_base_us,
            paper.overhead.x86_module_us,
            times(paper.overhead.x86_base_us * 1e3, base_at_most),
            times(paper.overhead.x86_module_us * 1e3, module),
        ));
        summary.push(format!(
            "its floor, a bare call with two readings of the clock and a histogram, takes {} here; a component costs {} times \
             that",
            time(outcome.floors.measured_call_ns),
            significant(module / outcome.floors.measured_call_ns.max(0.01), 2),
        ));
    }
    summary.extend(execution(outcome));
    summary.extend(elsewhere(outcome));
    let paper_length = |point: &&super::InterfacePoint| point.packet_bits == paper.interface.packet_bits;
    for point in outcome.interface.iter().filter(paper_length) {
        let (Some(mean), Some(median)) = (point.mean_ns.value, point.median_ns.value) else { continue };
        let place = if point.reader == "same-core" { "on one core" } else { "from core to core" };
        summary.push(format!(
            "an interface with packets of {} kbit {place}: mean {}, median {} (write, hand-over, read), {} times the two \
             copies without a link, {}; the hand-over alone {}; largest over mean {}, in the paper {}",
            point.packet_bits / 1000,
            time(mean),
            time(median),
            figure(&point.over_floor, 2),
            point.throughput_bps.value.map(rate).unwrap_or_default(),
            point.hand_over_ns.value.map(time).unwrap_or_default(),
            figure(&point.largest_over_mean, 0),
            paper.interface.largest_over_mean,
        ));
    }
    if let Some(ratios) = two_cores(&outcome.two_over_one) {
        summary.push(format!("longest packets, {ratios}; the paper: almost double"));
    }
    summary.extend(two_nodes(outcome));
    if let Some(bytes) = outcome.memory.component_bytes.value {
        let base = outcome.memory.base_bytes.value.unwrap_or_default();
        summary.push(format!(
            "memory: {} kB written before a waveform is opened, {} kB for each component; the paper: {} and {} kB",
            significant(base / 1024.0, 4),
            significant(bytes / 1024.0, 3),
            paper.memory.base_bytes / 1024,
            paper.memory.component_bytes / 1024,
        ));
    }
    summary.iter().map(|words| sentence(words)).collect()
}

/// Throughput of two cores over that of one, at every slot that has both.
pub(super) fn two_cores(ratios: &[TwoOverOne]) -> Option<String> {
    let times = |one: &TwoOverOne| format!("{} at slots of {}", figure(&one.ratio, 2), time(one.slot_us * 1e3));
    let all: Vec<String> = ratios.iter().map(times).collect();
    (!all.is_empty()).then(|| format!("two cores over one: {}", all.join(", ")))
}

/// Figure 2's third curve, and the chain split by the mapper.
fn two_nodes(outcome: &AloeOutcome) -> Vec<String> {
    let curve = outcome.longest.iter().filter(|point| point.nodes > 1).filter_map(|point| {
        let ended = point.ended_by.iter().max_by_key(|(_, rounds)| **rounds).map_or("nothing", |(who, _)| who);
        let used = point.cable_used_share.scaled(100.0);
        Some(format!(
            "{} at slots of {} ({} % of the cable, ended by {ended})",
            point.throughput_bps.value.map(rate)?,
            time(point.slot_us * 1e3),
            figure(&used, 0),
        ))
    });
    let curve: Vec<String> = curve.collect();
    let cable = outcome.two_nodes.cable_bps.map_or_else(|| "a cable".to_owned(), rate);
    let curve = (!curve.is_empty()).then(|| format!("two nodes joined by {cable} carry {}", curve.join(", ")));
    curve.into_iter().chain(split(outcome)).collect()
}

/// At the shortest slot that was held by each pair.
fn split(outcome: &AloeOutcome) -> Vec<String> {
    let mut summary = Vec::new();
    let pairs = [
        (["native", "native"], "two native nodes"),
        (["aarch64", "native"], "an emulated aarch64 and a native node"),
        (["aarch64", "aarch64"], "two emulated aarch64 nodes"),
    ];
    for (pair, nodes) in pairs {
        let points = || outcome.two_nodes.split.iter().filter(move |p| p.pair() == pair && p.rounds > 0);
        let Some(any) = points().next() else { continue };
        let held = points().find(|point| point.misses == 0);
        let held = held.map_or_else(
            || "no slot tried was held in all rounds".to_owned(),
            |point| format!("of the slots tried, {} is the shortest held in all rounds", time(point.slot_us * 1e3)),
        );
        summary.push(format!(
            "the UTRAN chain on {nodes}: the mapper cuts it after {}, where it needs at least {} for the cable and {} for all \
             components; {held}",
            any.cut_after.keys().cloned().collect::<Vec<_>>().join(" or "),
            any.link_ns.value.map(time).unwrap_or_default(),
            any.components_ns.value.map(time).unwrap_or_default(),
        ));
    }
    summary
}

fn execution(outcome: &AloeOutcome) -> Option<String> {
    let (execution, paper) = (&outcome.execution, &outcome.paper.execution);
    let total = execution.total.as_ref()?;
    let slowest = |of: &&super::ExecutionPoint| of.many_ns.value.unwrap_or_default();
    let slowest = execution.components.iter().max_by(|a, b| slowest(a).total_cmp(&slowest(b)))?;
    let (all, most) = (total.many_ns.value?, slowest.many_ns.value?);
    Some(format!(
        "the UTRAN chain of {} components takes {} of a slot of {} (mean of {} slots), of which {} takes {}; the paper: {} µs on \
         its x86 and {} µs on its ARM, {} and {} times as much",
        paper.components.len(),
        interval(&total.many_ns),
        time(execution.slot_us * 1e3),
        execution.many_slots,
        slowest.paper.name,
        time(most),
        paper.total.x86_us,
        paper.total.arm_us,
        times(paper.total.x86_us * 1e3, all),
        times(paper.total.arm_us * 1e3, all),
    ))
}

fn elsewhere(outcome: &AloeOutcome) -> Option<String> {
    let (elsewhere, paper) = (&outcome.elsewhere, &outcome.paper.execution.total);
    let total = elsewhere.total.as_ref().filter(|total| total.many_ns.value.is_some())?;
    let Errors { clock_pct, mac_pct, instructions_pct } = &total.error;
    Some(format!(
        "on an emulated aarch64 ({}) the same chain takes {}, {} times as long as here. An estimate from here errs by {} % with \
         the integer rate for the clock frequency, {} % with multiply-accumulates and {} % with counted instructions; the \
         paper, from its x86 to its ARM: {} and {} %",
        elsewhere.processor.as_deref().unwrap_or("unknown"),
        interval(&total.many_ns),
        figure(&total.over_here, 1),
        figure(clock_pct, 0),
        figure(mac_pct, 0),
        figure(instructions_pct, 0),
        paper.time_error_pct,
        paper.mac_error_pct,
    ))
}

fn times(paper: f64, here: f64) -> String {
    if here > 0.0 { significant(paper / here, 2) } else { "many".to_owned() }
}

pub(super) fn caveats(outcome: &AloeOutcome) -> Vec<String> {
    let mut words = vec![
        "the paper's machines are from 2010 (2.27 GHz x86, 1.2 GHz ARMv5), so part of every ratio is due to the CPU; for \
         comparison, each figure has a floor of this host beside it"
            .to_owned(),
        "the links of ALOE copy each packet twice and those of takt do not, so write and read count here as if an application \
         copied in and out"
            .to_owned(),
        "two nodes are two namespaces of one machine with a virtual cable of the paper's rate between them: bytes and their \
         times on the cable are those of a real one, but there is no network card and no second crystal"
            .to_owned(),
        "with an interval of 10 ms, the standard's first interleaver changes nothing and is a copy here; the paper counts it \
         like the others, so its row compares two different things"
            .to_owned(),
        "takt's components are not ALOE's, so their times differ by machine and by program, and a multiply-accumulate here is \
         not a unit of the work that ALOE's components did"
            .to_owned(),
    ];
    words.push(not_arm(outcome));
    if outcome.real_time == Some(false) {
        let normal = "workers ran at normal priority, because takt may not use real-time priority here; it shortens the longest packets";
        words.push(normal.to_owned());
    }
    let rounds = &outcome.of.rounds;
    let not = rounds.disturbed + rounds.failed;
    if not > 0 {
        words.push(format!("{not} rounds do not count: other load disturbed them, or takt could not run them"));
    }
    words.extend(outcome.of.limits());
    words.iter().map(|words| sentence(words)).collect()
}

/// Warning about the ARM columns.
fn not_arm(outcome: &AloeOutcome) -> String {
    match &outcome.elsewhere {
        Elsewhere { processor: Some(_), .. } => {
            "beside the paper's ARM is user emulation of another instruction set, a slower and different kind of CPU; its times \
             do not show how fast an ARM machine is"
                .to_owned()
        }
        Elsewhere { skipped: Some(why), .. } => format!("takt measured nothing for the paper's ARM columns: {why}"),
        _ => "takt measured nothing for the paper's ARM columns".to_owned(),
    }
}

/// Stand-in for a role's work here, and how its cost was measured.
pub(super) fn how(role: &str) -> &'static str {
    match role {
        "EXEC" => {
            "The worker itself: it waits for the slot's edge, reads commands, checks the deadline, and records the slot. \
             Measured as the intercept of the line through chains of several lengths; T_module has the cost of measuring a \
             component."
        }
        "STATS" => {
            "Another thread sets one variable and reads one in every slot. Measured as the busy time of such slots less that of \
             slots without, in turns. With nothing to set, takt only looks at a queue, in EXEC."
        }
        "SWLOAD" => {
            "No cost per slot: another thread checks and opens the waveform, before the start or for a later slot edge. The time \
             is that of each component, once."
        }
        "BRIDGE" => {
            "The link itself, if it joins two cores: hand-over of 64 bits between two spinning cores, per link and slot. The \
             table of the split waveform has the time of a bridge's ends between two machines."
        }
        "FRONTEND" => {
            "No cost per slot of its own: control waits in the queue that EXEC reads, and another thread reads the state."
        }
        "SWMAN" | "STATSMAN" => "No cost per slot: takt reads histograms and variables outside real time.",
        _ => "Not measured.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RoundValue;

    #[test]
    fn two_cores_are_shown_at_every_slot_with_their_intervals() {
        let ratio = |slot_us, of: &[f64]| {
            let rounds = of.iter().map(|value| RoundValue { round_id: 1, value: *value, counts: true });
            TwoOverOne { slot_us, ratio: Figure::from_rounds(rounds.collect()) }
        };
        let ratios = [ratio(500.0, &[1.25, 1.25]), ratio(2_000.0, &[1.5])];
        let said = "two cores over one: 1.25 [1.25, 1.25] at slots of 500 µs, 1.50 at slots of 2 ms";
        assert_eq!(two_cores(&ratios).as_deref(), Some(said));
        assert_eq!(two_cores(&[]), None);
    }

    #[test]
    fn times_stand_in_the_unit_that_suits_them() {
        let times = [0.0, 12.34, 1_400.0, 250_000.0, 2e6, 3.2e9].map(time);
        assert_eq!(times, ["0 s", "12.3 ns", "1.4 µs", "250 µs", "2 ms", "3.2 s"]);
    }
}
