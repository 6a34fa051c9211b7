//! Fate of a stream's slots, for whoever watches a machine: read at any time, and after the bridges have ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_graph::Direction;

use super::ends::Tally;

/// Reads the counters of one end of a stream.
#[derive(Clone, Debug)]
pub struct LinkReader {
    pub(super) name: String,
    pub(super) worker: usize,
    pub(super) direction: Direction,
    pub(super) tally: Arc<Tally>,
}

/// Fate of a stream's slots and datagrams at one end, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTally {
    /// Slots handed over: at the sender to the wire, at the receiver to the waveform.
    pub slots: u64,
    /// Slots for which there was no room.
    pub crowded_slots: u64,
    /// Slots of which nothing, or not all, had come when they were needed.
    pub lost_slots: u64,
    /// Slots among these that came whole after they were needed.
    pub late_slots: u64,
    /// Slots that the producer on the other machine had missed.
    pub missed_slots: u64,
    /// Datagrams sent or received.
    pub datagrams: u64,
    /// Their UDP payloads.
    pub bytes: u64,
    /// Datagrams of slots that were over.
    pub late_datagrams: u64,
    /// Datagrams that nobody could use.
    pub broken_datagrams: u64,
    /// Datagrams that the kernel would not send.
    pub unsent_datagrams: u64,
}

impl LinkReader {
    /// The component at this end, as in the report.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Worker of the whole plan at the other end.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Which end it is.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The counters now.
    #[must_use]
    pub fn tally(&self) -> LinkTally {
        let (tally, read) = (&self.tally, |count: &AtomicU64| count.load(Ordering::Relaxed));
        LinkTally {
            slots: read(&tally.slots),
            crowded_slots: read(&tally.crowded_slots),
            lost_slots: read(&tally.lost_slots),
            late_slots: read(&tally.late_slots),
            missed_slots: read(&tally.missed_slots),
            datagrams: read(&tally.datagrams),
            bytes: read(&tally.bytes),
            late_datagrams: read(&tally.late_datagrams),
            broken_datagrams: read(&tally.broken_datagrams),
            unsent_datagrams: read(&tally.unsent_datagrams),
        }
    }
}
