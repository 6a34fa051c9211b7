//! Losses of a round of streaming that are this host's own doing, and those that may be the radio's.

use super::{Fault, RateOutcome};
use crate::excluded::ExcludedSpans;

/// Excluded part of a round for what its radio did, and what is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    /// Nothing went wrong that is not excluded.
    pub clean: bool,
    /// Share of the measured part that is excluded, 0 to 1.
    pub excluded_share: f64,
    /// Faults that are.
    pub excluded_faults: u64,
}

impl RateOutcome {
    /// Splits a round by when its radio was late. Faults without a time, and those that are no matter of an instant (a reader
    /// that falls behind, a count that does not come out), are this host's.
    #[must_use]
    pub fn own(&self, excluded: &ExcludedSpans) -> Own {
        let received = self.rx.faults.list.iter().map(|fault| since_due(fault, datagram_ticks(self)));
        let faults: Vec<Fault> = received.chain(self.tx.faults.list.iter().copied()).collect();
        let excluded_faults =
            faults.iter().filter(|fault| excluded.covers([fault.from_tick, fault.to_tick])).count() as u64;
        let all_faults = self.fault_count().max(faults.len() as u64);
        let own_faults = all_faults - excluded_faults + self.rx.faults.more + self.tx.faults.more;
        Own {
            clean: self.clean || (own_faults == 0 && excluded_faults > 0 && self.is_clean_but_for_faults()),
            excluded_share: excluded.share_of(self.span_ticks()),
            excluded_faults,
        }
    }
}

/// A loss since the first lost datagram was due, which is when its last sample was taken: that is what it may be late by.
fn since_due(fault: &Fault, datagram_ticks: u64) -> Fault {
    let ticks = if fault.samples > 0 { datagram_ticks } else { 0 };
    Fault { from_tick: fault.from_tick.saturating_add(ticks).min(fault.to_tick), ..*fault }
}

/// The time that the samples of a received datagram take, on the radio's clock.
fn datagram_ticks(outcome: &RateOutcome) -> u64 {
    let per_sample = outcome.options.rx_sps.map_or(0.0, |rate_sps| f64::from(outcome.radio.clock_hz) / rate_sps);
    (outcome.rx.samples_per_datagram as f64 * per_sample) as u64
}

#[cfg(test)]
mod tests {
    use takt_base::Speed;
    use takt_radio::Model;

    use super::*;
    use crate::rate::{Letter, model};

    /// A round of a second from tick 0 on, with faults at these milliseconds, of a radio that was late from 10 to 13 ms.
    fn own_of(faults_ms: &[u64], change: impl Fn(&mut RateOutcome)) -> Own {
        let mut outcome = model::clean();
        outcome.rx.span_ticks = [0, 100_000_000];
        outcome.rx.faults.list = faults_ms
            .iter()
            .map(|ms| Fault { letter: Letter::D, from_tick: ms * 100_000, to_tick: ms * 100_000, samples: 5 })
            .collect();
        outcome.rx.sequence_errors = faults_ms.len() as u64;
        outcome.clean = faults_ms.is_empty();
        change(&mut outcome);
        let clock = (Model::N200.clock(), Speed::WALL);
        outcome.own(&ExcludedSpans::of([[10_000_000, 13_000_000]].into_iter(), clock, 0))
    }

    #[test]
    fn only_what_lies_in_a_late_span_is_excluded() {
        assert_eq!(own_of(&[], |_| ()), Own { clean: true, excluded_share: 0.008, excluded_faults: 0 });
        assert_eq!(own_of(&[12, 17], |_| ()), Own { clean: true, excluded_share: 0.008, excluded_faults: 2 });
        assert_eq!(own_of(&[12, 19], |_| ()), Own { clean: false, excluded_share: 0.008, excluded_faults: 1 });
    }

    /// 363 samples at 1 MS/s: the first late datagram has samples of 363 us before it was due.
    #[test]
    fn the_samples_of_the_first_late_datagram_are_older_than_the_span() {
        let begun = |us_before: u64, samples: u64| {
            own_of(&[12], |outcome| {
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
        assert!(!own_of(&[12], |outcome| outcome.rx.faults.more = 1).clean, "faults without a time");
        assert!(!own_of(&[12], |outcome| outcome.rx.timeouts = 1).clean, "counted, and not in the list");
        assert!(!own_of(&[12], |outcome| outcome.rx.backlog.growing = true).clean);
        assert!(!own_of(&[12], |outcome| outcome.rx.expected_samples += 1).clean, "a count that does not come out");
        assert!(!own_of(&[12], |outcome| outcome.complete = false).clean);
    }
}
