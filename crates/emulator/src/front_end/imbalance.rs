//! Effects of a board on a signal around its oscillator.
//!
//! `I' = I + dc_i`, `Q' = g (Q cos p + I sin p) + dc_q`, g and p being the gain and the phase. The oscillator need not be where
//! 0 Hz of the samples is: the signal goes there and back. A constant that would lie outside the samples' band is left
//! out; an image there is folded.

use takt_base::{Complex32, Tick};
use takt_dsp::{Rotation, mix};

/// Effect of a board on a signal around its oscillator: I and Q are not alike, and there is a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImbalanceSpec {
    pub dc_offset_i: f64,
    pub dc_offset_q: f64,
    /// By how much Q is larger than I.
    pub iq_gain_db: f64,
    /// By how much Q is more than a quarter turn from I.
    pub iq_phase_deg: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Imbalance {
    offset: Complex32,
    /// Shares of Q and of I in Q.
    q_of_q: f32,
    q_of_i: f32,
}

impl Imbalance {
    /// `None`: nothing is wrong.
    pub(crate) fn of(spec: ImbalanceSpec) -> Option<Imbalance> {
        let gain = 10f64.powf(spec.iq_gain_db / 20.0);
        let (sin, cos) = spec.iq_phase_deg.to_radians().sin_cos();
        (spec != ImbalanceSpec::default()).then_some(Imbalance {
            offset: Complex32::new(spec.dc_offset_i as f32, spec.dc_offset_q as f32),
            q_of_q: (gain * cos) as f32,
            q_of_i: (gain * sin) as f32,
        })
    }

    /// The constant, at a board's output.
    pub(super) fn constant(&self) -> Complex32 {
        self.offset
    }

    /// Distorts a sample whose 0 Hz is the oscillator.
    pub(super) fn distorted(&self, x: Complex32) -> Complex32 {
        Complex32::new(x.re, self.q_of_q * x.im + self.q_of_i * x.re) + self.offset
    }

    /// Distorts samples whose 0 Hz lies `above_turns` a tick above the oscillator.
    pub(crate) fn apply(&self, above_turns: f64, first: Tick, step: u32, samples: &mut [Complex32]) {
        let shift = Rotation::from_turns(above_turns);
        let inside = 2.0 * above_turns.abs() * f64::from(step) < 1.0;
        let offset = if inside { self.offset } else { Complex32::default() };
        mix(shift, 1.0, first, step, samples);
        for x in &mut *samples {
            *x = Complex32::new(x.re, self.q_of_q * x.im + self.q_of_i * x.re) + offset;
        }
        mix(-shift, 1.0, first, step, samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_has_an_image_beyond_the_oscillator_and_a_constant_at_it() {
        let scene = ImbalanceSpec { dc_offset_i: 0.1, dc_offset_q: -0.2, iq_gain_db: 1.0, iq_phase_deg: 3.0 };
        let imbalance = Imbalance::of(scene).unwrap();
        let turns = |hz: f64| hz / 100e6;
        // 0.3 MHz around samples whose 0 Hz is 1 MHz above the oscillator.
        let mut samples = vec![Complex32::default(); 4000];
        takt_dsp::tone(Rotation::from_turns(turns(0.3e6)), 0.5, Tick(0), 10, &mut samples);
        imbalance.apply(turns(1e6), Tick(0), 10, &mut samples);
        let level = |hz: f64| {
            let mut tone = vec![Complex32::default(); 4000];
            takt_dsp::tone(Rotation::from_turns(turns(hz)), 1.0, Tick(0), 10, &mut tone);
            samples.iter().zip(&tone).map(|(x, t)| x * t.conj()).sum::<Complex32>() / 4000.0
        };
        let (g, p) = (10f64.powf(0.05), 3f64.to_radians());
        // 1.3 MHz at the oscillator, whose image is -1.3 MHz, 2.3 MHz below 0 Hz of the samples.
        let direct = (1.0 + g * p.cos()) / 2.0;
        assert!((f64::from(level(0.3e6).re) - 0.5 * direct).abs() < 1e-3, "{}", level(0.3e6));
        let image = ((1.0 - g * p.cos()).powi(2) + (g * p.sin()).powi(2)).sqrt() / 2.0;
        assert!((f64::from(level(-2.3e6).norm()) - 0.5 * image).abs() < 1e-3, "{}", level(-2.3e6));
        assert!((level(-1e6) - Complex32::new(0.1, -0.2)).norm() < 1e-3, "{}", level(-1e6));
    }

    #[test]
    fn a_constant_outside_the_band_is_not_there() {
        let scene = ImbalanceSpec { dc_offset_i: 0.1, ..Default::default() };
        let mut samples = [Complex32::default(); 8];
        Imbalance::of(scene).unwrap().apply(0.06, Tick(0), 10, &mut samples);
        assert_eq!(samples, [Complex32::default(); 8]);
        assert!(Imbalance::of(ImbalanceSpec::default()).is_none());
    }
}
