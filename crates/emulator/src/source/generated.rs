//! Signals that are computed: each sample from its tick alone.

use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::{Rotation, noise, tone};
use takt_wire::sample::full_scale;

use super::Source;
use crate::shared::{History, Piece};
use crate::timebase::Timebase;

#[derive(Clone, Copy, Debug)]
pub struct Silence;

impl Source for Silence {
    fn fill(&mut self, _first: Tick, _step: u32, out: &mut [Complex32]) {
        out.fill(Complex32::default());
    }
}

#[derive(Clone, Debug)]
pub struct Tone {
    /// As the clock has it.
    rotations: History<Rotation>,
    offset_hz: f64,
    amplitude: f32,
}

impl Tone {
    /// `offset_hz` from the tuned centre, `amplitude` of full scale 1.0.
    #[must_use]
    pub fn new(clock: TickRate, offset_hz: f64, amplitude: f64) -> Tone {
        let rotations = History::new(Rotation::from_hz(offset_hz, clock));
        Tone { rotations, offset_hz, amplitude: amplitude as f32 }
    }
}

impl Source for Tone {
    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.rotations.set(from, Rotation::from_hz(self.offset_hz, base.rate()));
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        let mut at = 0;
        while at < out.len() {
            let Piece { first, end, value } = self.rotations.piece(first, step, at, out.len());
            tone(value, self.amplitude, first, step, &mut out[at..end]);
            at = end;
        }
    }
}

/// White Gaussian noise, of the same power at every rate.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    power: f32,
    seed: u64,
}

impl Noise {
    /// `power_dbfs`: the mean of |x|^2 against that of a full-scale tone.
    #[must_use]
    pub fn new(power_dbfs: f64, seed: u64) -> Noise {
        Noise { power: 10f64.powf(power_dbfs / 10.0) as f32, seed }
    }
}

impl Source for Noise {
    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        noise(self.seed, self.power, first, step, out);
    }
}

/// Sample n of the stream is n, as raw words: I the lower 16 bits, Q the next. n = tick / step, so that a gap in time is
/// a gap in n, and two receivers at one rate count alike.
#[derive(Clone, Copy, Debug)]
pub struct Counter;

impl Source for Counter {
    fn raw(&self) -> bool {
        true
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        let from = first.0 / u64::from(step.max(1));
        for (k, out) in out.iter_mut().enumerate() {
            let n = (from + k as u64) as u32;
            *out = Complex32::new(f32::from(n as i16), f32::from((n >> 16) as i16)).scale(1.0 / full_scale::SC16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(source: &mut dyn Source, first: u64, step: u32, n: usize) -> Vec<Complex32> {
        let mut out = vec![Complex32::new(9.0, 9.0); n];
        source.fill(Tick(first), step, &mut out);
        out
    }

    #[test]
    fn a_counter_counts_samples_and_a_gap_shows() {
        let integer = |x: f32| (x * full_scale::SC16).round() as i32;
        let words = |x: &Complex32| (integer(x.re) & 0xFFFF) | integer(x.im) << 16;
        let first = 4 * 0x0001_7FFE + 3; // on no multiple of the step
        let received = fill(&mut Counter, first, 4, 5);
        assert_eq!(received.iter().map(words).collect::<Vec<_>>(), [0x1_7FFE, 0x1_7FFF, 0x1_8000, 0x1_8001, 0x1_8002]);
        let later = fill(&mut Counter, first + 4 * 1000, 4, 1);
        assert_eq!(words(&later[0]), 0x1_7FFE + 1000);
        assert!(Counter.raw());
    }

    #[test]
    fn a_tone_has_its_amplitude_and_offset_at_any_rate() {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        for step in [2, 5, 52, 512] {
            let received = fill(&mut Tone::new(clock, -30e3, 0.25), 777, step, 4000);
            let found = takt_dsp::estimate_tone(&received).unwrap();
            assert!((found.frequency * 100e6 / f64::from(step) + 30e3).abs() < 1.0);
            assert!((found.amplitude - 0.25).abs() < 1e-6);
        }
    }

    #[test]
    fn a_tone_keeps_its_frequency_from_the_tick_on_at_which_its_clock_changes() {
        let (usual, slow) = (TickRate::from_hz(200_000_000).unwrap(), TickRate::from_hz(184_320_000).unwrap());
        let mut source = Tone::new(usual, 1e6, 0.5);
        source.clocked(Tick(1_000_301), Timebase::of(slow));
        let received = fill(&mut source, 1_000_000, 10, 100);
        assert_eq!(received[..31], fill(&mut Tone::new(usual, 1e6, 0.5), 1_000_000, 10, 31));
        assert_eq!(received[31..], fill(&mut Tone::new(slow, 1e6, 0.5), 1_000_310, 10, 69));
    }

    #[test]
    fn noise_has_its_power_and_silence_none() {
        let received = fill(&mut Noise::new(-20.0, 3), 0, 4, 100_000);
        let power = received.iter().map(|x| f64::from(x.norm_sqr())).sum::<f64>() / 1e5;
        assert!((power - 0.01).abs() < 2e-4, "{power}");
        assert_eq!(fill(&mut Silence, 0, 4, 2), [Complex32::default(); 2]);
    }
}
