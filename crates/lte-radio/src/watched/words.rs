//! The words of an end: what it counted at some subframe, for a thread that looks.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of reasons why a link is lost.
pub(super) const LOSSES: usize = 7;
/// No state, no ratio of signal to noise, no terminal.
const UNKNOWN: u64 = u64::MAX;
/// Subframe, state, SNR, blocks received, blocks failed, bytes of payload received, terminal; then the losses.
const WORDS: usize = 7 + LOSSES;

/// Counts of an end at some subframe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EndLook {
    pub(super) subframe: u64,
    pub(super) state: Option<u64>,
    pub(super) snr_db: Option<f32>,
    pub(super) received: u64,
    pub(super) failed: u64,
    pub(super) bytes: u64,
    /// The terminal at the other end.
    pub(super) identity: Option<u64>,
    pub(super) lost: [u64; LOSSES],
}

/// The words of one end. One thread writes them.
#[derive(Debug)]
pub(super) struct EndWords([AtomicU64; WORDS]);

impl EndWords {
    pub(super) fn new() -> EndWords {
        let words = EndWords(array::from_fn(|_| AtomicU64::new(0)));
        words.0[1].store(UNKNOWN, Ordering::Relaxed);
        words.0[2].store(UNKNOWN, Ordering::Relaxed);
        words.0[6].store(UNKNOWN, Ordering::Relaxed);
        words
    }

    /// Relaxed: each word stands for itself. A look may have some of this subframe and some of the one before.
    pub(super) fn put(&self, look: &EndLook) {
        let snr = look.snr_db.map_or(UNKNOWN, |snr| u64::from(snr.to_bits()));
        let (state, identity) = (look.state.unwrap_or(UNKNOWN), look.identity.unwrap_or(UNKNOWN));
        let head = [look.subframe, state, snr, look.received, look.failed, look.bytes, identity];
        for (word, value) in self.0.iter().zip(head.into_iter().chain(look.lost)) {
            word.store(value, Ordering::Relaxed);
        }
    }

    pub(super) fn look(&self) -> EndLook {
        let words = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        let [subframe, state, snr, received, failed, bytes, identity, ..] = words;
        EndLook {
            subframe,
            state: Some(state).filter(|&state| state != UNKNOWN),
            snr_db: Some(snr).filter(|&snr| snr != UNKNOWN).map(|snr| f32::from_bits(snr as u32)),
            received,
            failed,
            bytes,
            identity: Some(identity).filter(|&identity| identity != UNKNOWN),
            lost: array::from_fn(|reason| words[WORDS - LOSSES + reason]),
        }
    }
}
