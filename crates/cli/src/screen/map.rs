//! Screens of `takt map`.

use takt_base::shown::{percent, significant, time_ns};
use takt_base::words::{list, plural};
use takt_mapper::{Algorithm, Bounds, Change, Costs, Infeasible, Mapping, Metric, Next, Platform, Predicted};

use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

/// The answer, the cores, the period beside its bound, the next moves.
pub fn mapping(waveform: &str, platform: &Platform, mapping: &Mapping) -> Screen {
    let times = mapping.slot_ns as f64 / mapping.period_ns.max(1) as f64;
    let cores = format!("{} of {} cores", mapping.cores.len(), platform.cores().len());
    let (slot, allowed) = (time_ns(mapping.slot_ns), time_ns(mapping.allowed_ns));
    let loads = mapping.core_loads.iter().map(|load| {
        let processes = load.processes.iter().map(|name| format!("the process of {name}"));
        let all: Vec<String> = load.components.iter().cloned().chain(processes).collect();
        vec![load.core.clone(), time_ns(load.load_ns), percent(load.share), all.join(", ")]
    });
    let links = mapping.link_loads.iter().map(|load| {
        ("link", format!("{} to {}: {} bytes a slot, {}", load.from, load.to, load.bytes, time_ns(load.load_ns)))
    });
    let better = |next: &&Next| next.period_ns < mapping.period_ns || next.latency_slots < mapping.latency_slots;
    let bounds = [
        ("period", format!("{}, {}", time_ns(mapping.period_ns), quality(mapping))),
        ("bound", format!("{}, {}", time_ns(mapping.bound_ns), reason(&mapping.bounds))),
        ("latency", plural(mapping.latency_slots, "slot")),
    ];
    Screen {
        answer: Some(ReportAnswer::Yes),
        headline: format!("it fits; a slot is {} times the period.", significant(times, 3)),
        facts: vec![
            format!("{waveform} on {}", platform.name()),
            cores,
            format!("slots of {slot}, of which work may take {allowed}"),
        ],
        tables: vec![table("core", &["load", "of slot"], &["components in order"], loads)],
        lines: links.chain(bounds).chain(mapping.next.iter().filter(better).map(|next| ("next", step(next)))).collect(),
        ..Screen::default()
    }
}

fn step(next: &Next) -> String {
    let change = match &next.change {
        Change::Move { components, process, from, to } => {
            let what = if *process { "the process of " } else { "" };
            format!("move {what}{} from {from} to {to}", components.join(", "))
        }
        Change::Halve { component, percent } => {
            format!("make {component} ({percent} % of its core) twice as fast")
        }
    };
    format!("{change}: period {}, latency {}", time_ns(next.period_ns), plural(next.latency_slots, "slot"))
}

/// Expected times of components on other classes of cores than they were measured on; no row where none is requested.
pub fn predicted(costs: &Costs, predicted: &[Predicted]) -> Table {
    let elsewhere = elsewhere(costs, predicted);
    let rows = elsewhere.iter().map(|one| {
        let here = costs.components.get(&one.component);
        let [here, there] = [known(here, |cost| time_ns(cost.p50_ns)), time_ns(one.ns)];
        vec![one.component.clone(), here, there, one.class.clone(), by(one.metric).to_owned()]
    });
    let mut shown = table("component", &["p50 here", "there"], &["class", "by"], rows);
    shown.title = format!("Measured on {}, predicted:", costs.reference);
    shown
}

fn elsewhere<'a>(costs: &Costs, predicted: &'a [Predicted]) -> Vec<&'a Predicted> {
    predicted.iter().filter(|one| one.class != costs.reference).collect()
}

/// How far what is [`predicted`] can be trusted.
pub fn expected(costs: &Costs, predicted: &[Predicted]) -> Vec<(&'static str, String)> {
    let elsewhere = elsewhere(costs, predicted);
    let of = |metric: Metric| {
        let count = elsewhere.iter().filter(|one| one.metric == metric).count();
        let error = metric.expected_error().filter(|_| count > 0)?;
        let [mean, low, high] = [error.mean, error.low, error.high].map(|share| 100.0 * share);
        let off = format!("{mean:.0} % off on average, {low:.0} to {high:.0} % (95 %)");
        Some(("expect", format!("{count} by {}: {off}", by(metric))))
    };
    [Metric::Instructions, Metric::Scaled, Metric::Mac].into_iter().filter_map(of).collect()
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
        gap => format!("by {by}; at most {} from the best", percent(gap)),
    }
}

fn reason(bounds: &Bounds) -> String {
    let best = bounds.best_ns();
    let is = |ns: Option<u64>| ns == Some(best);
    if let Some(part) = bounds.component.as_ref().filter(|part| is(Some(part.ns))) {
        return format!("the time of {} alone", list(&part.components));
    }
    if let Some(part) = bounds.cycle.as_ref().filter(|part| is(Some(part.ns))) {
        return format!("the cycle of {}, which stays on one core", list(&part.components));
    }
    if let Some(link) = bounds.link.as_ref().filter(|link| is(Some(link.ns))) {
        return format!("the data from {} to {}", link.from, link.to);
    }
    if is(Some(bounds.work_ns)) {
        return "all work spread evenly".to_owned();
    }
    "two of the most expensive components share a core".to_owned()
}

pub fn infeasible(waveform: &str, why: &Infeasible) -> Screen {
    let best = why.best_ns.map(|ns| ("best", format!("the shortest period found is {}", time_ns(ns))));
    Screen {
        answer: Some(ReportAnswer::No),
        headline: format!("{waveform} does not fit: {why}"),
        lines: best.into_iter().chain([("fix", why.fix())]).collect(),
        ..Screen::default()
    }
}
