//! Explains late looks by the kernel's counters ([`core_stop`](crate::core_stop)).
//!
//! A thread of ordinary priority reads them once a period, so that each late look lies between two readings. The threads that
//! look read nothing but their own account of queueing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::late::{Explained, Late};
use crate::core_stop::{Counters, Delay, Judgement, Reader, judge};
use crate::{Host, ReadError};

const KEPT_NS: u64 = 100_000_000;
/// Readings kept: of five seconds or more, longer than a stop.
const READINGS: usize = 256;

/// The counters of this host, and what they say of some of its cores.
#[derive(Debug)]
pub struct CounterEvidence {
    reader: Reader,
    period: Duration,
    online: BTreeSet<usize>,
    /// The cores whose late looks are explained.
    of: Vec<usize>,
}

impl CounterEvidence {
    /// Begins to explain late looks at the cores `of`, by readings once a `period`.
    ///
    /// # Errors
    /// This host shows no counters.
    pub fn begin(of: &[usize], period: Duration) -> Result<CounterEvidence, ReadError> {
        let reader = Reader::of(Host::this());
        let online = reader.read()?.cores.into_keys().collect();
        Ok(CounterEvidence { reader, period, online, of: of.to_vec() })
    }

    /// All cores of this host. Looks at all of them tell a stop of the machine from interrupts that were held off.
    #[must_use]
    pub fn online(&self) -> Vec<usize> {
        self.online.iter().copied().collect()
    }

    /// Explains what comes, until the last sender is gone.
    pub fn explain(&self, late: &Receiver<Late>, mut note: impl FnMut(Explained)) {
        let mut waiting = Vec::new();
        // An explained stop stays for a while: the same stop may have ended a moment later on another core.
        let mut done: Vec<Late> = Vec::new();
        let mut readings: VecDeque<Counters> = self.reader.read().into_iter().collect();
        let mut over = false;
        while !over {
            over = gather(late, self.period, &mut waiting);
            // Whatever a stop made late has been reported once a whole period has passed since.
            let last_ns = readings.back().map_or(0, |reading| reading.at.0);
            readings.extend(self.reader.read());
            if readings.len() > READINGS {
                readings.pop_front();
            }
            let (ripe, young): (Vec<Late>, Vec<Late>) =
                waiting.drain(..).partition(|one| over || one.woke_ns < last_ns);
            let all = [done.as_slice(), &ripe, &young].concat();
            let own = ripe.iter().filter(|one| self.of.contains(&one.cpu));
            own.for_each(|one| note(self.explained(one, &all, &readings)));
            done.retain(|one| one.woke_ns + KEPT_NS > last_ns);
            done.extend(ripe);
            waiting = young;
        }
    }

    fn explained(&self, late: &Late, all: &[Late], readings: &VecDeque<Counters>) -> Explained {
        let Judgement { cause, machine_ns } = self.judged(late, all, readings);
        Explained { late: *late, cause, machine_ns }
    }

    fn judged(&self, late: &Late, all: &[Late], readings: &VecDeque<Counters>) -> Judgement {
        let before = readings.iter().rev().find(|reading| reading.at.0 <= late.due_ns);
        let after = readings.iter().find(|reading| reading.at.0 >= late.woke_ns);
        let core = |reading: &Counters| reading.cores.get(&late.cpu).copied();
        let delay = Delay {
            late_ns: late.ns(),
            queued_ns: late.queued_ns,
            all_cores_ns: all_cores_ns(late, all, &self.online),
        };
        // A core that came or went meanwhile proves nothing.
        let (Some(before), Some(after)) = (before, after) else { return Judgement::default() };
        let (Some(from), Some(to)) = (core(before), core(after)) else { return Judgement::default() };
        judge(&delay, after.at.0 - before.at.0, &from, &to)
    }
}

/// Takes what comes within a period; says whether that was all.
fn gather(late: &Receiver<Late>, period: Duration, waiting: &mut Vec<Late>) -> bool {
    let until = Instant::now() + period;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        match late.recv_timeout(left) {
            Ok(one) => waiting.push(one),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => return true,
        }
    }
    false
}

/// For how much of a late wake-up the timers of every core were late at once.
fn all_cores_ns(late: &Late, all: &[Late], online: &BTreeSet<usize>) -> Option<u64> {
    let mut by_core: BTreeMap<usize, Vec<&Late>> = BTreeMap::new();
    for other in all {
        by_core.entry(other.cpu).or_default().push(other);
    }
    // A single core proves nothing about the others.
    if online.len() < 2 {
        return None;
    }
    let mut common = late.timer_late();
    for cpu in online.iter().filter(|&&cpu| cpu != late.cpu) {
        let with = |other: &&Late| meet(common, other.timer_late());
        let others = by_core.get(cpu).into_iter().flatten().map(with);
        common = others.max_by_key(|span| span.1.saturating_sub(span.0)).unwrap_or((0, 0));
    }
    Some(common.1.saturating_sub(common.0))
}

fn meet(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.max(other.0), one.1.min(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core_stop::Cause;

    /// Due and woken, and how long it queued, in microseconds.
    fn late(cpu: usize, due: u64, woke: u64, queued: u64) -> Late {
        Late { cpu, number: 0, due_ns: due * 1000, woke_ns: woke * 1000, queued_ns: Some(queued * 1000) }
    }

    #[test]
    fn only_time_in_which_the_timers_of_all_cores_were_late_is_common() {
        let online = [0, 1, 2].into();
        let common = |all: &[Late]| all_cores_ns(&all[0], all, &online).map(|ns| ns / 1000);
        let [one, two] = [late(0, 1000, 3000, 10), late(1, 1200, 3100, 0)];
        assert_eq!(common(&[one, two, late(2, 1000, 2500, 0)]), Some(1300));
        assert_eq!(common(&[one, two]), Some(0), "the third came in time");
        assert_eq!(common(&[one, two, late(2, 1000, 2500, 1500)]), Some(0), "it queued");
        assert_eq!(common(&[one, two, late(2, 5000, 9000, 0)]), Some(0), "at another time");
        let several = [one, two, late(2, 0, 1300, 0), late(2, 2000, 3000, 0)];
        assert_eq!(common(&several), Some(990), "the longest of them");
    }

    #[test]
    fn a_single_core_has_no_others() {
        assert_eq!(all_cores_ns(&late(0, 1, 2, 0), &[], &[0].into()), None);
    }

    #[test]
    fn what_lies_between_no_two_readings_is_not_known() {
        let evidence = CounterEvidence::begin(&[0], Duration::from_millis(20)).unwrap();
        let both = [late(0, 1000, 3000, 0), late(1, 1000, 3000, 0)];
        assert_eq!(evidence.explained(&both[0], &both, &VecDeque::new()).cause, Cause::NotKnown);
    }
}
