//! What `takt run` prints: what is about to run, and the table of what it cost.

use std::fmt::Write;

use takt_base::words::plural;
use takt_graph::{Graph, Plan};
use takt_runtime::{ComponentReport, Culprit, Miss, Quantiles, Report};

use super::packets;

/// Misses listed one by one; the rest is counted.
const LISTED: usize = 8;

pub fn opening(graph: &Graph, plan: &Plan, cores: &[usize], clock: &str) -> String {
    let workers = plan.workers().len();
    let place = match cores {
        [] => String::new(),
        cores => format!(" on cores {}", cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
    };
    format!(
        "{}: {} components, {}{place}, slots of {} by the {clock} clock, latency {}",
        graph.name(),
        graph.components().len(),
        plural(workers, "worker"),
        time(graph.slot_ns() as f64),
        plural(plan.latency_slots(), "slot"),
    )
}

/// What is wrong with packets, the table, the results, the misses, the answer.
pub fn report(report: &Report) -> String {
    let mut text = packets::first(report) + &table(report);
    if let Some(late) = report.lateness {
        let _ = writeln!(
            text,
            "\nrelease   {} late at p50, {} at p99, {} at most",
            opt(late.p50_ns),
            opt(late.p99_ns),
            time(late.max_ns as f64)
        );
    }
    for component in &report.components {
        if !component.results.is_empty() {
            let values: Vec<String> = component.results.iter().map(|(name, value)| format!("{name} {value}")).collect();
            let _ = writeln!(text, "{:<9} {}", component.name, values.join(", "));
        }
    }
    if let Some(hash) = &report.output_hash {
        let _ = writeln!(text, "output    {hash}");
    }
    let events = events(&report.miss_list);
    for event in events.iter().take(LISTED) {
        let _ = writeln!(text, "miss      {event}");
    }
    let beyond = events.iter().skip(LISTED).map(|event| event.misses).sum::<u64>() + report.misses_beyond;
    if beyond > 0 {
        let _ = writeln!(text, "          and {beyond} misses more");
    }
    if let Some(why) = &report.granted.priority_refused {
        let _ = writeln!(text, "note      no real-time priority: {why}");
    }
    if let Some(why) = &report.granted.memory_refused {
        let _ = writeln!(text, "note      memory is not locked: {why}");
    }
    text + &answer(report)
}

fn answer(report: &Report) -> String {
    let packets = packets::counted(report).map_or_else(String::new, |packets| packets + "; ");
    match report.misses {
        0 if packets.is_empty() => format!("No slot of {} was missed.\n", report.slots),
        0 => format!("{packets}no slot of {} was missed.\n", report.slots),
        misses => {
            format!("{packets}{} missed or late in {}.\n", plural(misses, "execution"), plural(report.slots, "slot"))
        }
    }
}

fn table(report: &Report) -> String {
    let name = report.components.iter().map(|c| c.name.len()).max().unwrap_or(0).max("component".len());
    let kind = report.components.iter().map(|c| c.kind.len()).max().unwrap_or(0).max("type".len());
    let mut text = format!(
        "{:<name$}  {:<kind$}  worker  {:>9}  {:>9}  {:>9}  {:>9}  {:>6}  {:>6}  {:>6}\n",
        "component", "type", "mean", "p50", "p99", "most", "slot %", "missed", "late"
    );
    for component in &report.components {
        text.push_str(&row(component, report.slot_ns, name, kind));
    }
    text
}

fn row(component: &ComponentReport, slot_ns: u64, name: usize, kind: usize) -> String {
    let of = |pick: fn(&Quantiles) -> Option<f64>| component.execution.as_ref().and_then(pick);
    let mean = of(|q| q.mean_ns);
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), time);
    let share = mean.map_or_else(|| "-".to_owned(), |mean| format!("{:.2}", 100.0 * mean / slot_ns as f64));
    let worker = component.worker.map_or_else(|| "-".to_owned(), |worker| worker.to_string());
    format!(
        "{:<name$}  {:<kind$}  {worker:>6}  {:>9}  {:>9}  {:>9}  {:>9}  {share:>6}  {:>6}  {:>6}\n",
        component.name,
        component.kind,
        cell(mean),
        cell(of(|q| q.p50_ns.map(|ns| ns as f64))),
        cell(of(|q| q.p99_ns.map(|ns| ns as f64))),
        cell(of(|q| Some(q.max_ns as f64))),
        component.missed,
        component.late + component.faults,
    )
}

/// Misses in a row on one worker with one culprit.
struct Event<'a> {
    culprit: &'a Culprit,
    worker: usize,
    first: u64,
    last: u64,
    components: Vec<&'a str>,
    misses: u64,
}

fn events(misses: &[Miss]) -> Vec<Event<'_>> {
    let mut events: Vec<Event<'_>> = Vec::new();
    for miss in misses {
        let end = miss.logical_slot + miss.count.saturating_sub(1);
        let (culprit, worker, first) = (&miss.culprit, miss.worker, miss.logical_slot);
        if events.last().is_none_or(|last| (last.culprit, last.worker) != (culprit, worker)) {
            events.push(Event { culprit, worker, first, last: end, components: Vec::new(), misses: 0 });
        }
        let Some(event) = events.last_mut() else { continue };
        event.first = event.first.min(miss.logical_slot);
        event.last = event.last.max(end);
        event.misses += miss.count;
        if !event.components.contains(&miss.component.as_str()) {
            event.components.push(&miss.component);
        }
    }
    events
}

impl std::fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Event { culprit, worker, first, last, components, .. } = self;
        if first == last {
            write!(f, "slot {first}")?;
        } else {
            write!(f, "slots {first} to {last}")?;
        }
        write!(f, " of {} on worker {worker}: ", components.join(", "))?;
        match culprit {
            Culprit::Component { component, slot, execution_ns, usual_ns, .. } => {
                let (took, usual) = (time(*execution_ns as f64), time(*usual_ns as f64));
                write!(f, "{component} took {took} in slot {slot}, where {usual} is usual")
            }
            Culprit::Radio { component, slot } => {
                write!(f, "the radio did not bring {component} the samples of slot {slot}")
            }
            Culprit::Release { slot, late_ns, .. } => {
                write!(f, "the host let the worker begin slot {slot} {} late", time(*late_ns as f64))
            }
        }
    }
}

fn opt(ns: Option<u64>) -> String {
    ns.map_or_else(|| "over 1 s".to_owned(), |ns| time(ns as f64))
}

/// A time with three digits and its unit.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = match value {
        value if value >= 100.0 || value.fract() == 0.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}
