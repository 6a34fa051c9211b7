//! Transmit end of a shared radio: its permissions, and the other radios' claims.
//!
//! A radio holds its band from the first sample of a burst to the last. Another one that begins a burst there meanwhile is
//! muted until that burst ends, unless both permit overlap. Bursts are looked at in the order in which they begin.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::n200::CLOCK;
use takt_emulator::sink::{BurstEdges, Sink};

use crate::counts::{Counts, WideBand, add};
use crate::file::RadioLimits;
use crate::{Band, Fit};

/// Present transmission of one radio, for the others and for the sum.
#[derive(Debug)]
pub(crate) struct Claim {
    centre_hz: AtomicU64,
    width_hz: AtomicU64,
    /// Ticks of the samples that the sum has not taken yet: none while `from` is not before `until`.
    from: AtomicU64,
    /// Behind its last sample; all ones within a burst.
    until: AtomicU64,
    overlap: AtomicBool,
}

impl Claim {
    /// A radio that sends nothing has one, too.
    pub(crate) fn new() -> Claim {
        let zero = || AtomicU64::new(0);
        let (from, overlap) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
        Claim { centre_hz: zero(), width_hz: zero(), from, until: zero(), overlap }
    }

    /// The radio is gone: nobody holds the band.
    pub(crate) fn lapse(&self) {
        self.from.store(u64::MAX, Relaxed);
        self.until.store(0, Relaxed);
    }

    /// Whether it has samples from `from` to `until`.
    pub(crate) fn meets(&self, from: Tick, until: Tick) -> bool {
        self.from.load(Relaxed) < until.0 && from.0 < self.until.load(Relaxed)
    }

    /// The sum has all samples before `tick`.
    pub(crate) fn taken(&self, tick: Tick) {
        if self.until.load(Relaxed) <= tick.0 {
            self.from.store(u64::MAX, Relaxed);
        }
    }

    fn band(&self) -> Band {
        let hz = |bits: &AtomicU64| f64::from_bits(bits.load(Relaxed));
        Band { centre_hz: hz(&self.centre_hz), width_hz: hz(&self.width_hz) }
    }

    fn hold(&self, band: Band, first: Tick, end: Option<Tick>, overlap: bool) {
        self.overlap.store(overlap, Relaxed);
        self.centre_hz.store(band.centre_hz.to_bits(), Relaxed);
        self.width_hz.store(band.width_hz.to_bits(), Relaxed);
        self.from.fetch_min(first.0, Relaxed);
        self.until.store(end.map_or(u64::MAX, |end| end.0), Relaxed);
    }
}

/// Why a burst is muted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Muted {
    Forbidden,
    Overlapping,
}

/// A transmit DSP's end.
pub(crate) struct SharedSink {
    /// Keeps the samples for the sum.
    pub(crate) insert: Box<dyn Sink>,
    pub(crate) me: usize,
    pub(crate) claims: Arc<[Claim]>,
    pub(crate) limits: RadioLimits,
    pub(crate) transmit: bool,
    /// Whether it may transmit where another one does that may, too.
    pub(crate) overlap: bool,
    pub(crate) wide: Arc<WideBand>,
    pub(crate) counts: Arc<Counts>,
    state: Burst,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    centre_hz: f64,
    /// The last decision; `None`: it is to be made.
    decided: Option<Result<(), Muted>>,
    /// Samples before this tick are counted.
    counted: Tick,
}

impl SharedSink {
    pub(crate) fn new(
        insert: Box<dyn Sink>,
        (me, claims): (usize, Arc<[Claim]>),
        (limits, transmit, overlap): (RadioLimits, bool, bool),
        wide: Arc<WideBand>,
        counts: Arc<Counts>,
    ) -> SharedSink {
        let state = Burst { centre_hz: 0.0, decided: None, counted: Tick(0) };
        SharedSink { insert, me, claims, limits, transmit, overlap, wide, counts, state }
    }

    fn decide(&self, band: Band, first: Tick) -> Result<(), Muted> {
        if !self.transmit || !self.limits.permit(band) {
            return Err(Muted::Forbidden);
        }
        let others = self.claims.iter().enumerate().filter(|(n, _)| *n != self.me).map(|(_, claim)| claim);
        let in_the_way = |claim: &Claim| {
            claim.until.load(Relaxed) > first.0
                && claim.band().overlaps(band)
                && !(self.overlap && claim.overlap.load(Relaxed))
        };
        if others.into_iter().any(in_the_way) { Err(Muted::Overlapping) } else { Ok(()) }
    }

    /// Samples of these that were not counted before: what replaces others is counted once.
    fn fresh(&mut self, first: Tick, step: u32, samples: usize) -> usize {
        let end = first + Ticks(samples as u64 * u64::from(step));
        let left = end.since(self.state.counted.max(first)).map_or(0, |left| left.0.div_ceil(u64::from(step.max(1))));
        self.state.counted = self.state.counted.max(end);
        left as usize
    }
}

impl Sink for SharedSink {
    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.state.centre_hz = centre_hz;
        self.state.decided = None;
        self.insert.tuned(from, centre_hz);
    }

    fn passed(&mut self, until: Tick) {
        self.insert.passed(until);
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        let band = Band { centre_hz: self.state.centre_hz, width_hz: f64::from(CLOCK.hz()) / f64::from(step.max(1)) };
        if edges.start {
            self.state.decided = None;
        }
        let decided = self.state.decided.unwrap_or_else(|| self.decide(band, first));
        self.state.decided = Some(decided);
        let fresh = self.fresh(first, step, samples.len());
        let Some(claim) = self.claims.get(self.me) else { return };
        let end = first + Ticks(samples.len() as u64 * u64::from(step));
        match decided {
            Ok(()) => {
                claim.hold(band, first, edges.end.then_some(end), self.overlap);
                if band.fit(self.wide.get()) == Fit::Outside {
                    add(&self.counts.tx_outside, fresh);
                }
                self.insert.take(first, step, samples, edges);
            }
            Err(muted) => {
                // A burst begun before a change ends here.
                if claim.until.load(Relaxed) > first.0 {
                    claim.until.store(first.0, Relaxed);
                    self.insert.take(first, step, &[], BurstEdges { start: false, end: true });
                }
                add(
                    match muted {
                        Muted::Forbidden => &self.counts.tx_forbidden,
                        Muted::Overlapping => &self.counts.tx_overlapping,
                    },
                    fresh,
                );
            }
        }
    }
}
