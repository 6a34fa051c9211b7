//! The place of the samples of the packet that plays.
//!
//! A packet goes to the sink whole when its first sample is due. If something changes while it plays, what has not left by
//! then goes there once more as it is now, and replaces the rest ([`Sink::take`](crate::sink::Sink::take)). So a change
//! holds from its sample on, and one that comes between two packets costs nothing.

use takt_base::{Tick, Ticks};

use crate::sink::BurstEdges;

/// Samples of a packet that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayHead {
    /// The number of the first in its packet, and of the one behind the last.
    pub(crate) from: usize,
    pub(crate) end: usize,
    /// The tick of the first.
    pub(crate) first: Tick,
    /// Ticks from sample to sample.
    pub(crate) step: u32,
    pub(crate) edges: BurstEdges,
}

impl PlayHead {
    /// At the beginning of a packet.
    pub(crate) fn begin(first: Tick, samples: usize, step: u32, edges: BurstEdges) -> PlayHead {
        PlayHead { from: 0, end: samples, first, step, edges }
    }

    pub(crate) fn samples(&self) -> usize {
        self.end - self.from
    }

    /// When the last sample ends.
    pub(crate) fn until(&self) -> Tick {
        self.first + Ticks(self.samples() as u64 * u64::from(self.step))
    }

    /// The samples that leave at a tick or later, `step` ticks apart: the next sample comes when it was to come anyway.
    pub(crate) fn rest(self, now: Tick, step: u32) -> PlayHead {
        let left = (now - self.first).0.div_ceil(u64::from(self.step.max(1))).min(self.samples() as u64);
        PlayHead {
            from: self.from + left as usize,
            first: self.first + Ticks(left * u64::from(self.step)),
            step,
            edges: BurstEdges { start: self.edges.start && left == 0, end: self.edges.end },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: BurstEdges = BurstEdges { start: true, end: true };

    #[test]
    fn what_has_left_stays_and_the_next_sample_comes_at_its_tick() {
        let head = PlayHead::begin(Tick(1000), 10, 4, WHOLE);
        assert_eq!((head.samples(), head.until()), (10, Tick(1040)));
        assert_eq!(head.rest(Tick(1000), 4), head);
        let rest = head.rest(Tick(1001), 10);
        assert_eq!((rest.from, rest.first, rest.step), (1, Tick(1004), 10));
        assert_eq!((rest.samples(), rest.until(), rest.edges.start, rest.edges.end), (9, Tick(1094), false, true));
        let rest = rest.rest(Tick(1014), 1);
        assert_eq!((rest.from, rest.first, rest.until()), (2, Tick(1014), Tick(1022)));
    }

    #[test]
    fn behind_the_last_sample_nothing_is_left_and_it_ends_when_it_was_to_end() {
        let rest = PlayHead::begin(Tick(1000), 10, 4, WHOLE).rest(Tick(1037), 100);
        assert_eq!((rest.samples(), rest.until()), (0, Tick(1040)));
        assert_eq!(PlayHead::begin(Tick(1000), 0, 4, WHOLE).rest(Tick(2000), 9).until(), Tick(1000));
    }
}
