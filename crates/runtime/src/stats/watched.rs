//! A worker's slots as others see them while it runs: how late they began, and its misses as they come.
//!
//! Lateness goes into counters of one writer ([`Live`]), a load and a store a slot. A miss goes into a ring that drops what does
//! not fit: who looks takes them out.

use std::sync::Arc;

use rtrb::{Consumer, Producer, RingBuffer};

use super::live::{Count, Live};
use super::record::RawMiss;

/// Misses that may wait for who looks.
const WAITING: usize = 64;

/// The worker's end.
#[derive(Debug)]
pub(crate) struct Watched {
    seen: Arc<Seen>,
    misses: Producer<RawMiss>,
}

/// Counters of a worker, for any thread.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) slots: Count,
    pub(crate) lateness: Live,
}

/// The other end.
#[derive(Debug)]
pub(crate) struct Watching {
    pub(crate) seen: Arc<Seen>,
    pub(crate) misses: Consumer<RawMiss>,
}

/// Both ends, with all their memory.
pub(crate) fn watched() -> (Watched, Watching) {
    let seen = Arc::new(Seen::default());
    let (producer, consumer) = RingBuffer::new(WAITING);
    (Watched { seen: Arc::clone(&seen), misses: producer }, Watching { seen, misses: consumer })
}

impl Watched {
    /// So many slots have ended; the first began so late.
    #[inline]
    pub(crate) fn slots(&self, slots: u64, lateness_ns: Option<u64>) {
        self.seen.slots.add(slots);
        if let Some(ns) = lateness_ns {
            self.seen.lateness.record(ns, 1);
        }
    }

    #[cold]
    pub(crate) fn miss(&mut self, miss: &RawMiss) {
        // A full ring: nobody looks, and the counts have it.
        let _ = self.misses.push(*miss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Event, MissKind, WINDOW};

    fn miss(slot: u64) -> RawMiss {
        RawMiss {
            kind: MissKind::Late,
            component: 0,
            logical: slot,
            count: 1,
            slot,
            release_ns: 0,
            carried: false,
            execution_ns: 0,
            window: [Event::default(); WINDOW],
            window_len: 0,
        }
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_the_worker_goes_on() {
        let (mut watched, mut watching) = watched();
        (0..1000).for_each(|slot| watched.miss(&miss(slot)));
        let taken: Vec<u64> = std::iter::from_fn(|| watching.misses.pop().ok()).map(|miss| miss.slot).collect();
        assert_eq!(taken, (0..WAITING as u64).collect::<Vec<_>>());
        watched.slots(3, None);
        watched.slots(1, Some(500));
        assert_eq!((watching.seen.slots.get(), watching.seen.lateness.histogram().len()), (4, 1));
    }
}
