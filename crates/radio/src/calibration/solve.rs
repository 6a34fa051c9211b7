//! The correction that makes a line vanish, from what a few settings do.
//!
//! Near its null a line depends linearly on the two registers. Three settings give the four coefficients, and a linear equation gives
//! the null. It is not quite linear further away, so the result is measured, the coefficients are corrected by it (Broyden's rule),
//! and the equation is solved again. UHD tries 25 settings per step of a grid search instead, and divides the grid by three each time.

use num_complex::Complex64;

/// Settings at most.
const MOST_SETTINGS: usize = 9;
/// Settings without a gain of [`WORTH`] after which a search ends.
const MOST_IDLE: usize = 2;
/// A better residual counts as a gain below this share of the best before: 1 dB.
const WORTH: f64 = 0.89;
/// Below this, dB below the tone, no correction is looked for any more.
const GOOD_DB: f64 = 90.0;
/// The registers hold at most this.
const MOST: f64 = 0.99;

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchStep {
    /// Set this correction, and say what is left.
    Set(Complex64),
    /// The best is found.
    Done,
}

/// A search for the correction of one kind.
#[derive(Clone, Debug)]
pub struct CorrectionSearch {
    probe: f64,
    /// Corrections that were set, and what was left of the line.
    seen: Vec<(Complex64, Complex64)>,
    /// Place of the best.
    best: usize,
    idle: usize,
    slope: Option<Slope>,
}

/// Change of the line by the real and by the imaginary part of the correction.
#[derive(Clone, Copy, Debug)]
struct Slope {
    by_re: Complex64,
    by_im: Complex64,
}

impl CorrectionSearch {
    /// A search whose first settings lie `probe` apart.
    #[must_use]
    pub fn new(probe: f64) -> CorrectionSearch {
        CorrectionSearch { probe, seen: Vec::with_capacity(MOST_SETTINGS), best: 0, idle: 0, slope: None }
    }

    /// The next setting.
    #[must_use]
    pub fn step(&self) -> SearchStep {
        match self.seen.len() {
            0 => SearchStep::Set(Complex64::default()),
            1 => SearchStep::Set(Complex64::new(self.probe, 0.0)),
            2 => SearchStep::Set(Complex64::new(0.0, self.probe)),
            n if n >= MOST_SETTINGS || self.idle >= MOST_IDLE || self.left_db() >= GOOD_DB => SearchStep::Done,
            _ => self.newton().map_or(SearchStep::Done, SearchStep::Set),
        }
    }

    /// Takes the rest of the line, beside the tone, with the setting that [`CorrectionSearch::step`] named.
    pub fn saw(&mut self, left: Complex64) {
        let SearchStep::Set(correction) = self.step() else { return };
        let left = if left.is_finite() { left } else { Complex64::new(f64::MAX, 0.0) };
        let before = self.seen.last().copied();
        self.seen.push((correction, left));
        let best = self.seen[self.best].1.norm();
        self.idle = if left.norm() < WORTH * best || self.seen.len() <= 3 { 0 } else { self.idle + 1 };
        if left.norm() < best {
            self.best = self.seen.len() - 1;
        }
        match (self.seen.as_slice(), self.slope.as_mut(), before) {
            (&[(_, at_0), (_, at_re), (_, at_im)], ..) => {
                self.slope = Some(Slope { by_re: (at_re - at_0) / self.probe, by_im: (at_im - at_0) / self.probe });
            }
            (_, Some(slope), Some((was, left_then))) => slope.learn(correction - was, left - left_then),
            _ => {}
        }
    }

    /// The best correction, and what it leaves of the line; before the first setting none, and all.
    #[must_use]
    pub fn best(&self) -> (Complex64, Complex64) {
        self.seen.get(self.best).copied().unwrap_or((Complex64::default(), Complex64::new(1.0, 0.0)))
    }

    /// The rest of the line with the best setting, dB below the tone.
    #[must_use]
    pub fn left_db(&self) -> f64 {
        below_db(self.best().1)
    }

    /// The same without a correction.
    #[must_use]
    pub fn before_db(&self) -> f64 {
        self.seen.first().map_or(0.0, |(_, left)| below_db(*left))
    }

    /// Settings that were tried.
    #[must_use]
    pub fn settings(&self) -> usize {
        self.seen.len()
    }

    /// The setting that makes the line vanish, as far as is known; `None`: the registers do not move it, or it is where it was tried last.
    fn newton(&self) -> Option<Complex64> {
        let (at, left) = self.best();
        let next = at + self.slope?.solve(-left)?;
        let next = Complex64::new(next.re.clamp(-MOST, MOST), next.im.clamp(-MOST, MOST));
        let tried = self.seen.iter().any(|(correction, _)| (next - correction).norm() < 1e-9);
        (next.is_finite() && !tried).then_some(next)
    }
}

impl Slope {
    /// The change of the correction that changes the line by `line`.
    fn solve(self, line: Complex64) -> Option<Complex64> {
        let Slope { by_re: a, by_im: b } = self;
        let determinant = a.re * b.im - b.re * a.im;
        // Both columns have about the same length in a mixer. If they are parallel or nothing, there is no answer.
        if determinant.abs() <= 1e-6 * (a.norm_sqr() + b.norm_sqr()) || !determinant.is_finite() {
            return None;
        }
        let re = (line.re * b.im - b.re * line.im) / determinant;
        let im = (a.re * line.im - line.re * a.im) / determinant;
        Some(Complex64::new(re, im))
    }

    /// Corrects the coefficients by a step that was measured.
    fn learn(&mut self, step: Complex64, line: Complex64) {
        let length = step.norm_sqr();
        if length < 1e-18 {
            return;
        }
        let wrong = line - (self.by_re * step.re + self.by_im * step.im);
        self.by_re += wrong * (step.re / length);
        self.by_im += wrong * (step.im / length);
    }
}

fn below_db(left: Complex64) -> f64 {
    -20.0 * left.norm().max(1e-15).log10()
}
