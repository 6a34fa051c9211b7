//! Faults, and when they happened on the radio's clock.
//!
//! A count says how often; only the time says whose doing it was. A reader that knows when the radio
//! was late itself, or the machine stood still, finds here what is left.

use serde::{Deserialize, Serialize};

/// Faults kept one by one; more are counted.
const KEPT: usize = 2048;

/// Something that went wrong, by UHD's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Letter {
    /// Overflow: the radio could not send.
    O,
    /// Samples lost on their way from the radio.
    D,
    /// Underflow: the radio ran dry.
    U,
    /// Too late: a command, or a datagram with samples.
    L,
    /// A datagram lost on its way to the radio.
    S,
    /// Nothing came, or nothing was taken, for 100 ms.
    T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub letter: Letter,
    /// When it began, on the radio's clock, ticks.
    pub from_tick: u64,
    pub to_tick: u64,
    /// Samples lost with it, one channel.
    pub samples: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// The first two thousand, in order.
    pub list: Vec<Fault>,
    /// Those that are not in the list. When they were is not known.
    pub more: u64,
}

impl Faults {
    /// With memory for all that are kept.
    pub(super) fn with_room() -> Faults {
        Faults { list: Vec::with_capacity(KEPT), more: 0 }
    }

    pub(super) fn push(&mut self, fault: Fault) {
        if self.list.len() < KEPT { self.list.push(fault) } else { self.more += 1 }
    }
}
