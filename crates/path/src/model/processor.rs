//! A processor with a ring of received frames before it.

use std::collections::VecDeque;

use super::Processor;
use super::chance::Chance;

const SECOND_PS: u64 = 1_000_000_000_000;

#[derive(Debug)]
pub(super) struct Work {
    spec: Processor,
    /// When each frame in the ring, the one being worked on included, is done.
    done_ps: VecDeque<u64>,
    dice: Chance,
    second: u64,
    pace: f64,
}

impl Work {
    pub(super) fn new(spec: Processor, seed: u64) -> Work {
        let dice = Chance::new(seed, 2);
        Work { spec, done_ps: VecDeque::with_capacity(spec.ring_frames), dice, second: u64::MAX, pace: 1.0 }
    }

    /// Takes a frame; when it is done with it, or `None` if the ring is full.
    pub(super) fn take(&mut self, now_ns: u64, frame_bytes: usize) -> Option<u64> {
        let now_ps = now_ns.saturating_mul(1000);
        while self.done_ps.front().is_some_and(|&done| done <= now_ps) {
            self.done_ps.pop_front();
        }
        if self.done_ps.len() >= self.spec.ring_frames {
            return None;
        }
        let begins_ps = self.done_ps.back().map_or(now_ps, |&last| last.max(now_ps));
        let done_ps = begins_ps + self.cost_ps(begins_ps, frame_bytes);
        self.done_ps.push_back(done_ps);
        Some(done_ps.div_ceil(1000))
    }

    fn cost_ps(&mut self, at_ps: u64, frame_bytes: usize) -> u64 {
        let second = at_ps / SECOND_PS;
        if second != self.second {
            self.second = second;
            self.pace = 1.0 + self.spec.spread * (2.0 * self.dice.unit() - 1.0);
        }
        let cost_ps = self.spec.per_frame_ns * 1000 + self.spec.per_byte_ps * frame_bytes as u64;
        (cost_ps as f64 * self.pace) as u64
    }
}
