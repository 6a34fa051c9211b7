//! Facts that receivers must know of a transmitter beside its samples: how its ticks lie in time. The other way round,
//! how far it has been received.
//!
//! One writer, any number of readers, none of whom ever waits. A change of the clock is announced before it is made and after;
//! a reader that sees it half made, or sees another one after it has read, has seen nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

use crate::timebase::Timebase;

/// How a transmitter's runs lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clocking {
    /// Ticks, and the seconds they take.
    pub(super) ratio: [u64; 2],
    /// Runs before this one belong to an earlier rate, and are received no more.
    pub(super) since_run: u64,
    version: u64,
}

pub(super) struct Clockwork {
    /// Odd while the rest changes.
    version: AtomicU64,
    ticks: AtomicU64,
    seconds: AtomicU64,
    since_run: AtomicU64,
    /// Up to which instant receivers have begun to receive it, ns.
    received_ns: AtomicU64,
    /// Samples that came after they ought to have been received.
    pub(super) late: Arc<AtomicU64>,
}

impl Clockwork {
    pub(super) fn new(base: Timebase) -> Clockwork {
        let [ticks, seconds] = base.ratio();
        Clockwork {
            version: AtomicU64::new(0),
            ticks: AtomicU64::new(ticks),
            seconds: AtomicU64::new(seconds),
            since_run: AtomicU64::new(0),
            received_ns: AtomicU64::new(0),
            late: Arc::default(),
        }
    }

    /// From run `since_run` on ticks lie as `base` says. By the transmitter alone.
    pub(super) fn set(&self, base: Timebase, since_run: u64) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        fence(Release);
        let [ticks, seconds] = base.ratio();
        self.ticks.store(ticks, Relaxed);
        self.seconds.store(seconds, Relaxed);
        self.since_run.store(since_run, Relaxed);
        self.version.store(version + 2, Release);
    }

    /// `None`: it is just changing.
    pub(super) fn get(&self) -> Option<Clocking> {
        let version = self.version.load(Acquire);
        let ratio = [self.ticks.load(Relaxed), self.seconds.load(Relaxed)];
        let clocking = Clocking { ratio, since_run: self.since_run.load(Relaxed), version };
        (version.is_multiple_of(2) && self.still(&clocking)).then_some(clocking)
    }

    /// Whether nothing has changed since.
    pub(super) fn still(&self, clocking: &Clocking) -> bool {
        fence(Acquire);
        self.version.load(Relaxed) == clocking.version
    }

    /// A receiver is about to read it up to here.
    ///
    /// **No sample is missed uncounted**: a receiver says how far it reads, then reads; a transmitter writes, then looks how far
    /// receivers read. A fence stands between the two on either side, and fences have one order: whoever comes second sees what
    /// the other did before its own. So the receiver finds the sample, or the transmitter counts it as late; one that both find
    /// counts as late though it was received.
    pub(super) fn about_to_receive(&self, until_ns: u64) {
        self.received_ns.fetch_max(until_ns, Relaxed);
        fence(SeqCst);
    }

    /// For a transmitter that has written; see [`Clockwork::about_to_receive`].
    pub(super) fn received_ns(&self) -> u64 {
        fence(SeqCst);
        self.received_ns.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_whole_or_not_at_all() {
        let clockwork = Clockwork::new(Timebase::new(100_000_000, 1, 0));
        let first = clockwork.get().unwrap();
        assert_eq!((first.ratio, first.since_run), ([100_000_000, 1], 0));
        assert!(clockwork.still(&first));
        clockwork.set(Timebase::new(91_392_000_000, 481, 5), 3);
        assert!(!clockwork.still(&first));
        let second = clockwork.get().unwrap();
        assert_eq!((second.ratio, second.since_run), ([91_392_000_000, 481], 3));
        clockwork.version.store(7, Relaxed);
        assert_eq!(clockwork.get(), None);
    }

    #[test]
    fn readers_beside_a_writer_never_mix_two_rates() {
        let clockwork = Clockwork::new(Timebase::new(1, 1, 0));
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                (2..20_000u64).for_each(|n| clockwork.set(Timebase::new(n, 1, 0), n));
            });
            while !writing.is_finished() {
                if let Some(seen) = clockwork.get().filter(|seen| seen.since_run > 0) {
                    assert_eq!(seen.ratio[0], seen.since_run);
                }
            }
        });
    }

    /// Both at the same instant, as nearly as that can be had: without a fence some in twenty thousand rounds miss each other.
    #[test]
    fn a_sample_is_received_or_late() {
        const ROUNDS: u64 = 100_000;
        let (clockwork, written) = (Clockwork::new(Timebase::new(1, 1, 0)), Apart(AtomicU64::new(0)));
        let arrived = Apart(AtomicU64::new(0));
        let meet = |round: u64| {
            arrived.0.fetch_add(1, Relaxed);
            for turn in 1u32.. {
                if arrived.0.load(Acquire) >= 2 * round {
                    return;
                }
                if turn.is_multiple_of(1000) {
                    std::thread::yield_now();
                }
            }
        };
        let read = |round| {
            meet(round);
            clockwork.about_to_receive(round);
            written.0.load(Relaxed) == round
        };
        let write = |round| {
            meet(round);
            written.0.store(round, Relaxed);
            clockwork.received_ns() == round
        };
        let [received, late] = std::thread::scope(|scope| {
            let receiver = scope.spawn(|| (1..ROUNDS).map(read).collect::<Vec<bool>>());
            let late = (1..ROUNDS).map(write).collect::<Vec<bool>>();
            [receiver.join().unwrap(), late]
        });
        assert!(received.iter().zip(&late).all(|(received, late)| *received || *late));
    }

    /// On cache lines of its own.
    #[repr(align(128))]
    struct Apart(AtomicU64);
}
