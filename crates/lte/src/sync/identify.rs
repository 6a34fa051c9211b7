//! The cell and the half of its frame: the secondary signal against the channel that the primary shows.

use num_complex::Complex32;

use super::elements::{Pair, smooth};
use super::secondary::secondary;
use super::{HALF_FRAMES, LEN};
use crate::CellId;

/// The least power of a sum of 124 values with the right signs, over their energy: 1 on average where the signs mean nothing, at
/// most 124. Each candidate has 336 tries. Noise exceeds it once in e^24 tries. Values that lie on a line exceed it once in a
/// million: a pulse that repeats with the half frames may have such values.
const THRESHOLD: f32 = 24.0;

/// The signs in subframe 0 and in subframe 5.
type Signs = [[i8; LEN]; 2];

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) id: CellId,
    /// The first half frame is that of subframe 5.
    pub(super) begins_with_5: bool,
    /// From the primary signal's phase to that of the secondary, in radians.
    pub(super) phase: f32,
}

/// All secondary signals.
pub(super) struct Identifier {
    signs: Vec<Signs>,
}

impl Identifier {
    pub(super) fn new() -> Identifier {
        let cells = (0..CellId::COUNT).filter_map(|id| CellId::new(id).ok());
        Identifier { signs: cells.map(|id| [secondary(id, true), secondary(id, false)]).collect() }
    }

    /// A cell's signs, in half frames of subframe 0 and 5.
    pub(super) fn signs(&self, id: CellId) -> &Signs {
        &self.signs[usize::from(id.get())]
    }

    /// The cell of this identity within its group that agrees best, if it agrees well enough. The half frames add up coherently,
    /// since a residual frequency turns all by the same phase.
    pub(super) fn identify(&self, pairs: &[Pair; HALF_FRAMES], within_group: usize) -> Option<Identity> {
        let sums = sums(pairs);
        let energy: f32 = sums.iter().flatten().map(Complex32::norm_sqr).sum();
        let mut best: Option<(f32, Identity)> = None;
        for (index, signs) in self.signs.iter().enumerate().skip(within_group).step_by(3) {
            for begins_with_5 in [false, true] {
                let [first, second] = if begins_with_5 { [&signs[1], &signs[0]] } else { [&signs[0], &signs[1]] };
                let sum = dot(&sums[0], first) + dot(&sums[1], second);
                if best.is_none_or(|(power, _)| sum.norm_sqr() > power) {
                    let id = CellId::new(index as u16).ok()?;
                    best = Some((sum.norm_sqr(), Identity { id, begins_with_5, phase: sum.arg() }));
                }
            }
        }
        best.filter(|(power, _)| *power > THRESHOLD * energy).map(|(_, identity)| identity)
    }
}

/// The secondary signal's elements over the channel, added up in even and in odd half frames.
fn sums(pairs: &[Pair; HALF_FRAMES]) -> [[Complex32; LEN]; 2] {
    let mut sums = [[Complex32::default(); LEN]; 2];
    for (half_frame, pair) in pairs.iter().enumerate() {
        let gains = smooth(&pair.primary);
        for ((sum, element), gain) in sums[half_frame % 2].iter_mut().zip(&pair.secondary).zip(gains) {
            *sum += element * gain.conj();
        }
    }
    sums
}

fn dot(values: &[Complex32; LEN], signs: &[i8; LEN]) -> Complex32 {
    values.iter().zip(signs).map(|(value, sign)| value * f32::from(*sign)).sum()
}
