//! Band-limited signals at any places between their samples: clocks that are no multiples of each other, delays of a fraction
//! of a sample, drift.
//!
//! A [`Resampler`](crate::Resampler) wants both grids on the ticks of one clock, and is exact there. An [`Interpolator`]
//! takes any line of places ([`Places`]); the taps stand in rows, one for each of [`PHASES`] places between two inputs of
//! the slower side, and a place between two rows gets what lies on the line between their results. The filter is the resampler's: a
//! windowed sinc that reaches 27 samples of the slower side to each side, pass band the common band less a tenth at each
//! edge, everything outside the common band stopped.
//!
//! | what is off | by how much of the signal |
//! | --- | --- |
//! | ripple and stop band of the filter | 85 dB below |
//! | the line between two rows, at the edge of the pass band | 105 dB below; nothing at a place that has a row |
//!
//! A place is a whole number and a fraction with a fixed denominator, so it is exact however long a signal lasts, and a
//! signal may be cut into blocks anywhere: it stays the same, bit for bit.

mod taps;

use num_complex::Complex32;
use takt_base::Tick;

use super::dot::{LANES, dot};
use super::resample::HALF_SPAN;
use crate::{Rotation, mix};

pub use taps::Taps;

/// The largest ratio of the two rates, either way.
pub const MAX_RATIO: f64 = 1200.0;

/// Rows of taps for a sample of the slower side.
pub(crate) const PHASES: f64 = 512.0;

/// Places of outputs among inputs: output n at input `whole + part / den - lag + n * (step_whole + step_part / den)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Places {
    /// Whole part of output 0.
    pub whole: i64,
    /// Below `den`.
    pub part: u64,
    /// Above 0.
    pub den: u64,
    /// From output to output.
    pub step_whole: u64,
    /// Below `den`.
    pub step_part: u64,
    /// A constant shift backwards, 0 to just below 1.
    pub lag: f64,
}

impl Places {
    /// The line from its output `n` on.
    #[must_use]
    pub fn skip(self, n: u64) -> Places {
        let parts = u128::from(self.part) + u128::from(self.step_part) * u128::from(n);
        let carried = (parts / u128::from(self.den)) as i64;
        let whole = self.whole.wrapping_add(self.step_whole.wrapping_mul(n) as i64).wrapping_add(carried);
        Places { whole, part: (parts % u128::from(self.den)) as u64, ..self }
    }

    /// The line from its next output on.
    fn next(self) -> Places {
        let (part, beyond) = self.part.overflowing_add(self.step_part);
        let carried = u64::from(beyond || part >= self.den);
        Places {
            whole: self.whole.wrapping_add(self.step_whole.wrapping_add(carried) as i64),
            part: part.wrapping_sub(carried * self.den),
            ..self
        }
    }

    /// Inputs for an output.
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.step_whole as f64 + self.step_part as f64 / self.den as f64
    }

    /// Whether each output lies at an input, the next at the next.
    #[must_use]
    pub fn one_by_one(self) -> bool {
        self.part == 0 && (self.step_whole, self.step_part) == (1, 0) && self.lag == 0.0
    }

    /// The input at or before output 0, and how far behind it that lies, 0 to 1.
    fn place(self) -> (i64, f64) {
        let behind = self.part as f64 / self.den as f64 - self.lag;
        if behind < 0.0 { (self.whole.wrapping_sub(1), behind + 1.0) } else { (self.whole, behind) }
    }
}

/// Path between a signal and whoever hears it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathParams {
    /// Outputs among inputs.
    pub places: Places,
    /// Inputs there are; zero elsewhere.
    pub len: u64,
    /// The frequency of the inputs' 0 Hz as the outputs see it, in turns an input, not modulo anything.
    pub shift_turns: f64,
    /// Tick of input 0, and from input to input, on the inputs' clock: where the shift has its phase 0 is tick 0.
    pub input: (Tick, u32),
    /// The same of the outputs, on theirs, whose tick 0 is the same instant.
    pub output: (Tick, u32),
    /// By how many inputs the places lie behind the outputs' own instants: the shift turns by the outputs' clock.
    pub delay: f64,
    /// Factor of the result.
    pub gain: Complex32,
}

/// Evaluates signals at places between their samples, without allocating after it was built. Some 0.9 MB.
///
/// ```
/// use takt_base::{Complex32, Tick};
/// use takt_dsp::{Interpolator, PathParams, Places, Taps};
/// let steady = vec![Complex32::new(0.5, 0.0); 400];
/// let passage = PathParams {
///     places: Places { whole: 100, part: 0, den: 3, step_whole: 1, step_part: 1, lag: 0.25 },
///     len: 400,
///     shift_turns: 0.0,
///     input: (Tick(0), 3),
///     output: (Tick(300), 4),
///     delay: 0.25,
///     gain: Complex32::new(0.0, 2.0),
/// };
/// let mut out = [Complex32::default(); 10];
/// Interpolator::new().add(&mut Taps::new(), passage, &mut out, |at, block| {
///     block.copy_from_slice(&steady[at as usize..][..block.len()]);
/// });
/// assert!(out.iter().all(|x| (x - Complex32::new(0.0, 1.0)).norm() < 1e-4));
/// ```
pub struct Interpolator {
    re: Box<[f32]>,
    im: Box<[f32]>,
    /// A row between two others.
    between: Box<[f32]>,
    staging: Box<[Complex32]>,
}

impl Interpolator {
    /// With all the memory it will ever need.
    #[must_use]
    pub fn new() -> Interpolator {
        Interpolator {
            re: vec![0.0; WINDOW + 2 * LANES].into(),
            im: vec![0.0; WINDOW + 2 * LANES].into(),
            between: vec![0.0; LONGEST_ROW].into(),
            staging: vec![Complex32::default(); STAGING].into(),
        }
    }

    /// Adds the signal to `out`. `read(m, block)` hands out the inputs m, m + 1, ..., all below `len`. Places that lie one by
    /// one on inputs, tuned alike, go over times the gain and else unchanged. Bands that do not meet give nothing, and so does
    /// a ratio above [`MAX_RATIO`]. Another ratio or overlap of the bands than last time costs `taps` up to a millisecond.
    pub fn add(
        &mut self,
        taps: &mut Taps,
        passage: PathParams,
        out: &mut [Complex32],
        mut read: impl FnMut(u64, &mut [Complex32]),
    ) {
        if passage.places.den == 0 || out.is_empty() {
            return;
        }
        if passage.places.one_by_one() && passage.shift_turns == 0.0 {
            return self.copy(passage, out, read);
        }
        let ratio = passage.places.ratio();
        let Some(centre_turns) = taps.tune(ratio, passage.shift_turns) else { return };
        let (input_step, output_step) = (f64::from(passage.input.1), f64::from(passage.output.1));
        let before = Rotation::from_turns((passage.shift_turns - centre_turns) / input_step);
        let after = Rotation::from_turns(centre_turns * ratio / output_step);
        // The inputs were turned by their own instants, which are earlier by the delay.
        let owed = (passage.shift_turns - centre_turns) * passage.delay;
        let gain = passage.gain * Complex32::cis(((owed - owed.floor()) * std::f64::consts::TAU) as f32);
        let block = (((WINDOW - taps.count()) as f64 / ratio) as usize).clamp(1, STAGING);
        let (mut places, mut tick) = (passage.places, passage.output.0);
        for out in out.chunks_mut(block) {
            let first = places.place().0;
            let last = places.skip(out.len() as u64 - 1).place().0;
            let oldest = first.saturating_sub(taps.before());
            let reach = last.wrapping_sub(first) as usize + taps.count();
            if oldest < passage.len.min(i64::MAX as u64) as i64 && oldest.saturating_add(reach as i64) > 0 {
                self.gather(&passage, before, oldest, reach, &mut read);
                let results = &mut self.staging[..out.len()];
                convolve(taps, places, &mut self.between, &self.re, &self.im, results);
                mix(after, 1.0, tick, passage.output.1, results);
                out.iter_mut().zip(results).for_each(|(out, x)| *out += *x * gain);
            }
            places = places.skip(out.len() as u64);
            tick = Tick(tick.0.wrapping_add(out.len() as u64 * u64::from(passage.output.1)));
        }
    }

    /// Input to output.
    fn copy(&mut self, passage: PathParams, out: &mut [Complex32], mut read: impl FnMut(u64, &mut [Complex32])) {
        let at = passage.places.whole;
        let (skip, mut from) = if at < 0 { (at.unsigned_abs(), 0) } else { (0, at as u64) };
        let here = (out.len() as u64).saturating_sub(skip).min(passage.len.saturating_sub(from)) as usize;
        if here == 0 {
            return;
        }
        for out in out[skip as usize..][..here].chunks_mut(STAGING) {
            let block = &mut self.staging[..out.len()];
            read(from, block);
            if passage.gain == Complex32::new(1.0, 0.0) {
                out.iter_mut().zip(&*block).for_each(|(out, x)| *out += *x);
            } else {
                out.iter_mut().zip(&*block).for_each(|(out, x)| *out += *x * passage.gain);
            }
            from += out.len() as u64;
        }
    }

    /// Brings the inputs `oldest .. oldest + reach` into the window, shifted; zeros where there are none.
    fn gather(
        &mut self,
        passage: &PathParams,
        shift: Rotation,
        oldest: i64,
        reach: usize,
        read: &mut impl FnMut(u64, &mut [Complex32]),
    ) {
        let lead = usize::try_from(oldest.saturating_neg()).unwrap_or(0).min(reach);
        let from = oldest.max(0) as u64;
        let end = lead + ((reach - lead) as u64).min(passage.len.saturating_sub(from)) as usize;
        for half in [&mut self.re, &mut self.im] {
            half[..lead].fill(0.0);
            half[end..reach + LANES].fill(0.0);
        }
        let (first, step) = passage.input;
        let mut index = from;
        for (re, im) in self.re[lead..end].chunks_mut(STAGING).zip(self.im[lead..end].chunks_mut(STAGING)) {
            let block = &mut self.staging[..re.len()];
            read(index, block);
            mix(shift, 1.0, Tick(first.0.wrapping_add(index.wrapping_mul(u64::from(step)))), step, block);
            for ((re, im), x) in re.iter_mut().zip(im).zip(&*block) {
                (*re, *im) = (x.re, x.im);
            }
            index += block.len() as u64;
        }
    }
}

impl Default for Interpolator {
    fn default() -> Interpolator {
        Interpolator::new()
    }
}

/// Each output from the rows around its place, times the window there, which begins at the oldest input of the first.
fn convolve(taps: &Taps, mut places: Places, between: &mut [f32], re: &[f32], im: &[f32], out: &mut [Complex32]) {
    let (first, behind) = places.place();
    let stride = taps.stride();
    if places.step_part == 0 {
        // All of them lie equally far behind an input: one row serves all.
        let row = taps.row_at(behind, between);
        let mut start = 0;
        for out in out {
            *out = dot(row, &re[start..][..stride], &im[start..][..stride]);
            start += places.step_whole as usize;
        }
        return;
    }
    for out in out {
        let (input, behind) = places.place();
        let start = input.wrapping_sub(first) as usize;
        let (re, im) = (&re[start..][..stride], &im[start..][..stride]);
        let (row, share) = taps.row_of(behind);
        *out = dot(taps.row(row), re, im);
        if share != 0.0 {
            let next = dot(taps.row(row + 1), re, im);
            *out += (next - *out) * share;
        }
        places = places.next();
    }
}

/// Inputs in the window: the longest row and something more, so that it is worth gathering.
const WINDOW: usize = LONGEST_ROW + 8192;

const LONGEST_ROW: usize = 2 * HALF_SPAN as usize * MAX_RATIO as usize + 2 * LANES;

/// Samples handed over at a time.
const STAGING: usize = 1024;

#[cfg(test)]
mod tests {
    use num_complex::Complex64;
    use proptest::prelude::*;

    use super::*;

    /// Value of a line of places, in f64.
    fn place(places: Places, n: usize) -> f64 {
        places.whole as f64 + places.part as f64 / places.den as f64 - places.lag + n as f64 * places.ratio()
    }

    fn turned(turns: f64) -> Complex64 {
        Complex64::from_polar(1.0, std::f64::consts::TAU * (turns - turns.floor()))
    }

    /// A tone of `turns` an input, at the places; the inputs begin so long before that nothing is missing.
    fn tone_at(places: Places, turns: f64, n: usize) -> Vec<Complex32> {
        let passage = PathParams {
            places,
            len: 1 << 20,
            shift_turns: 0.0,
            input: (Tick(0), 1),
            output: (Tick(0), 1),
            delay: 0.0,
            gain: ONE,
        };
        let mut out = vec![Complex32::default(); n];
        Interpolator::new().add(&mut Taps::new(), passage, &mut out, |at, block| {
            for (k, x) in block.iter_mut().enumerate() {
                let exact = turned(turns * (at + k as u64) as f64);
                *x = Complex32::new(exact.re as f32, exact.im as f32);
            }
        });
        out
    }

    const ONE: Complex32 = Complex32::new(1.0, 0.0);

    fn worst(out: &[Complex32], exact: impl Fn(usize) -> Complex64) -> f64 {
        let off =
            out.iter().enumerate().map(|(n, x)| (Complex64::new(f64::from(x.re), f64::from(x.im)) - exact(n)).norm());
        off.fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        /// The judge is the tone itself: 80 dB within two fifths of the slower rate.
        #[test]
        fn a_tone_is_the_same_tone_at_any_places(
            den in 1u64..1_000_000_007, part in 0.0f64..1.0, step in 0.01f64..60.0, lag in 0.0f64..1.0, band in -0.4f64..0.4,
        ) {
            let (step_whole, fraction) = (step as u64, step.fract());
            let of_den = |share: f64| ((share * den as f64) as u64).min(den - 1);
            let places = Places { whole: 200_000, part: of_den(part), den, step_whole, step_part: of_den(fraction), lag };
            prop_assume!(places.ratio() > 0.001);
            let turns = band * places.ratio().recip().min(1.0);
            let out = tone_at(places, turns, 100);
            let off = worst(&out, |n| turned(turns * place(places, n)));
            prop_assert!(off < 1e-4, "{off:e}, {places:?}");
        }

        #[test]
        fn what_lies_outside_the_slower_band_is_gone(step in 1.5f64..200.0, beyond in 0.51f64..1.0) {
            let den = 1 << 40;
            let places = Places { whole: 100_000, part: 5, den, step_whole: step as u64, step_part: (step.fract() * den as f64) as u64, lag: 0.3 };
            let turns = 0.5f64.min(beyond / places.ratio());
            prop_assume!(turns * places.ratio() > 0.505 && turns < 0.5);
            let out = tone_at(places, turns, 60);
            let off = worst(&out, |_| Complex64::default());
            prop_assert!(off < 2e-4, "{off:e}");
        }

        #[test]
        fn cuts_change_nothing(
            part in 0u64..1000, step_whole in 0u64..4, step_part in 1u64..1000, lag in 0.0f64..1.0, cut in 0usize..300, shift in -0.3f64..0.3,
        ) {
            let places = Places { whole: -20, part: part % 997, den: 997, step_whole, step_part: step_part % 997, lag };
            prop_assume!(places.ratio() > 0.01);
            let read = |at: u64, block: &mut [Complex32]| crate::noise(3, 1.0, Tick(at), 1, block);
            let passage = |n: usize| PathParams {
                places: places.skip(n as u64),
                len: 700,
                shift_turns: shift,
                input: (Tick(77), 7),
                output: (Tick(1000 + 5 * n as u64), 5),
                delay: 3.25,
                gain: Complex32::new(0.5, -0.25),
            };
            let mut whole = vec![Complex32::default(); 300];
            let mut parts = whole.clone();
            let (mut interpolator, mut taps) = (Interpolator::new(), Taps::new());
            interpolator.add(&mut taps, passage(0), &mut whole, read);
            let (a, b) = parts.split_at_mut(cut);
            interpolator.add(&mut taps, passage(0), a, read);
            interpolator.add(&mut taps, passage(cut), b, read);
            prop_assert_eq!(whole, parts);
        }
    }

    #[test] // the sum of the definition: input m times sinc of its distance, over all inputs
    fn it_agrees_with_the_sum_of_sincs() {
        const LEN: usize = 4000;
        // Two tones and a slow swell, within 0.35 of the rate, and nothing at the ends.
        let signal: Vec<Complex64> = (0..LEN)
            .map(|m| {
                let x = m as f64;
                let swell = (std::f64::consts::PI * x / LEN as f64).sin().powi(4);
                (turned(0.31 * x) * 0.5 + turned(-0.123 * x + 0.1) * 0.3) * swell
            })
            .collect();
        let places = Places { whole: 1500, part: 1, den: 7, step_whole: 0, step_part: 6, lag: 0.137 };
        let passage = PathParams {
            places,
            len: LEN as u64,
            shift_turns: 0.0,
            input: (Tick(0), 1),
            output: (Tick(0), 1),
            delay: 0.0,
            gain: ONE,
        };
        let mut out = vec![Complex32::default(); 500];
        Interpolator::new().add(&mut Taps::new(), passage, &mut out, |at, block| {
            for (x, exact) in block.iter_mut().zip(&signal[at as usize..]) {
                *x = Complex32::new(exact.re as f32, exact.im as f32);
            }
        });
        let off = worst(&out, |n| {
            let at = place(places, n);
            let sinc =
                |x: f64| if x == 0.0 { 1.0 } else { (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x) };
            signal.iter().enumerate().map(|(m, x)| x * sinc(at - m as f64)).sum()
        });
        assert!(off < 2e-4, "{off:e}");
    }

    #[test]
    fn a_shift_is_a_function_of_the_outputs_ticks_whatever_the_delay() {
        // 25 MS/s received at 20 MS/s, 3 or 11 MHz apart, on two clocks of 100 and 200 MHz.
        for (hz, shift_hz, delay) in [(2e6, 3e6, 0.0), (2e6, 3e6, 7.25), (-9e6, 11e6, 0.5), (9e6, -11e6, 100.125)] {
            let whole = 1000 - delay as i64;
            let places = Places { whole, part: 0, den: 4, step_whole: 1, step_part: 1, lag: f64::fract(delay) };
            let passage = PathParams {
                places,
                len: 10_000,
                shift_turns: shift_hz / 25e6,
                input: (Tick(4_000_000), 4),
                output: (Tick(8_008_000), 10),
                delay,
                gain: ONE,
            };
            let mut out = vec![Complex32::default(); 2000];
            Interpolator::new().add(&mut Taps::new(), passage, &mut out, |at, block| {
                for (k, x) in block.iter_mut().enumerate() {
                    let exact = turned(hz * (4_000_000 + 4 * (at + k as u64)) as f64 / 100e6);
                    *x = Complex32::new(exact.re as f32, exact.im as f32);
                }
            });
            let off = worst(&out, |n| {
                let instant = (8_008_000 + 10 * n as u64) as f64 / 200e6;
                turned(hz * (instant - delay / 25e6)) * turned(shift_hz * instant)
            });
            assert!(off < 2e-4, "{hz} {shift_hz} {delay}: {off:e}");
        }
    }

    #[test]
    fn samples_that_lie_one_by_one_go_over_unchanged() {
        let places = Places { whole: -3, part: 0, den: 1, step_whole: 1, step_part: 0, lag: 0.0 };
        let passage = PathParams {
            places,
            len: 4,
            shift_turns: 0.0,
            input: (Tick(0), 1),
            output: (Tick(0), 1),
            delay: 0.0,
            gain: ONE,
        };
        let mut out = [Complex32::default(); 9];
        Interpolator::new().add(&mut Taps::new(), passage, &mut out, |at, block| {
            block.iter_mut().enumerate().for_each(|(k, x)| *x = Complex32::new((at + k as u64 + 1) as f32, 0.0));
        });
        assert_eq!(out.map(|x| x.re), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
    }

    #[test]
    fn hostile_places_are_silence() {
        let far = Places { whole: i64::MAX, part: 0, den: 1, step_whole: u64::MAX, step_part: 0, lag: 0.5 };
        let near = Places { whole: 0, step_whole: 1, ..far };
        for places in
            [far, Places { den: 0, ..near }, Places { whole: i64::MIN, ..near }, Places { whole: i64::MAX, ..near }]
        {
            for shift_turns in [0.0, f64::NAN, f64::INFINITY, 1e300] {
                let passage = PathParams {
                    places,
                    len: u64::MAX,
                    shift_turns,
                    input: (Tick(0), 1),
                    output: (Tick(u64::MAX), 1),
                    delay: 0.0,
                    gain: ONE,
                };
                let mut out = [Complex32::default(); 40];
                Interpolator::new()
                    .add(&mut Taps::new(), passage, &mut out, |_, block| block.fill(Complex32::default()));
                assert!(out.iter().all(|x| x.norm() == 0.0));
            }
        }
    }
}
