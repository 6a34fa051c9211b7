//! Rayleigh fading, whose value at a tick depends on the seed and the tick alone: the channels of 3GPP TS 36.101, annex B.2.
//!
//! A channel is a line of taps. Each tap is a sum of [`WAVES`] waves of equal power that arrive from all around, with random phases
//! (Xiao, Zheng, Beaulieu: *Novel sum-of-sinusoids simulation models for Rayleigh and Rician fading channels*, IEEE Trans. Wireless
//! Commun. 5(12), 2006). The angles are equally spaced and turned by a random part of the spacing:
//!
//! ```text
//!   g(t) = sqrt(p / N) sum over n of exp(j (2 pi f t cos((2 pi n + theta) / N) + phi n))
//! ```
//!
//! with the share p of the tap in the power, and the maximum Doppler frequency f. theta stays off the angles at which two waves
//! would share a frequency. So over a long time each seed gives the tap its share of the power, and the autocorrelation
//! J0(2 pi f tau) within 0.001 up to `f tau = 5`. Much later the finite number of waves shows.
//!
//! **Cost.** Gains are computed at knots, 256 to 512 in a period of f, and lie on straight lines between them: 80 dB below the
//! tap. Knots are at multiples of a power of two of ticks, so a block may begin anywhere. A tap of EVA 70 at
//! 7.68 MS/s costs 8.1 instructions a sample with AVX2, its knots among them: `tests/instructions` keeps the count.

mod channel;
mod profile;

use num_complex::Complex32;
use takt_base::Tick;

use super::noise::words;
use super::phasor::{LANES, phasors};
use crate::Rotation;
use crate::simd::vectorised;

pub use channel::FadingChannel;
pub use profile::{DelayProfile, FadingModel, NoFading, ProfileTap};

/// Waves of a tap.
const WAVES: usize = 4 * LANES;
/// Knots in a period of the maximum Doppler frequency, at least.
const KNOTS: f64 = 256.0;
/// Largest distance of knots, as a power of two of ticks: a float has a place for each tick between two.
const WIDEST: u32 = 24;

/// The gains of the taps of a fading channel. The mean power of all taps together is 1.
///
/// ```
/// use takt_base::{Complex32, Tick};
/// use takt_dsp::Fading;
/// let fading = Fading::new("ETU 70".parse().unwrap(), 30.72e6, 1);
/// let mut out = [Complex32::default(); 4];
/// // A tap, applied to a signal that is 1 at each instant.
/// fading.add(3, Tick(1000), 2, &[Complex32::new(1.0, 0.0); 4], &mut out);
/// assert_eq!(out[2], fading.gain(3, Tick(1004)));
/// ```
#[derive(Clone, Debug)]
pub struct Fading {
    model: FadingModel,
    taps: Box<[Waves]>,
    /// Ticks between knots, as a power of two.
    spacing: u32,
}

/// The waves of a tap.
#[derive(Clone, Debug)]
struct Waves {
    /// Amplitude of each wave.
    amplitude: f32,
    /// Its Doppler frequency in units of the highest.
    cosines: [f64; WAVES],
    /// Its phase at tick 0, and what a tick adds; 2^64 a turn.
    phases: [u64; WAVES],
    turns: [u64; WAVES],
}

impl Fading {
    /// The channel of a seed, by a clock of `clock_hz` ticks a second. A clock that is not above 0 and finite does not fade at all.
    #[must_use]
    pub fn new(model: FadingModel, clock_hz: f64, seed: u64) -> Fading {
        let waves = |(tap, share): (usize, f64)| Waves::new(seed, tap as u64, share);
        let taps = model.profile.shares().enumerate().map(waves).collect();
        let mut fading = Fading { model, taps, spacing: 0 };
        fading.set_clock(clock_hz);
        fading
    }

    /// From now on ticks are those of another clock. Allocates nothing.
    pub fn set_clock(&mut self, clock_hz: f64) {
        let doppler_hz = f64::from(self.model.doppler_hz());
        let doppler_turns = if clock_hz > 0.0 { doppler_hz / clock_hz } else { 0.0 };
        let spacing = (1.0 / (KNOTS * doppler_turns)).log2().floor();
        self.spacing = spacing.clamp(0.0, WIDEST.into()) as u32;
        for waves in &mut self.taps {
            waves.turns = waves.cosines.map(|cosine| Rotation::from_turns(cosine * doppler_turns).raw());
        }
    }

    /// Delays and powers, and the Doppler frequency.
    #[must_use]
    pub fn model(&self) -> FadingModel {
        self.model
    }

    /// How many taps there are.
    #[must_use]
    pub fn taps(&self) -> usize {
        self.taps.len()
    }

    /// The gain of a tap at a tick.
    ///
    /// # Panics
    /// There is no such tap.
    #[must_use]
    pub fn gain(&self, tap: usize, at: Tick) -> Complex32 {
        let (from, offset) = self.knot(at.0);
        let waves = &self.taps[tap];
        let start = waves.at(from);
        let rise = waves.at(from.wrapping_add(1 << self.spacing)) - start;
        between(start, rise, offset, self.spacing)
    }

    /// Adds to `out` the samples of `input`, each times the gain of a tap at its tick: `first`, `first + step`, ...
    ///
    /// # Panics
    /// There is no such tap, or the slices differ in length.
    pub fn add(&self, tap: usize, first: Tick, step: u32, input: &[Complex32], out: &mut [Complex32]) {
        assert_eq!(input.len(), out.len(), "as many samples out as in");
        add_kernel(&self.taps[tap], self.spacing, first.0, step, input, out);
    }

    /// The knot at or before a tick, and the ticks since.
    fn knot(&self, tick: u64) -> (u64, u32) {
        let offset = tick & ((1 << self.spacing) - 1);
        (tick - offset, offset as u32)
    }
}

impl Waves {
    fn new(seed: u64, tap: u64, share: f64) -> Waves {
        // Noise of the same seed has its random words at counters whose upper half is 0.
        let random = |n: usize| words(seed, tap, n as u64 + 1);
        let turned = f64::from(random(WAVES)[0]) / f64::from(u32::MAX);
        // A quarter of the spacing keeps the mirror images of all angles halfway between angles; an eighth around it remains.
        let theta = 0.25 + 0.25 * (turned - 0.5);
        let angle = |n: usize| std::f64::consts::TAU * (n as f64 + theta) / WAVES as f64;
        Waves {
            amplitude: (share / WAVES as f64).sqrt() as f32,
            cosines: std::array::from_fn(|n| angle(n).cos()),
            phases: std::array::from_fn(|n| {
                let [upper, lower, ..] = random(n).map(u64::from);
                upper << 32 | lower
            }),
            turns: [0; WAVES],
        }
    }

    /// The sum at a tick.
    #[inline(always)]
    fn at(&self, tick: u64) -> Complex32 {
        let (mut re, mut im) = ([0.0f32; LANES], [0.0f32; LANES]);
        let (phases, turns) = (self.phases.as_chunks::<LANES>().0, self.turns.as_chunks::<LANES>().0);
        for (phases, turns) in phases.iter().zip(turns) {
            let turned = |k: usize| (phases[k].wrapping_add(turns[k].wrapping_mul(tick)) >> 32) as u32;
            let (cos, sin) = phasors(&std::array::from_fn(turned));
            for k in 0..LANES {
                re[k] += cos[k];
                im[k] += sin[k];
            }
        }
        Complex32::new(re.iter().sum(), im.iter().sum()) * self.amplitude
    }
}

/// The gain so many ticks after a knot.
#[inline(always)]
fn between(start: Complex32, rise: Complex32, offset: u32, spacing: u32) -> Complex32 {
    // Both whole numbers have at most 24 bits.
    let share = offset as f32 * (1.0 / (1u32 << spacing) as f32);
    start + rise * share
}

vectorised!(fn add_kernel(waves: &Waves, spacing: u32, first: u64, step: u32, input: &[Complex32], out: &mut [Complex32]) = add_scalar);

#[inline(always)]
fn add_scalar(waves: &Waves, spacing: u32, first: u64, step: u32, input: &[Complex32], out: &mut [Complex32]) {
    let span = 1u64 << spacing;
    let (mut tick, mut at) = (first, 0);
    let mut known = None;
    while at < out.len() {
        let from = tick & !(span - 1);
        let mut offset = (tick - from) as u32;
        // Samples before the next knot. If none takes time, any number will do.
        let count = (span as u32 - offset).div_ceil(step.max(1)).min((out.len() - at).try_into().unwrap_or(u32::MAX));
        let start = match known {
            Some((knot, gain)) if knot == from => gain,
            _ => waves.at(from),
        };
        let next = (from.wrapping_add(span), waves.at(from.wrapping_add(span)));
        let rise = next.1 - start;
        known = Some(next);
        let end = at + count as usize;
        for (out, x) in out[at..end].iter_mut().zip(&input[at..end]) {
            *out += *x * between(start, rise, offset, spacing);
            offset = offset.wrapping_add(step);
        }
        tick = tick.wrapping_add(u64::from(count) * u64::from(step));
        at = end;
    }
}

#[cfg(test)]
mod tests;
