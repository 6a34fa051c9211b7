//! One beat for all machines: slot k begins at an instant of one node's clock, and every other node knows how far its own clock
//! is from that one.

mod follow;
mod offset;
pub mod ptp;
mod respond;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_runtime::{Edges, Sleeper};

pub use follow::QUESTIONS_EVERY;
pub use follow::{Answered, Follower};
pub use offset::{Drift, Offset};
pub use respond::Responder;

/// When the slots of a run begin on this machine's clock, and until when they may be executed.
#[derive(Clone, Debug)]
pub struct SlotTime {
    shared: Arc<Shared>,
    slot_ns: u64,
}

/// Words that stand for themselves: nothing else is published with them. [`Offset`] has a rule of its own.
#[derive(Debug)]
struct Shared {
    /// Begin of slot 0 on this machine's clock; `u64::MAX` while that is not known.
    begin_ns: AtomicU64,
    /// No slot is executed after this instant of this machine's clock.
    lease_ns: AtomicU64,
    /// A worker has ended because the lease was over.
    cut_off: AtomicBool,
    offset: Offset,
}

impl SlotTime {
    /// Slots of this length. They begin at the instant of [`SlotTime::begin`], and may be executed until that of
    /// [`SlotTime::extend_lease`].
    #[must_use]
    pub fn new(slot_ns: u64) -> SlotTime {
        let (begin_ns, lease_ns, cut_off) = (AtomicU64::new(u64::MAX), AtomicU64::new(0), AtomicBool::new(false));
        let shared = Shared { begin_ns, lease_ns, cut_off, offset: Offset::default() };
        SlotTime { shared: Arc::new(shared), slot_ns: slot_ns.max(1) }
    }

    /// How long a slot is.
    #[must_use]
    pub fn slot_ns(&self) -> u64 {
        self.slot_ns
    }

    /// Slot 0 begins at this instant of this machine's clock.
    pub fn begin(&self, begin_ns: u64) {
        self.shared.begin_ns.store(begin_ns, Ordering::Relaxed);
    }

    /// When slot 0 begins on this machine's clock; `None` while that is not known.
    #[must_use]
    pub fn begins(&self) -> Option<u64> {
        Some(self.shared.begin_ns.load(Ordering::Relaxed)).filter(|&ns| ns != u64::MAX)
    }

    /// Slots may be executed until this instant of this machine's clock.
    pub fn extend_lease(&self, until_ns: u64) {
        self.shared.lease_ns.store(until_ns, Ordering::Relaxed);
    }

    /// Until which instant of this machine's clock slots may be executed.
    #[must_use]
    pub fn leased_until(&self) -> MonoNs {
        MonoNs(self.shared.lease_ns.load(Ordering::Relaxed))
    }

    /// Whether slots may still be executed at this instant.
    #[must_use]
    pub fn may_execute(&self, now: MonoNs) -> bool {
        now <= self.leased_until()
    }

    /// Whether slots may be executed at this instant; if not, workers are to end.
    fn is_leased(&self, now: MonoNs, stop: &Stop) -> bool {
        let may = self.may_execute(now);
        if !may {
            self.shared.cut_off.store(true, Ordering::Relaxed);
            stop.request();
        }
        may
    }

    /// Whether a worker has ended because the lease was over.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.shared.cut_off.load(Ordering::Relaxed)
    }

    /// How far this machine's clock is from the reference's.
    #[must_use]
    pub fn offset(&self) -> &Offset {
        &self.shared.offset
    }

    /// The slot that an instant of this machine's clock lies in; 0 before the first.
    #[must_use]
    pub fn slot_at(&self, now: MonoNs) -> u64 {
        now.0.saturating_sub(self.shared.begin_ns.load(Ordering::Relaxed)) / self.slot_ns
    }
}

impl Edges for SlotTime {
    fn due(&self, slot: u64) -> MonoNs {
        let begin_ns = self.shared.begin_ns.load(Ordering::Relaxed);
        MonoNs(begin_ns.saturating_add(slot.saturating_mul(self.slot_ns)))
    }

    fn slot_at(&self, now: MonoNs) -> u64 {
        SlotTime::slot_at(self, now)
    }

    /// A worker that was frozen, or cut off, finds here that its time is over, before it executes anything.
    fn wait(&self, slot: u64, sleeper: &mut Sleeper, stop: &Stop) -> Option<MonoNs> {
        let released = sleeper.wait_until(self.due(slot), stop)?;
        self.is_leased(released, stop).then_some(released)
    }

    /// Also one that was frozen in the middle of a change.
    fn may_go_on(&self, stop: &Stop) -> bool {
        self.is_leased(WallClock.now(), stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_begin_where_stated_and_end_with_the_lease() {
        let time = SlotTime::new(100);
        assert_eq!((time.due(0), time.begins()), (MonoNs::NEVER, None));
        time.begin(1000);
        assert_eq!((time.due(2), time.slot_at(MonoNs(1250))), (MonoNs(1200), 2));
        assert!(!time.may_execute(MonoNs(1)));
        time.extend_lease(1300);
        assert_eq!([1300, 1301].map(|now| time.may_execute(MonoNs(now))), [true, false]);
        let mut sleeper = Sleeper::new(std::time::Duration::ZERO);
        let stop = Stop::new();
        assert_eq!(time.wait(0, &mut sleeper, &stop), None, "the lease is long over");
        assert!(stop.requested() && time.is_cut_off(), "so the worker ends");
    }
}
