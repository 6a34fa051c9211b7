//! Results of a beat.

use serde::{Deserialize, Serialize};
use takt_host::accounting::Usage;
use takt_host::memory::MemoryError;
use takt_stats::{Histogram, Ns, Quantiles};

use crate::account::Account;
use crate::options::nanoseconds;
use crate::{Measured, WakeupOptions, load};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WakeupOutcome {
    pub options: WakeupOptions,
    /// The policy the threads had, in the words of the scheduler.
    pub policy: String,
    pub ticks: u64,
    /// Ticks among them that a thread slept over; each is counted as late as it was.
    pub unsampled: u64,
    /// From a tick's intended time until the thread was awake, all ticks.
    pub lateness: Quantiles,
    pub lateness_ns: Histogram<Ns>,
    /// Ticks a second of the clock that wake-ups are compared with: the one requested, else the kernel's (`CONFIG_HZ`);
    /// `None`: it does not say.
    #[serde(default)]
    pub clock_hz: Option<u32>,
    /// Wake-ups that came within an eighth of a tick of that clock after the tick, of all wake-ups. For sleeps that end
    /// at ticks it is nearly all; for others an eighth, if the interval is not commensurate with the clock.
    #[serde(default)]
    pub on_tick_share: Option<f64>,
    /// Ticks later than the limit; `None` without one.
    pub above_limit: Option<u64>,
    /// No tick was later than the limit, and it ran to its end; `None` without one.
    pub within_limit: Option<bool>,
    pub threads: Vec<Thread>,
    /// Time that the hypervisor gave to others while a CPU of these threads wanted to run, all of them together. The
    /// kernel counts it in steps of 10 ms.
    pub stolen_ns: u64,
    pub load_cpu_ns: u64,
    pub foreign_cpu_ns: u64,
    pub wall_ns: u64,
    pub complete: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// The CPU it was tied to; `None`: to none.
    pub cpu: Option<usize>,
    pub ticks: u64,
    pub unsampled: u64,
    /// Most ticks that one sleep lasted over.
    pub longest_gap_ticks: u64,
    pub lateness: Quantiles,
    pub lateness_ns: Histogram<Ns>,
    /// Only ticks that had a wake-up of their own: what a program sees that skips what it slept over.
    pub awake: Quantiles,
    /// Its timer slack; a real-time thread has none.
    pub slack_ns: u64,
    pub cpu_ns: u64,
    /// Time it was ready to run and another ran; `None`: this kernel does not count it.
    pub waited_for_cpu_ns: Option<u64>,
    /// Time that the hypervisor took of its CPU; `None` if it is tied to none.
    pub stolen_ns: Option<u64>,
}

pub(crate) fn of(
    options: &WakeupOptions,
    measured: &[Measured],
    usage: &Usage,
    unlocked: Option<MemoryError>,
    complete: bool,
) -> WakeupOutcome {
    let threads: Vec<Thread> = measured.iter().map(|measured| thread(measured, usage)).collect();
    let mut lateness_ns = Histogram::<Ns>::default();
    for thread in &threads {
        // Alike by construction: all have the default bound.
        let _ = lateness_ns.merge(&thread.lateness_ns);
    }
    let above_limit = options.limit.map(|limit| above(&lateness_ns, nanoseconds(limit)));
    let tied: Vec<usize> = threads.iter().filter_map(|thread| thread.cpu).collect();
    let counted = usage.cpus.iter().filter(|one| tied.is_empty() || tied.contains(&one.cpu));
    let of_load = usage.process.threads.iter().filter(|thread| thread.name == load::NAME);
    WakeupOutcome {
        options: options.clone(),
        policy: options.policy.with_period(options.interval).to_string(),
        ticks: lateness_ns.len(),
        unsampled: threads.iter().map(|thread| thread.unsampled).sum(),
        lateness: Quantiles::of(&lateness_ns),
        clock_hz: measured.iter().find_map(|thread| thread.account.on_tick).map(|on_tick| on_tick.ticks.hz()),
        on_tick_share: on_tick_share(measured),
        above_limit,
        within_limit: above_limit.map(|above| above == 0 && complete),
        stolen_ns: counted.map(|one| one.classes.steal_ns).sum(),
        load_cpu_ns: of_load.map(|thread| thread.cpu_ns).sum(),
        foreign_cpu_ns: usage.foreign_task_cpu_ns,
        wall_ns: usage.wall_ns,
        complete,
        notes: notes(options, &threads, unlocked),
        lateness_ns,
        threads,
    }
}

fn on_tick_share(measured: &[Measured]) -> Option<f64> {
    let accounts = || measured.iter().map(|thread| &thread.account);
    let on_tick: u64 = accounts().map(|account| account.on_tick.map(|on_tick| on_tick.wakeups)).sum::<Option<u64>>()?;
    let all: u64 = accounts().map(|account| account.awake_ns.len()).sum();
    (all > 0).then(|| on_tick as f64 / all as f64)
}

impl Thread {
    /// The account's counts; the rest is not known yet.
    pub(crate) fn counted(account: &Account) -> Thread {
        Thread {
            ticks: account.lateness_ns.len(),
            unsampled: account.unsampled,
            longest_gap_ticks: account.longest_gap,
            lateness: Quantiles::of(&account.lateness_ns),
            lateness_ns: account.lateness_ns.clone(),
            awake: Quantiles::of(&account.awake_ns),
            ..Thread::default()
        }
    }
}

fn thread(measured: &Measured, usage: &Usage) -> Thread {
    let own = usage.process.threads.iter().find(|thread| thread.tid == measured.tid);
    let cpu = |cpu| usage.cpus.iter().find(|one| one.cpu == cpu);
    Thread {
        cpu: measured.cpu,
        slack_ns: measured.slack_ns,
        cpu_ns: own.map_or(0, |thread| thread.cpu_ns),
        waited_for_cpu_ns: own.and_then(|thread| thread.run_delay_ns),
        stolen_ns: measured.cpu.and_then(cpu).map(|one| one.classes.steal_ns),
        ..Thread::counted(&measured.account)
    }
}

/// Values above a limit. The largest is known exactly, the others to one part in a thousand.
fn above(lateness_ns: &Histogram<Ns>, limit_ns: u64) -> u64 {
    match lateness_ns.max() {
        Some(max) if max > limit_ns => lateness_ns.count_above(limit_ns).max(1),
        _ => 0,
    }
}

fn notes(options: &WakeupOptions, threads: &[Thread], unlocked: Option<MemoryError>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(error) = unlocked {
        let fix = error.fix().map_or(String::new(), |fix| format!("; fix: {}", fix.replace('\n', "; or ")));
        notes.push(format!("memory is not locked, so a page fault may make a tick late: {error}{fix}"));
    }
    if let Some(thread) = threads.iter().find(|thread| thread.slack_ns > 1) {
        let slack_us = thread.slack_ns as f64 / 1e3;
        let range = format!("up to {slack_us} µs late on purpose; --slack 1ns ends that");
        notes.push(format!("timer slack lets the kernel wake these threads {range}"));
    }
    if let Some(hz) = options.tick_hz {
        notes.push(format!(
            "sleeps end at ticks of {hz} Hz of CLOCK_MONOTONIC, counted from its zero: a tick of the beat may be late by \
             {:.0} µs for that alone",
            1e6 / f64::from(hz)
        ));
    }
    if options.timer.awake_before().is_none() && options.policy.is_real_time() {
        let throttling = "the kernel's real-time throttling: sched_rt_runtime_us";
        notes.push(format!("a real-time thread that spins is stopped by {throttling}"));
    }
    notes
}
