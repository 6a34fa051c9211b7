//! The taps of the [`Resampler`](crate::Resampler): a windowed sinc, cut to the overlap of two bands, in rows by phase.

use super::{HALF_SPAN, MAX_STEP};
use crate::signal::dot::LANES;

/// Kaiser's window for a transition of a tenth of the slower rate in 2 x 27 of its samples: 85 dB.
const ATTENUATION_DB: f64 = 7.95 + 14.36 * TRANSITION * 2.0 * HALF_SPAN as f64;

/// From pass band to stop band, in units of the slower rate.
pub(crate) const TRANSITION: f64 = 0.1;

/// Points of the window that are kept; between them a cubic is exact to 1e-9.
pub(crate) const WINDOW_POINTS: usize = 1024;

/// Room for the rows of any two steps: the span of the filter in ticks, and what rounding rows up to whole vectors adds.
const ROOM: usize = 2 * HALF_SPAN as usize * MAX_STEP as usize + (2 + LANES) * MAX_STEP as usize;

/// Shape for which the rows were made.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    inner: u32,
    outer: u32,
    /// Width of the filter at half amplitude, in turns a tick.
    width_turns: f64,
}

/// Rows of taps, remade only when the shape changes.
pub(crate) struct Kernel {
    window: Box<[f64]>,
    half: Box<[f32]>,
    rows: Box<[f32]>,
    shape: Option<Shape>,
}

impl Kernel {
    pub(crate) fn new() -> Kernel {
        Kernel {
            window: kaiser_half(),
            half: vec![0.0; (HALF_SPAN * MAX_STEP) as usize + 1].into(),
            rows: vec![0.0; ROOM].into(),
            shape: None,
        }
    }

    /// Makes the rows for inputs every `inner` ticks whose centre lies `shift_turns` from that of outputs every `outer`
    /// ticks. Answers where the common band has its centre in the frame of the outputs, or `None` if there is no such band.
    pub(crate) fn tune(&mut self, inner: u32, outer: u32, shift_turns: f64) -> Option<f64> {
        if !shift_turns.is_finite() {
            return None;
        }
        let slower = f64::from(inner.max(outer));
        let (in_half, out_half) = (0.5 / f64::from(inner), 0.5 / f64::from(outer));
        let low = (shift_turns - in_half).max(-out_half);
        let high = (shift_turns + in_half).min(out_half);
        // If one band contains the other, the common one is known exactly, and stays the same for any shift.
        let common = if (high - low - 1.0 / slower).abs() < 1e-9 { 1.0 / slower } else { high - low };
        let width_turns = common - TRANSITION / slower;
        if width_turns <= 0.0 {
            return None;
        }
        let shape = Shape { inner, outer, width_turns };
        if self.shape != Some(shape) {
            self.fill(shape);
            self.shape = Some(shape);
        }
        let contained = if inner < outer { 0.0 } else { shift_turns };
        Some(if common == 1.0 / slower { contained } else { (low + high) / 2.0 })
    }

    /// Inputs older than the one at or before an output that a row begins with.
    pub(crate) fn before(&self) -> usize {
        self.taps() / 2 - 1
    }

    /// Taps that count in a row; rows are padded with zeros to whole vectors.
    pub(crate) fn taps(&self) -> usize {
        self.shape.map_or(2, |shape| 2 * reach(shape).div_ceil(shape.inner as usize))
    }

    /// One row after the other, by the ticks from the input at or before an output to that output.
    pub(crate) fn rows(&self) -> &[f32] {
        &self.rows
    }

    fn fill(&mut self, shape: Shape) {
        let reach = reach(shape);
        self.sample(shape, reach);
        let (inner, pairs) = (shape.inner as usize, reach.div_ceil(shape.inner as usize));
        let stride = (2 * pairs).next_multiple_of(LANES);
        for (phase, row) in self.rows.chunks_exact_mut(stride).take(inner).enumerate() {
            row.fill(0.0);
            // Tap j belongs to the input (pairs - 1 - j) steps before the one at or before the output.
            for (j, tap) in row[..2 * pairs].iter_mut().enumerate() {
                let distance = (phase + (pairs - 1) * inner).abs_diff(j * inner);
                *tap = if distance < reach { self.half[distance] } else { 0.0 };
            }
        }
    }

    /// One side of the filter, a value a tick: `width * inner * sinc(width t) * window(t / reach)`.
    fn sample(&mut self, shape: Shape, reach: usize) {
        let gain = shape.width_turns * f64::from(shape.inner);
        let angle = std::f64::consts::PI * shape.width_turns;
        // The sine of multiples of one angle, by turning: 14,000 steps lose less than 1e-12.
        let (turn_sin, turn_cos) = angle.sin_cos();
        let (mut sin, mut cos) = (0.0, 1.0);
        for (t, value) in self.half[..=reach].iter_mut().enumerate() {
            let sinc = if t == 0 { 1.0 } else { sin / (angle * t as f64) };
            *value = (gain * sinc * interpolate(&self.window, t as f64 / reach as f64)) as f32;
            (sin, cos) = (sin * turn_cos + cos * turn_sin, cos * turn_cos - sin * turn_sin);
        }
    }
}

/// Half the length of the filter, in ticks.
fn reach(shape: Shape) -> usize {
    (HALF_SPAN * shape.inner.max(shape.outer)) as usize
}

/// Kaiser's window from its middle to its end, and a point beyond either, as the interpolation wants.
pub(crate) fn kaiser_half() -> Box<[f64]> {
    let beta = 0.1102 * (ATTENUATION_DB - 8.7);
    let at = |x: f64| bessel_i0_of_root(beta * beta * (1.0 - x * x)) / bessel_i0_of_root(beta * beta);
    (-1..=WINDOW_POINTS as i32 + 2).map(|k| at(f64::from(k) / WINDOW_POINTS as f64)).collect()
}

/// I0(sqrt(z)), the modified Bessel function of order 0 as a power series; an entire function of z, so fine just below 0.
fn bessel_i0_of_root(z: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        term *= z / (4.0 * f64::from(k * k));
        sum += term;
    }
    sum
}

/// The cubic through the four points around `x`, 0 to 1.
pub(crate) fn interpolate(points: &[f64], x: f64) -> f64 {
    let place = x * WINDOW_POINTS as f64;
    let at = place as usize;
    let (u, p) = (place - at as f64, &points[at..at + 4]);
    let (a, b, c, d) = (u + 1.0, u, u - 1.0, u - 2.0);
    -p[0] * b * c * d / 6.0 + p[1] * a * c * d / 2.0 - p[2] * a * b * d / 2.0 + p[3] * a * b * c / 6.0
}
