//! Counts of a recording, and how its owner waits for them.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Duration;

use takt_dsp::file::FileError;

/// How often the recorder's thread looks.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) samples: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) clipped: AtomicU64,
    pub(crate) files: AtomicU64,
    /// Why nothing more is written.
    pub(crate) error: OnceLock<FileError>,
    /// Write what is there, and end.
    pub(super) finish: AtomicBool,
    /// How often somebody asked for what had been taken, and how many of these have it.
    pub(super) asked: AtomicU64,
    pub(super) answered: AtomicU64,
}

impl Counts {
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Waits until everything that has left so far was dealt with.
    pub(crate) fn catch_up(&self) {
        let mine = self.asked.fetch_add(1, AcqRel) + 1;
        while self.answered.load(Acquire) < mine {
            thread::sleep(PAUSE / 2);
        }
    }
}
