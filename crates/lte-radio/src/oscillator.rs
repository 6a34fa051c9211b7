//! A frequency shift that can change between calls, without a jump of phase.

use std::f64::consts::TAU;

use num_complex::{Complex32, Complex64};

/// Turns samples with a phase that goes on from call to call.
#[derive(Clone, Debug)]
pub(crate) struct Oscillator {
    rate_sps: f64,
    /// In turns, 0 to 1.
    phase: f64,
}

/// Samples after which the phasor is computed anew: f32 products lose some 1e-7 each.
const BLOCK: usize = 256;

impl Oscillator {
    pub(crate) fn new(rate_sps: f64) -> Oscillator {
        Oscillator { rate_sps, phase: 0.0 }
    }

    /// Moves the spectrum of these samples up by `frequency_hz`.
    pub(crate) fn shift(&mut self, frequency_hz: f64, samples: &mut [Complex32]) {
        let turns = frequency_hz / self.rate_sps;
        if turns == 0.0 || !turns.is_finite() {
            return;
        }
        let step = narrow(Complex64::from_polar(1.0, TAU * turns));
        for block in samples.chunks_mut(BLOCK) {
            let mut phasor = narrow(Complex64::from_polar(1.0, TAU * self.phase));
            for sample in &mut *block {
                *sample *= phasor;
                phasor *= step;
            }
            self.phase = (self.phase + turns * block.len() as f64).rem_euclid(1.0);
        }
    }
}

fn narrow(value: Complex64) -> Complex32 {
    Complex32::new(value.re as f32, value.im as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_up_and_one_down_are_none_wherever_they_are_cut() {
        let (mut up, mut down) = (Oscillator::new(1.92e6), Oscillator::new(1.92e6));
        let mut samples = vec![Complex32::new(0.5, -0.25); 5000];
        up.shift(3210.0, &mut samples[..1234]);
        up.shift(3210.0, &mut samples[1234..]);
        down.shift(-3210.0, &mut samples);
        assert!(samples.iter().all(|sample| (sample - Complex32::new(0.5, -0.25)).norm() < 1e-4));
    }
}
