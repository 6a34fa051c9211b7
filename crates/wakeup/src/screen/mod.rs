//! Screen of `takt wakeup`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::{Thread, WakeupOutcome};
use takt_base::shown::{count, duration, significant, time, time_ns};
use takt_base::words::{plural, sentence};
use takt_stats::Quantiles;
use takt_stats::{Histogram, Ns};

use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

/// With how many ticks were how late, if `histogram`.
pub fn screen(outcome: &WakeupOutcome, histogram: bool) -> Screen {
    let limit = "no verdict without a limit; to get one, give --limit 100us";
    let without = (outcome.options.limit.is_none() && outcome.complete).then(|| limit.to_owned());
    Screen {
        answer: outcome
            .within_limit
            .filter(|_| outcome.complete)
            .map(|yes| if yes { ReportAnswer::Yes } else { ReportAnswer::No }),
        headline: headline(outcome),
        facts: facts(outcome),
        tables: std::iter::once(threads(outcome)).chain(histogram.then(|| steps(outcome))).collect(),
        summary: remarks(outcome).chain(without).map(|words| sentence(&words)).collect(),
        ..Screen::default()
    }
}

fn headline(outcome: &WakeupOutcome) -> String {
    let ticks = count(outcome.ticks);
    let late = |us: Option<f64>| known(us, |us| time(us * 1e-6));
    let worst = late(outcome.lateness.max_us);
    if !outcome.complete {
        return format!("Stopped early, after {ticks} ticks.");
    }
    match (outcome.options.limit, outcome.above_limit) {
        (Some(limit), Some(above)) => {
            let were = match above {
                0 => "none".to_owned(),
                above => count(above),
            };
            let was = if above > 1 { "were" } else { "was" };
            let limit = time(limit.as_secs_f64());
            format!("{were} of {ticks} ticks {was} later than {limit}; the latest was {worst} late.")
        }
        _ => {
            let [half, most] = [outcome.lateness.p50_us, outcome.lateness.p99_9_us].map(late);
            format!("Half of {ticks} ticks were at most {half} late, 99.9 % at most {most}, the latest {worst}.")
        }
    }
}

fn facts(outcome: &WakeupOutcome) -> Vec<String> {
    let options = &outcome.options;
    let tick = options.tick_hz.map_or(String::new(), |hz| format!(" at ticks of {hz} Hz"));
    let load = (options.load > 0).then(|| plural(options.load, "busy loop"));
    let timer = format!("{}{tick}", options.timer.name());
    [outcome.policy.clone(), timer, format!("every {}", time(options.interval.as_secs_f64()))]
        .into_iter()
        .chain(load)
        .chain([duration(options.duration.as_secs_f64())])
        .collect()
}

fn threads(outcome: &WakeupOutcome) -> Table {
    let heads = ["ticks", "slept over", "min", "p50", "p99", "p99.9", "max", "waited", "stolen"];
    let rows = outcome.threads.iter().map(|thread| {
        let cpu = thread.cpu.map_or("any".to_owned(), |cpu| cpu.to_string());
        row(cpu, thread.ticks, thread.unsampled, &thread.lateness, Some(thread))
    });
    let all = || row("all".to_owned(), outcome.ticks, outcome.unsampled, &outcome.lateness, None);
    table("CPU", &heads, &[], rows.chain((outcome.threads.len() > 1).then(all)))
}

fn row(cpu: String, ticks: u64, unsampled: u64, late: &Quantiles, of: Option<&Thread>) -> Vec<String> {
    let Quantiles { min_us, p50_us, p99_us, p99_9_us, max_us } = *late;
    let late = [min_us, p50_us, p99_us, p99_9_us, max_us].map(|us| known(us, |us| time(us * 1e-6)));
    let lost = of.map(|thread| [thread.waited_for_cpu_ns, thread.stolen_ns].map(|ns| known(ns, time_ns)));
    [cpu, count(ticks), count(unsampled)].into_iter().chain(late).chain(lost.unwrap_or_default()).collect()
}

fn remarks(outcome: &WakeupOutcome) -> impl Iterator<Item = String> + '_ {
    let wall_s = outcome.wall_ns as f64 / 1e9;
    let share = |ns: u64| ns as f64 / 1e9 / wall_s.max(1e-9);
    let slept_over = outcome.threads.iter().map(|thread| thread.longest_gap_ticks).max().filter(|&most| most > 0);
    let cores = |ns| significant(share(ns), 3);
    let all = [
        slept_over.map(|most| {
            let ticks = plural(outcome.unsampled, "tick");
            let were = if outcome.unsampled == 1 { "was" } else { "were" };
            format!("{ticks} {were} slept over, up to {most} in a row; all figures include them")
        }),
        (outcome.stolen_ns > 0).then(|| {
            let stolen = time_ns(outcome.stolen_ns);
            format!("the hypervisor took {stolen} from these cores; no setting of this machine fixes that")
        }),
        (outcome.options.load > 0).then(|| format!("the busy loops used {} cores", cores(outcome.load_cpu_ns))),
        (share(outcome.foreign_cpu_ns) >= 0.05)
            .then(|| format!("other programs used {} cores", cores(outcome.foreign_cpu_ns))),
    ];
    all.into_iter().flatten().chain(outcome.notes.iter().cloned())
}

/// How many ticks were how late: a row for each step of lateness that occurred, a column for each thread. Steps are of 1 µs
/// below 100 µs, of 10 µs below 1 ms, and so on.
fn steps(outcome: &WakeupOutcome) -> Table {
    let columns: Vec<_> = outcome.threads.iter().map(|thread| by_step(&thread.lateness_ns)).collect();
    let steps: BTreeSet<u64> = columns.iter().flat_map(|column| column.keys().copied()).collect();
    let name = |thread: &Thread| thread.cpu.map_or("any".to_owned(), |cpu| format!("CPU {cpu}"));
    let names: Vec<String> = outcome.threads.iter().map(name).collect();
    let rows = steps.into_iter().map(|step| {
        let counts = columns.iter().map(|column| count(column.get(&step).copied().unwrap_or(0)));
        std::iter::once(step.to_string()).chain(counts).collect()
    });
    table("from µs", &names.iter().map(String::as_str).collect::<Vec<_>>(), &[], rows)
}

/// Counts by the lower end of their step, µs.
fn by_step(histogram: &Histogram<Ns>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for (ns, count) in histogram.steps() {
        let us = ns / 1000;
        let step = 10u64.pow(us.checked_ilog10().unwrap_or(0).saturating_sub(1));
        *counts.entry(us / step * step).or_insert(0) += count;
    }
    if histogram.beyond() > 0 {
        *counts.entry(histogram.bound() / 1000).or_insert(0) += histogram.beyond();
    }
    counts
}
