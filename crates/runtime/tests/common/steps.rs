//! A clock for tests that keeps no time: a slot begins when all workers have done the one before, so that what is executed
//! and what is missed is the same on a busy machine.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_runtime::{Edges, Sleeper, SlotClock, wait_until};

/// Far enough for any slot to be in time.
const NEVER: MonoNs = MonoNs(u64::MAX / 2);
/// Looks at the others before a nap.
const LOOKS: u32 = 2000;
/// A nap is one call of the kernel's sleep.
const NAP: Duration = Duration::from_micros(1);

thread_local! {
    /// Which worker this thread is, and the slot it is in.
    static WORKER: Cell<Option<usize>> = const { Cell::new(None) };
    static SLOT: Cell<u64> = const { Cell::new(0) };
}

/// Slots by the workers' own progress.
pub struct Steps {
    /// The slot that each worker has come to. Release and Acquire alone, which take no locked instruction.
    come_to: Vec<AtomicU64>,
    workers: AtomicUsize,
    /// A worker naps at least once in so many slots.
    nap_every: u64,
    /// Behind this slot its worker is so many slots late.
    late: Option<(u64, u64)>,
    /// This slot ends when it begins.
    short: Option<u64>,
    /// Before this slot all workers are to stop.
    over: Option<u64>,
    /// The time of slots is over when a change begins.
    over_in_changes: bool,
}

impl Steps {
    /// For a plan of so many workers.
    pub fn of(workers: usize) -> Steps {
        let come_to = (0..workers).map(|_| AtomicU64::new(0)).collect();
        Steps {
            come_to,
            workers: AtomicUsize::new(0),
            nap_every: 16,
            late: None,
            short: None,
            over: None,
            over_in_changes: false,
        }
    }

    /// Naps in every slot.
    pub fn napping(self) -> Steps {
        Steps { nap_every: 1, ..self }
    }

    /// Behind `slot` workers find that the next `missed` have passed.
    pub fn late_behind(self, slot: u64, missed: u64) -> Steps {
        Steps { late: Some((slot, missed)), ..self }
    }

    /// Nothing can be executed in this slot: its end comes with its beginning.
    pub fn short(self, slot: u64) -> Steps {
        Steps { short: Some(slot), ..self }
    }

    /// The time of all slots from this one on is over, as for a node whose lease has ended.
    pub fn over_before(self, slot: u64) -> Steps {
        Steps { over: Some(slot), ..self }
    }

    /// The same for what a change finds left over.
    pub fn over_in_changes(self) -> Steps {
        Steps { over_in_changes: true, ..self }
    }

    pub fn clock(self) -> SlotClock {
        SlotClock::Edges(Arc::new(self))
    }

    /// The number of this thread, given when it first waits.
    fn worker(&self) -> usize {
        WORKER.get().unwrap_or_else(|| {
            let worker = self.workers.fetch_add(1, Ordering::Relaxed);
            WORKER.set(Some(worker));
            worker
        })
    }

    fn all_have_come_to(&self, slot: u64) -> bool {
        self.come_to.iter().all(|other| other.load(Ordering::Acquire) >= slot)
    }
}

impl Edges for Steps {
    fn due(&self, slot: u64) -> MonoNs {
        if self.short.is_some_and(|short| slot == short + 1) { MonoNs(1) } else { NEVER }
    }

    fn slot_at(&self, _: MonoNs) -> u64 {
        match self.late {
            Some((slot, missed)) if SLOT.get() == slot => slot + 1 + missed,
            _ => 0,
        }
    }

    fn wait(&self, slot: u64, _: &mut Sleeper, stop: &Stop) -> Option<MonoNs> {
        self.come_to[self.worker()].store(slot, Ordering::Release);
        SLOT.set(slot);
        if slot.is_multiple_of(self.nap_every) {
            nap(stop)?;
        }
        let mut looks = 0;
        while !self.all_have_come_to(slot) {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                nap(stop)?;
            }
        }
        if self.over == Some(slot) {
            stop.request();
        }
        wait_until(MonoNs(1), stop)
    }

    fn may_go_on(&self, stop: &Stop) -> bool {
        if self.over_in_changes {
            stop.request();
        }
        !self.over_in_changes
    }
}

fn nap(stop: &Stop) -> Option<MonoNs> {
    wait_until(WallClock.now() + NAP, stop)
}
