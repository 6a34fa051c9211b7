//! Band-limited signals between two grids of ticks.
//!
//! A signal sampled every `I` ticks is evaluated every `D` ticks. Both grids lie on the same ticks, so the filter has no
//! delay: what happens at tick t in one happens at tick t in the other. If the two are tuned apart, the signal is shifted
//! by the difference and keeps what lies inside both bands.
//!
//! The filter is a windowed sinc, `HALF_SPAN` samples of the slower side to each side, in polyphase form: one row of taps for
//! each of the `I` places an output can have between two inputs. Its pass band is the common band less a tenth at each
//! edge (80 % of the lower Nyquist frequency when both are tuned alike), its stop band everything outside the common band.
//!
//! ```text
//!              ┌────────────── RX band, 1/D wide ──────────────┐
//!       ┌──────┼─────── TX band, 1/I wide ───────┐             │
//!  ─────┴──────┴─────────────────────────────────┴─────────────┴────  f
//!              ├╱▔▔▔▔▔▔▔▔▔▔▔▔ kept ▔▔▔▔▔▔▔▔▔▔▔▔▔╲┤
//! ```

pub(super) mod kernel;

use num_complex::Complex32;
use takt_base::{Tick, Ticks};

use super::dot::{LANES, dot};
use crate::{Rotation, mix};
use kernel::Kernel;

/// The longest step on either side, in ticks.
pub const MAX_STEP: u32 = 512;

/// Samples of the slower side that the filter reaches to each side.
pub const HALF_SPAN: u32 = 27;

/// A run of samples and where it lies in time: sample m belongs to tick `first + m * step`, m < `len`. Zero elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The tick of sample 0.
    pub first: Tick,
    /// Ticks from sample to sample, 1 to [`MAX_STEP`].
    pub step: u32,
    /// How many samples there are.
    pub len: u64,
}

/// Evaluates signals of one grid on another, without allocating after it was built. Half a megabyte.
///
/// ```
/// use takt_base::{Complex32, Tick};
/// use takt_dsp::{Grid, Resampler};
/// let steady = vec![Complex32::new(0.5, 0.0); 400];
/// let grid = Grid { first: Tick(1000), step: 8, len: 400 };
/// let mut out = [Complex32::default(); 10];
/// Resampler::new().add(grid, 0.0, Tick(2001), 5, &mut out, |at, block| {
///     block.copy_from_slice(&steady[at as usize..][..block.len()]);
/// });
/// assert!(out.iter().all(|x| (x - Complex32::new(0.5, 0.0)).norm() < 1e-4));
/// ```
pub struct Resampler {
    kernel: Kernel,
    re: Box<[f32]>,
    im: Box<[f32]>,
    staging: Box<[Complex32]>,
}

impl Resampler {
    /// With all the memory it will ever need.
    #[must_use]
    pub fn new() -> Resampler {
        Resampler {
            kernel: Kernel::new(),
            re: vec![0.0; WINDOW + 2 * LANES].into(),
            im: vec![0.0; WINDOW + 2 * LANES].into(),
            staging: vec![Complex32::default(); STAGING].into(),
        }
    }

    /// How far from an output's tick the inputs lie that still matter. Zero for samples that go over one by one.
    #[must_use]
    pub fn half_span(signal: Grid, shift_turns: f64, first: Tick, step: u32) -> Ticks {
        if passes_unchanged(signal, shift_turns, first, step) {
            return Ticks(0);
        }
        Ticks(u64::from(HALF_SPAN) * u64::from(signal.step.max(step)))
    }

    /// Adds the signal to `out`, whose sample n belongs to tick `first + n * step`.
    ///
    /// `shift_turns`: the frequency of the signal's 0 Hz as `out` sees it, in turns a tick (Hz over clock), not modulo
    /// anything: bands that do not meet give nothing. `read(m, block)` hands out the samples m, m + 1, ..., all below
    /// `signal.len`. Equal steps on one grid, tuned alike, go over unchanged, bit for bit. A new pair of steps or another
    /// overlap of the bands costs up to 0.2 ms once, for the taps.
    ///
    /// # Panics
    /// If a step is 0 or above [`MAX_STEP`].
    pub fn add(
        &mut self,
        signal: Grid,
        shift_turns: f64,
        first: Tick,
        step: u32,
        out: &mut [Complex32],
        mut read: impl FnMut(u64, &mut [Complex32]),
    ) {
        assert!(
            (1..=MAX_STEP).contains(&signal.step) && (1..=MAX_STEP).contains(&step),
            "steps are 1 to {MAX_STEP} ticks"
        );
        if passes_unchanged(signal, shift_turns, first, step) {
            return self.copy(signal, first, step, out, read);
        }
        let Some(centre_turns) = self.kernel.tune(signal.step, step, shift_turns) else {
            return; // the bands do not meet
        };
        let before = Rotation::from_turns(shift_turns - centre_turns);
        let after = Rotation::from_turns(centre_turns);
        let (inner, taps) = (i64::from(signal.step), self.kernel.taps());
        // As many outputs at a time as the window of inputs allows, and the staging on the way back.
        let room = WINDOW.saturating_sub(taps + LANES);
        let block = (room * signal.step as usize / step as usize + 1).min(STAGING);
        let mut tick = first;
        for out in out.chunks_mut(block) {
            let at = tick.0.wrapping_sub(signal.first.0) as i64;
            let oldest = at.div_euclid(inner).saturating_sub(self.kernel.before() as i64);
            // From the first output's inputs to the last one's: what a place has beyond a whole input counts.
            let inputs = (at.rem_euclid(inner) + (out.len() as i64 - 1) * i64::from(step)) / inner;
            let reach = inputs as usize + taps;
            if oldest < signal.len.min(i64::MAX as u64) as i64 && oldest.saturating_add(reach as i64) > 0 {
                self.gather(signal, before, oldest, reach, &mut read);
                let results = &mut self.staging[..out.len()];
                let place =
                    Place { phase: at.rem_euclid(inner) as usize, inner: signal.step as usize, step: step as usize };
                convolve(self.kernel.rows(), taps, place, &self.re, &self.im, results);
                mix(after, 1.0, tick, step, results);
                out.iter_mut().zip(results).for_each(|(out, x)| *out += *x);
            }
            tick = Tick(tick.0.wrapping_add(out.len() as u64 * u64::from(step)));
        }
    }

    /// Sample to sample.
    fn copy(
        &mut self,
        signal: Grid,
        first: Tick,
        step: u32,
        out: &mut [Complex32],
        mut read: impl FnMut(u64, &mut [Complex32]),
    ) {
        let at = (first.0.wrapping_sub(signal.first.0) as i64).div_euclid(i64::from(step));
        let (skip, from) = if at < 0 { (at.unsigned_abs(), 0) } else { (0, at as u64) };
        let here = (out.len() as u64).saturating_sub(skip).min(signal.len.saturating_sub(from)) as usize;
        if here == 0 {
            return;
        }
        let mut from = from;
        for out in out[skip as usize..][..here].chunks_mut(STAGING) {
            let block = &mut self.staging[..out.len()];
            read(from, block);
            out.iter_mut().zip(&*block).for_each(|(out, x)| *out += *x);
            from += out.len() as u64;
        }
    }

    /// Brings the samples `oldest .. oldest + reach` into the window, shifted; zeros where the signal has none.
    fn gather(
        &mut self,
        signal: Grid,
        shift: Rotation,
        oldest: i64,
        reach: usize,
        read: &mut impl FnMut(u64, &mut [Complex32]),
    ) {
        let lead = usize::try_from(oldest.saturating_neg()).unwrap_or(0).min(reach);
        let from = oldest.max(0) as u64;
        let end = lead + ((reach - lead) as u64).min(signal.len.saturating_sub(from)) as usize;
        for half in [&mut self.re, &mut self.im] {
            half[..lead].fill(0.0);
            half[end..reach + LANES].fill(0.0);
        }
        let mut index = from;
        for (re, im) in self.re[lead..end].chunks_mut(STAGING).zip(self.im[lead..end].chunks_mut(STAGING)) {
            let block = &mut self.staging[..re.len()];
            read(index, block);
            let tick = Tick(signal.first.0.wrapping_add(index.wrapping_mul(u64::from(signal.step))));
            mix(shift, 1.0, tick, signal.step, block);
            for ((re, im), x) in re.iter_mut().zip(im).zip(&*block) {
                (*re, *im) = (x.re, x.im);
            }
            index += block.len() as u64;
        }
    }
}

impl Default for Resampler {
    fn default() -> Resampler {
        Resampler::new()
    }
}

/// Same step, same grid, same centre.
fn passes_unchanged(signal: Grid, shift_turns: f64, first: Tick, step: u32) -> bool {
    signal.step == step
        && shift_turns == 0.0
        && first.0.wrapping_sub(signal.first.0).cast_signed() % i64::from(step) == 0
}

/// Place of the first output between two inputs, and how it goes on from there, in ticks.
#[derive(Clone, Copy)]
struct Place {
    phase: usize,
    inner: usize,
    step: usize,
}

/// `out[n]` = the row of taps for the n-th place, times the window there. `re` and `im` start at the oldest input of the first
/// output and go on for a vector beyond the newest of the last.
fn convolve(rows: &[f32], taps: usize, place: Place, re: &[f32], im: &[f32], out: &mut [Complex32]) {
    let stride = taps.next_multiple_of(LANES);
    let (whole, part) = (place.step / place.inner, place.step % place.inner);
    let (mut start, mut phase) = (0, place.phase);
    for out in out {
        let row = &rows[phase * stride..][..stride];
        *out = dot(row, &re[start..][..stride], &im[start..][..stride]);
        (start, phase) = (start + whole, phase + part);
        if phase >= place.inner {
            (start, phase) = (start + 1, phase - place.inner);
        }
    }
}

/// Inputs in the window: the longest row (200 MS/s seen at 390.625 kS/s). Rows of an N200's steps, 2 and more, leave as much
/// again, so that it is worth gathering.
const WINDOW: usize = 2 * HALF_SPAN as usize * MAX_STEP as usize;

/// Samples handed over at a time.
const STAGING: usize = 1024;
