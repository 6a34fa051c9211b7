//! Whether a reader sleeps, so that a writer wakes it only then and never too late.
//!
//! The reader marks that it sleeps, looks once more for what was handed over, and sleeps; the writer hands over, and looks whether
//! the reader sleeps. Between both steps of either stands a sequentially consistent fence (C). One of the two fences
//! comes first, and the thread that passes the second sees what was written before the first. So the reader finds what
//! was handed over, or the writer finds that it sleeps. `tests/loom_link.rs` checks that.

use crate::sync::{AtomicBool, Ordering, fence};

/// The mark of one reader.
#[derive(Debug)]
pub struct Sleep(AtomicBool);

impl Default for Sleep {
    fn default() -> Sleep {
        Sleep(AtomicBool::new(false))
    }
}

impl Sleep {
    /// The reader is about to sleep. It has to look once more first.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst); // C
    }

    /// The reader does not sleep any more.
    pub fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The writer has handed over: whether it has to wake the reader. `true` once a sleep.
    #[must_use]
    pub fn needs_wake(&self) -> bool {
        fence(Ordering::SeqCst); // C
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
