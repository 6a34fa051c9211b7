//! Screens of `takt run`: what is about to run, and what it cost.

use takt_base::shown::{count, percent, time, time_ns};
use takt_base::words::plural;
use takt_graph::{Graph, Plan};
use takt_runtime::{ComponentReport, Culprit, Miss, Quantiles, Report, WorkerReport};

use super::run_packets as packets;
use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

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
        time_ns(graph.slot_ns()),
        plural(plan.latency_slots(), "slot"),
    )
}

/// The answer, the table, what is wrong with packets, the misses. `good`: a radio, if there is one, had its answers in time.
pub fn screen(report: &Report, good: bool) -> Screen {
    let events = events(&report.miss_list);
    let listed = events.iter().take(LISTED).map(|event| ("miss", event.to_string()));
    let beyond = events.iter().skip(LISTED).map(|event| event.misses).sum::<u64>() + report.misses_beyond;
    let beyond = (beyond > 0).then(|| ("", format!("and {beyond} more misses")));
    let refused = [
        ("no real-time priority", &report.granted.priority_refused),
        ("memory is not locked", &report.granted.memory_refused),
    ];
    let notes = refused.into_iter().filter_map(|(what, why)| Some(("note", format!("{what}: {}", why.as_ref()?))));
    let late = report.lateness.map(|late| {
        let over = |ns: Option<u64>| ns.map_or_else(|| "over 1 s".to_owned(), time_ns);
        let [p50, p99, most] = [over(late.p50_ns), over(late.p99_ns), time_ns(late.max_ns)];
        ("release", format!("{p50} late at p50, {p99} at p99, {most} at most"))
    });
    let results = report.components.iter().filter(|component| !component.results.is_empty()).map(|component| {
        let values: Vec<String> = component.results.iter().map(|(name, value)| format!("{name} {value}")).collect();
        ("result", format!("{}: {}", component.name, values.join(", ")))
    });
    let hash = report.output_hash.as_ref().map(|hash| ("output", hash.clone()));
    Screen {
        answer: Some(if good && report.is_clean() { ReportAnswer::Yes } else { ReportAnswer::No }),
        headline: headline(report, good),
        tables: vec![costs(report)],
        lines: listed.chain(beyond).chain(packets::all(report)).chain(notes).chain(results).chain(hash).collect(),
        explained: late.into_iter().chain(watching(report)).collect(),
        ..Screen::default()
    }
}

/// Cost of being punctual, in CPU time.
fn watching(report: &Report) -> Option<(&'static str, String)> {
    let sum = |of: fn(&WorkerReport) -> u64| report.workers.iter().map(of).sum::<u64>();
    let (watched, elapsed) = (sum(|worker| worker.watched_ns), sum(|worker| worker.elapsed_ns));
    let spin_ns = report.workers.iter().map(|worker| worker.spin_ns).max().filter(|&ns| ns > 0)?;
    let share = percent(watched as f64 / elapsed.max(1) as f64);
    Some(("waiting", format!("workers spin for {} before a slot, {share} of their time", time_ns(spin_ns))))
}

fn headline(report: &Report, good: bool) -> String {
    let late = if good { "" } else { "answers came too late for the radio; " };
    let packets = packets::counted(report).map_or_else(String::new, |packets| packets + "; ");
    let slots = count(report.slots);
    match report.misses {
        0 => format!("{late}{packets}no slot of {slots} was missed."),
        misses => {
            let of = plural(report.slots, "slot");
            format!("{late}{packets}{} missed or late in {of}.", plural(misses, "execution"))
        }
    }
}

/// The worker is a column only if there is more than one.
fn costs(report: &Report) -> Table {
    let several = report.components.iter().any(|component| component.worker.is_some_and(|worker| worker > 0));
    let row = |component: &ComponentReport| {
        let of = |pick: fn(&Quantiles) -> Option<f64>| component.execution.as_ref().and_then(pick);
        let mean = of(|q| q.mean_ns);
        let ns = |value: Option<f64>| known(value, |ns| time(ns * 1e-9));
        let worker = several.then(|| known(component.worker, |worker| worker.to_string()));
        let figures = [
            ns(mean),
            ns(of(|q| q.p50_ns.map(|ns| ns as f64))),
            ns(of(|q| q.p99_ns.map(|ns| ns as f64))),
            ns(of(|q| Some(q.max_ns as f64))),
            known(mean, |mean| percent(mean / report.slot_ns as f64)),
            count(component.missed),
            count(component.late + component.faults),
            component.kind.clone(),
        ];
        std::iter::once(component.name.clone()).chain(worker).chain(figures).collect()
    };
    let heads = ["worker", "mean", "p50", "p99", "most", "of slot", "missed", "late"];
    let heads = if several { &heads[..] } else { &heads[1..] };
    table("component", heads, &["type"], report.components.iter().map(row))
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
                let [took, usual] = [*execution_ns, *usual_ns].map(time_ns);
                write!(f, "{component} took {took} in slot {slot}, usually {usual}")
            }
            Culprit::Radio { component, slot } => {
                write!(f, "the radio did not bring {component} the samples of slot {slot}")
            }
            Culprit::Bridge { component, slot } => {
                write!(f, "{component} did not get the data of slot {slot} from another node in time")
            }
            Culprit::Release { slot, late_ns, .. } => {
                write!(f, "the host started slot {slot} of the worker {} late", time_ns(*late_ns))
            }
        }
    }
}
