//! What `takt map` prints.

use std::fmt::Write;

use takt_mapper::{Algorithm, Bounds, Change, Infeasible, Mapping, Next, Platform};

use crate::command::run::text::{slots, time};

/// The cores, the period beside its bound, the next moves, the answer.
pub fn mapping(waveform: &str, platform: &Platform, mapping: &Mapping) -> String {
    let mut text = format!(
        "{waveform} on {}: {} of {} cores, slots of {}, of which work may take {}\n",
        platform.name(),
        mapping.cores.len(),
        platform.cores().len(),
        time(mapping.slot_ns as f64),
        time(mapping.allowed_ns as f64),
    );
    let width = mapping.core_loads.iter().map(|load| load.core.len()).max().unwrap_or(0).max("core".len());
    // Writing to a String can't fail.
    let _ = writeln!(text, "{:<width$}  {:>9}  {:>6}  components in order", "core", "load", "slot %");
    for load in &mapping.core_loads {
        let (ns, share) = (time(load.load_ns as f64), 100.0 * load.share);
        let _ = writeln!(text, "{:<width$}  {ns:>9}  {share:>6.2}  {}", load.core, load.components.join(", "));
    }
    for load in &mapping.link_loads {
        let ns = time(load.load_ns as f64);
        let _ = writeln!(text, "link      {} to {}: {} bytes a slot, {ns}", load.from, load.to, load.bytes);
    }
    let _ = writeln!(text, "period    {}, {}", time(mapping.period_ns as f64), quality(mapping));
    let _ = writeln!(text, "bound     {}, {}", time(mapping.bound_ns as f64), reason(&mapping.bounds));
    let _ = writeln!(text, "latency   {}", slots(u64::from(mapping.latency_slots)));
    let better = |next: &&Next| next.period_ns < mapping.period_ns || next.latency_slots < mapping.latency_slots;
    for next in mapping.next.iter().filter(better) {
        let change = match &next.change {
            Change::Move { components, from, to } => format!("move {} from {from} to {to}", components.join(", ")),
            Change::Halve { component, percent } => {
                format!("make {component} ({percent} % of its core) twice as fast")
            }
        };
        let (period, latency) = (time(next.period_ns as f64), slots(u64::from(next.latency_slots)));
        let _ = writeln!(text, "next      {change}: period {period}, latency {latency}");
    }
    let times = mapping.slot_ns as f64 / mapping.period_ns.max(1) as f64;
    let _ = write!(text, "It fits: a slot is {times:.1} times the period.");
    text
}

/// What found it, and how good it is.
fn quality(mapping: &Mapping) -> String {
    let by = match mapping.algorithm {
        Algorithm::OneCore => "all on one core".to_owned(),
        Algorithm::Cut => "cut in topological order".to_owned(),
        Algorithm::LargestFirst => "largest first".to_owned(),
        Algorithm::Trellis { window } => format!("t_w trellis, window {window}"),
        Algorithm::LocalSearch => "local search".to_owned(),
        Algorithm::BranchAndBound => "branch and bound".to_owned(),
    };
    match mapping.gap() {
        gap if gap <= 0.0 => format!("by {by}; no placement is better"),
        gap => format!("by {by}; at most {:.1} % from the best", 100.0 * gap),
    }
}

/// Which bound is the largest.
fn reason(bounds: &Bounds) -> String {
    let best = bounds.best_ns();
    let is = |ns: Option<u64>| ns == Some(best);
    if let Some(part) = bounds.component.as_ref().filter(|part| is(Some(part.ns))) {
        return format!("what {} takes alone", part.components.join(", "));
    }
    if let Some(part) = bounds.cycle.as_ref().filter(|part| is(Some(part.ns))) {
        return format!("the cycle of {}, which stays on one core", part.components.join(", "));
    }
    if let Some(link) = bounds.link.as_ref().filter(|link| is(Some(link.ns))) {
        return format!("what must pass from {} to {}", link.from, link.to);
    }
    if is(Some(bounds.work_ns)) {
        return "all work spread evenly".to_owned();
    }
    "two of the dearest components share a core".to_owned()
}

/// Why it does not fit, and what would mend it.
pub fn infeasible(waveform: &str, why: &Infeasible) -> String {
    let best = why
        .best_ns
        .map_or_else(String::new, |ns| format!("\n  best  the shortest period found is {}", time(ns as f64)));
    format!("{waveform} does not fit: {why}{best}\n  fix   {}", why.fix())
}
