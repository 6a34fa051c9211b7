//! What an emulated radio says of its own lateness in a round.
//!
//! On this machine it ends with each round and leaves its whole summary; of that only these keys set time aside. On another
//! machine it runs on and is asked for them. Both stand in a record in the same place and the same shape.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_emulator::drive::wall::LateSpan;
use takt_load::ExcludedSpans;

/// The part of an emulator's summary that says how late it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Largest lag, microseconds. Of a radio that was asked over the network: at most.
    pub max_us: u64,
    /// When it was later than the limit, in order.
    #[serde(default)] // records older than this key
    pub late_spans: Vec<LateSpan>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RadioLateness {
    pub lag: OwnLag,
    /// Its clock is the monotonic clock of its machine, in ticks of 10 ns, plus this, modulo 2^64.
    #[serde(default)] // records older than this key
    pub clock_offset_ticks: u64,
    /// What became of datagrams to it.
    pub datagrams: Unread,
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
        match self.devices.as_slice() {
            [radio] => {
                let late_ns = radio.lag.late_spans.iter().map(|late| [late.from_ns, late.to_ns]);
                ExcludedSpans::of(late_ns, radio.clock_offset_ticks)
            }
            _ => ExcludedSpans::default(),
        }
    }

    /// Of a record's `emulator`; `None`: the radio of that round has said nothing.
    #[must_use]
    pub fn of(emulator: &Value) -> Option<Lateness> {
        Lateness::deserialize(emulator).ok()
    }
}
