//! The receiving end of an air: at each of its samples the sum of what has come over its links, its own noise, and what its
//! board does to that.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{HALF_SPAN, Interpolator, MAX_RATIO, PathParams, Taps, noise};
use takt_wire::sample::full_scale;

use super::clockwork::Clockwork;
use super::fading::{LinkFading, Passage};
use super::path::{Pace, Path, Samples};
use crate::front_end::Imbalance;
use crate::sample_ring::{Reader, Run};
use crate::shared::{History, Piece};
use crate::source::Source;
use crate::timebase::Timebase;

/// The least and the most that a converter has an integer for. A value within half a step of them rounds to them.
const LEAST: f32 = full_scale::SC16_LEAST / full_scale::SC16;
const MOST: f32 = 1.0;
const HALF: f32 = 0.5 / full_scale::SC16;

/// Noise is made so many samples at a time.
const BLOCK: usize = 1024;

/// A link, as its receiver has it.
pub(super) struct Incoming {
    reader: Reader,
    clockwork: Arc<Clockwork>,
    /// The direct one first.
    paths: Vec<Path>,
    offset_hz: f64,
    /// Fading of the paths; `None`: they are steady.
    fading: Option<LinkFading>,
    pace: Pace,
    taps: Taps,
    /// The oldest run that may still be received.
    run: u64,
    /// End of the last block, ticks since the driver's clock stood at 0.
    until: Tick,
}

impl Incoming {
    pub(super) fn new(
        reader: Reader,
        clockwork: Arc<Clockwork>,
        paths: Vec<Path>,
        offset_hz: f64,
        fading: Option<LinkFading>,
    ) -> Incoming {
        Incoming {
            reader,
            clockwork,
            paths,
            offset_hz,
            fading,
            pace: Pace::default(),
            taps: Taps::new(),
            run: 0,
            until: Tick(0),
        }
    }

    /// Adds what is received at these instants by a receiver tuned to `centre_hz`.
    fn add(
        &mut self,
        interpolator: &mut Interpolator,
        received: Samples,
        centre_hz: f64,
        out: &mut [Complex32],
        lost: &AtomicU64,
    ) {
        let Some(clocking) = self.clockwork.get() else { return };
        let end = received.first + Ticks((out.len() as u64).saturating_mul(received.step.into()));
        self.announce(end, received.ratio);
        // Backwards: only when something is read again.
        let oldest = self.reader.oldest_run().max(clocking.since_run);
        self.run = if received.first < self.until { oldest } else { self.run.max(oldest) };
        self.until = end;
        self.pace = self.pace.of(clocking.ratio, received.ratio);
        for number in self.run..self.reader.runs() {
            let Some(run) = self.reader.run(number).filter(|run| run.step > 0) else { continue };
            let sent = Samples { first: run.first, step: run.step, ratio: clocking.ratio };
            self.paths.iter_mut().for_each(|path| path.set_sender(&sent));
            if self.is_over(number, &run, &sent, &received) {
                continue;
            }
            let shift_hz = run.centre_hz + self.offset_hz - centre_hz;
            let shift_turns = shift_hz * clocking.ratio[1] as f64 / clocking.ratio[0] as f64 * f64::from(run.step);
            for (number, path) in self.paths.iter().enumerate() {
                let Some(places) = path.places(&self.pace, &sent, &received) else { continue };
                let passage = PathParams {
                    places,
                    len: run.len,
                    shift_turns,
                    input: (run.first, run.step),
                    output: (received.first, received.step),
                    delay: path.delay_samples(),
                    gain: path.gain(&sent, run.centre_hz),
                };
                let (reader, mut missing) = (&self.reader, 0);
                let read = |from, block: &mut [Complex32]| missing += reader.read(&run, from, block) as u64;
                match &mut self.fading {
                    None => interpolator.add(&mut self.taps, passage, out, read),
                    Some(fading) => {
                        let passage = Passage { params: passage, ratio: received.ratio };
                        fading.add(number, interpolator, &mut self.taps, passage, out, read);
                    }
                }
                if missing > 0 {
                    lost.fetch_add(missing, Relaxed);
                }
            }
        }
    }

    /// Has the transmitter know that what it writes from now on for instants before `end` comes too late.
    fn announce(&self, end: Tick, ratio: [u64; 2]) {
        let [ticks, seconds] = ratio.map(u128::from);
        let end_ns = u64::try_from(u128::from(end.0) * seconds * 1_000_000_000 / ticks).unwrap_or(u64::MAX);
        let shortest_ns = self.paths.first().map_or(0.0, Path::delay_ns);
        self.clockwork.about_to_receive(end_ns.saturating_sub(shortest_ns.ceil() as u64));
    }

    /// Whether a run has faded away at the first of these instants; if so, and it goes on no more, it is forgotten.
    fn is_over(&mut self, number: u64, run: &Run, sent: &Samples, received: &Samples) -> bool {
        let places = self.paths.iter().filter_map(|path| path.places(&self.pace, sent, received));
        let Some(last) = places.map(|places| places.whole).min() else { return false };
        let reach = i64::from(HALF_SPAN) * MAX_RATIO as i64;
        let over = last.saturating_sub(reach) > i64::try_from(run.len).unwrap_or(i64::MAX);
        if over && number == self.run && number + 1 < self.reader.runs() {
            self.run = number + 1;
        }
        over
    }
}

/// Everything between the antenna and the samples of a receiver.
pub(super) struct AirSource {
    /// How fast its oscillator is.
    hundredths_ppm: i32,
    tunings: History<Tuning>,
    setting: Setting,
    links: Vec<Incoming>,
    interpolator: Interpolator,
    /// Source of a receiver to which no link leads.
    alone: Box<dyn Source>,
    margin: Ticks,
    scratch: Box<[Complex32]>,
}

/// Settings that a host may change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tuning {
    /// How its ticks lie in time.
    base: Timebase,
    /// The radio frequency that is 0 Hz in the samples.
    centre_hz: f64,
    /// That of the oscillator; `None`: not known, so where the centre is.
    oscillator_hz: Option<f64>,
}

/// Settings of a receiving channel.
#[derive(Clone)]
pub(super) struct Setting {
    /// Seed, and mean power.
    pub(super) noise: Option<(u64, f32)>,
    pub(super) imbalance: Option<Imbalance>,
    pub(super) latency: Duration,
    /// Samples that were overwritten before they were received.
    pub(super) lost: Arc<AtomicU64>,
    /// Samples beyond full scale.
    pub(super) clipped: Arc<AtomicU64>,
}

impl AirSource {
    pub(super) fn new(
        nominal: Timebase,
        hundredths_ppm: i32,
        setting: Setting,
        links: Vec<Incoming>,
        alone: Box<dyn Source>,
    ) -> AirSource {
        let base = nominal.faster(hundredths_ppm);
        AirSource {
            hundredths_ppm,
            tunings: History::new(Tuning { base, centre_hz: 0.0, oscillator_hz: None }),
            margin: base.rate().ticks_in(setting.latency),
            setting,
            links,
            interpolator: Interpolator::new(),
            alone,
            scratch: vec![Complex32::default(); BLOCK].into(),
        }
    }

    /// Fills `out` as long as one tuning holds.
    fn receive(&mut self, first: Tick, step: u32, tuning: Tuning, out: &mut [Complex32]) {
        let Tuning { base, centre_hz, oscillator_hz } = tuning;
        let index = base.index(first);
        let received = Samples { first: index, step, ratio: base.ratio() };
        // Frequencies come from the same oscillator as samples.
        let air_hz = centre_hz * (1.0 + f64::from(self.hundredths_ppm) * 1e-8);
        for link in &mut self.links {
            link.add(&mut self.interpolator, received, air_hz, out, &self.setting.lost);
        }
        if let Some((seed, power)) = self.setting.noise {
            let mut at = index;
            for out in out.chunks_mut(BLOCK) {
                let scratch = &mut self.scratch[..out.len()];
                noise(seed, power, at, step, scratch);
                out.iter_mut().zip(scratch).for_each(|(out, x)| *out += *x);
                at += Ticks(out.len() as u64 * u64::from(step));
            }
        }
        if let Some(imbalance) = self.setting.imbalance {
            let above_turns = oscillator_hz.map_or(0.0, |hz| (centre_hz - hz) / base.hz());
            imbalance.apply(above_turns, index, step, out);
        }
    }

    /// Clips, as a converter does, the values beyond its integers.
    fn clip(&self, out: &mut [Complex32]) {
        let fits = |part: f32| (LEAST - HALF..=MOST + HALF).contains(&part);
        let mut clipped = 0;
        for x in out.iter_mut().filter(|x| !fits(x.re) || !fits(x.im)) {
            *x = Complex32::new(x.re.clamp(LEAST, MOST), x.im.clamp(LEAST, MOST));
            clipped += 1;
        }
        if clipped > 0 {
            self.setting.clipped.fetch_add(clipped, Relaxed);
        }
    }
}

impl Source for AirSource {
    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.alone.clocked(from, base);
        let base = base.faster(self.hundredths_ppm);
        self.margin = base.rate().ticks_in(self.setting.latency);
        self.tunings.set(from, Tuning { base, ..self.tunings.last() });
    }

    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.alone.tuned(from, centre_hz);
        self.tunings.set(from, Tuning { centre_hz, ..self.tunings.last() });
    }

    fn oscillator(&mut self, from: Tick, hz: f64) {
        self.alone.oscillator(from, hz);
        self.tunings.set(from, Tuning { oscillator_hz: Some(hz), ..self.tunings.last() });
    }

    /// Longer than any filter reaches at the rates that radios have, so it need not depend on what is sent.
    fn lookahead(&self, _first: Tick, _step: u32) -> Ticks {
        self.margin
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        self.alone.fill(first, step, out);
        if step == 0 {
            return;
        }
        let mut at = 0;
        while at < out.len() {
            let Piece { first, end, value } = self.tunings.piece(first, step, at, out.len());
            self.receive(first, step, value, &mut out[at..end]);
            at = end;
        }
        self.clip(out);
    }
}
