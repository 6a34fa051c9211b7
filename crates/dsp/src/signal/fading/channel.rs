//! A fading channel for samples of one rate, with the delays of its taps.

use num_complex::Complex32;
use takt_base::Tick;

use super::{Fading, FadingModel};
use crate::{Interpolator, PathParams, Places, Taps};

/// Samples of a tap at a time.
const BLOCK: usize = 1024;
/// Samples; beyond, a number has no room for a fraction.
const MOST_DELAY: f64 = 1e9;

/// Delays and fades samples of one rate. Delays are exact: an [`Interpolator`] evaluates the signal between its samples.
///
/// ```
/// use takt_base::{Complex32, Tick};
/// use takt_dsp::FadingChannel;
/// // 15.36 MS/s of a clock at 30.72 MHz. The filter wants 27 samples before and behind.
/// let sent = [Complex32::new(1.0, 0.0); 400];
/// let mut channel = FadingChannel::new("EPA 5".parse().unwrap(), 30.72e6, 1);
/// let mut received = [Complex32::default(); 300];
/// channel.add(&sent, Tick(0), 2, 50, &mut received);
/// // A carrier sees the sum of all taps.
/// let gain: Complex32 = (0..channel.fading().taps()).map(|tap| channel.fading().gain(tap, Tick(2 * 150))).sum();
/// assert!((received[100] - gain).norm() < 1e-3);
/// ```
pub struct FadingChannel {
    fading: Fading,
    clock_hz: f64,
    interpolator: Interpolator,
    taps: Taps,
    delayed: Box<[Complex32]>,
}

impl FadingChannel {
    /// The channel of a seed; ticks are those of a clock of `clock_hz`. With all the memory it will ever need, some 0.9 MB.
    #[must_use]
    pub fn new(model: FadingModel, clock_hz: f64, seed: u64) -> FadingChannel {
        FadingChannel {
            fading: Fading::new(model, clock_hz, seed),
            clock_hz,
            interpolator: Interpolator::new(),
            taps: Taps::new(),
            delayed: vec![Complex32::default(); BLOCK].into(),
        }
    }

    /// The gains of the taps.
    #[must_use]
    pub fn fading(&self) -> &Fading {
        &self.fading
    }

    /// Adds to `out` what arrives of `input`, whose sample m is sent at tick `first + m * step`: output n at the instant of input
    /// `from + n`. Nothing is sent before `input` and after it. A signal may be cut into blocks anywhere, if each call has the samples
    /// before and behind that reach its block: 27, and the longest delay before.
    pub fn add(&mut self, input: &[Complex32], first: Tick, step: u32, from: usize, out: &mut [Complex32]) {
        let samples_per_ns = self.clock_hz * 1e-9 / f64::from(step.max(1));
        let mut from = from as u64;
        for out in out.chunks_mut(BLOCK) {
            let at = Tick(first.0.wrapping_add(from.wrapping_mul(step.into())));
            for (tap, profile) in self.fading.model().profile.taps().iter().enumerate() {
                // A clock that is none has no delays, and one beyond all radios as good as no signal.
                let delay = (profile.delay_ns * samples_per_ns).clamp(0.0, MOST_DELAY).max(0.0);
                let places = Places {
                    whole: (from as i64).saturating_sub(delay.floor() as i64),
                    part: 0,
                    den: 1,
                    step_whole: 1,
                    step_part: 0,
                    lag: delay.fract(),
                };
                let passage = PathParams {
                    places,
                    len: input.len() as u64,
                    shift_turns: 0.0,
                    input: (first, step),
                    output: (at, step),
                    delay,
                    gain: Complex32::new(1.0, 0.0),
                };
                let delayed = &mut self.delayed[..out.len()];
                delayed.fill(Complex32::default());
                self.interpolator.add(&mut self.taps, passage, delayed, |m, block| {
                    block.copy_from_slice(&input[m as usize..][..block.len()]);
                });
                self.fading.add(tap, at, step, delayed, out);
            }
            from += out.len() as u64;
        }
    }
}
