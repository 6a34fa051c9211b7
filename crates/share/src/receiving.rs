//! Receive end of a shared radio: its part of the wide band, as far as it may.

use std::sync::Arc;

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::loopback::LoopbackSource;
use takt_emulator::n200::CLOCK;
use takt_emulator::source::Source;

use crate::channels::{Handoff, Wish};
use crate::counts::{Counts, WideBand, add};
use crate::file::RadioLimits;
use crate::front_end::PAUSE_TICKS;
use crate::{Band, Fit};

/// The highest rate of an N200, in ticks a sample.
const LEAST_STEP: u32 = 2;

/// A receive DSP's end.
pub(crate) struct SharedSource {
    /// Takes the band out of the wide samples.
    pub(crate) extract: LoopbackSource,
    /// Takes the band out of a shared transform's channel.
    pub(crate) narrow: LoopbackSource,
    pub(crate) handoff: Arc<Handoff>,
    pub(crate) limits: RadioLimits,
    pub(crate) wide: Arc<WideBand>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) centre_hz: f64,
    /// The frequency is the same from here on.
    pub(crate) tuned_from: Tick,
}

impl SharedSource {
    fn wish(&self, first: Tick, step: u32) -> Wish {
        Wish { step, phase: (first.0 % u64::from(step.max(1))) as u32, centre_hz: self.centre_hz }
    }
}

impl Source for SharedSource {
    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.centre_hz = centre_hz;
        self.tuned_from = from;
        self.extract.tuned(from, centre_hz);
    }

    fn lookahead(&self, first: Tick, step: u32) -> Ticks {
        self.extract.lookahead(first, step).max(self.handoff.delay(self.wish(first, step)))
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        // Hosts request two samples before they set a rate: nothing to be received, and nothing to be counted.
        if step < LEAST_STEP {
            return out.fill(Complex32::default());
        }
        let width_hz = f64::from(CLOCK.hz()) / f64::from(step);
        let band = Band { centre_hz: self.centre_hz, width_hz };
        let until = Tick(first.0.saturating_add(out.len() as u64 * u64::from(step)));
        self.counts.receives.note(band, first, until, PAUSE_TICKS);
        if !self.limits.permit(band) {
            out.fill(Complex32::default());
            return add(&self.counts.forbidden, out.len());
        }
        let wish = self.wish(first, step);
        match band.fit(self.wide.get()) {
            Fit::Inside => {
                self.handoff.want(wish, until);
                if first >= self.tuned_from && self.handoff.covers(wish, first, until) {
                    return self.narrow.fill(first, step, out);
                }
            }
            Fit::Partly => add(&self.counts.partly, out.len()),
            Fit::Outside => add(&self.counts.outside, out.len()),
        }
        self.extract.fill(first, step, out);
    }
}
