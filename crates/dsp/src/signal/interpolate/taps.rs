//! The taps of the [`Interpolator`](crate::Interpolator): a windowed sinc, cut to the overlap of two bands, in rows by place.

use std::sync::LazyLock;

use super::{MAX_RATIO, PHASES};
use crate::signal::dot::LANES;
use crate::signal::resample::HALF_SPAN;
use crate::signal::resample::kernel::{TRANSITION, interpolate, kaiser_half};

/// Room for the rows of any ratio: their number falls as they grow longer.
const ROOM: usize = {
    let (span, longest) = (2 * HALF_SPAN as usize, MAX_RATIO as usize);
    (PHASES as usize + 2) * (span + 2 + LANES) + 2 * span * longest + 2 * LANES
};

static WINDOW: LazyLock<Box<[f64]>> = LazyLock::new(kaiser_half);

/// Shape for which the rows were made.
#[derive(Clone, Copy, PartialEq)]
struct Shape {
    /// Inputs for an output.
    ratio: f64,
    /// Width of the filter at half amplitude, in turns an input.
    width_turns: f64,
}

impl Shape {
    /// Samples of the faster side in one of the slower.
    fn slower(self) -> f64 {
        self.ratio.max(1.0)
    }

    /// Half the length of the filter, in inputs.
    fn reach(self) -> f64 {
        f64::from(HALF_SPAN) * self.slower()
    }

    fn pairs(self) -> usize {
        self.reach().ceil() as usize
    }

    /// Places between two inputs that have a row.
    fn phases(self) -> usize {
        (PHASES / self.slower()).ceil() as usize
    }
}

/// Rows of taps, remade only when what they are for changes. Two thirds of a megabyte.
pub struct Taps {
    rows: Box<[f32]>,
    shape: Option<Shape>,
    /// Sizes of that shape: taps on either side, rows for a sample, and how long a row is.
    pairs: usize,
    phases: usize,
    stride: usize,
}

impl Taps {
    /// With all the memory it will ever need.
    #[must_use]
    pub fn new() -> Taps {
        LazyLock::force(&WINDOW);
        Taps { rows: vec![0.0; ROOM].into(), shape: None, pairs: 1, phases: 1, stride: LANES }
    }

    /// Makes the rows for so many inputs an output, whose 0 Hz lies `shift_turns` an input from that of the outputs. Answers
    /// where the common band has its centre as the outputs see it, in turns an input, or `None` if there is no such band.
    pub(super) fn tune(&mut self, ratio: f64, shift_turns: f64) -> Option<f64> {
        if !shift_turns.is_finite() || !(MAX_RATIO.recip()..=MAX_RATIO).contains(&ratio) {
            return None;
        }
        let out_half = 0.5 / ratio;
        let slower = ratio.recip().min(1.0);
        let low = (shift_turns - 0.5).max(-out_half);
        let high = (shift_turns + 0.5).min(out_half);
        // If one band contains the other, the common one is known exactly, and stays the same for any shift.
        let contained = ((high - low) / slower - 1.0).abs() < 1e-9;
        let common = if contained { slower } else { high - low };
        let width_turns = common - TRANSITION * slower;
        if width_turns <= 0.0 {
            return None;
        }
        let shape = Shape { ratio, width_turns };
        if self.shape != Some(shape) {
            self.fill(shape);
            self.shape = Some(shape);
        }
        Some(match contained {
            true if ratio > 1.0 => 0.0,
            true => shift_turns,
            false => (low + high) / 2.0,
        })
    }

    /// Inputs older than the one at or before an output that a row begins with.
    pub(super) fn before(&self) -> i64 {
        self.pairs as i64 - 1
    }

    /// Taps that count in a row; rows are padded with zeros to whole vectors.
    pub(super) fn count(&self) -> usize {
        2 * self.pairs
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// The row at or before a place behind an input, 0 to 1, and how far it lies from there to the next row.
    pub(super) fn row_of(&self, behind: f64) -> (usize, f32) {
        let place = behind * self.phases as f64;
        let row = (place as usize).min(self.phases - 1);
        (row, (place - row as f64) as f32)
    }

    /// The row for a place behind an input: one that there is, or one between two, made in `between`.
    pub(super) fn row_at<'a>(&'a self, behind: f64, between: &'a mut [f32]) -> &'a [f32] {
        let (row, share) = self.row_of(behind);
        if share == 0.0 {
            return self.row(row);
        }
        let between = &mut between[..self.stride];
        for ((tap, a), b) in between.iter_mut().zip(self.row(row)).zip(self.row(row + 1)) {
            *tap = a + (b - a) * share;
        }
        between
    }

    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.stride..][..self.stride]
    }

    /// A row for each place, and one for the place of the next input, so that every place has a row behind it.
    fn fill(&mut self, shape: Shape) {
        let (pairs, phases, reach) = (shape.pairs(), shape.phases(), shape.reach());
        let stride = (2 * pairs).next_multiple_of(LANES);
        (self.pairs, self.phases, self.stride) = (pairs, phases, stride);
        let angle = std::f64::consts::PI * shape.width_turns;
        let (turn_sin, turn_cos) = angle.sin_cos();
        for (row, taps) in self.rows.chunks_exact_mut(stride).take(phases + 1).enumerate() {
            taps.fill(0.0);
            // Tap j belongs to the input (pairs - 1 - j) before the one at or before the output.
            let farthest = row as f64 / phases as f64 + (pairs - 1) as f64;
            // The sine of an arithmetic series, by turning back.
            let (mut sin, mut cos) = (angle * farthest).sin_cos();
            for (j, tap) in taps[..2 * pairs].iter_mut().enumerate() {
                let distance = farthest - j as f64;
                if distance.abs() < reach {
                    let sinc = if distance.abs() < 1e-6 { 1.0 } else { sin / (angle * distance) };
                    *tap = (shape.width_turns * sinc * interpolate(&WINDOW, distance.abs() / reach)) as f32;
                }
                (sin, cos) = (sin * turn_cos - cos * turn_sin, cos * turn_cos + sin * turn_sin);
            }
        }
    }
}

impl Default for Taps {
    fn default() -> Taps {
        Taps::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_every_ratio_have_room() {
        for k in 1..=120_000 {
            let shape = Shape { ratio: f64::from(k) / 100.0, width_turns: 0.1 };
            let stride = (2 * shape.pairs()).next_multiple_of(LANES);
            assert!(stride * (shape.phases() + 1) <= ROOM, "{}", shape.ratio);
        }
    }
}
