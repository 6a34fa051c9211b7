//! Counts that the devices' ends keep while samples pass, and pass on to the front end.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use takt_base::Tick;

use crate::Band;

/// Counts of one radio. One thread writes and reads them; atomics only since a device's ends must be `Send`.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) outside: AtomicU64,
    pub(crate) partly: AtomicU64,
    pub(crate) forbidden: AtomicU64,
    pub(crate) tx_outside: AtomicU64,
    pub(crate) tx_forbidden: AtomicU64,
    pub(crate) tx_overlapping: AtomicU64,
    /// The band that a receiver has, and the tick up to which it has received.
    pub(crate) receives: Activity,
}

/// Those counts at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountsNow {
    pub(crate) outside: u64,
    pub(crate) partly: u64,
    pub(crate) forbidden: u64,
    pub(crate) tx_outside: u64,
    pub(crate) tx_forbidden: u64,
    pub(crate) tx_overlapping: u64,
}

impl Counts {
    pub(crate) fn all(&self) -> CountsNow {
        CountsNow {
            outside: self.outside.load(Relaxed),
            partly: self.partly.load(Relaxed),
            forbidden: self.forbidden.load(Relaxed),
            tx_outside: self.tx_outside.load(Relaxed),
            tx_forbidden: self.tx_forbidden.load(Relaxed),
            tx_overlapping: self.tx_overlapping.load(Relaxed),
        }
    }
}

/// A band and when it was last used.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    centre_hz: AtomicU64,
    width_hz: AtomicU64,
    since: AtomicU64,
    until: AtomicU64,
}

impl Activity {
    /// The band was used from `first` to `until`; a use more than `pause` ticks after the last is a new one.
    pub(crate) fn note(&self, band: Band, first: Tick, until: Tick, pause: u64) {
        self.centre_hz.store(band.centre_hz.to_bits(), Relaxed);
        self.width_hz.store(band.width_hz.to_bits(), Relaxed);
        let last = self.until.load(Relaxed);
        if last == 0 || first.0 > last.saturating_add(pause) {
            self.since.store(first.0, Relaxed);
        }
        self.until.store(until.0, Relaxed);
    }

    /// The band, since when it is used, and until when it was.
    pub(crate) fn get(&self) -> (Band, Tick, Tick) {
        let hz = |bits: &AtomicU64| f64::from_bits(bits.load(Relaxed));
        let band = Band { centre_hz: hz(&self.centre_hz), width_hz: hz(&self.width_hz) };
        (band, Tick(self.since.load(Relaxed)), Tick(self.until.load(Relaxed)))
    }
}

/// The middle of the front end's band, as it is at present.
#[derive(Debug)]
pub(crate) struct WideBand {
    centre_hz: AtomicU64,
    pub(crate) width_hz: f64,
}

impl WideBand {
    pub(crate) fn new(band: Band) -> WideBand {
        WideBand { centre_hz: AtomicU64::new(band.centre_hz.to_bits()), width_hz: band.width_hz }
    }

    pub(crate) fn get(&self) -> Band {
        Band { centre_hz: f64::from_bits(self.centre_hz.load(Relaxed)), width_hz: self.width_hz }
    }

    pub(crate) fn move_to(&self, centre_hz: f64) {
        self.centre_hz.store(centre_hz.to_bits(), Relaxed);
    }
}

/// Adds to a count.
pub(crate) fn add(count: &AtomicU64, samples: usize) {
    count.fetch_add(samples as u64, Relaxed);
}
