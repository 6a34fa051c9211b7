//! Datagrams held back: until a time, or until the next of their stream has passed.

use std::net::SocketAddr;

use takt_base::Tick;

use crate::Port;

/// How many can be held. What comes then is let through, and not counted as struck.
pub(super) const DELAYED_MAX: usize = 4096;

/// Which way a held datagram was going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the device, whose port it left.
    Out(Port, SocketAddr),
    /// To the device.
    In(Port, SocketAddr),
}

pub(super) struct Delayed {
    pub(super) due: Tick,
    order: u64,
    /// The fault that waits for the next of the stream to pass.
    pub(super) swaps: Option<usize>,
    pub(super) way: Way,
    pub(super) bytes: Vec<u8>,
}

#[derive(Default)]
pub(super) struct DelayQueue {
    held: Vec<Delayed>,
    count: u64,
    spare: Vec<Vec<u8>>,
}

impl DelayQueue {
    /// `false` if no more can be held.
    pub(super) fn push(&mut self, due: Tick, swaps: Option<usize>, way: Way, bytes: &[u8]) -> bool {
        if self.held.len() == DELAYED_MAX {
            return false;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        self.count += 1;
        self.held.push(Delayed { due, order: self.count, swaps, way, bytes: copy });
        true
    }

    pub(super) fn next_due(&self) -> Option<Tick> {
        self.held.iter().map(|held| held.due).min()
    }

    /// The first that is due, in the order of due times.
    pub(super) fn pop_due(&mut self, now: Tick) -> Option<Delayed> {
        let due = self.held.iter().enumerate().filter(|(_, held)| held.due <= now);
        let first = due.min_by_key(|(_, held)| (held.due, held.order))?.0;
        Some(self.held.swap_remove(first))
    }

    /// The one that this fault holds until its successor has passed.
    pub(super) fn pop_swap(&mut self, fault: usize) -> Option<Delayed> {
        let index = self.held.iter().position(|held| held.swaps == Some(fault))?;
        Some(self.held.swap_remove(index))
    }

    pub(super) fn done(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }
}
