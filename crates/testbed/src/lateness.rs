//! Lateness of an emulated radio in a round, by its own words.
//!
//! On this machine it ends with each round and leaves its whole summary; of that only these keys set time aside. On another
//! machine it runs on and sends them on request. Both stand in a record in the same place and the same shape.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::{Speed, TickRate};
use takt_emulator::drive::wall::{LateSpan, SpansBy};
use takt_load::{ExcludedSpans, Model};

/// The part of an emulator's summary that says how late it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// All its radios together.
    pub lag: OwnLag,
    pub devices: Vec<RadioLateness>,
}

/// How late, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnLag {
    /// Above this a host could have noticed, microseconds.
    pub limit_us: u64,
    /// Datagrams that left later than the limit, or never.
    pub over_limit: u64,
    /// Largest lag, microseconds. For a radio that answers over the network: at most.
    pub max_us: u64,
    /// When it was later than the limit, in order.
    #[serde(default)] // records older than this key
    pub late_spans: Vec<LateSpan>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioLateness {
    pub lag: OwnLag,
    /// Ticks of its clock in a second.
    #[serde(default = "clock_of_an_n200")] // records older than this key
    pub clock_hz: NonZeroU32,
    /// Its clock is the monotonic clock of its machine in such ticks at its speed, plus this, modulo 2^64.
    #[serde(default)] // records older than this key
    pub clock_offset_ticks: u64,
    /// Seconds of the radio in a second of its machine.
    #[serde(default = "wall")] // records older than this key
    pub speed: f64,
    /// Fate of datagrams to it.
    pub datagrams: Unread,
}

impl Default for RadioLateness {
    fn default() -> RadioLateness {
        let clock_hz = clock_of_an_n200();
        let (lag, datagrams) = (OwnLag::default(), Unread::default());
        RadioLateness { lag, clock_hz, clock_offset_ticks: 0, speed: wall(), datagrams }
    }
}

fn clock_of_an_n200() -> NonZeroU32 {
    Model::N200.clock().into()
}

fn wall() -> f64 {
    Speed::WALL.seconds()
}

/// Datagrams that an emulator did not read in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Lost because its receive buffer was full; `None`: the kernel does not say.
    pub receive_buffer_drops: Option<u64>,
}

impl Lateness {
    /// The spans of the radio's clock about which a round says nothing; none of several radios, whose clocks are not one.
    #[must_use]
    pub fn excluded(&self) -> ExcludedSpans {
        self.excluded_before(Duration::ZERO)
    }

    /// The same, and what begins so long before one of them: an answer that is due in it.
    #[must_use]
    pub fn excluded_before(&self, delay: Duration) -> ExcludedSpans {
        match self.devices.as_slice() {
            [radio] => {
                let clock = TickRate::from(radio.clock_hz);
                // A record may say anything.
                let speed = Speed::nearest(radio.speed).unwrap_or_default();
                let late_ns = radio.lag.late_spans.iter().map(|late| [late.from_ns, late.to_ns]);
                ExcludedSpans::of(late_ns, (clock, speed), radio.clock_offset_ticks).and_before(clock.ticks_in(delay))
            }
            _ => ExcludedSpans::default(),
        }
    }

    /// The spans of all radios by who held each up.
    #[must_use]
    pub fn late_by(&self) -> SpansBy {
        SpansBy::of(&self.lag.late_spans)
    }

    /// Lateness in a record's `emulator`; `None`: the radio of that round has reported nothing.
    #[must_use]
    pub fn of(emulator: &Value) -> Option<Lateness> {
        Lateness::deserialize(emulator).ok()
    }
}

#[cfg(test)]
mod tests {
    use takt_base::Ticks;
    use takt_emulator::drive::wall::LateBy;

    use super::*;

    /// A radio that was late for a millisecond, held up by these.
    fn late(by: LateBy) -> Lateness {
        let lag = OwnLag {
            late_spans: vec![LateSpan { from_ns: 0, to_ns: 1_000_000, by, ..LateSpan::default() }],
            ..OwnLag::default()
        };
        Lateness { lag: lag.clone(), devices: vec![RadioLateness { lag, ..RadioLateness::default() }] }
    }

    #[test]
    fn a_span_is_excluded_for_what_the_radio_did_whoever_held_it_up() {
        let machine = late(LateBy { machine_ns: 1_000_000, ..LateBy::default() });
        let host = late(LateBy { host_ns: 1_000_000, ..LateBy::default() });
        assert_eq!((machine.late_by().machine.spans, host.late_by().host.spans), (1, 1));
        assert_eq!(machine.excluded(), host.excluded());
        assert_ne!(machine.excluded().ticks(), Ticks(0));
    }

    #[test]
    fn what_held_only_the_host_up_is_excluded_nowhere() {
        let punctual = Lateness { devices: vec![RadioLateness::default()], ..Lateness::default() };
        assert_eq!(punctual.excluded(), ExcludedSpans::default());
    }

    #[test]
    fn spans_of_records_older_than_their_cause_are_laid_to_nobody() {
        let text = r#"{"lag": {"limit_us": 1000, "over_limit": 1, "max_us": 9, "late_spans": [{"from_ns": 1, "to_ns": 8}]},
                       "devices": []}"#;
        let lateness = Lateness::of(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!((lateness.late_by().not_known.spans, lateness.late_by().not_known.ns), (1, 7));
    }
}
