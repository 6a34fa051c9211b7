//! An outcome as people read it: a table, what to know about it, and the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use takt_stats::{Histogram, Ns};

use super::{Outcome, Thread};
use crate::round_trip::Quantiles;

impl Outcome {
    /// The whole as text; the last line is the answer, if a limit was given.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text.truncate(text.trim_end().len());
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "{}", self.headline())?;
        writeln!(
            text,
            "  CPU      ticks   unsampled      min      p50      p99    p99.9        max µs   waited ms   stolen ms"
        )?;
        for thread in &self.threads {
            let cpu = thread.cpu.map_or("any".to_owned(), |cpu| cpu.to_string());
            writeln!(text, "{}", row(&cpu, thread.ticks, thread.unsampled, &thread.lateness, Some(thread)))?;
        }
        if self.threads.len() > 1 {
            writeln!(text, "{}", row("all", self.ticks, self.unsampled, &self.lateness, None))?;
        }
        for note in self.remarks() {
            writeln!(text, "  note     {note}")?;
        }
        writeln!(text, "{}", self.answer())
    }

    fn headline(&self) -> String {
        let options = &self.options;
        let tick = options.tick_hz.map_or(String::new(), |hz| format!(" at ticks of {hz} Hz"));
        let load = match options.load {
            0 => String::new(),
            1 => " · 1 busy loop".to_owned(),
            n => format!(" · {n} busy loops"),
        };
        format!(
            "{} · {}{tick} · every {}{load} · {:.1} s",
            self.policy,
            options.timer.name(),
            us(options.interval),
            options.duration.as_secs_f64()
        )
    }

    fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let wall_s = self.wall_ns as f64 / 1e9;
        let share = |ns: u64| ns as f64 / 1e9 / wall_s.max(1e-9);
        let slept_over = self.threads.iter().map(|thread| thread.longest_gap_ticks).max().filter(|&most| most > 0);
        let all = [
            slept_over.map(|most| {
                format!("{} ticks were slept over, up to {most} in a row; they are in all figures", self.unsampled)
            }),
            (self.stolen_ns > 0).then(|| {
                let stolen_ms = self.stolen_ns / 1_000_000;
                format!("the hypervisor took {stolen_ms} ms of these CPUs; no setting of this machine mends that")
            }),
            (self.options.load > 0).then(|| format!("the busy loops had {:.2} CPUs", share(self.load_cpu_ns))),
            (share(self.foreign_cpu_ns) >= 0.05)
                .then(|| format!("other programs had {:.2} CPUs", share(self.foreign_cpu_ns))),
        ];
        all.into_iter().flatten().chain(self.notes.iter().cloned())
    }

    fn answer(&self) -> String {
        if !self.complete {
            return format!("Ended after {} ticks, before its time.", self.ticks);
        }
        let (Some(limit), Some(above)) = (self.options.limit, self.above_limit) else {
            return "No limit was given (--limit 100us), so there is no verdict.".to_owned();
        };
        let (limit, worst) = (us(limit), self.lateness.max_us.unwrap_or_default());
        let ticks = self.ticks;
        let (count, were) = if above == 0 { ("Yes: none".to_owned(), "was") } else { (format!("No: {above}"), "were") };
        format!("{count} of {ticks} ticks {were} later than {limit}; the latest was {worst:.1} µs late.")
    }

    /// How many ticks were how late: a line for each step of lateness that occurred, a column for each thread. Steps are
    /// of 1 µs below 100 µs, of 10 µs below 1 ms, and so on.
    #[must_use]
    pub fn histogram_text(&self) -> String {
        let columns: Vec<_> = self.threads.iter().map(|thread| by_step(&thread.lateness_ns)).collect();
        let steps: BTreeSet<u64> = columns.iter().flat_map(|column| column.keys().copied()).collect();
        let mut text = String::from("# from µs");
        for thread in &self.threads {
            let cpu = thread.cpu.map_or("any".to_owned(), |cpu| format!("CPU {cpu}"));
            let _ = write!(text, "  {cpu:>10}");
        }
        for step in steps {
            let _ = write!(text, "\n{step:>9}");
            for column in &columns {
                let _ = write!(text, "  {:>10}", column.get(&step).copied().unwrap_or(0));
            }
        }
        text
    }
}

fn row(cpu: &str, ticks: u64, unsampled: u64, late: &Quantiles, of: Option<&Thread>) -> String {
    let us = |value: Option<f64>| value.map_or("-".to_owned(), |us| format!("{us:.1}"));
    let ms = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| format!("{:.1}", ns as f64 / 1e6));
    let [waited, stolen] = of.map(|thread| [thread.waited_for_cpu_ns, thread.stolen_ns].map(ms)).unwrap_or_default();
    let Quantiles { min_us, p50_us, p99_us, p99_9_us, max_us } = *late;
    let [min, p50, p99, p99_9, max] = [min_us, p50_us, p99_us, p99_9_us, max_us].map(us);
    let late = format!("{min:>8} {p50:>8} {p99:>8} {p99_9:>8} {max:>13}");
    format!("  {cpu:<4} {ticks:>9} {unsampled:>11} {late} {waited:>11} {stolen:>11}").trim_end().to_owned()
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

fn us(span: Duration) -> String {
    format!("{} µs", span.as_nanos() as f64 / 1e3)
}
