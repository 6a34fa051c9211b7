//! Cause of a stopped core, where no tracer says it: from counters that every kernel has.
//!
//! As the kernel's `osnoise` tracer reasons: a stop of a core in which no interrupt, no soft interrupt and no thread of this
//! kernel ran is the machine's (a hypervisor's); anything else is this host's. A thread that comes before every other wakes
//! late for one of two reasons, which the kernel tells apart by itself (`/proc/self/schedstat`):
//!
//! - its timer came in time, and it **queued** for its core: soft interrupts, another thread or the fair server had that. All
//!   of it is this host's.
//! - its timer came **late**: the machine had stopped the core, or this kernel held interrupts off, or an interrupt took long.
//!   No counter tells these apart by itself, so it is the machine's only where one of two proofs is there:
//!   - every core of the host was held at the same time, and no `migration` thread ran for so long (that is how Linux stops all
//!     of its own cores). A kernel holds interrupts off on the core on which it works;
//!   - the hypervisor says that it had the core (steal). The kernel tells that in ticks of 10 ms, so it counts as far as the
//!     stolen time can't have been beside the lateness.
//!
//! All else is not known. Cores that hold interrupts off while they wait for each other's lock, all of them at once, would be
//! taken for a stop of the machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, WallClock};

use crate::accounting::CpuClasses;
use crate::proc::{stat, task::Schedstat, tick_ns};
use crate::{Host, ReadError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The layer below this kernel.
    Machine,
    Interrupts,
    SoftInterrupts,
    /// Another thread of this host.
    Thread,
    #[default]
    NotKnown,
}

/// Counters of every core at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub at: MonoNs,
    pub cores: BTreeMap<usize, CoreCounters>,
}

/// Counters of one core since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounters {
    /// In ticks.
    pub classes: CpuClasses,
    pub interrupts: u64,
    pub soft_interrupts: u64,
    /// Time that its `migration` thread executed; `None`: it does not show, as in a container.
    pub stopper_ns: Option<u64>,
}

/// Reads the counters. Not for a real-time thread: each reading is some 100 us.
#[derive(Debug)]
pub struct Reader {
    host: Host,
    /// Process numbers of the `migration` threads, by core.
    stoppers: BTreeMap<usize, u32>,
}

impl Reader {
    #[must_use]
    pub fn of(host: Host) -> Reader {
        let stopper = |entry: String| {
            let pid: u32 = entry.parse().ok()?;
            let name = host.read_opt(&format!("/proc/{pid}/comm"))?;
            Some((name.trim().strip_prefix("migration/")?.parse().ok()?, pid))
        };
        let stoppers = host.list("/proc").into_iter().filter_map(stopper).collect();
        Reader { host, stoppers }
    }

    /// The counters of every core, now.
    ///
    /// # Errors
    /// `/proc/stat` is not there, or not as it is known.
    pub fn read(&self) -> Result<Counters, ReadError> {
        let classes = stat::read(&self.host)?.cpus;
        let counts = |path| self.host.read_opt(path).and_then(|text| per_core(&text)).unwrap_or_default();
        let (interrupts, soft_interrupts) = (counts("/proc/interrupts"), counts("/proc/softirqs"));
        let of = |counts: &BTreeMap<usize, u64>, cpu: usize| counts.get(&cpu).copied().unwrap_or(0);
        let core = |(cpu, classes)| {
            let (interrupts, soft_interrupts) = (of(&interrupts, cpu), of(&soft_interrupts, cpu));
            (cpu, CoreCounters { classes, interrupts, soft_interrupts, stopper_ns: self.stopper_ns(cpu) })
        };
        Ok(Counters { cores: classes.into_iter().map(core).collect(), at: WallClock.now() })
    }

    fn stopper_ns(&self, cpu: usize) -> Option<u64> {
        let text = self.host.read_opt(&format!("/proc/{}/schedstat", self.stoppers.get(&cpu)?))?;
        Some(Schedstat::parse(&text)?.on_cpu_ns)
    }
}

/// `/proc/interrupts` or `/proc/softirqs`: all sources together, by core. Lines that are not of cores (`ERR:`) are not counted.
#[must_use]
pub fn per_core(text: &str) -> Option<BTreeMap<usize, u64>> {
    let mut lines = text.lines();
    let heads = lines.next()?.split_whitespace().map(|head| head.strip_prefix("CPU")?.parse().ok());
    let cpus: Vec<usize> = heads.collect::<Option<_>>().filter(|cpus: &Vec<_>| !cpus.is_empty())?;
    let mut sums: BTreeMap<usize, u64> = cpus.iter().map(|&cpu| (cpu, 0)).collect();
    for line in lines {
        let Some((_, rest)) = line.split_once(':') else { continue };
        let counts: Vec<u64> = rest.split_whitespace().map_while(|word| word.parse().ok()).take(cpus.len()).collect();
        if counts.len() < cpus.len() {
            continue;
        }
        for (cpu, count) in cpus.iter().zip(counts) {
            let sum = sums.entry(*cpu).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    Some(sums)
}

/// A thread that comes before every other was late for its instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    pub late_ns: u64,
    /// How much of it it queued for its core; `None`: the kernel does not tell.
    pub queued_ns: Option<u64>,
    /// For how much of it the timers of every core of the host were late; `None`: not every core was looked at.
    pub all_cores_ns: Option<u64>,
}

/// Judgement of a delayed thread by two readings of its core, before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    pub cause: Cause,
    /// How much of it was the machine's, at least.
    pub machine_ns: u64,
}

/// Interrupts or soft interrupts a millisecond: more than a quiet core has.
const MANY_A_MS: u64 = 10;

#[must_use]
pub fn judge(delay: &Delay, span_ns: u64, before: &CoreCounters, after: &CoreCounters) -> Judgement {
    let not_known = Judgement::default();
    let Some(queued_ns) = delay.queued_ns.map(|ns| ns.min(delay.late_ns)) else { return not_known };
    let classes = after.classes.since(&before.classes);
    let timer_late_ns = delay.late_ns - queued_ns;
    if queued_ns > timer_late_ns {
        return Judgement { cause: of_this_host(span_ns, &classes, before, after), machine_ns: 0 };
    }
    // Linux stops all of its cores by threads of its own.
    let stopper_ns = before.stopper_ns.zip(after.stopper_ns).map(|(before, after)| after.saturating_sub(before));
    let all_cores_ns = delay.all_cores_ns.unwrap_or(0).min(timer_late_ns);
    let proved_by_all = stopper_ns.map_or(0, |stopper_ns| all_cores_ns.saturating_sub(stopper_ns));
    // Counted in whole ticks, and the part that has no room in the rest of the span was within the lateness.
    let stolen_ns = classes.steal_ns.saturating_sub(tick_ns());
    let proved_by_steal =
        stolen_ns.saturating_add(timer_late_ns).saturating_sub(span_ns.max(timer_late_ns)).min(timer_late_ns);
    let machine_ns = proved_by_all.max(proved_by_steal);
    if machine_ns > delay.late_ns / 2 {
        return Judgement { cause: Cause::Machine, machine_ns };
    }
    if stopper_ns.is_some_and(|ns| ns > delay.late_ns / 2) {
        return Judgement { cause: Cause::Thread, machine_ns };
    }
    // Kernels that account interrupts apart say for how long one kept others off.
    let interrupts_ns = classes.irq_ns.saturating_sub(tick_ns());
    let cause = if interrupts_ns > delay.late_ns / 2 { Cause::Interrupts } else { Cause::NotKnown };
    Judgement { cause, machine_ns }
}

/// Activity of this host on a core most of the time, by the ticks of each class. If less than a tick passed in all, the
/// number of interrupts decides.
fn of_this_host(span_ns: u64, classes: &CpuClasses, before: &CoreCounters, after: &CoreCounters) -> Cause {
    let threads_ns = classes.user_ns.saturating_add(classes.nice_ns).saturating_add(classes.system_ns);
    let many = span_ns.div_ceil(1_000_000).saturating_mul(MANY_A_MS);
    let more = |before: u64, after: u64| after.saturating_sub(before) > many;
    let in_ticks = classes.softirq_ns.max(classes.irq_ns).max(threads_ns) > 0;
    if classes.softirq_ns > threads_ns.max(classes.irq_ns) {
        Cause::SoftInterrupts
    } else if classes.irq_ns > threads_ns {
        Cause::Interrupts
    } else if !in_ticks && more(before.soft_interrupts, after.soft_interrupts) {
        Cause::SoftInterrupts
    } else if !in_ticks && more(before.interrupts, after.interrupts) {
        Cause::Interrupts
    } else {
        Cause::Thread
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Tree;

    const MS: u64 = 1_000_000;

    fn delay(late_ms: u64, queued_ms: Option<u64>, all_cores_ms: Option<u64>) -> Delay {
        let ns = |ms: Option<u64>| ms.map(|ms| ms * MS);
        Delay { late_ns: late_ms * MS, queued_ns: ns(queued_ms), all_cores_ns: ns(all_cores_ms) }
    }

    /// A core on whose `migration` thread nothing ran, and on which this was spent.
    fn spent(classes: CpuClasses) -> CoreCounters {
        CoreCounters { classes, stopper_ns: Some(0), ..CoreCounters::default() }
    }

    fn cause(delay: Delay, span_ms: u64, after: CoreCounters) -> Cause {
        judge(&delay, span_ms * MS, &spent(CpuClasses::default()), &after).cause
    }

    #[test]
    fn what_queued_for_its_core_was_held_by_this_host_whatever_else_is_reported() {
        let stolen = CpuClasses { steal_ns: 500 * MS, ..CpuClasses::default() };
        assert_eq!(cause(delay(50, Some(50), Some(50)), 60, spent(stolen)), Cause::Thread, "the fair server");
        let soft = CpuClasses { softirq_ns: 30 * MS, system_ns: 10 * MS, ..CpuClasses::default() };
        assert_eq!(cause(delay(5, Some(4), None), 40, spent(soft)), Cause::SoftInterrupts);
        let hard = CpuClasses { irq_ns: 30 * MS, ..CpuClasses::default() };
        assert_eq!(cause(delay(5, Some(4), None), 40, spent(hard)), Cause::Interrupts);
        let storm = CoreCounters { soft_interrupts: 10_000, ..spent(CpuClasses::default()) };
        assert_eq!(cause(delay(5, Some(4), None), 20, storm), Cause::SoftInterrupts, "less than a tick of it");
        let interrupts = CoreCounters { interrupts: 10_000, ..spent(CpuClasses::default()) };
        assert_eq!(cause(delay(5, Some(4), None), 20, interrupts), Cause::Interrupts);
        assert_eq!(cause(delay(5, Some(5), None), 20, spent(CpuClasses::default())), Cause::Thread);
    }

    #[test]
    fn one_core_whose_timer_came_late_proves_nothing() {
        for all_cores in [None, Some(0), Some(2)] {
            assert_eq!(cause(delay(5, Some(0), all_cores), 20, spent(CpuClasses::default())), Cause::NotKnown);
        }
    }

    #[test]
    fn all_cores_at_once_are_stopped_by_the_machine_unless_this_kernel_stopped_them() {
        let all = delay(5, Some(0), Some(5));
        assert_eq!(cause(all, 20, spent(CpuClasses::default())), Cause::Machine);
        let stopped = CoreCounters { stopper_ns: Some(5 * MS), ..CoreCounters::default() };
        assert_eq!(cause(all, 20, stopped), Cause::Thread);
        let hidden = CoreCounters::default();
        assert_eq!(cause(all, 20, hidden), Cause::NotKnown, "in a container");
    }

    #[test]
    fn stolen_time_counts_where_it_has_no_room_beside_the_lateness() {
        let stolen = |ms: u64| spent(CpuClasses { steal_ns: ms * MS, ..CpuClasses::default() });
        assert_eq!(cause(delay(50, Some(0), None), 60, stolen(60)), Cause::Machine, "50 at least, of 60");
        assert_eq!(
            cause(delay(50, Some(0), None), 60, stolen(40)),
            Cause::NotKnown,
            "30 at least, 10 of them elsewhere"
        );
        assert_eq!(cause(delay(2, Some(0), None), 20, stolen(10)), Cause::NotKnown, "a tick that ended here");
    }

    #[test]
    fn an_interrupt_that_took_long_is_known_where_interrupts_are_accounted_apart() {
        let long = CpuClasses { irq_ns: 50 * MS, ..CpuClasses::default() };
        assert_eq!(cause(delay(50, Some(0), None), 60, spent(long)), Cause::Interrupts);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        assert_eq!(cause(delay(5, None, Some(5)), 20, spent(CpuClasses::default())), Cause::NotKnown);
    }

    #[test]
    fn counts_are_summed_by_core() {
        let text = "           CPU0       CPU2\n 24:    1    20  IO-APIC 5-edge ttyS0 7\nLOC:   5   6   Local timer\nERR:   9\nMIS:\n";
        assert_eq!(per_core(text), Some([(0, 6), (2, 26)].into()));
        assert_eq!(per_core("  CPU0\n HI:  7\n"), Some([(0, 7)].into()), "as /proc/softirqs");
        assert_eq!((per_core(""), per_core("rubbish\n")), (None, None));
    }

    #[test]
    fn a_reading_has_what_a_tree_says() {
        let tree = Tree::new();
        tree.put("/proc/stat", "cpu  1 0 0 0 0 0 0 7\ncpu0 1 0 0 0 0 0 0 7\n");
        tree.put("/proc/softirqs", " CPU0\n HI: 3\n");
        tree.put("/proc/18/comm", "migration/0\n");
        tree.put("/proc/18/schedstat", "45 6 7\n");
        tree.put("/proc/19/comm", "cat\n");
        let counters = Reader::of(tree.host()).read().unwrap();
        let core = counters.cores[&0];
        assert_eq!((core.soft_interrupts, core.interrupts, core.stopper_ns), (3, 0, Some(45)));
        assert_eq!(core.classes.steal_ns, 7 * tick_ns());
    }

    #[test]
    fn this_host_shows_its_own() {
        let counters = Reader::of(Host::this()).read().unwrap();
        assert!(crate::affinity::own_cpus().iter().all(|cpu| counters.cores.contains_key(cpu)));
    }

    prop_compose! {
        fn core()(ns in any::<[u64; 8]>(), counts in any::<[u64; 2]>(), stopper_ns in any::<Option<u64>>()) -> CoreCounters {
            let [user_ns, nice_ns, system_ns, irq_ns, softirq_ns, steal_ns, idle_ns, iowait_ns] = ns.map(|ns| ns >> 8);
            let classes = CpuClasses { user_ns, nice_ns, system_ns, irq_ns, softirq_ns, steal_ns, idle_ns, iowait_ns };
            CoreCounters { classes, interrupts: counts[0], soft_interrupts: counts[1], stopper_ns }
        }
    }

    proptest! {
        #[test]
        fn the_machine_gets_no_more_than_what_did_not_queue_and_only_with_a_proof(
            late_ns in 0..u64::MAX >> 8, queued_ns in any::<Option<u64>>(), all_cores_ns in any::<Option<u64>>(),
            span_ns in 0..u64::MAX >> 8, before in core(), after in core(),
        ) {
            let judged = judge(&Delay { late_ns, queued_ns, all_cores_ns }, span_ns, &before, &after);
            prop_assert!(judged.machine_ns <= late_ns.saturating_sub(queued_ns.unwrap_or(u64::MAX)));
            let machine = judged.cause == Cause::Machine;
            prop_assert!(!machine || judged.machine_ns > late_ns / 2);
            let stolen = after.classes.steal_ns > before.classes.steal_ns + tick_ns();
            prop_assert!(!machine || stolen || all_cores_ns.is_some_and(|ns| ns > late_ns / 2));
            let mostly_queued = queued_ns.is_some_and(|ns| ns > late_ns / 2 + 1);
            prop_assert!(!mostly_queued || !matches!(judged.cause, Cause::Machine | Cause::NotKnown));
        }

        #[test]
        fn hostile_text_never_panics(text in "(CPU[0-9]{0,21} ?|[0-9]{1,21}|[ :\n]|[A-Z]){0,60}") {
            let _ = per_core(&text);
        }
    }
}
