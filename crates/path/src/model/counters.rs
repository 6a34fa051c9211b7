//! Fate of frames, by direction and place.

use serde::{Deserialize, Serialize};

use super::{Direction, Place};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// From the first port to the second, then back.
    pub flows: [Flow; 2],
}

/// One direction. In and doubled are out, dropped, and what is still inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub in_frames: u64,
    pub in_bytes: u64,
    /// Left, copies included.
    pub out_frames: u64,
    pub out_bytes: u64,
    pub doubled: u64,
    /// Held back, so that others could overtake.
    pub held_back: u64,
    pub dropped_by_chance: u64,
    pub dropped_at_ring: u64,
    pub dropped_at_queue: u64,
    /// The hop had no memory left, or the kernel's buffer before it was full: its own limit, not the model's.
    pub dropped_by_hop: u64,
}

impl Counters {
    #[must_use]
    pub fn flow(&self, direction: Direction) -> &Flow {
        &self.flows[direction as usize]
    }
}

impl Flow {
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped_by_chance + self.dropped_at_ring + self.dropped_at_queue + self.dropped_by_hop
    }

    pub(super) fn arrives(&mut self, bytes: usize) {
        self.in_frames += 1;
        self.in_bytes += bytes as u64;
    }

    pub(super) fn leaves(&mut self, bytes: usize) {
        self.out_frames += 1;
        self.out_bytes += bytes as u64;
    }

    pub(super) fn drops(&mut self, place: Place) -> Place {
        let counter = match place {
            Place::Chance => &mut self.dropped_by_chance,
            Place::Ring => &mut self.dropped_at_ring,
            Place::Queue => &mut self.dropped_at_queue,
            Place::Memory => &mut self.dropped_by_hop,
        };
        *counter += 1;
        place
    }
}
