//! The numerically controlled oscillator: a tone, and the mixer that shifts a signal by one.
//!
//! Both take the tick of the first sample and derive every phase from ticks alone. So a signal cut into blocks anywhere is
//! the same signal, bit for bit, and two radios with the same clock agree on it.

use num_complex::Complex32;
use takt_base::Tick;

use super::phasor::{LANES, phases, phasors};
use crate::Rotation;
use crate::simd::vectorised;

/// Writes `amplitude * exp(j 2 pi (rotation * tick))` for the ticks `first`, `first + step`, ...
///
/// Each component is within 2e-7 of `amplitude` from the exact value.
///
/// ```
/// use takt_base::{Complex32, Tick, TickRate};
/// use takt_dsp::{Rotation, tone};
/// let clock = TickRate::from_hz(100_000_000).unwrap();
/// let mut out = [Complex32::default(); 3];
/// tone(Rotation::from_hz(1e6, clock), 0.5, Tick(1_000_000), 25, &mut out); // 4 MS/s: a quarter turn a sample
/// assert!((out[1] - Complex32::new(0.0, 0.5)).norm() < 1e-6);
/// ```
pub fn tone(rotation: Rotation, amplitude: f32, first: Tick, step: u32, out: &mut [Complex32]) {
    tone_kernel(rotation.phase_at(first), rotation.times(step).raw(), amplitude, out);
}

/// Shifts a signal up by `rotation` and scales it by `gain`, in place: sample n, of tick `first + n * step`, is multiplied by
/// `gain * exp(j 2 pi (rotation * tick))`. Costs nothing where that is 1.
pub fn mix(rotation: Rotation, gain: f32, first: Tick, step: u32, samples: &mut [Complex32]) {
    if rotation != Rotation::default() {
        mix_kernel(rotation.phase_at(first), rotation.times(step).raw(), gain, samples);
    } else if gain.to_bits() != 1.0f32.to_bits() {
        samples.iter_mut().for_each(|x| *x = x.scale(gain));
    }
}

vectorised!(fn tone_kernel(start: u64, step: u64, amplitude: f32, out: &mut [Complex32]) = tone_scalar);
vectorised!(fn mix_kernel(start: u64, step: u64, gain: f32, samples: &mut [Complex32]) = mix_scalar);

#[inline(always)]
fn tone_scalar(start: u64, step: u64, amplitude: f32, out: &mut [Complex32]) {
    by_block(start, step, out, |cos, sin, block| {
        for k in 0..LANES {
            block[k] = Complex32::new(amplitude * cos[k], amplitude * sin[k]);
        }
    });
}

#[inline(always)]
fn mix_scalar(start: u64, step: u64, gain: f32, samples: &mut [Complex32]) {
    by_block(start, step, samples, |cos, sin, block| {
        for k in 0..LANES {
            let (c, s, x) = (gain * cos[k], gain * sin[k], block[k]);
            block[k] = Complex32::new(x.re * c - x.im * s, x.re * s + x.im * c);
        }
    });
}

/// Runs `f(cos, sin, samples)` over whole blocks, the last one padded.
#[inline(always)]
fn by_block(
    start: u64,
    step: u64,
    samples: &mut [Complex32],
    f: impl Fn(&[f32; LANES], &[f32; LANES], &mut [Complex32; LANES]),
) {
    let mut at = start;
    let (blocks, rest) = samples.as_chunks_mut::<LANES>();
    for block in blocks {
        let (cos, sin) = phasors(&phases(at, step));
        f(&cos, &sin, block);
        at = at.wrapping_add(step.wrapping_mul(LANES as u64));
    }
    if !rest.is_empty() {
        let mut padded = [Complex32::default(); LANES];
        padded[..rest.len()].copy_from_slice(rest);
        let (cos, sin) = phasors(&phases(at, step));
        f(&cos, &sin, &mut padded);
        rest.copy_from_slice(&padded[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::phasor::ERROR;
    use proptest::prelude::*;

    /// The tone by the book: the exact fraction of a turn, then f64.
    fn exact(rotation: Rotation, tick: u64) -> num_complex::Complex64 {
        let turns = rotation.phase_at(Tick(tick)) as f64 / 18_446_744_073_709_551_616.0;
        num_complex::Complex64::from_polar(1.0, turns * std::f64::consts::TAU)
    }

    fn wide(x: Complex32) -> num_complex::Complex64 {
        num_complex::Complex64::new(f64::from(x.re), f64::from(x.im))
    }

    proptest! {
        #[test]
        fn a_tone_is_within_its_bound_at_any_tick(word in any::<u32>(), first in any::<u64>(), step in 1u32..=512, len in 0usize..100) {
            let rotation = Rotation::from_word(word);
            let mut out = vec![Complex32::default(); len];
            tone(rotation, 0.5, Tick(first), step, &mut out);
            for (n, x) in out.iter().enumerate() {
                let tick = first.wrapping_add(n as u64 * u64::from(step));
                prop_assert!((wide(*x) - exact(rotation, tick) * 0.5).norm() < 0.5 * 1.5 * ERROR);
            }
        }

        #[test]
        fn a_tone_cut_anywhere_is_the_same_tone(word in any::<u32>(), first in 0u64..1 << 60, step in 1u32..=512, cut in 0usize..200) {
            let rotation = Rotation::from_word(word) + Rotation::from_hz(0.123, takt_base::TickRate::from_hz(100_000_000).unwrap());
            let mut whole = vec![Complex32::default(); 200];
            let mut parts = whole.clone();
            tone(rotation, 0.7, Tick(first), step, &mut whole);
            let (a, b) = parts.split_at_mut(cut);
            tone(rotation, 0.7, Tick(first), step, a);
            tone(rotation, 0.7, Tick(first + cut as u64 * u64::from(step)), step, b);
            prop_assert_eq!(whole, parts);
        }

        #[test]
        fn mixing_up_and_down_again_gives_the_signal_back(word in any::<u32>(), first in 0u64..1 << 60, step in 1u32..=512) {
            let rotation = Rotation::from_word(word);
            let mut signal = vec![Complex32::new(0.25, -0.5); 77];
            mix(rotation, 2.0, Tick(first), step, &mut signal);
            mix(-rotation, 0.5, Tick(first), step, &mut signal);
            for x in signal {
                prop_assert!((x - Complex32::new(0.25, -0.5)).norm() < 1e-6);
            }
        }

        #[test]
        fn the_wide_kernels_give_the_bits_of_the_narrow_ones(start in any::<u64>(), step in any::<u64>(), len in 0usize..70) {
            let (mut a, mut b) = (vec![Complex32::new(0.3, -0.2); len], vec![Complex32::new(0.3, -0.2); len]);
            mix_kernel(start, step, 0.9, &mut a);
            mix_scalar(start, step, 0.9, &mut b);
            prop_assert_eq!(&a, &b);
            tone_kernel(start, step, 0.9, &mut a);
            tone_scalar(start, step, 0.9, &mut b);
            prop_assert_eq!(&a, &b);
        }
    }

    #[test]
    fn mixing_by_nothing_changes_no_bit() {
        let mut signal = [Complex32::new(-0.0, 0.1)];
        mix(Rotation::default(), 1.0, Tick(5), 4, &mut signal);
        assert_eq!((signal[0].re.to_bits(), signal[0].im), ((-0.0f32).to_bits(), 0.1));
    }
}
