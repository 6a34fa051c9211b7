//! Fate of the samples in truth, judged by evidence that the verdict does not use.
//!
//! A received sample is known by its own number. A transmitted one is missed by the radio, which says so in its own report.
//! Neither comes from the driver that is under test, nor from the account that the verdict reads.
//!
//! A radio that stood still together with the machine missed nothing. The loss of one that goes on is known in two
//! ways. For impairments of both sides: from a trial in which the same is done to the host side alone. For this
//! machine's own stops: from how long the radio says that it stood still. Those count in every round, also in one that
//! is repeated: the answer is about all the time in which takt looked, and so is the truth. In a repeated round the
//! truth knows the stops that the verdict knows, and takes them without its margin. Both have nothing else in common.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_emulator::emulate::Summary;
use takt_host::core_watch::CoreStop;
use takt_load::rate;
use takt_testbed::Lateness;

use crate::check::RateRound;
use crate::check::collect::{emulator_stops, receive_holds_ms, transmit_holds_ms};
use crate::check::stops::holds_ms;
use takt_lab::store::{RoundRow, RoundState};

/// A reader that has still so much of a round to fetch when it is over falls behind, and will lose: share of the round,
/// from 0 to 1. A stall before the end of a round leaves less.
const LATE_SHARE: f64 = 0.08;

/// Losses in some rounds, one host's whole trial or a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// Numbers that did not reach the program, or not as they were sent.
    pub missing_samples: u64,
    /// Rounds that ended with a reader far behind.
    pub rounds_behind: u64,
    /// Misses of the radio: bursts that ran dry, and datagrams late, out of order or refused.
    pub radio_missed: u64,
    /// Rounds in which this machine stopped the radio for longer than the buffers hold.
    #[serde(default)] // outcomes older than this key
    pub stood_still: u64,
    /// Rounds in which the account of the time stamps differs from that of the numbers.
    pub accounts_differ: u64,
}

impl Truth {
    /// Truth of one round; `None` if it has no record, or one that does not say.
    #[must_use]
    pub fn of(round: &RoundRow) -> Option<Truth> {
        let record = round.record.as_ref()?;
        let outcome = rate::RateOutcome::deserialize(&record.result).ok()?;
        let summary: Summary = Summary::deserialize(&record.emulator).ok()?;
        let rx = &outcome.rx;
        let counted = match (outcome.options.rx_sps, rx.counted) {
            (None, _) => rate::Counted::default(),
            (Some(_), counted) => counted?,
        };
        let late_share = counted.late_samples as f64 / (rx.expected_samples as f64).max(1.0);
        let by_stamps = (rx.samples, rx.dropped + rx.unsent_samples);
        let by_numbers = (counted.received_samples, counted.missing_samples);
        let radio = summary.devices.iter().map(|device| device.radio.tx);
        let missed =
            radio.map(|tx| tx.underflows + tx.late + tx.sequence_errors + tx.dropped_packets + tx.overrun_packets);
        Some(Truth {
            missing_samples: counted.missing_samples + counted.wrong_samples,
            rounds_behind: u64::from(late_share > LATE_SHARE),
            radio_missed: missed.sum(),
            stood_still: u64::from(stood_still(&record.emulator, &outcome)),
            accounts_differ: u64::from(by_stamps != by_numbers),
        })
    }

    /// Counts stops in the rounds that do not count. Nothing is known of their samples, but the machine stood still in them too, and
    /// the verdict looks at all its stops: those that are longer than the buffers hold, without the verdict's margin, lose.
    pub(super) fn beside(rounds: &[RateRound]) -> Truth {
        let stopped = |round: &&RateRound| {
            let stops = round.stops.iter().flatten().filter(|stop| stop.radio_too);
            let longest_ms = stops.map(|stop| stop.ms).fold(0.0, f64::max);
            holds_ms(round).is_some_and(|holds_ms| longest_ms > holds_ms)
        };
        let stood_still = rounds.iter().filter(|round| round.state != RoundState::Valid).filter(stopped).count() as u64;
        Truth { stood_still, ..Truth::default() }
    }

    #[must_use]
    pub fn loses(&self) -> bool {
        self.missing_samples + self.rounds_behind + self.radio_missed + self.stood_still > 0
    }

    /// Keeps this machine's stops and this account, and takes the fate of the samples from a radio that went on.
    #[must_use]
    pub fn as_of(self, went_on: Truth) -> Truth {
        let Truth { stood_still, accounts_differ, .. } = self;
        Truth { stood_still: stood_still + went_on.stood_still, accounts_differ, ..went_on }
    }
}

/// Whether the machine stopped the radio for longer than the buffers hold of its stream.
fn stood_still(emulator: &Value, outcome: &rate::RateOutcome) -> bool {
    let lateness = Lateness::of(emulator).unwrap_or_default();
    let longest_ns = emulator_stops(&lateness).iter().map(CoreStop::ns).max().unwrap_or(0);
    [receive_holds_ms(outcome), transmit_holds_ms(outcome)].into_iter().flatten().any(|ms| longest_ns as f64 > ms * 1e6)
}

impl std::iter::Sum for Truth {
    fn sum<I: Iterator<Item = Truth>>(rounds: I) -> Truth {
        rounds.fold(Truth::default(), |all, one| Truth {
            missing_samples: all.missing_samples + one.missing_samples,
            rounds_behind: all.rounds_behind + one.rounds_behind,
            radio_missed: all.radio_missed + one.radio_missed,
            stood_still: all.stood_still + one.stood_still,
            accounts_differ: all.accounts_differ + one.accounts_differ,
        })
    }
}
