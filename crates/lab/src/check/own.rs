//! What of a round of streaming is this host's own doing, and what may be the radio's.

use takt_emulator::emulate::Summary;

use crate::run::Spoilt;
use crate::workload::rate::Outcome;

/// A round, parted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Own {
    /// Nothing went wrong that is not set aside.
    pub(super) clean: bool,
    /// Share of the measured part that is set aside, 0 to 1.
    pub(super) aside_share: f64,
    /// Faults that are.
    pub(super) aside_faults: u64,
}

/// Whether nothing went wrong in a round but what may be its radio's doing.
pub(crate) fn is_own_clean(outcome: &Outcome, emulator: Option<&Summary>) -> bool {
    part(outcome, emulator).clean
}

/// Parts a round by what its radio says of itself. Faults without a time, and those that are no matter of an instant (a
/// reader that falls behind, a count that does not come out), are this host's.
pub(super) fn part(outcome: &Outcome, emulator: Option<&Summary>) -> Own {
    let spoilt = Spoilt::by(emulator);
    let faults = || outcome.rx.faults.list.iter().chain(&outcome.tx.faults.list);
    let aside_faults = faults().filter(|fault| spoilt.covers(fault)).count() as u64;
    let all_faults = outcome.fault_count().max(faults().count() as u64);
    let own_faults = all_faults - aside_faults + outcome.rx.faults.more + outcome.tx.faults.more;
    Own {
        clean: outcome.clean || (own_faults == 0 && aside_faults > 0 && outcome.is_clean_but_for_faults()),
        aside_share: spoilt.share_of(outcome.span_ticks()),
        aside_faults,
    }
}

#[cfg(test)]
mod tests {
    use takt_emulator::drive::wall::LateSpan;

    use super::*;
    use crate::run::testing::summary;
    use crate::workload::rate::{self, Fault, Letter};

    /// A round of a second from tick 0 on, with faults at these milliseconds, of a radio that was late from 10 to 13 ms.
    fn parted(faults_ms: &[u64], change: impl Fn(&mut Outcome)) -> Own {
        let late = vec![LateSpan { from_ns: 10_000_000, to_ns: 13_000_000 }];
        let mut outcome = rate::testing::outcome();
        outcome.rx.span_ticks = [0, 100_000_000];
        outcome.rx.faults.list = faults_ms
            .iter()
            .map(|ms| Fault { letter: Letter::D, from_tick: ms * 100_000, to_tick: ms * 100_000, samples: 5 })
            .collect();
        outcome.rx.sequence_errors = faults_ms.len() as u64;
        outcome.clean = faults_ms.is_empty();
        change(&mut outcome);
        part(&outcome, Some(&summary(late, 0)))
    }

    #[test]
    fn only_what_lies_in_a_late_span_is_set_aside() {
        assert_eq!(parted(&[], |_| ()), Own { clean: true, aside_share: 0.008, aside_faults: 0 });
        assert_eq!(parted(&[12, 17], |_| ()), Own { clean: true, aside_share: 0.008, aside_faults: 2 });
        assert_eq!(parted(&[12, 19], |_| ()), Own { clean: false, aside_share: 0.008, aside_faults: 1 });
    }

    #[test]
    fn what_has_no_instant_is_this_hosts_own() {
        assert!(!parted(&[12], |outcome| outcome.rx.faults.more = 1).clean, "faults nobody knows the time of");
        assert!(!parted(&[12], |outcome| outcome.rx.timeouts = 1).clean, "counted, and not in the list");
        assert!(!parted(&[12], |outcome| outcome.rx.backlog.growing = true).clean);
        assert!(!parted(&[12], |outcome| outcome.rx.expected_samples += 1).clean, "a count that does not come out");
        assert!(!parted(&[12], |outcome| outcome.complete = false).clean);
    }
}
