//! A cable, and the queue before it.

use std::collections::VecDeque;

const PS_A_SECOND: u64 = 1_000_000_000_000;

#[derive(Debug)]
pub(super) struct Line {
    rate_bps: Option<u64>,
    buffer_bytes: u64,
    /// Last bit on the wire, bytes of the frame, slot; in order.
    leaving: VecDeque<(u64, usize, u32)>,
    busy_until_ps: u64,
    ready_ns: u64,
}

impl Line {
    pub(super) fn new(rate_bps: Option<u64>, buffer_bytes: u64, frames: usize) -> Line {
        Line { rate_bps, buffer_bytes, leaving: VecDeque::with_capacity(frames), busy_until_ps: 0, ready_ns: 0 }
    }

    /// Frames are ready in the order of their arrival, except that one that is held back waits longer alone.
    pub(super) fn in_order(&mut self, ready_ns: u64, hold_ns: u64) -> u64 {
        self.ready_ns = self.ready_ns.max(ready_ns);
        self.ready_ns + hold_ns
    }

    /// A frame joins the queue at `at_ns`, not before the last one; `false` if it is full.
    pub(super) fn enter(&mut self, at_ns: u64, wire_bytes: usize, frame_bytes: usize, slot: u32) -> bool {
        let at_ps = at_ns.saturating_mul(1000);
        let Some(rate_bps) = self.rate_bps else {
            self.leaving.push_back((at_ns, frame_bytes, slot));
            return true;
        };
        let waits_ps = self.busy_until_ps.saturating_sub(at_ps);
        // A frame that finds nothing before it needs no buffer.
        if waits_ps > 0 && bytes_in(waits_ps, rate_bps) + wire_bytes as u64 > self.buffer_bytes {
            return false;
        }
        self.busy_until_ps = self.busy_until_ps.max(at_ps) + time_ps(wire_bytes as u64, rate_bps);
        self.leaving.push_back((self.busy_until_ps.div_ceil(1000), frame_bytes, slot));
        true
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        self.leaving.front().map(|&(at_ns, ..)| at_ns)
    }

    pub(super) fn leave(&mut self, now_ns: u64) -> Option<(u64, usize, u32)> {
        let &(at_ns, ..) = self.leaving.front()?;
        if at_ns <= now_ns { self.leaving.pop_front() } else { None }
    }
}

fn time_ps(bytes: u64, rate_bps: u64) -> u64 {
    let ps = u128::from(bytes) * 8 * u128::from(PS_A_SECOND) / u128::from(rate_bps.max(1));
    u64::try_from(ps).unwrap_or(u64::MAX / 4)
}

fn bytes_in(ps: u64, rate_bps: u64) -> u64 {
    u64::try_from(u128::from(ps) * u128::from(rate_bps) / 8 / u128::from(PS_A_SECOND)).unwrap_or(u64::MAX)
}
