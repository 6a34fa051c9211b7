//! A client's words to a server about a round: the body of `Start`. Hostile until [`Plan::check`] has passed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::MonoNs;

use super::error::{UdpError, within};
use super::options::{
    BURSTS, DATAGRAMS, Direction, MAX_DURATION, MAX_INTERVALS, MAX_SIZES, MIN_INTERVAL, PAYLOAD_BYTES, RATES_PER_S,
    UdpOptions, one,
};
use super::protocol::data::MAX_FLOWS;
use super::schedule::{Pace, Schedule};

/// A round: its load, as both ends must know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(super) direction: Direction,
    pub(super) payload_bytes: usize,
    /// Datagram n has the size of place n modulo their number; empty: all have `payload_bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sizes: Vec<usize>,
    pub(super) datagrams_per_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ramp_from_per_s: Option<f64>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) burst: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) datagrams: Option<u64>,
    pub(super) duration_ns: u64,
    pub(super) interval_ns: u64,
    pub(super) flows: u8,
    /// The server's clock minus the client's, ns.
    pub(super) server_ahead_ns: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_one(burst: &u32) -> bool {
    *burst == 1
}

impl Plan {
    /// The plan of a round, or of its warm-up.
    pub(super) fn of(options: &UdpOptions, server_ahead_ns: i64, warm_up: Option<Duration>) -> Plan {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Plan {
            direction: options.direction,
            payload_bytes: options.payload_bytes,
            sizes: options.sizes.clone(),
            datagrams_per_s: options.datagrams_per_s,
            ramp_from_per_s: options.ramp_from_per_s,
            burst: options.burst,
            datagrams: options.datagrams,
            duration_ns: ns(warm_up.unwrap_or(options.duration)),
            interval_ns: ns(options.interval),
            flows: options.flows,
            server_ahead_ns,
        }
    }

    /// Reads what a client sent, and checks it.
    pub fn parse(text: &[u8]) -> Result<Plan, PlanError> {
        let plan: Plan = serde_json::from_slice(text).map_err(PlanError::Text)?;
        plan.check().map_err(|error| PlanError::Range(Box::new(error)))?;
        Ok(plan)
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration_ns)
    }

    /// Its instants, from `start` on.
    #[must_use]
    pub fn schedule(&self, start: MonoNs) -> Schedule {
        let pace = match (self.datagrams_per_s, self.ramp_from_per_s) {
            (None, _) => Pace::FlatOut,
            (Some(per_s), None) => Pace::Steady(per_s),
            (Some(to), Some(from)) => Pace::Ramp(from, to),
        };
        let most = self.datagrams.unwrap_or(u64::MAX);
        Schedule::new(start, self.duration(), pace).in_bursts_of(u64::from(self.burst)).at_most(most)
    }

    /// Payload of datagram `number` of the round.
    #[must_use]
    pub fn payload_of(&self, number: u64) -> usize {
        let place = number.checked_rem(self.sizes.len() as u64).unwrap_or(0);
        self.sizes.get(usize::try_from(place).unwrap_or(0)).copied().unwrap_or(self.payload_bytes)
    }

    #[must_use]
    pub fn largest_payload_bytes(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(self.payload_bytes)
    }

    /// Intervals it has; one more holds what comes after its end.
    pub(super) fn intervals(&self) -> usize {
        let count = self.duration_ns.div_ceil(self.interval_ns.max(1)).clamp(1, MAX_INTERVALS as u64 + 1);
        usize::try_from(count).unwrap_or(1) + 1
    }

    /// The interval that an instant belongs to, counted from the round's beginning; the last one holds all that is later.
    pub(super) fn interval_at(&self, since_start_ns: u64, intervals: usize) -> usize {
        let index = since_start_ns / self.interval_ns.max(1);
        usize::try_from(index).unwrap_or(usize::MAX).min(intervals.saturating_sub(1))
    }

    pub(super) fn check(&self) -> Result<(), UdpError> {
        let sizes = if self.sizes.is_empty() { std::slice::from_ref(&self.payload_bytes) } else { &self.sizes };
        for size in sizes {
            within("payload", PAYLOAD_BYTES.contains(size), || format!("{size} bytes"), "16 to 9000 bytes")?;
        }
        within("sizes", sizes.len() <= MAX_SIZES, || sizes.len().to_string(), "at most 64")?;
        for rate in [self.datagrams_per_s, self.ramp_from_per_s].into_iter().flatten() {
            let got = || format!("{rate} datagrams/s");
            within("rate", RATES_PER_S.contains(&rate), got, "0.001 to 1e9 datagrams/s")?;
        }
        within("burst", BURSTS.contains(&self.burst), || self.burst.to_string(), "1 to 65536 datagrams")?;
        let paced = self.datagrams_per_s.is_some();
        within("rate", paced || self.burst <= 1, || "bursts flat out".to_owned(), "a rate")?;
        within("rate", paced || self.ramp_from_per_s.is_none(), || "a ramp to flat out".to_owned(), "a rate")?;
        if let Some(most) = self.datagrams {
            within("count", DATAGRAMS.contains(&most), || most.to_string(), "1 to 1e12 datagrams")?;
        }
        let (duration, interval) = (self.duration(), Duration::from_nanos(self.interval_ns));
        let lasts = !duration.is_zero() && duration <= MAX_DURATION;
        within("duration", lasts, || format!("{duration:?}"), "above 0, at most 24 h")?;
        let fits = interval >= MIN_INTERVAL && duration.as_nanos() / interval.as_nanos() <= MAX_INTERVALS;
        let want = "at least 10 ms and a hundred-thousandth of the duration";
        within("interval", fits, || format!("{interval:?}"), want)?;
        within("flows", (1..=MAX_FLOWS).contains(&self.flows), || self.flows.to_string(), "1 to 16")
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    #[error("takt can't read a round's plan")]
    Text(#[source] serde_json::Error),
    #[error("a round's plan has a value out of range")]
    Range(#[source] Box<UdpError>),
}

#[cfg(test)]
mod tests {
    use super::super::options::DEFAULT_PORT;
    use super::*;

    fn plan() -> Plan {
        Plan::of(&UdpOptions::to(([127, 0, 0, 1], DEFAULT_PORT).into()), 0, None)
    }

    #[test]
    fn a_plan_travels_as_json_and_fits_into_one_message() {
        let widest = Plan {
            sizes: vec![9000; MAX_SIZES],
            datagrams_per_s: Some(1.234_567_890_123e8),
            ramp_from_per_s: Some(1.234_567_890_123e-3),
            burst: 65_536,
            datagrams: Some(1_000_000_000_000),
            duration_ns: u64::MAX,
            interval_ns: u64::MAX,
            server_ahead_ns: i64::MIN,
            ..plan()
        };
        for plan in [plan(), widest] {
            let text = serde_json::to_vec(&plan).unwrap();
            assert!(text.len() + 16 <= super::super::protocol::message::MESSAGE_BYTES, "{}", text.len());
            assert_eq!(serde_json::from_slice::<Plan>(&text).unwrap(), plan);
        }
        assert!(matches!(Plan::parse(b"{"), Err(PlanError::Text(_))));
    }

    #[test]
    fn sizes_follow_one_another_and_the_largest_is_known() {
        let mixed = Plan { sizes: vec![18, 548, 1472], ..plan() };
        assert_eq!((0..5).map(|n| mixed.payload_of(n)).collect::<Vec<_>>(), [18, 548, 1472, 18, 548]);
        assert_eq!((mixed.largest_payload_bytes(), plan().largest_payload_bytes()), (1472, 1472));
        assert_eq!(plan().payload_of(u64::MAX), 1472);
    }
}
