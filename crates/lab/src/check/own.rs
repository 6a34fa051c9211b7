//! What of a round of streaming is this host's own doing, and what may be the radio's.

use takt_load::rate::{Fault, Outcome};
use takt_radio::n200::CLOCK;
use takt_testbed::Lateness;

use crate::run::Spoilt;

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
pub(crate) fn is_own_clean(outcome: &Outcome, emulator: Option<&Lateness>) -> bool {
    part(outcome, emulator).clean
}

/// Parts a round by what its radio says of itself. Faults without a time, and those that are no matter of an instant (a
/// reader that falls behind, a count that does not come out), are this host's.
pub(super) fn part(outcome: &Outcome, emulator: Option<&Lateness>) -> Own {
    let spoilt = Spoilt::by(emulator);
    let received = outcome.rx.faults.list.iter().map(|fault| since_due(fault, datagram_ticks(outcome)));
    let faults: Vec<Fault> = received.chain(outcome.tx.faults.list.iter().copied()).collect();
    let aside_faults = faults.iter().filter(|fault| spoilt.covers(fault)).count() as u64;
    let all_faults = outcome.fault_count().max(faults.len() as u64);
    let own_faults = all_faults - aside_faults + outcome.rx.faults.more + outcome.tx.faults.more;
    Own {
        clean: outcome.clean || (own_faults == 0 && aside_faults > 0 && outcome.is_clean_but_for_faults()),
        aside_share: spoilt.share_of(outcome.span_ticks()),
        aside_faults,
    }
}

/// A loss since the first lost datagram was due, which is when its last sample was taken: that is what it may be late by.
fn since_due(fault: &Fault, datagram_ticks: u64) -> Fault {
    let ticks = if fault.samples > 0 { datagram_ticks } else { 0 };
    Fault { from_tick: fault.from_tick.saturating_add(ticks).min(fault.to_tick), ..*fault }
}

/// The time that the samples of a received datagram take, on the radio's clock.
fn datagram_ticks(outcome: &Outcome) -> u64 {
    let per_sample = outcome.options.rx_sps.map_or(0.0, |rate_sps| f64::from(CLOCK.hz()) / rate_sps);
    (outcome.rx.samples_per_datagram as f64 * per_sample) as u64
}

#[cfg(test)]
mod tests {
    use takt_emulator::drive::wall::LateSpan;

    use super::*;
    use crate::run::testing::lateness;
    use takt_load::rate::{self, Letter};

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
        part(&outcome, Some(&lateness(late, 0)))
    }

    #[test]
    fn only_what_lies_in_a_late_span_is_set_aside() {
        assert_eq!(parted(&[], |_| ()), Own { clean: true, aside_share: 0.008, aside_faults: 0 });
        assert_eq!(parted(&[12, 17], |_| ()), Own { clean: true, aside_share: 0.008, aside_faults: 2 });
        assert_eq!(parted(&[12, 19], |_| ()), Own { clean: false, aside_share: 0.008, aside_faults: 1 });
    }

    /// 363 samples at 1 MS/s: the first late datagram has samples of 363 us before it was due.
    #[test]
    fn the_samples_of_the_first_late_datagram_are_older_than_the_span() {
        let begun = |us_before: u64, samples: u64| {
            parted(&[12], |outcome| {
                outcome.options.rx_sps = Some(1e6);
                outcome.rx.samples_per_datagram = 363;
                let fault = &mut outcome.rx.faults.list[0];
                (fault.from_tick, fault.samples) = (1_000_000 - us_before * 100, samples);
            })
        };
        assert!(begun(363, 363).clean);
        assert!(!begun(364, 363).clean, "and not those of the one before");
        assert!(!begun(363, 0).clean, "silence has no samples");
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
