//! Reports not taken yet: a ring that forgets the oldest, and says how many it forgot.

use std::collections::VecDeque;

use crate::TxEvent;

/// Events kept. A radio that reports every datagram as late fills this in 15 ms at full rate; who listens that seldom
/// learns from the counts.
const KEPT: usize = 1024;

#[derive(Debug)]
pub(super) struct Events {
    ring: VecDeque<TxEvent>,
    forgotten: u64,
}

impl Events {
    pub(super) fn new() -> Events {
        Events { ring: VecDeque::with_capacity(KEPT), forgotten: 0 }
    }

    pub(super) fn push(&mut self, event: TxEvent) {
        if self.ring.len() == KEPT {
            self.ring.pop_front();
            self.forgotten += 1;
        }
        self.ring.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<TxEvent> {
        self.ring.pop_front()
    }

    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}
