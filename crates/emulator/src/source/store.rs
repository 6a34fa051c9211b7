//! Samples of a file, where the device can have them without waiting: in memory if they fit, else read ahead.

use std::sync::Arc;

use takt_base::Complex32;

use super::loaded::Loaded;
use super::read_ahead::ReadAhead;

/// A file's samples, over and over if so wished; silence after the end if not.
pub(crate) enum Store {
    Loaded(Arc<Loaded>, bool),
    Ahead(ReadAhead),
}

impl Store {
    /// Samples there are; endless if they repeat.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Store::Loaded(loaded, repeat) => endless(loaded.samples, *repeat),
            Store::Ahead(ahead) => endless(ahead.samples, ahead.repeat),
        }
    }

    /// Fills `out` with the samples from `index` on. Never waits.
    pub(crate) fn read(&mut self, index: u64, out: &mut [Complex32]) {
        match self {
            Store::Loaded(loaded, repeat) => loaded.read(index, *repeat, out),
            Store::Ahead(ahead) => ahead.read(index, out),
        }
    }
}

fn endless(samples: u64, repeat: bool) -> u64 {
    if repeat && samples > 0 { u64::MAX } else { samples }
}
