//! A snapshot that the process keeps up to date itself, where its counters can't be read by another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};

use crate::{Snapshot, Source};

/// A process is watched as long as the last look is no older.
const WATCHED: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
struct Shared {
    newest: Mutex<Snapshot>,
    /// When somebody looked last, ns; 0: nobody has.
    looked_ns: AtomicU64,
}

/// The end of who keeps the snapshot.
#[derive(Clone, Debug)]
pub struct Board(Arc<Shared>);

/// The end of the publisher: shows what was kept last.
#[derive(Debug)]
pub struct BoardSource(Arc<Shared>);

/// Both ends. Until something is kept, the snapshot is empty.
#[must_use]
pub fn board() -> (Board, BoardSource) {
    let shared = Arc::new(Shared::default());
    (Board(Arc::clone(&shared)), BoardSource(shared))
}

impl Board {
    /// Whether somebody looks: if not, nothing needs to be kept.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        // Relaxed: the instant publishes nothing but itself.
        let looked = self.0.looked_ns.load(Ordering::Relaxed);
        looked > 0 && WallClock.now() < MonoNs(looked) + WATCHED
    }

    /// Keeps a snapshot for who looks next.
    pub fn keep(&self, snapshot: Snapshot) {
        *self.0.newest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

impl Source for BoardSource {
    fn snapshot(&mut self) -> Snapshot {
        self.0.looked_ns.store(WallClock.now().0, Ordering::Relaxed);
        self.0.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_shows_what_was_kept_last_and_knows_that_somebody_looks() {
        let (board, mut source) = board();
        assert!(!board.is_watched());
        assert_eq!(source.snapshot(), Snapshot::default());
        assert!(board.is_watched());
        board.keep(Snapshot { speed: Some(0.5), ..Snapshot::default() });
        assert_eq!(source.snapshot().speed, Some(0.5));
    }
}
