//! Slots on a radio's clock: slot k begins at sample k times the samples of a slot, counted from where the stream began.

use takt_base::{Tick, Ticks};

/// Grid of slots on a radio's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotGrid {
    /// Sample 0 of slot 0.
    pub start: Tick,
    /// Ticks from one sample to the next.
    pub step: Ticks,
    /// Samples of a slot.
    pub samples: u64,
}

impl SlotGrid {
    /// How long a slot is.
    #[must_use]
    pub fn slot(&self) -> Ticks {
        Ticks(self.step.0.saturating_mul(self.samples))
    }

    /// When the first sample of a slot is taken, and the last of the slot before is over.
    #[must_use]
    pub fn begin(&self, slot: u64) -> Tick {
        self.start + Ticks(self.slot().0.saturating_mul(slot))
    }

    /// The number, since the start, of the sample that is taken at `tick`; of the next one, between two.
    #[must_use]
    pub fn sample_at(&self, tick: Tick) -> u64 {
        (tick - self.start).0.div_ceil(self.step.0.max(1))
    }
}
