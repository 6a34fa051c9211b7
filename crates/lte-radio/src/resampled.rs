//! A carrier's rate on a radio that has only others: streams whose samples are made from those of the radio, and back.
//!
//! ```text
//!   radio, 2 MS/s ── every 24 ticks of 48 MHz ──> resampler ──> every 25 ticks: 1.92 MS/s ── terminal
//! ```
//!
//! Both rates are whole numbers of ticks of one clock, their least common multiple. Sample 0 of either is at the same instant,
//! [`START`] on that clock. The filter passes 80 % of the carrier's rate, more than a carrier occupies.

use takt_base::{Complex32, MonoNs, Speed, Tick, TickRate, Ticks};
use takt_dsp::{Grid, HALF_SPAN, MAX_STEP, Resampler};
use takt_radio::{Burst, Model, RadioError, Received, RxEvent, RxStream, TxEvent, TxStream};

/// Sample 0 on the common clock: far enough from its beginning for what is sent before.
pub(crate) const START: Tick = Tick(1 << 40);
/// Samples of the radio that are kept: more than the filter reaches, and a call brings.
const KEPT: usize = 1 << 15;
/// Samples that a call takes from the radio at most.
const PIECE: usize = 1 << 12;

/// How a carrier's rate is made from a radio's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// The radio's.
    pub(crate) radio_sps: f64,
    /// The common clock.
    clock: TickRate,
    /// Its ticks in a sample of the radio.
    inner: u32,
    /// Its ticks in a sample of the carrier.
    outer: u32,
}

impl Ratio {
    /// From the slowest rate of an N200 that is at least the carrier's and has a common clock with it; `None`: there is none.
    pub(crate) fn of_n200(carrier_sps: f64) -> Option<Ratio> {
        let clock_hz = u64::from(Model::N200.clock().hz());
        let wanted = whole(carrier_sps)?;
        let steps = (4..=clock_hz / wanted).rev().filter(|step| clock_hz % step == 0);
        let mut rates = steps
            .map(|step| clock_hz / step)
            .filter(|rate| Model::N200.nearest_rate(*rate as f64) == Some(*rate as f64));
        rates.find_map(|radio| {
            let common = radio / greatest_divisor(radio, wanted) * wanted;
            let [inner, outer] =
                [radio, wanted].map(|rate| u32::try_from(common / rate).ok().filter(|step| *step <= MAX_STEP));
            let clock = TickRate::from_hz(u32::try_from(common).ok()?)?;
            Some(Ratio { radio_sps: radio as f64, clock, inner: inner?, outer: outer? })
        })
    }
}

fn whole(rate_sps: f64) -> Option<u64> {
    let rate = rate_sps.round();
    (rate >= 1.0 && (rate - rate_sps).abs() < 1e-6).then_some(rate as u64)
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Samples of the carrier, made of a radio's.
pub(crate) struct ResampledRx<R> {
    pub(crate) radio: R,
    ratio: Ratio,
    resampler: Resampler,
    /// The last samples of the radio, in a ring.
    kept: Box<[Complex32]>,
    piece: Box<[Complex32]>,
    /// Samples that the radio has brought, lost ones included, which are silence.
    brought: u64,
    /// The next sample of the carrier.
    next: u64,
    /// An event of the radio: the first sample of the carrier that it touches, that behind it, and what it was.
    event: Option<(u64, u64, RxEvent)>,
}

impl<R: RxStream> ResampledRx<R> {
    pub(crate) fn new(radio: R, ratio: Ratio) -> ResampledRx<R> {
        ResampledRx {
            radio,
            ratio,
            resampler: Resampler::new(),
            kept: vec![Complex32::default(); KEPT].into(),
            piece: vec![Complex32::default(); PIECE].into(),
            brought: 0,
            next: 0,
            event: None,
        }
    }

    /// The first sample of the carrier at this sample of the radio, or behind it.
    fn carried(&self, radio_sample: u64) -> u64 {
        (radio_sample * u64::from(self.ratio.inner)).div_ceil(u64::from(self.ratio.outer))
    }

    /// The first sample of the carrier for which the radio has not brought all that the filter reaches.
    fn ready(&self) -> u64 {
        let span = u64::from(HALF_SPAN) * u64::from(self.ratio.inner.max(self.ratio.outer));
        let reached = (self.brought * u64::from(self.ratio.inner)).saturating_sub(span);
        reached / u64::from(self.ratio.outer)
    }

    fn keep(kept: &mut [Complex32], brought: &mut u64, sample: Complex32) {
        if let Some(place) = kept.get_mut(*brought as usize % KEPT) {
            *place = sample;
        }
        *brought += 1;
    }

    /// Takes what the radio brings.
    fn take(&mut self, wanted: usize, until: MonoNs) -> Result<(), RadioError> {
        let room = wanted.clamp(1, PIECE);
        let received = self.radio.recv(&mut [self.piece.get_mut(..room).unwrap_or_default()], until)?;
        let piece = self.piece.get(..received.samples).unwrap_or_default();
        piece.iter().for_each(|sample| Self::keep(&mut self.kept, &mut self.brought, *sample));
        let Some(event) = received.event else { return Ok(()) };
        let first = self.carried(self.brought);
        if let RxEvent::Overflow { lost, .. } | RxEvent::Dropped { lost, .. } = event {
            // More than the ring holds is silence all the same.
            let silent = lost.min(KEPT as u64);
            self.brought += lost - silent;
            (0..silent).for_each(|_| Self::keep(&mut self.kept, &mut self.brought, Complex32::default()));
        }
        self.event = Some((first, self.carried(self.brought), event));
        Ok(())
    }

    /// Makes samples of the carrier; how many.
    fn make(&mut self, out: &mut [Complex32]) -> usize {
        let upto = self.event.map_or_else(|| self.ready(), |(first, ..)| first);
        let count = upto.saturating_sub(self.next).min(out.len() as u64) as usize;
        let Some(out) = out.get_mut(..count).filter(|out| !out.is_empty()) else { return 0 };
        out.fill(Complex32::default());
        let Ratio { inner, outer, .. } = self.ratio;
        let grid = Grid { first: START, step: inner, len: self.brought };
        let first = START + Ticks(self.next * u64::from(outer));
        let (kept, oldest) = (&self.kept, self.brought.saturating_sub(KEPT as u64));
        self.resampler.add(grid, 0.0, first, outer, out, |at, block| {
            for (n, sample) in block.iter_mut().enumerate() {
                let number = at + n as u64;
                let place = kept.get(number as usize % KEPT).filter(|_| number >= oldest);
                *sample = place.copied().unwrap_or_default();
            }
        });
        self.next += count as u64;
        count
    }
}

impl<R: RxStream> RxStream for ResampledRx<R> {
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError> {
        let Some(out) = out.first_mut() else { return Ok(Received { samples: 0, first: START, event: None }) };
        let step = u64::from(self.ratio.outer);
        let first = START + Ticks(self.next * step);
        let mut samples = 0;
        while samples < out.len() {
            let made = self.make(out.get_mut(samples..).unwrap_or_default());
            samples += made;
            if let Some((touched, behind, event)) = self.event.filter(|(touched, ..)| self.next >= *touched) {
                self.event = None;
                let lost = behind.saturating_sub(touched.max(self.next));
                self.next = self.next.max(behind);
                return Ok(Received { samples, first, event: Some(with_lost(event, lost)) });
            }
            if made > 0 {
                continue;
            }
            let before = self.brought;
            let missing = (out.len() - samples) as u64 * step / u64::from(self.ratio.inner);
            self.take(missing as usize + HALF_SPAN as usize, until)?;
            if self.brought == before && self.event.is_none() {
                break;
            }
        }
        Ok(Received { samples, first, event: None })
    }

    fn channels(&self) -> usize {
        1
    }

    fn rate_sps(&self) -> f64 {
        f64::from(self.ratio.clock.hz()) / f64::from(self.ratio.outer)
    }

    fn tick_rate(&self) -> TickRate {
        self.ratio.clock
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(self.ratio.outer.into())
    }

    fn speed(&self) -> Speed {
        self.radio.speed()
    }

    fn begins(&self) -> Option<MonoNs> {
        self.radio.begins()
    }
}

/// The same event, of so many lost samples of the carrier.
fn with_lost(event: RxEvent, lost: u64) -> RxEvent {
    match event {
        RxEvent::Overflow { channel, .. } => RxEvent::Overflow { channel, lost },
        RxEvent::Dropped { channel, datagrams, .. } => RxEvent::Dropped { channel, datagrams, lost },
        other => other,
    }
}

/// Whole bursts of the carrier, each made into one of the radio.
pub(crate) struct ResampledTx<T> {
    pub(crate) radio: T,
    ratio: Ratio,
    resampler: Resampler,
    made: Box<[Complex32]>,
    /// Sample 0 on the radio's clock.
    pub(crate) origin: Tick,
}

impl<T: TxStream> ResampledTx<T> {
    /// For bursts of at most so many samples.
    pub(crate) fn new(radio: T, ratio: Ratio, longest: usize) -> ResampledTx<T> {
        let made = (longest as u64 * u64::from(ratio.outer)).div_ceil(ratio.inner.into()) + 1;
        let made = vec![Complex32::default(); made as usize].into();
        ResampledTx { radio, ratio, resampler: Resampler::new(), made, origin: Tick(0) }
    }
}

impl<T: TxStream> TxStream for ResampledTx<T> {
    /// A burst is given whole, with its time.
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError> {
        let Ratio { inner, outer, .. } = self.ratio;
        let (Some(&samples), Some(at), true) = (samples.first(), burst.at, burst.ends) else {
            return Err(RadioError::Range {
                what: "samples of a whole burst",
                got: 0.0,
                low: 1.0,
                high: f64::INFINITY,
            });
        };
        // The radio's first sample at the burst's begin or behind it, counted from sample 0.
        let begin = i128::from(at.0) - i128::from(START.0);
        let number = begin.div_euclid(inner.into()) + i128::from(begin.rem_euclid(inner.into()) > 0);
        let first = i128::from(START.0) + number * i128::from(inner);
        let length =
            (begin + samples.len() as i128 * i128::from(outer) - number * i128::from(inner)) / i128::from(inner);
        let step = self.radio.ticks_per_sample().0;
        let tick = i128::from(self.origin.0) + number * i128::from(step);
        let (Ok(first), Ok(tick)) = (u64::try_from(first), u64::try_from(tick)) else { return Ok(samples.len()) };
        let Some(made) = self.made.get_mut(..usize::try_from(length).unwrap_or_default()) else { return Ok(0) };
        made.fill(Complex32::default());
        let grid = Grid { first: at, step: outer, len: samples.len() as u64 };
        self.resampler.add(grid, 0.0, Tick(first), inner, made, |at, block| {
            let from = at as usize;
            block.copy_from_slice(samples.get(from..from + block.len()).unwrap_or_default());
        });
        let taken = self.radio.send(&[made], Burst::at(Tick(tick)).ending(), until)?;
        Ok(if taken == made.len() { samples.len() } else { 0 })
    }

    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        self.radio.event(until)
    }

    fn channels(&self) -> usize {
        1
    }

    fn rate_sps(&self) -> f64 {
        f64::from(self.ratio.clock.hz()) / f64::from(self.ratio.outer)
    }

    /// The radio's ticks, which events count.
    fn tick_rate(&self) -> TickRate {
        self.radio.tick_rate()
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(self.ratio.outer.into())
    }

    fn speed(&self) -> Speed {
        self.radio.speed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_rate_that_carries_the_carrier_is_taken() {
        let of = |carrier| Ratio::of_n200(carrier).map(|ratio| (ratio.radio_sps, ratio.inner, ratio.outer));
        assert_eq!(of(1.92e6), Some((2e6, 24, 25)));
        assert_eq!(of(3.84e6), Some((4e6, 24, 25)));
        assert_eq!(of(7.68e6), Some((10e6, 96, 125)));
        assert_eq!(of(30.72e6), None, "an N200 has 25 MS/s at most with 16 bits");
    }

    /// A radio whose sample n is a tone's, in pieces; of some, samples are lost.
    struct Radio {
        at: u64,
        lost: Option<(u64, u64)>,
    }

    const PER_SAMPLE: f64 = 0.05;

    fn tone(turns: f64) -> Complex32 {
        let angle = turns * std::f64::consts::TAU;
        Complex32::new(0.5 * angle.cos() as f32, 0.5 * angle.sin() as f32)
    }

    impl RxStream for Radio {
        fn recv(&mut self, out: &mut [&mut [Complex32]], _: MonoNs) -> Result<Received, RadioError> {
            let first = Tick(self.at * 50);
            let until = self.lost.map_or(u64::MAX, |(from, _)| from);
            let samples = (out[0].len().min(363) as u64).min(until.saturating_sub(self.at));
            for sample in &mut out[0][..samples as usize] {
                *sample = tone(self.at as f64 * PER_SAMPLE);
                self.at += 1;
            }
            let event = self.lost.filter(|(from, _)| *from == self.at).map(|(_, lost)| {
                self.at += lost;
                self.lost = None;
                RxEvent::Dropped { channel: 0, datagrams: 1, lost }
            });
            Ok(Received { samples: samples as usize, first, event })
        }

        fn channels(&self) -> usize {
            1
        }

        fn rate_sps(&self) -> f64 {
            2e6
        }

        fn tick_rate(&self) -> TickRate {
            Model::N200.clock()
        }

        fn ticks_per_sample(&self) -> Ticks {
            Ticks(50)
        }
    }

    /// Each sample of the carrier is the tone at its instant.
    fn assert_tone(samples: &[Complex32], first: u64) {
        for (n, sample) in samples.iter().enumerate() {
            let turns = (first + n as u64) as f64 * 25.0 / 24.0 * PER_SAMPLE;
            assert!((sample - tone(turns)).norm() < 2e-3, "sample {}: {sample}", first + n as u64);
        }
    }

    #[test]
    fn a_tone_keeps_its_phase_to_the_sample() {
        let mut rx = ResampledRx::new(Radio { at: 0, lost: None }, Ratio::of_n200(1.92e6).expect("a ratio"));
        let mut out = vec![Complex32::default(); 1920];
        for subframe in 0..20 {
            let received = rx.recv(&mut [&mut out], MonoNs::NEVER).expect("samples");
            assert_eq!((received.samples, received.event), (1920, None));
            assert_eq!(received.first, START + Ticks(subframe * 1920 * 25));
            // The filter fills at the beginning.
            let settled = if subframe == 0 { 100 } else { 0 };
            assert_tone(&out[settled..], subframe * 1920 + settled as u64);
        }
    }

    #[test]
    fn a_loss_is_stated_in_samples_of_the_carrier_and_moves_nothing() {
        let mut rx =
            ResampledRx::new(Radio { at: 0, lost: Some((5000, 2400)) }, Ratio::of_n200(1.92e6).expect("a ratio"));
        let mut out = vec![Complex32::default(); 1920];
        let (mut next, mut lost_samples) = (0, 0);
        while next < 20_000 {
            let received = rx.recv(&mut [&mut out], MonoNs::NEVER).expect("samples");
            assert_eq!(received.first, START + Ticks(next * 25));
            // Around the loss the filter sees silence.
            if !(4700..7300).contains(&next) && !(4700..7300).contains(&(next + received.samples as u64)) && next > 0 {
                assert_tone(&out[..received.samples], next);
            }
            next += received.samples as u64;
            if let Some(RxEvent::Dropped { lost, .. }) = received.event {
                assert_eq!(next, 4800, "5000 samples of the radio");
                (next, lost_samples) = (next + lost, lost_samples + lost);
            }
        }
        assert_eq!(lost_samples, 2304, "2400 samples of the radio");
    }

    /// Keeps the last burst.
    #[derive(Default)]
    struct Air {
        at: Option<Tick>,
        samples: Vec<Complex32>,
    }

    impl TxStream for Air {
        fn send(&mut self, samples: &[&[Complex32]], burst: Burst, _: MonoNs) -> Result<usize, RadioError> {
            assert!(burst.ends);
            (self.at, self.samples) = (burst.at, samples[0].to_vec());
            Ok(samples[0].len())
        }

        fn event(&mut self, _: MonoNs) -> Result<Option<TxEvent>, RadioError> {
            Ok(None)
        }

        fn channels(&self) -> usize {
            1
        }

        fn rate_sps(&self) -> f64 {
            2e6
        }

        fn tick_rate(&self) -> TickRate {
            Model::N200.clock()
        }

        fn ticks_per_sample(&self) -> Ticks {
            Ticks(50)
        }
    }

    #[test]
    fn a_burst_leaves_at_its_instant_with_its_phase() {
        let mut tx = ResampledTx::new(Air::default(), Ratio::of_n200(1.92e6).expect("a ratio"), 1920);
        tx.origin = Tick(1_000_000);
        let burst: Vec<Complex32> = (0..1920).map(|n| tone(f64::from(n) * 0.04)).collect();
        // Sample 1000 of the carrier is at 25 000 ticks: between samples 1041 and 1042 of the radio.
        let at = START + Ticks(25_000);
        let taken = tx.send(&[&burst], Burst::at(at).ending(), MonoNs::NEVER).expect("it leaves");
        assert_eq!(taken, 1920);
        assert_eq!(tx.radio.at, Some(Tick(1_000_000 + 1042 * 50)));
        assert_eq!(tx.radio.samples.len(), 1999, "a millisecond, less what is before the first");
        for (n, sample) in tx.radio.samples.iter().enumerate().skip(60).take(1850) {
            let carrier = (((1042 + n) * 24) as f64 - 25_000.0) / 25.0;
            assert!((sample - tone(carrier * 0.04)).norm() < 2e-3, "{n}: {sample}");
        }
        assert!(tx.send(&[&burst], Burst::GO_ON, MonoNs::NEVER).is_err(), "a part of a burst");
    }
}
