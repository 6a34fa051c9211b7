//! The channel of a burst, from its midamble.
//!
//! The midamble is one period of 128 chips and 16 more, so a stretch of 128 chips inside it is a cyclic convolution of the
//! period with the channel, whatever the data fields hold, for paths of -4 to +11 chips. The channel is that stretch convolved with the
//! period's inverse (B. Steiner and P. W. Baier, *Low cost channel estimation in the uplink receiver of CDMA mobile radio
//! systems*, Frequenz 47, 1993).

use num_complex::{Complex32, Complex64};

use super::Cell;
use super::cell::PERIOD;
use super::layout::{DATA_CHIPS, MIDAMBLE_CHIPS};
use super::parts::Parts;
use crate::signal::dot::dot;
use crate::simd::vectorised;

/// Paths that are looked at.
pub(super) const TAPS: usize = 16;

/// Chips by which the first of them is early: what a band limit leaves before a pulse, and an error of time.
pub(super) const EARLY: usize = 4;

/// A path counts if it is this much stronger than what noise alone makes of a place, on average: one empty place in 400 is taken for one.
const PRESENT: f32 = 6.0;

/// The channel of one burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    /// Path t arrives `t - EARLY` chips after the time of the slot; 0 where there is none.
    pub(super) taps: [Complex32; TAPS],
    /// Power of all paths together: that of a burst's chips.
    pub(super) power: f32,
    /// Power of what the paths do not explain, a chip.
    pub(super) noise: f32,
}

impl Channel {
    /// Before any burst was received.
    pub(super) const NONE: Channel = Channel { taps: [Complex32::ZERO; TAPS], power: 0.0, noise: 0.0 };
}

/// Estimates channels of a cell's bursts.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    /// Convolved cyclically with a period of the midamble, 1 at 0 and 0 elsewhere; backwards, twice in a row.
    inverse: Parts<{ 2 * PERIOD }>,
    /// Twice in a row, so that a cyclic shift of it is a slice.
    period: Parts<{ 2 * PERIOD }>,
    /// Variance of a tap over the variance of a chip's noise.
    spread: f32,
}

/// The chip of the midamble that the stretch begins with.
const FIRST: usize = TAPS - 1 - (EARLY - 1);

impl Estimator {
    pub(super) fn new(cell: Cell) -> Estimator {
        let period: [Complex32; PERIOD] = std::array::from_fn(|i| cell.midamble_chip(i));
        let mut spectrum = period.map(|chip| Complex64::new(chip.re.into(), chip.im.into()));
        takt_fft::forward64(PERIOD).process(&mut spectrum);
        // A code with a hole in its spectrum has no inverse; what lies there is left out.
        let floor = 1e-3 * PERIOD as f64;
        spectrum.iter_mut().for_each(|x| *x = if x.norm_sqr() > floor { x.inv() } else { Complex64::default() });
        takt_fft::inverse64(PERIOD).process(&mut spectrum);
        let inverse = spectrum.map(|x| x / PERIOD as f64).map(|x| Complex32::new(x.re as f32, x.im as f32));
        Estimator {
            inverse: Parts::from_fn(|i| inverse[(2 * PERIOD - i) % PERIOD]),
            period: Parts::from_fn(|i| period[i % PERIOD]),
            spread: inverse.iter().map(Complex32::norm_sqr).sum(),
        }
    }

    /// `burst`: the chips of a slot.
    pub(super) fn estimate(&self, burst: &[Complex32]) -> Channel {
        let midamble = &burst[DATA_CHIPS..][..MIDAMBLE_CHIPS];
        let mut observed = Parts::<PERIOD>::from_fn(|i| midamble[FIRST + i]);
        let mut taps: [Complex32; TAPS] = std::array::from_fn(|t| self.tap(t, &observed));
        take_away(&taps, &self.period, &mut observed);
        // A chip and degree of freedom.
        let noise = observed.power() / (PERIOD - TAPS) as f32;
        taps.iter_mut().filter(|tap| tap.norm_sqr() <= PRESENT * self.spread * noise).for_each(|tap| *tap = 0.0.into());
        Channel { taps, power: taps.iter().map(Complex32::norm_sqr).sum(), noise }
    }

    /// Place t of the stretch's cyclic convolution with the inverse.
    fn tap(&self, t: usize, observed: &Parts<PERIOD>) -> Complex32 {
        let from = (2 * PERIOD + FIRST + EARLY - t) % PERIOD;
        let (re, im) = (&self.inverse.re[from..][..PERIOD], &self.inverse.im[from..][..PERIOD]);
        dot(re, &observed.re, &observed.im) + Complex32::I * dot(im, &observed.re, &observed.im)
    }
}

vectorised!(fn take_away(
    taps: &[Complex32; TAPS], period: &Parts<{ 2 * PERIOD }>, observed: &mut Parts<PERIOD>,
) = take_away_scalar);

/// Leaves the rest of the stretch without the midambles of all paths.
#[inline(always)]
fn take_away_scalar(taps: &[Complex32; TAPS], period: &Parts<{ 2 * PERIOD }>, observed: &mut Parts<PERIOD>) {
    for (t, tap) in taps.iter().enumerate() {
        let from = (FIRST + EARLY + PERIOD - t) % PERIOD;
        let (xs, ys) = (&period.re[from..][..PERIOD], &period.im[from..][..PERIOD]);
        for (((re, im), x), y) in observed.re.iter_mut().zip(&mut observed.im).zip(xs).zip(ys) {
            *re -= tap.re * x - tap.im * y;
            *im -= tap.re * y + tap.im * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_4_chips_before_to_11_after_are_found_whatever_the_data() {
        let cell = Cell::default();
        let mut sent = [Complex32::new(-3.0, 2.0); 864]; // data much louder than the midamble
        sent[DATA_CHIPS..][..MIDAMBLE_CHIPS].copy_from_slice(&cell.midamble());
        let paths =
            [(-4, Complex32::new(0.5, 0.25)), (0, Complex32::new(0.0, -1.0)), (11, Complex32::new(-0.125, 0.5))];
        let at = |i: i64| sent.get(usize::try_from(i).unwrap_or(usize::MAX)).copied().unwrap_or_default();
        let received: Vec<Complex32> =
            (0..864).map(|i| paths.iter().map(|(delay, gain)| gain * at(i - delay)).sum()).collect();
        let channel = Estimator::new(cell).estimate(&received);
        for (t, tap) in channel.taps.iter().enumerate() {
            let path = paths.iter().find(|path| path.0 == t as i64 - EARLY as i64).map_or(0.0.into(), |path| path.1);
            assert!((tap - path).norm() < 1e-4, "tap {t}: {tap}, sent {path}");
        }
        assert!(channel.noise < 1e-6);
    }

    #[test]
    fn noise_is_measured_and_makes_no_paths() {
        let mut noise = [Complex32::default(); 864];
        let (mut power, mut found) = (0.0, 0);
        let estimator = Estimator::new(Cell::default());
        for seed in 0..200 {
            crate::noise(seed, 2.0, takt_base::Tick(0), 1, &mut noise);
            let channel = estimator.estimate(&noise);
            power += channel.noise / 200.0;
            found += channel.taps.iter().filter(|tap| tap.norm_sqr() > 0.0).count();
        }
        assert!((power - 2.0).abs() < 0.1, "{power}");
        assert!(found < 30, "{found} of 3200 places hold a path of noise");
    }
}
