//! [`CaughtUp`]: who of the workers has caught up after a change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One worker's view. A flag for each worker and no count of them all: a store takes no lock, adding to a count does.
pub(crate) struct CaughtUp {
    all: Arc<[AtomicBool]>,
    own: usize,
}

impl CaughtUp {
    /// For so many workers, none of which has.
    pub(crate) fn none_of(workers: usize) -> impl Iterator<Item = CaughtUp> {
        let all: Arc<[AtomicBool]> = (0..workers).map(|_| AtomicBool::new(false)).collect();
        (0..workers).map(move |own| CaughtUp { all: Arc::clone(&all), own })
    }

    /// This worker has.
    pub(crate) fn say(&self) {
        if let Some(own) = self.all.get(self.own) {
            // Release: who sees it sees the packets that were handed over before.
            own.store(true, Ordering::Release);
        }
    }

    /// Whether this worker has not.
    pub(crate) fn is_behind(&self) -> bool {
        // Relaxed: no other worker stores this flag.
        self.all.get(self.own).is_some_and(|own| !own.load(Ordering::Relaxed))
    }

    /// Whether all have.
    pub(crate) fn by_all(&self) -> bool {
        self.all.iter().all(|worker| worker.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_when_the_last_has() {
        let workers: Vec<CaughtUp> = CaughtUp::none_of(3).collect();
        for worker in &workers {
            assert!(!workers[0].by_all() && worker.is_behind());
            worker.say();
            assert!(!worker.is_behind());
        }
        assert!(workers.iter().all(CaughtUp::by_all));
    }
}
