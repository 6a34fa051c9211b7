//! What `takt map` prints.

use std::fmt::Write;

use takt_base::words::plural;
use takt_mapper::{Algorithm, Bounds, Change, Costs, Infeasible, Mapping, Metric, Next, Platform, Predicted};

use crate::command::run::text::time;

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
    let _ = writeln!(text, "{:<width$}  {:>9}  {:>6}  components in order", "core", "load", "slot %");
    for load in &mapping.core_loads {
        let (ns, share) = (time(load.load_ns as f64), 100.0 * load.share);
        let processes = load.processes.iter().map(|name| format!("the process of {name}"));
        let all: Vec<String> = load.components.iter().cloned().chain(processes).collect();
        let _ = writeln!(text, "{:<width$}  {ns:>9}  {share:>6.2}  {}", load.core, all.join(", "));
    }
    for load in &mapping.link_loads {
        let ns = time(load.load_ns as f64);
        let _ = writeln!(text, "link      {} to {}: {} bytes a slot, {ns}", load.from, load.to, load.bytes);
    }
    let _ = writeln!(text, "period    {}, {}", time(mapping.period_ns as f64), quality(mapping));
    let _ = writeln!(text, "bound     {}, {}", time(mapping.bound_ns as f64), reason(&mapping.bounds));
    let _ = writeln!(text, "latency   {}", plural(mapping.latency_slots, "slot"));
    let better = |next: &&Next| next.period_ns < mapping.period_ns || next.latency_slots < mapping.latency_slots;
    for next in mapping.next.iter().filter(better) {
        let change = match &next.change {
            Change::Move { components, process, from, to } => {
                let what = if *process { "the process of " } else { "" };
                format!("move {what}{} from {from} to {to}", components.join(", "))
            }
            Change::Halve { component, percent } => {
                format!("make {component} ({percent} % of its core) twice as fast")
            }
        };
        let (period, latency) = (time(next.period_ns as f64), plural(next.latency_slots, "slot"));
        let _ = writeln!(text, "next      {change}: period {period}, latency {latency}");
    }
    let times = mapping.slot_ns as f64 / mapping.period_ns.max(1) as f64;
    let _ = write!(text, "It fits: a slot is {times:.1} times the period.");
    text
}

/// What the components take on other classes of cores than they were measured on, and how far that can be trusted; nothing
/// where none is asked for.
pub fn predicted(costs: &Costs, predicted: &[Predicted]) -> String {
    let elsewhere: Vec<&Predicted> = predicted.iter().filter(|one| one.class != costs.reference).collect();
    if elsewhere.is_empty() {
        return String::new();
    }
    let of = |pick: fn(&Predicted) -> &str, head: &str| {
        elsewhere.iter().map(|one| pick(one).len()).max().unwrap_or(0).max(head.len())
    };
    let (name, class) = (of(|one| &one.component, "component"), of(|one| &one.class, "class"));
    let mut text = format!("Measured on {}, predicted:\n", costs.reference);
    let _ = writeln!(text, "{:<name$}  {:<class$}  {:>9}  {:>9}  by", "component", "class", "p50 here", "there");
    for one in &elsewhere {
        let here = costs.components.get(&one.component);
        let here = here.map_or_else(|| "-".to_owned(), |cost| time(cost.p50_ns as f64));
        let (component, on, there) = (&one.component, &one.class, time(one.ns as f64));
        let _ = writeln!(text, "{component:<name$}  {on:<class$}  {here:>9}  {there:>9}  {}", by(one.metric));
    }
    for metric in [Metric::Instructions, Metric::Scaled, Metric::Mac] {
        let count = elsewhere.iter().filter(|one| one.metric == metric).count();
        if let Some(error) = metric.expected_error().filter(|_| count > 0) {
            let [mean, low, high] = [error.mean, error.low, error.high].map(|share| 100.0 * share);
            let _ = writeln!(
                text,
                "expect    {count} by {}: {mean:.0} % off on average, {low:.0} to {high:.0} % (95 %)",
                by(metric)
            );
        }
    }
    text.push('\n');
    text
}

fn by(metric: Metric) -> &'static str {
    match metric {
        Metric::Measured => "measurement",
        Metric::Budget => "its budget",
        Metric::Instructions => "counted instructions",
        Metric::Scaled => "instructions of its like",
        Metric::Mac => "MACs alone",
    }
}

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

pub fn infeasible(waveform: &str, why: &Infeasible) -> String {
    let best = why
        .best_ns
        .map_or_else(String::new, |ns| format!("\n  best  the shortest period found is {}", time(ns as f64)));
    format!("{waveform} does not fit: {why}{best}\n  fix   {}", why.fix())
}
