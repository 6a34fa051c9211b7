//! Datagrams held back: until a time, or until the next of their stream has passed.

use std::net::SocketAddr;

use takt_base::Tick;

use crate::Port;

/// How many can be held. A further datagram is let through, and not counted as struck.
pub(super) const DELAYED_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out(Port, SocketAddr),
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
    delayed: Vec<Delayed>,
    count: u64,
    spare: Vec<Vec<u8>>,
}

impl DelayQueue {
    pub(super) fn push(&mut self, due: Tick, swaps: Option<usize>, way: Way, bytes: &[u8]) -> bool {
        if self.delayed.len() == DELAYED_MAX {
            return false;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        self.count += 1;
        self.delayed.push(Delayed { due, order: self.count, swaps, way, bytes: copy });
        true
    }

    pub(super) fn next_due(&self) -> Option<Tick> {
        self.delayed.iter().map(|delayed| delayed.due).min()
    }

    /// The first that is due, in the order of due times.
    pub(super) fn pop_due(&mut self, now: Tick) -> Option<Delayed> {
        let due = self.delayed.iter().enumerate().filter(|(_, delayed)| delayed.due <= now);
        let first = due.min_by_key(|(_, delayed)| (delayed.due, delayed.order))?.0;
        Some(self.delayed.swap_remove(first))
    }

    /// The one that this fault holds until its successor has passed.
    pub(super) fn pop_swap(&mut self, fault: usize) -> Option<Delayed> {
        let index = self.delayed.iter().position(|delayed| delayed.swaps == Some(fault))?;
        Some(self.delayed.swap_remove(index))
    }

    pub(super) fn done(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }
}
