//! Keeps a receiver on its cell: two loops over subframes, one for the window, one for the oscillator.
//!
//! Timing is a loop of second order: it knows how late the signal is and how fast that grows, so that it follows a
//! sampling clock that is wrong, and goes on through subframes that are missing. Frequency is a loop of first order. Each gain
//! begins at 1/2 and falls as 1/n to its final value: an average first, then a loop.

use crate::Numerology;

use super::ChannelEstimate;

/// The share of a subframe's timing error that the window follows.
const TIMING_GAIN: f32 = 0.08;
/// The share of it that goes to the drift: critically damped, for a loop that follows with `TIMING_GAIN`.
const DRIFT_GAIN: f32 = TIMING_GAIN * TIMING_GAIN / 4.0;
/// The share of a subframe's residual frequency that the oscillator follows.
const FREQUENCY_GAIN: f32 = 0.05;
/// The window moves when the signal is further off than this, in samples. Above 1/2, so that noise does not move it to and fro.
const SLACK_SAMPLES: f32 = 0.75;
/// Below it an estimate says nothing.
const LEAST_SNR_DB: f32 = -10.0;
/// The fastest drift that is believed, in samples per sample: two oscillators of the worst class, and some more.
const FASTEST_DRIFT: f32 = 40e-6;

/// Changes that a receiver makes before its next subframe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    /// Move the window this many samples later: the next subframe begins so much later than a millisecond after this one.
    pub shift_samples: i32,
    /// The offset to remove from samples: multiply them by exp(-j 2 pi f t). It is the whole of it, not a change.
    pub frequency_hz: f32,
}

/// The loops. Estimates must come from subframes to which the last [`Correction`] was applied.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// How late the signal is in the present window, in samples.
    late: f32,
    /// How much later it gets each subframe.
    drift: f32,
    fastest: f32,
    furthest: f32,
    frequency_hz: f32,
    /// Estimates taken.
    taken: u32,
}

impl Tracker {
    /// Begins at the frequency offset that the cell search found.
    #[must_use]
    pub fn new(numerology: &Numerology, frequency_hz: f32) -> Tracker {
        Tracker {
            late: 0.0,
            drift: 0.0,
            fastest: FASTEST_DRIFT * numerology.subframe_len() as f32,
            furthest: numerology.fft_len as f32 / 12.0,
            frequency_hz,
            taken: 0,
        }
    }

    /// Follows the estimate of a subframe and says what changes before the next.
    pub fn update(&mut self, estimate: &ChannelEstimate) -> Correction {
        let (timing, residual) = (estimate.timing_samples, estimate.frequency_hz);
        if !(estimate.snr_db() >= LEAST_SNR_DB && timing.is_finite() && residual.is_finite()) {
            return self.gap(1);
        }
        self.taken = self.taken.saturating_add(1);
        let begin = 1.0 / (self.taken + 1) as f32;
        let error = timing.clamp(-self.furthest, self.furthest) - self.late;
        self.late += error * TIMING_GAIN.max(begin);
        // An average of the beginning knows no drift yet.
        if TIMING_GAIN > begin {
            self.drift = (self.drift + error * DRIFT_GAIN).clamp(-self.fastest, self.fastest);
        }
        self.frequency_hz += residual * FREQUENCY_GAIN.max(begin);
        self.step(1)
    }

    /// Goes on without estimates for so many subframes, at the drift that it knows. To be called once for each gap; the
    /// correction then covers all of it.
    pub fn gap(&mut self, subframes: u32) -> Correction {
        self.step(subframes)
    }

    /// The offset that is removed at present.
    #[must_use]
    pub fn frequency_hz(&self) -> f32 {
        self.frequency_hz
    }

    /// By how many millionths the sender's sampling clock is slow, as far as it is known: then its signal gets later.
    #[must_use]
    pub fn drift_ppm(&self) -> f32 {
        self.drift / self.fastest * FASTEST_DRIFT * 1e6
    }

    fn step(&mut self, subframes: u32) -> Correction {
        self.late += self.drift * subframes as f32;
        let shift = if self.late.abs() > SLACK_SAMPLES { self.late.round() } else { 0.0 };
        self.late -= shift;
        Correction { shift_samples: shift as i32, frequency_hz: self.frequency_hz }
    }
}
