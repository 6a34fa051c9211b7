//! The outcome of a round of streaming: the JSON document of `takt rate --device`. A value nobody can know is `None`, and never 0.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::StreamFormat;

/// A reader falls behind if it does by this share of the measured part ...
const BEHIND_SHARE: f64 = 0.005;
/// ... and by this, which is more than a scheduler makes of it.
const BEHIND: Duration = Duration::from_millis(20);

/// The outcome of a round. Counts are of the measured part only, the warm-up left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoapyRate {
    /// As a user named it.
    pub device: String,
    /// Key of its driver.
    pub driver: String,
    /// Key of the hardware.
    pub hardware: String,
    /// The counts of the received samples; `None`: nothing was to be received.
    pub rx: Option<RxCounts>,
    /// The counts of the transmitted samples; `None`: nothing was to be transmitted.
    pub tx: Option<TxCounts>,
    /// How long the round was to measure, seconds.
    pub duration_s: f64,
    /// It ran to its end.
    pub complete: bool,
    /// Nothing went wrong. `None`: nothing was seen to go wrong, and the driver does not show all that can.
    pub clean: Option<bool>,
}

/// The worth of the time stamps of a receive stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeStamps {
    /// They count samples: each loss shows.
    Count,
    /// The driver gives none.
    #[default]
    Absent,
    /// They contradict the samples: they are those of another clock.
    Contradict,
}

/// The counts of the received samples, all channels together unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RxCounts {
    /// Samples a second on each channel, as the driver makes them.
    pub rate_sps: f64,
    /// Channels.
    pub channels: usize,
    /// How the driver hands samples over.
    pub format: Option<StreamFormat>,
    /// Samples that it hands over at once.
    pub mtu_samples: usize,
    /// The worth of its time stamps.
    pub time_stamps: TimeStamps,
    /// Samples that came.
    pub samples: u64,
    /// Samples that the device's clock made: `samples + dropped`, to the sample. `None`: nobody knows.
    pub expected_samples: Option<u64>,
    /// Samples that did not come. `None`: nobody knows.
    pub dropped: Option<u64>,
    /// The part of `dropped` behind the last sample that came.
    pub tail_samples: Option<u64>,
    /// Gaps by the time stamps.
    pub gaps: Option<u64>,
    /// The first of these gaps on the device's clock: when the missing samples were due, nanoseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps_ns: Vec<[i64; 2]>,
    /// The measured part on the device's clock, nanoseconds. `None`: it has no time stamps, or none was measured.
    pub span_ns: Option<[i64; 2]>,
    /// `O`: overflows that the driver reported, gaps on the way from the device included. `None`: it reported none, and without
    /// time stamps that proves nothing.
    pub overflows: Option<u64>,
    /// Faults of the stream that have no name of takt's.
    pub stream_errors: u64,
    /// Times the stream was started again, since it had stopped after an overflow.
    pub restarts: u64,
    /// Times nothing came for 100 ms and the time of one transfer (`mtu_samples`).
    pub timeouts: u64,
    /// Samples a second that came on each channel, by this host's clock. `None`: too little came.
    pub measured_sps: Option<f64>,
    /// By how much the samples were behind this host's clock towards the end, more than at the beginning, seconds. `None`: too
    /// little came.
    pub behind_s: Option<f64>,
}

/// The counts of the transmitted samples, all channels together unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TxCounts {
    /// Samples a second on each channel, as the driver takes them.
    pub rate_sps: f64,
    /// Channels.
    pub channels: usize,
    /// How the driver takes samples.
    pub format: Option<StreamFormat>,
    /// Samples that it takes at once.
    pub mtu_samples: usize,
    /// Samples that the driver took.
    pub samples: u64,
    /// Samples that the rate makes in the measured time, by this host's clock.
    pub expected_samples: u64,
    /// `U`. `None`: the driver reports nothing.
    pub underflows: Option<u64>,
    /// `S`. `None`: the driver reports nothing.
    pub sequence_errors: Option<u64>,
    /// `L`. `None`: the driver reports nothing.
    pub late: Option<u64>,
    /// Reports that have no name of takt's. `None`: the driver reports nothing.
    pub unknown_reports: Option<u64>,
    /// The first of all these reports on the device's clock, nanoseconds; 0: the driver gave no time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports_ns: Vec<i64>,
    /// The measured part on the device's clock, nanoseconds. `None`: it has no clock, or none was measured.
    pub span_ns: Option<[i64; 2]>,
    /// Times the driver took nothing for 100 ms and the time of one transfer (`mtu_samples`).
    pub timeouts: u64,
}

impl RxCounts {
    /// The reader fell behind in a measured part of this length.
    #[must_use]
    pub fn fell_behind(&self, duration_s: f64) -> bool {
        let limit_s = BEHIND.as_secs_f64().max(duration_s * BEHIND_SHARE);
        self.behind_s.is_some_and(|behind_s| behind_s > limit_s)
    }

    fn clean(&self, duration_s: f64) -> Option<bool> {
        let seen = self.dropped.unwrap_or(0) + self.overflows.unwrap_or(0);
        let wrong = seen + self.stream_errors + self.restarts + self.timeouts;
        if wrong > 0 || self.samples == 0 || self.fell_behind(duration_s) {
            return Some(false);
        }
        self.dropped.map(|_| true)
    }
}

impl TxCounts {
    fn clean(&self) -> Option<bool> {
        let reported = [self.underflows, self.sequence_errors, self.late, self.unknown_reports];
        let wrong = reported.into_iter().flatten().sum::<u64>() + self.timeouts;
        if wrong > 0 || self.samples == 0 {
            return Some(false);
        }
        self.underflows.map(|_| true)
    }
}

impl SoapyRate {
    pub(crate) fn judge(&mut self) {
        let rx = self.rx.as_ref().map(|rx| rx.clean(self.duration_s));
        let tx = self.tx.as_ref().map(TxCounts::clean);
        let both = || rx.into_iter().chain(tx);
        self.clean = if !self.complete || both().any(|clean| clean == Some(false)) {
            Some(false)
        } else {
            both().all(|clean| clean.is_some()).then_some(true)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rx: Option<RxCounts>, tx: Option<TxCounts>) -> Option<bool> {
        let mut round = SoapyRate { rx, tx, duration_s: 10.0, complete: true, ..SoapyRate::default() };
        round.judge();
        round.clean
    }

    #[test]
    fn what_a_driver_can_not_tell_is_neither_good_nor_bad() {
        let known = RxCounts { samples: 10, dropped: Some(0), overflows: Some(0), ..RxCounts::default() };
        let unknown = RxCounts { dropped: None, overflows: None, ..known.clone() };
        assert_eq!(judged(Some(known.clone()), None), Some(true));
        assert_eq!(judged(Some(unknown.clone()), None), None);
        let overflow = RxCounts { overflows: Some(1), ..unknown.clone() };
        assert_eq!(judged(Some(overflow), None), Some(false), "one thing that was seen decides");
        let silent = TxCounts { samples: 10, ..TxCounts::default() };
        assert_eq!(judged(Some(known.clone()), Some(silent.clone())), None);
        let reporting = TxCounts { underflows: Some(0), ..silent };
        assert_eq!(judged(Some(known.clone()), Some(reporting.clone())), Some(true));
        let late = TxCounts { late: Some(1), ..reporting };
        assert_eq!(judged(Some(unknown), Some(late)), Some(false));
        let behind = RxCounts { behind_s: Some(0.06), ..known.clone() };
        assert_eq!(judged(Some(behind), None), Some(false));
        assert_eq!(judged(Some(RxCounts { behind_s: Some(0.04), ..known }), None), Some(true), "0.4 % of 10 s");
    }

    #[test]
    fn a_round_in_which_nothing_came_or_that_was_stopped_is_not_good() {
        assert_eq!(judged(Some(RxCounts { dropped: Some(0), ..RxCounts::default() }), None), Some(false));
        let rx = Some(RxCounts { samples: 1, dropped: Some(0), ..RxCounts::default() });
        let mut round = SoapyRate { rx, ..SoapyRate::default() };
        round.judge();
        assert_eq!((round.complete, round.clean), (false, Some(false)));
    }
}
