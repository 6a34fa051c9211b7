//! Which subframes say nothing about this host.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use takt_host::core_stop::Cause;

use super::stall::{JudgedBy, STALL, Stalls};

/// Subframes that say nothing about this host: for reasons that do not depend on how they ended, so that leaving them
/// out favours no result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub subframes: u64,
    pub failures: u64,
    /// Those whose last samples the radio sent late.
    pub radio_late: u64,
    /// Those before whose limit the machine stopped a core of the host side.
    pub stalled: u64,
    /// Subframes before whose limit this kernel's own work delayed even the thread that looks; they are not excluded.
    #[serde(default)]
    pub held_by_host: u64,
    /// The same by whom neither the kernel's trace nor its counters say; they are not excluded either.
    #[serde(default)]
    pub unexplained: u64,
    /// Late looks by what the kernel's counters say of them, where they judge.
    #[serde(default)]
    pub causes: BTreeMap<Cause, u64>,
    /// Judge of who stopped a core; `None`: nobody looked.
    #[serde(default)]
    pub judged_by: Option<JudgedBy>,
    /// Those during whose work a core stood still by the clocks of the threads that did it.
    #[serde(default)]
    pub halted: u64,
    /// Those that follow one of these, and inherit what it left undone.
    pub after: u64,
    /// From how late on the radio's samples are late, nanoseconds.
    pub radio_late_ns: u64,
    /// From how long on a stop of the machine is one, nanoseconds.
    pub stall_ns: u64,
    pub longest_stall_ns: u64,
    /// All of them together, nanoseconds.
    #[serde(default)]
    pub stalls_ns: u64,
    /// Time that the kernel says was stolen from the host side's cores, nanoseconds; in ticks of 10 ms.
    pub steal_ns: u64,
    /// For how long cores stood still by the clocks of the threads that worked, all answers together, nanoseconds.
    #[serde(default)]
    pub halts_ns: u64,
    pub unwatched: Option<String>,
    /// Why threads' clocks say nothing of stalls, if they don't.
    #[serde(default)]
    pub unclocked: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Own {
    pub subframes: u64,
    pub failures: u64,
    pub failure_ratio: Option<f64>,
}

/// Failures among each few subframes in a row: what a bound on their ratio rests on, since they come in clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segments {
    /// Subframes of a segment; the last may have fewer.
    pub subframes: u64,
    /// Counts of each: failures, and subframes, without those excluded.
    pub own: Vec<(u64, u64)>,
    pub all: Vec<(u64, u64)>,
}

impl Segments {
    fn note(&mut self, number: u64, failed: u64, excluded: bool) {
        let place = (number / self.subframes) as usize;
        for (counts, counted) in [(&mut self.own, !excluded), (&mut self.all, true)] {
            counts.resize(counts.len().max(place + 1), (0, 0));
            if let Some(segment) = counts.get_mut(place).filter(|_| counted) {
                segment.0 += failed;
                segment.1 += 1;
            }
        }
    }
}

/// Times of a subframe, in nanoseconds of this host.
pub(super) struct Timing {
    pub(super) air_end_ns: i64,
    /// When its last sample was in this host's kernel; the radio's thread puts it there itself.
    pub(super) arrived_ns: Option<i64>,
    /// For how long the cores stood still on which its answer was made; nothing without an answer.
    pub(super) halted: Duration,
    pub(super) failed: bool,
}

pub(super) struct SplitSubframes {
    pub(super) excluded: Excluded,
    pub(super) own: Own,
    pub(super) segments: Segments,
    pub(super) numbers: BTreeSet<u64>,
}

/// The longest stops that Linux makes by itself last 50 ms: real-time throttling (sched_rt_runtime_us), the fair server.
pub const SEGMENT_SUBFRAMES: u64 = 10;
/// A radio's samples take this long at most: a real one has no thread that could be held up.
const RADIO_LATE: Duration = Duration::from_micros(200);

/// Splits the subframes, in their order; those before `warm_up` are counted nowhere.
pub(super) fn split(subframes: impl IntoIterator<Item = Timing>, warm_up: u64, stalls: &Stalls) -> SplitSubframes {
    let mut excluded = Excluded {
        radio_late_ns: RADIO_LATE.as_nanos() as u64,
        stall_ns: STALL.as_nanos() as u64,
        held_by_host: count_from(&stalls.held_by_host, warm_up),
        unexplained: count_from(&stalls.unexplained, warm_up),
        longest_stall_ns: stalls.longest_ns,
        stalls_ns: stalls.all_ns,
        causes: stalls.causes.clone(),
        judged_by: stalls.judged_by,
        steal_ns: stalls.steal_ns,
        unwatched: stalls.unwatched.clone(),
        unclocked: stalls.unclocked.clone(),
        ..Excluded::default()
    };
    let mut own = Own::default();
    let mut segments = Segments { subframes: SEGMENT_SUBFRAMES, ..Segments::default() };
    let mut numbers = BTreeSet::new();
    let mut after = false;
    for (number, subframe) in (0..).zip(subframes) {
        let radio_late = subframe.arrived_ns.is_some_and(|at| at - subframe.air_end_ns > excluded.radio_late_ns as i64);
        let stalled = stalls.stalled.contains(&number);
        let halted = stalls.unclocked.is_none() && subframe.halted > STALL;
        let follows = std::mem::replace(&mut after, radio_late || stalled || halted) && !after;
        if number < warm_up {
            continue;
        }
        if stalls.unclocked.is_none() {
            excluded.halts_ns += subframe.halted.as_nanos() as u64;
        }
        let failed = u64::from(subframe.failed);
        let is_excluded = radio_late || stalled || halted || follows;
        segments.note(number - warm_up, failed, is_excluded);
        if is_excluded {
            numbers.insert(number);
            excluded.subframes += 1;
            excluded.failures += failed;
            excluded.radio_late += u64::from(radio_late);
            excluded.stalled += u64::from(stalled);
            excluded.halted += u64::from(halted);
            excluded.after += u64::from(follows);
        } else {
            own.subframes += 1;
            own.failures += failed;
        }
    }
    own.failure_ratio = (own.subframes > 0).then(|| own.failures as f64 / own.subframes as f64);
    SplitSubframes { excluded, own, segments, numbers }
}

fn count_from(subframes: &BTreeSet<u64>, first: u64) -> u64 {
    subframes.range(first..).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subframes of 5 ms, the samples 50 us later in the kernel than on the air.
    fn subframes(failed: &[usize], late: &[usize]) -> Vec<Timing> {
        let one = |n: usize| {
            let air_end_ns = 5_000_000 * (n as i64 + 1);
            let late_ns = if late.contains(&n) { 201_000 } else { 50_000 };
            let arrived_ns = Some(air_end_ns + late_ns);
            Timing { air_end_ns, arrived_ns, halted: Duration::ZERO, failed: failed.contains(&n) }
        };
        (0..10).map(one).collect()
    }

    #[test]
    fn a_late_radio_takes_its_subframe_and_the_next_with_it_whatever_became_of_them() {
        let SplitSubframes { excluded, own, segments, numbers } =
            split(subframes(&[3, 7], &[3, 5]), 0, &Stalls::default());
        assert_eq!((segments.own, segments.all), (vec![(1, 6)], vec![(2, 10)]));
        assert_eq!(numbers, [3, 4, 5, 6].into());
        assert_eq!((excluded.radio_late, excluded.after, excluded.subframes, excluded.failures), (2, 2, 4, 1));
        assert_eq!((own.subframes, own.failures), (6, 1));
        assert_eq!(own.failure_ratio, Some(1.0 / 6.0));
    }

    #[test]
    fn a_core_that_stood_still_takes_its_subframe_and_the_next_with_it() {
        let stalls = Stalls { stalled: [4, 5].into(), longest_ns: 1_300_000, ..Stalls::default() };
        let SplitSubframes { excluded, own, .. } = split(subframes(&[5, 9], &[]), 0, &stalls);
        assert_eq!((excluded.stalled, excluded.after, excluded.subframes, excluded.failures), (2, 1, 3, 1));
        assert_eq!((own.subframes, own.failures, excluded.longest_stall_ns), (7, 1, 1_300_000));
    }

    #[test]
    fn a_core_that_stood_still_under_a_thread_at_work_is_found_by_that_threads_clock_where_it_can_tell() {
        let mut all = subframes(&[2, 3], &[]);
        for (subframe, halted_us) in all.iter_mut().zip([0, 150, 151, 0, 30]) {
            subframe.halted = Duration::from_micros(halted_us);
        }
        let counts = |stalls: &Stalls| {
            let again = all.iter().map(|one| Timing { ..*one });
            let SplitSubframes { excluded, own, numbers, .. } = split(again, 0, stalls);
            (numbers, excluded.halted, excluded.halts_ns, own.failures)
        };
        assert_eq!(counts(&Stalls::default()), ([2, 3].into(), 1, 331_000, 0));
        let stalls = Stalls { unclocked: Some("because".into()), ..Stalls::default() };
        assert_eq!(counts(&stalls), ([].into(), 0, 0, 2));
    }

    #[test]
    fn where_nothing_is_left_there_is_no_ratio() {
        let late: Vec<usize> = (0..10).collect();
        let SplitSubframes { excluded, own, .. } = split(subframes(&[3], &late), 0, &Stalls::default());
        assert_eq!((excluded.subframes, own.subframes, own.failure_ratio), (10, 0, None));
    }

    #[test]
    fn segments_hold_every_subframe_but_those_of_the_warming_up() {
        let all = subframes(&[4, 9], &[]).into_iter().chain(subframes(&[1, 2, 3], &[])).chain(subframes(&[], &[]));
        let SplitSubframes { segments, own, .. } = split(all, 5, &Stalls::default());
        assert_eq!((segments.subframes, segments.all), (10, vec![(4, 10), (0, 10), (0, 5)]));
        assert_eq!((segments.own.iter().map(|one| one.0).sum::<u64>(), own.failures), (4, 4));
    }

    #[test]
    fn warming_up_counts_nowhere_but_is_inherited() {
        let SplitSubframes { excluded, own, .. } = split(subframes(&[0, 1], &[1]), 2, &Stalls::default());
        assert_eq!((excluded.subframes, excluded.after, own.subframes, own.failures), (1, 1, 7, 0));
    }
}
