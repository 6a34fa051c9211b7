//! One beat for all machines: slot k begins at an instant of one node's clock, and every other node knows how far its own clock
//! is from that one.

mod follow;
mod offset;
mod respond;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_base::MonoNs;
use takt_runtime::Edges;

pub use follow::Follower;
pub use offset::Offset;
pub use respond::Responder;

/// When the slots of a run begin, on this machine's clock.
#[derive(Clone, Debug)]
pub struct SlotTime {
    /// Begin of slot 0 on the reference's clock; `u64::MAX` while that is not said.
    epoch_ns: Arc<AtomicU64>,
    slot_ns: u64,
    offset: Arc<Offset>,
}

impl SlotTime {
    /// Slots of this length, on a clock so far from the reference's. They begin when [`SlotTime::begin`] says so.
    #[must_use]
    pub fn new(slot_ns: u64, offset: Arc<Offset>) -> SlotTime {
        SlotTime { epoch_ns: Arc::new(AtomicU64::new(u64::MAX)), slot_ns: slot_ns.max(1), offset }
    }

    /// Slot 0 begins at this instant of the reference's clock.
    pub fn begin(&self, epoch_ns: u64) {
        // Nothing else is published with it: workers wait for the first edge until it is there.
        self.epoch_ns.store(epoch_ns, Ordering::Relaxed);
    }

    /// How far this machine's clock is from the reference's.
    #[must_use]
    pub fn offset(&self) -> &Arc<Offset> {
        &self.offset
    }

    /// The slot that an instant of this machine's clock lies in; 0 before the first.
    #[must_use]
    pub fn slot_at(&self, now: MonoNs) -> u64 {
        let reference_ns = now.0.saturating_add_signed(self.offset.ns());
        reference_ns.saturating_sub(self.epoch_ns.load(Ordering::Relaxed)) / self.slot_ns
    }
}

impl Edges for SlotTime {
    fn due(&self, slot: u64) -> MonoNs {
        let epoch_ns = self.epoch_ns.load(Ordering::Relaxed);
        let reference_ns = epoch_ns.saturating_add(slot.saturating_mul(self.slot_ns));
        if reference_ns == u64::MAX {
            return MonoNs::NEVER;
        }
        MonoNs(reference_ns.saturating_sub_signed(self.offset.ns()))
    }

    fn slot_at(&self, now: MonoNs) -> u64 {
        SlotTime::slot_at(self, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_begin_on_the_references_clock() {
        let offset = Arc::new(Offset::default());
        let time = SlotTime::new(100, Arc::clone(&offset));
        assert_eq!(time.due(0), MonoNs::NEVER);
        time.begin(1000);
        assert_eq!((time.due(2), Edges::slot_at(&time, MonoNs(1250))), (MonoNs(1200), 2));
        offset.set(300, 5);
        assert_eq!((time.due(2), Edges::slot_at(&time, MonoNs(900))), (MonoNs(900), 2));
        offset.set(-300, 5);
        assert_eq!((time.due(2), time.slot_at(MonoNs(1250))), (MonoNs(1500), 0));
    }
}
