//! The transmitting end of an air: what a radio sends goes to a bounded ring, stamped by ticks since the driver's clock stood at 0.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use takt_base::{Complex32, Tick, Ticks};

use super::clockwork::Clockwork;
use crate::front_end::Imbalance;
use crate::sample_ring::Writer;
use crate::sink::{BurstEdges, Sink};
use crate::timebase::Timebase;

/// Samples changed at a time.
const SCRATCH: usize = 4096;

pub(super) struct AirSink {
    writer: Writer,
    clockwork: Arc<Clockwork>,
    /// As its device counts, and how fast that really is.
    hundredths_ppm: i32,
    base: Timebase,
    imbalance: Option<Imbalance>,
    centre_hz: f64,
    oscillator_hz: Option<f64>,
    scratch: Box<[Complex32]>,
    /// Late samples before this tick are counted.
    counted_until: Tick,
    /// A further sink of the signal.
    also: Box<dyn Sink>,
}

impl AirSink {
    pub(super) fn new(
        writer: Writer,
        clockwork: Arc<Clockwork>,
        nominal: Timebase,
        hundredths_ppm: i32,
        imbalance: Option<Imbalance>,
        also: Box<dyn Sink>,
    ) -> AirSink {
        AirSink {
            writer,
            clockwork,
            hundredths_ppm,
            base: nominal.faster(hundredths_ppm),
            imbalance,
            centre_hz: 0.0,
            oscillator_hz: None,
            scratch: vec![Complex32::default(); SCRATCH].into(),
            counted_until: Tick(0),
            also,
        }
    }

    /// Frequencies come from the same oscillator as samples.
    fn air_hz(&self) -> f64 {
        self.centre_hz * (1.0 + f64::from(self.hundredths_ppm) * 1e-8)
    }

    /// Counts what came after receivers had been there. After it was written: [`Clockwork::about_to_receive`].
    /// Samples that were counted and are given anew, since something changed, are counted once.
    fn note_late(&mut self, first: Tick, step: u32, samples: usize) {
        let counted = (self.counted_until - first).0.div_ceil(u64::from(step.max(1))).min(samples as u64);
        let (first, samples) = (first + Ticks(counted * u64::from(step)), samples as u64 - counted);
        let [ticks, seconds] = self.base.ratio().map(u128::from);
        let first_ns = u128::from(first.0) * seconds * 1_000_000_000 / ticks;
        let missed_ns = u128::from(self.clockwork.received_ns()).saturating_sub(first_ns);
        if missed_ns > 0 && samples > 0 {
            let missed = (missed_ns * ticks).div_ceil(seconds * 1_000_000_000 * u128::from(step.max(1)));
            let missed = missed.min(u128::from(samples)) as u64;
            self.clockwork.late.fetch_add(missed, Relaxed);
            self.counted_until = self.counted_until.max(first + Ticks(missed * u64::from(step)));
        }
    }

    fn push(&mut self, first: Tick, step: u32, samples: &[Complex32]) {
        let air_hz = self.air_hz();
        let Some(imbalance) = self.imbalance else {
            return self.writer.push(first, step, air_hz, samples);
        };
        let above_turns = self.oscillator_hz.map_or(0.0, |hz| (self.centre_hz - hz) / self.base.hz());
        let mut first = first;
        for samples in samples.chunks(SCRATCH) {
            let scratch = &mut self.scratch[..samples.len()];
            scratch.copy_from_slice(samples);
            imbalance.apply(above_turns, first, step, scratch);
            self.writer.push(first, step, air_hz, scratch);
            first += Ticks(samples.len() as u64 * u64::from(step));
        }
    }
}

impl Sink for AirSink {
    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.also.clocked(from, base);
        self.writer.end_at(self.base.index(from));
        self.base = base.faster(self.hundredths_ppm);
        self.counted_until = Tick(0);
        self.clockwork.set(self.base, self.writer.runs());
        // The next samples are another run, whatever was there before.
        self.writer.break_off();
    }

    /// The device gives samples of later ticks anew, with the imbalance that they have then.
    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.also.tuned(from, centre_hz);
        self.centre_hz = centre_hz;
    }

    fn oscillator(&mut self, from: Tick, hz: f64) {
        self.also.oscillator(from, hz);
        self.oscillator_hz = Some(hz);
    }

    fn burst(&mut self, first: Tick, device_tick: u64) {
        self.also.burst(first, device_tick);
    }

    fn passed(&mut self, until: Tick) {
        self.also.passed(until);
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        let index = self.base.index(first);
        self.push(index, step, samples);
        self.note_late(index, step, samples.len());
        if edges.end {
            self.writer.end_at(index + Ticks(samples.len() as u64 * u64::from(step)));
        }
        if self.also.wants_samples() {
            self.also.take(first, step, samples, edges);
        }
    }
}
