//! When slots begin.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{MonoNs, Stop};

use super::Sleeper;

/// Clock of the slots.
#[derive(Clone, Default)]
pub enum SlotClock {
    /// Nothing: each slot follows the last. Workers wait for each other, and no slot is ever missed.
    #[default]
    Free,
    /// The host's clock: slot k begins k slots after the start. Nobody waits for a worker that is late.
    Wall,
    /// Somebody else's, such as a radio's.
    Edges(Arc<dyn Edges>),
}

impl fmt::Debug for SlotClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SlotClock::Free => "Free",
            SlotClock::Wall => "Wall",
            SlotClock::Edges(_) => "Edges",
        })
    }
}

/// Slots in the time of this host. A radio's clock drifts against it, so the answers may move a little from call to
/// call; they are read once a slot.
pub trait Edges: Send + Sync {
    /// When a slot begins. Never earlier for a later slot.
    fn due(&self, slot: u64) -> MonoNs;

    /// The slot that an instant lies in; 0 before the first.
    fn slot_at(&self, now: MonoNs) -> u64;

    /// Returns when a slot may begin, with the time it is then, or with `None` when asked to stop. A clock whose slots begin
    /// with something that arrives waits for that; the difference from [`Edges::due`] is the lateness of the release.
    fn wait(&self, slot: u64, sleeper: &mut Sleeper, stop: &Stop) -> Option<MonoNs> {
        sleeper.wait_until(self.due(slot), stop)
    }

    /// Whether slots that have begun may still be executed: a change asks before each one that it finds left over. `false`
    /// for a clock that has asked to stop, or does so now, because the time of its slots is over.
    fn may_go_on(&self, _stop: &Stop) -> bool {
        true
    }
}

/// Edges of the host's own clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallEdges {
    pub(crate) start: MonoNs,
    pub(crate) slot_ns: u64,
}

impl Edges for WallEdges {
    fn due(&self, slot: u64) -> MonoNs {
        MonoNs(self.start.0.saturating_add(slot.saturating_mul(self.slot_ns)))
    }

    fn slot_at(&self, now: MonoNs) -> u64 {
        now.0.saturating_sub(self.start.0) / self.slot_ns.max(1)
    }
}

/// Waits for another worker: watches a while, then lets others run, then sleeps a little.
pub(crate) struct Patience {
    looks: u32,
    spins: u32,
}

impl Patience {
    /// `spins`: looks before others are let run; 0 where workers share cores.
    pub(crate) fn new(spins: u32) -> Patience {
        Patience { looks: 0, spins }
    }

    pub(crate) fn pause(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= self.spins {
            std::hint::spin_loop();
        } else if self.looks < self.spins.saturating_add(10_000) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_of_the_hosts_clock_lasts_from_its_edge_to_the_next() {
        let edges = WallEdges { start: MonoNs(1000), slot_ns: 250 };
        assert_eq!([0, 1, 4].map(|slot| edges.due(slot)), [1000, 1250, 2000].map(MonoNs));
        let at = [0, 999, 1000, 1249, 1250, 2000].map(|now| edges.slot_at(MonoNs(now)));
        assert_eq!(at, [0, 0, 0, 0, 1, 4]);
        assert_eq!(edges.due(u64::MAX), MonoNs(u64::MAX), "for ever");
    }
}
