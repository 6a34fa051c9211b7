//! Options of a search.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::error::{UdpError, within};
use super::super::options::{RATES_PER_S, UdpOptions};
use super::bisection::Goal;

/// Goal of a search, and how careful it is. Start from [`SearchOptions::of`] and change what matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Server, direction, flows, engine, CPUs of the load; its size, rate, count and duration are the search's to choose.
    pub load: UdpOptions,
    /// Payloads, bytes: one search each.
    pub payloads_bytes: Vec<usize>,
    /// Highest rate to offer, datagrams a second; `None`: what leaves flat out.
    pub ceiling_per_s: Option<f64>,
    /// Share of the sent that may be lost; 0 is RFC 2544's throughput.
    pub loss_share: f64,
    pub trial: Duration,
    /// How long the result must hold. `None`: as long as a trial.
    pub confirm: Option<Duration>,
    /// How close the highest rate that holds and the lowest that does not must be, as a share of the latter.
    pub resolution: f64,
    /// A trial that is not clean is repeated so often before it is believed.
    pub verify: u32,
    /// The whole search is repeated so often; from 2 on the result has an interval.
    pub repeats: u32,
    pub bursts: bool,
}

impl SearchOptions {
    /// No loss, trials of 1 s, confirmed for 5 s, to one in a hundred, verified once, three times.
    #[must_use]
    pub fn of(load: UdpOptions) -> SearchOptions {
        SearchOptions {
            payloads_bytes: vec![load.payload_bytes],
            load,
            ceiling_per_s: None,
            loss_share: 0.0,
            trial: Duration::from_secs(1),
            confirm: Some(Duration::from_secs(5)),
            resolution: 0.01,
            verify: 1,
            repeats: 3,
            bursts: false,
        }
    }

    pub fn check(&self) -> Result<(), UdpError> {
        let sizes = self.payloads_bytes.len();
        within("sizes", (1..=64).contains(&sizes), || sizes.to_string(), "1 to 64")?;
        for &payload_bytes in &self.payloads_bytes {
            self.trial(payload_bytes, None, self.trial).check()?;
            self.trial(payload_bytes, None, self.confirm.unwrap_or(self.trial)).check()?;
        }
        if let Some(rate) = self.ceiling_per_s {
            let got = || format!("{rate} datagrams/s");
            within("highest rate", RATES_PER_S.contains(&rate), got, "0.001 to 1e9 datagrams/s")?;
        }
        let (loss, resolution) = (self.loss_share, self.resolution);
        within("loss", (0.0..1.0).contains(&loss), || loss.to_string(), "a share from 0 to below 1")?;
        let close = (0.0001..=0.5).contains(&resolution);
        within("resolution", close, || resolution.to_string(), "a share from 0.0001 to 0.5")?;
        within("verify", self.verify <= 20, || self.verify.to_string(), "0 to 20")?;
        within("repeats", (1..=1000).contains(&self.repeats), || self.repeats.to_string(), "1 to 1000")
    }

    /// About how long it takes where the path, not the sender, sets the limit.
    #[must_use]
    pub fn about(&self) -> Duration {
        let steps = (1.0 / self.resolution).log2().ceil() as u32 + 1;
        // Half of the steps lose something, and are repeated.
        let trials = steps + self.verify * steps / 2;
        let confirm = self.confirm.filter(|&confirm| confirm > self.trial).map_or(Duration::ZERO, |c| c + BETWEEN);
        let rates = (self.trial + BETWEEN) * trials + confirm;
        let bursts = if self.bursts { BETWEEN * trials * 2 } else { Duration::ZERO };
        let size = self.trial + BETWEEN + (rates + bursts) * self.repeats;
        size * u32::try_from(self.payloads_bytes.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn goal(&self) -> Goal {
        Goal { resolution: self.resolution, floor: 1e-4, verify: self.verify }
    }

    pub(super) fn trial(&self, payload_bytes: usize, datagrams_per_s: Option<f64>, duration: Duration) -> UdpOptions {
        UdpOptions {
            payload_bytes,
            sizes: Vec::new(),
            datagrams_per_s,
            ramp_from_per_s: None,
            burst: 1,
            datagrams: None,
            duration,
            interval: duration.max(Duration::from_millis(10)),
            ..self.load.clone()
        }
    }

    pub(super) fn burst(&self, payload_bytes: usize, datagrams: u64) -> UdpOptions {
        UdpOptions { datagrams: Some(datagrams), ..self.trial(payload_bytes, None, LONGEST_BURST) }
    }
}

/// Time of a trial besides its load: questions, quiet, fetching.
const BETWEEN: Duration = Duration::from_millis(400);
/// A burst that takes longer is none.
const LONGEST_BURST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_name_option_value_and_range() {
        let good = SearchOptions::of(UdpOptions::to(([127, 0, 0, 1], 1).into()));
        good.check().unwrap();
        let (trial, resolution) = (Duration::ZERO, 0.9);
        for (options, text) in [
            (SearchOptions { payloads_bytes: vec![], ..good.clone() }, "sizes can\'t be 0; expected: 1 to 64"),
            (
                SearchOptions { payloads_bytes: vec![64, 9], ..good.clone() },
                "payload can\'t be 9 bytes; expected: 16 to 9000 bytes",
            ),
            (SearchOptions { trial, ..good.clone() }, "duration can\'t be 0ns; expected: above 0, at most 24 h"),
            (
                SearchOptions { loss_share: 1.0, ..good.clone() },
                "loss can\'t be 1; expected: a share from 0 to below 1",
            ),
            (
                SearchOptions { resolution, ..good.clone() },
                "resolution can\'t be 0.9; expected: a share from 0.0001 to 0.5",
            ),
            (SearchOptions { repeats: 0, ..good.clone() }, "repeats can\'t be 0; expected: 1 to 1000"),
            (SearchOptions { verify: 21, ..good.clone() }, "verify can\'t be 21; expected: 0 to 20"),
        ] {
            assert_eq!(options.check().unwrap_err().to_string(), text);
        }
        assert!(SearchOptions { ceiling_per_s: Some(-1.0), ..good }.check().is_err());
    }

    #[test]
    fn what_it_takes_grows_with_sizes_and_repeats() {
        let one = SearchOptions { repeats: 1, ..SearchOptions::of(UdpOptions::to(([127, 0, 0, 1], 1).into())) };
        let three = SearchOptions { repeats: 3, ..one.clone() };
        let sizes = SearchOptions { payloads_bytes: vec![64, 512], ..one.clone() };
        assert!(three.about() > 2 * one.about() && sizes.about() == 2 * one.about());
    }
}
