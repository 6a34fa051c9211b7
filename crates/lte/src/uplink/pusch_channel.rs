//! The channel of a PUSCH from its two reference symbols: a delay as a slope of phase over frequency, a frequency offset as a
//! turn from slot to slot, and what remains, smoothed over frequency and interpolated over time.

use std::f32::consts::TAU;

use num_complex::Complex32;

use super::reference::REFERENCE_SYMBOL;
use super::sums::{correlation, energy, energy_of_difference};
use crate::SYMBOLS_OF_SLOT;

/// Neighbours on each side in the smoothing. A path that is 1 us off the mean delay is distorted by -35 dB, and noise falls by
/// 8.7 dB.
const REACH: usize = 4;

/// Values of the mean that the smoothed ones fall back to where they show no more than noise.
const WIDE: usize = 12;

/// Buffers for one allocation at a time.
pub(super) struct Channel {
    /// Received over sent, by slot, without the slope.
    raw: [Vec<Complex32>; 2],
    /// By slot, without the slope; then the mean of both slots and half their difference, with it.
    smooth: [Vec<Complex32>; 2],
    /// By slot, what the narrow smoothing adds to the wide one.
    detail: [Vec<Complex32>; 2],
    /// The turn of each subcarrier by the slope.
    ramp: Vec<Complex32>,
    kernel: Kernel,
}

/// The channel that one subframe's references show. The gain on subcarrier k of symbol l is
/// (mean(k) + (l - 6.5) / 3.5 change(k)) exp(j (k slope + (l - 6.5) turn)).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimate {
    /// Radians a subcarrier.
    pub slope: f32,
    /// Radians a symbol.
    pub turn: f32,
    /// Noise of an element.
    pub noise: f32,
    /// Noise of a gain.
    pub gain_noise: f32,
    /// Power of the signal on an element.
    pub power: f32,
}

impl Channel {
    pub(super) fn new(subcarriers: usize) -> Channel {
        let buffer = || vec![Complex32::default(); subcarriers];
        let both = || [buffer(), buffer()];
        Channel { raw: both(), smooth: both(), detail: both(), ramp: buffer(), kernel: Kernel::new() }
    }

    /// Room for a slot's reference as received, divided by the one that was sent.
    pub(super) fn raw_mut(&mut self, slot: usize, carriers: usize) -> &mut [Complex32] {
        &mut self.raw[slot][..carriers]
    }

    /// Works on what [`raw_mut`](Self::raw_mut) was given.
    pub(super) fn estimate(&mut self, carriers: usize) -> Estimate {
        let slope = slope(self.raw.each_ref().map(|raw| &raw[..carriers]));
        write_turns(slope, &mut self.ramp[..carriers]);
        for raw in &mut self.raw {
            raw.iter_mut().zip(&self.ramp[..carriers]).for_each(|(value, turn)| *value *= turn.conj());
        }
        let (noise, gain_noise) = self.smooth(carriers);
        let power = self.smooth.iter().map(|slot| energy(&slot[..carriers])).sum::<f32>();
        let power = (power / (2 * carriers) as f32 - gain_noise).max(0.0);
        let (turn, change) = self.split(carriers, gain_noise);
        for part in &mut self.smooth {
            part.iter_mut().zip(&self.ramp[..carriers]).for_each(|(value, turn)| *value *= turn);
        }
        Estimate { slope, turn, noise, gain_noise: gain_noise / 2.0 * (1.0 + change * change), power }
    }

    /// Smooths both slots over frequency. The wide mean is right for a channel of one path. Its difference to
    /// the narrow one is kept as far as it is more than noise. Answers the noise of an element, and that of a gain.
    fn smooth(&mut self, carriers: usize) -> (f32, f32) {
        let (mut residual, mut details) = (0.0, 0.0);
        for ((raw, smooth), detail) in self.raw.iter().zip(&mut self.smooth).zip(&mut self.detail) {
            let (raw, smooth, detail) = (&raw[..carriers], &mut smooth[..carriers], &mut detail[..carriers]);
            self.kernel.apply(raw, detail);
            residual += energy_of_difference(raw, detail);
            write_wide_means(raw, smooth);
            detail.iter_mut().zip(&*smooth).for_each(|(detail, smooth)| *detail -= smooth);
            details += energy(detail);
        }
        let (residual_noise, narrow_noise) = self.kernel.noise(carriers);
        // The narrow window lies within the wide one: the mean and the difference have independent noise.
        let of_details = 2.0 * (narrow_noise - carriers as f32 / WIDE as f32);
        let noise = residual / (2.0 * residual_noise);
        let kept = more_than_noise(details, of_details * noise);
        for (smooth, detail) in self.smooth.iter_mut().zip(&self.detail) {
            smooth.iter_mut().zip(detail).take(carriers).for_each(|(smooth, detail)| *smooth += detail * kept);
        }
        (noise, noise * (1.0 / WIDE as f32 + kept * kept * of_details / (2 * carriers) as f32))
    }

    /// From the two slots to their mean, and what of their difference is more than noise.
    fn split(&mut self, carriers: usize, gain_noise: f32) -> (f32, f32) {
        let [first, second] = &mut self.smooth;
        let (first, second) = (&mut first[..carriers], &mut second[..carriers]);
        let angle = correlation(first, second).arg();
        let forth = Complex32::from_polar(1.0, angle / 2.0);
        for (first, second) in first.iter_mut().zip(&mut *second) {
            let (a, b) = (*first * forth, *second * forth.conj());
            (*first, *second) = ((a + b) * 0.5, (b - a) * 0.5);
        }
        let change = more_than_noise(energy(second), gain_noise / 2.0 * carriers as f32);
        second.iter_mut().for_each(|value| *value *= change);
        (angle / SYMBOLS_OF_SLOT as f32, change)
    }

    /// Writes the gains of a symbol, 0 to 13.
    pub(super) fn gains(&self, estimate: &Estimate, symbol: usize, gains: &mut [Complex32]) {
        let from_middle = symbol as f32 - (REFERENCE_SYMBOL as f32 + SYMBOLS_OF_SLOT as f32 / 2.0);
        let share = from_middle / (SYMBOLS_OF_SLOT as f32 / 2.0);
        let turn = Complex32::from_polar(1.0, estimate.turn * from_middle);
        for ((gain, mean), change) in gains.iter_mut().zip(&self.smooth[0]).zip(&self.smooth[1]) {
            *gain = (mean + change * share) * turn;
        }
    }
}

/// The share of an energy beyond what noise has, 0 to 1. Without any energy, f32's `max` turns no number into 0.
fn more_than_noise(energy: f32, of_noise: f32) -> f32 {
    (1.0 - of_noise / energy).max(0.0)
}

/// Fills value k with exp(j k `slope`).
fn write_turns(slope: f32, turns: &mut [Complex32]) {
    let steps: [Complex32; 16] = std::array::from_fn(|k| Complex32::from_polar(1.0, slope * k as f32));
    // From a fresh start every 16 values, so that rounding does not add up.
    for (n, turns) in turns.chunks_mut(steps.len()).enumerate() {
        let begin = Complex32::from_polar(1.0, (slope * (steps.len() * n) as f32) % TAU);
        turns.iter_mut().zip(&steps).for_each(|(turn, step)| *turn = begin * step);
    }
}

/// Writes the mean of the [`WIDE`] values around each; near an edge, of the outermost.
fn write_wide_means(values: &[Complex32], means: &mut [Complex32]) {
    let (last, from) = (values.len() - WIDE, WIDE / 2);
    let inner = &mut means[from..=from + last];
    inner.fill(Complex32::default());
    for offset in 0..WIDE {
        inner.iter_mut().zip(&values[offset..]).for_each(|(sum, value)| *sum += value);
    }
    inner.iter_mut().for_each(|sum| *sum *= 1.0 / WIDE as f32);
    let (lowest, highest) = (inner[0], inner[last]);
    means[..from].fill(lowest);
    means[from + last..].fill(highest);
}

/// The slope of phase, radians a subcarrier: from neighbours first, then from ever greater distances, each of which is precise
/// enough for the next.
fn slope(slots: [&[Complex32]; 2]) -> f32 {
    let farthest = slots[0].len() / 2;
    let (mut slope, mut distance) = (0.0, 1);
    loop {
        let sum: Complex32 = slots.iter().map(|slot| correlation(slot, &slot[distance..])).sum();
        let expected = Complex32::from_polar(1.0, -slope * distance as f32);
        slope += (sum * expected).arg() / distance as f32;
        if distance == farthest {
            return slope;
        }
        distance = (4 * distance).min(farthest);
    }
}

/// A triangle of 2 [`REACH`] + 1 values; near an edge a straight line is fitted with the part of it that is left.
struct Kernel {
    /// By how many values there are before.
    weights: [[f32; 2 * REACH + 1]; REACH + 1],
    /// The power of noise that passes, by the same.
    noise: [f32; REACH + 1],
}

impl Kernel {
    fn new() -> Kernel {
        let weights: [_; REACH + 1] = std::array::from_fn(line_weights);
        let noise = weights.each_ref().map(|weights| weights.iter().map(|weight| weight * weight).sum());
        Kernel { weights, noise }
    }

    /// Smooths all values. There are more than twice [`REACH`].
    fn apply(&self, values: &[Complex32], smooth: &mut [Complex32]) {
        let inner = REACH..values.len() - REACH;
        let sums = &mut smooth[inner.clone()];
        sums.fill(Complex32::default());
        for (offset, &weight) in self.weights[REACH].iter().enumerate() {
            sums.iter_mut().zip(&values[offset..]).for_each(|(sum, value)| *sum += value * weight);
        }
        for at in (0..inner.start).chain(inner.end..values.len()) {
            smooth[at] = self.at_edge(values, at);
        }
    }

    /// The power of noise in the residuals of this many values, and in their smoothed ones.
    fn noise(&self, values: usize) -> (f32, f32) {
        let of = |before: usize| (1.0 - 2.0 * self.weights[before][REACH] + self.noise[before], self.noise[before]);
        let (residual, smooth) = of(REACH);
        let inner = (values - 2 * REACH) as f32;
        (0..REACH)
            .map(of)
            .fold((inner * residual, inner * smooth), |sum, edge| (sum.0 + 2.0 * edge.0, sum.1 + 2.0 * edge.1))
    }

    /// The smoothed value `at`, which may have less than [`REACH`] values on one side.
    fn at_edge(&self, values: &[Complex32], at: usize) -> Complex32 {
        let (before, after) = (at.min(REACH), (values.len() - 1 - at).min(REACH));
        let values = &values[at - before..=at + after];
        // The upper edge is the mirror of the lower.
        let mirrored = after < before;
        let weights = &self.weights[before.min(after)];
        let sum = values.iter().enumerate().map(|(n, value)| {
            let offset = n + REACH - before;
            value * weights[if mirrored { 2 * REACH - offset } else { offset }]
        });
        sum.sum()
    }
}

/// The weights of a value's neighbours in a straight line through them, if only `before` are left on one side. They are
/// counted from [`REACH`] before the value on.
fn line_weights(before: usize) -> [f32; 2 * REACH + 1] {
    let triangle = |at: usize| if at + before >= REACH { (REACH + 1 - at.abs_diff(REACH)) as f32 } else { 0.0 };
    let offset = |at: usize| at as f32 - REACH as f32;
    let moment = |power: i32| (0..=2 * REACH).map(|at| triangle(at) * offset(at).powi(power)).sum::<f32>();
    let (zeroth, first, second) = (moment(0), moment(1), moment(2));
    let over = zeroth * second - first * first;
    std::array::from_fn(|at| triangle(at) * (second - first * offset(at)) / over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_passes_the_smoothing() {
        let kernel = Kernel::new();
        let values: Vec<_> = (0..12).map(|k| Complex32::new(3.0 - k as f32, 0.5 * k as f32)).collect();
        let mut smooth = vec![Complex32::default(); values.len()];
        kernel.apply(&values, &mut smooth);
        for (k, (smooth, value)) in smooth.iter().zip(&values).enumerate() {
            assert!((smooth - value).norm() < 1e-5, "{k}");
        }
        let (shorter, longer) = (kernel.noise(values.len()).1, kernel.noise(values.len() + 1).1);
        assert!((longer - shorter - 0.136).abs() < 1e-3);
    }

    #[test]
    fn all_at_once_is_one_by_one() {
        let kernel = Kernel::new();
        for carriers in [12, 24, 36, 60] {
            let values: Vec<_> = (0..carriers).map(|k| Complex32::from_polar(1.0, (k * k) as f32)).collect();
            let (mut smooth, mut means) = (vec![Complex32::default(); carriers], vec![Complex32::default(); carriers]);
            kernel.apply(&values, &mut smooth);
            write_wide_means(&values, &mut means);
            for k in 0..carriers {
                let begin = k.saturating_sub(WIDE / 2).min(carriers - WIDE);
                let mean = values[begin..][..WIDE].iter().sum::<Complex32>() / WIDE as f32;
                assert!((smooth[k] - kernel.at_edge(&values, k)).norm() < 1e-5, "{k} of {carriers}");
                assert!((means[k] - mean).norm() < 1e-5, "{k} of {carriers}");
            }
        }
    }

    #[test]
    fn a_delay_is_the_slope_of_the_phase() {
        for carriers in [12, 24, 36, 1200] {
            for wanted in [-1.0f32, -0.11, 0.0, 0.003, 0.7] {
                let mut values = vec![Complex32::default(); carriers];
                write_turns(wanted, &mut values);
                values.iter_mut().for_each(|value| *value *= Complex32::new(0.3, 0.4));
                assert!((slope([&values, &values]) - wanted).abs() < 1e-4, "{carriers} {wanted}");
            }
        }
    }

    #[test]
    fn a_turn_between_the_slots_is_followed_over_all_symbols() {
        let mut channel = Channel::new(24);
        for slot in 0..2 {
            channel.raw_mut(slot, 24).fill(Complex32::from_polar(0.5, 0.3 * slot as f32));
        }
        let estimate = channel.estimate(24);
        let mut gains = [Complex32::default(); 24];
        for symbol in 0..14 {
            channel.gains(&estimate, symbol, &mut gains);
            let wanted = Complex32::from_polar(0.5, 0.3 * (symbol as f32 - 3.0) / 7.0);
            assert!(gains.iter().all(|gain| (gain - wanted).norm() < 1e-4), "{symbol}: {} for {wanted}", gains[5]);
        }
        assert!(estimate.noise < 1e-9 && (estimate.power - 0.25).abs() < 1e-4, "{estimate:?}");
    }
}
