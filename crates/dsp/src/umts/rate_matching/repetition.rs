//! Sending bits more than once, and summing what was received of them.

use crate::Binary;
use crate::bits::selection::Selection;
use crate::simd::vectorised;

/// How often each bit of a block is sent, one copy after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    /// No bit is sent more than twice, which covers all rates up to two: piece by piece, so that what is in between fits on
    /// the stack.
    Twice(Box<[Piece]>),
    /// Start of each bit's copies, and the end of the last.
    Often(Box<[u32]>),
}

/// Up to [`PIECE`] bits sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Those sent for the first time.
    first: Selection,
    /// -1 for those sent again, 0 for the others. One more, for the bit behind the piece.
    again: Box<[i8]>,
}

const PIECE: usize = 1024;

impl Repetition {
    pub(super) fn new(copies: impl Iterator<Item = usize>) -> Repetition {
        let (mut starts, mut most) = (vec![0], 0);
        for copies in copies {
            starts.push(starts.last().copied().unwrap_or(0) + copies as u32);
            most = most.max(copies);
        }
        if most > 2 {
            return Repetition::Often(starts.into());
        }
        let sent = starts[starts.len() - 1] as usize;
        let mut again = vec![-1; sent + 1];
        starts.iter().for_each(|&start| again[start as usize] = 0);
        let pieces = (0..sent).step_by(PIECE).map(|at| {
            let again = &again[at..(at + PIECE).min(sent) + 1];
            let first: Vec<u8> = again[..again.len() - 1].iter().map(|&again| u8::from(again == 0)).collect();
            Piece { first: Selection::new(&first), again: again.into() }
        });
        Repetition::Twice(pieces.collect())
    }

    pub(super) fn sent(&self) -> usize {
        match self {
            Repetition::Twice(pieces) => pieces.iter().map(|piece| piece.first.items()).sum(),
            Repetition::Often(starts) => starts[starts.len() - 1] as usize,
        }
    }

    pub(super) fn apply<T: Binary>(&self, block: &[T], sent: &mut [T]) {
        let (mut block, mut sent): (&[u8], &mut [u8]) = (bytemuck::cast_slice(block), bytemuck::cast_slice_mut(sent));
        match self {
            Repetition::Twice(pieces) => {
                // The bit before the piece, then the piece with zeros where a bit comes again.
                let mut once = [0; PIECE + 1];
                for piece in pieces {
                    let (these, more) = block.split_at(piece.first.chosen());
                    let (places, rest) = std::mem::take(&mut sent).split_at_mut(piece.first.items());
                    let once = &mut once[..=places.len()];
                    piece.first.put(these, &mut once[1..]);
                    repeat(once, &piece.again, places);
                    once[0] = places[places.len() - 1];
                    (block, sent) = (more, rest);
                }
            }
            Repetition::Often(starts) => {
                for (bit, span) in block.iter().zip(starts.windows(2)) {
                    sent[span[0] as usize..span[1] as usize].fill(*bit);
                }
            }
        }
    }

    pub(super) fn invert(&self, sent: &[i8], block: &mut [i8]) {
        match self {
            Repetition::Twice(pieces) => {
                let (mut at, mut rest) = (0, block);
                let mut sums = [0; PIECE];
                for piece in pieces {
                    let sums = &mut sums[..piece.first.items()];
                    sum(&sent[at..], &piece.again, sums);
                    let (these, more) = rest.split_at_mut(piece.first.chosen());
                    piece.first.take(bytemuck::cast_slice(sums), bytemuck::cast_slice_mut(these));
                    (at, rest) = (at + sums.len(), more);
                }
            }
            Repetition::Often(starts) => {
                for (llr, span) in block.iter_mut().zip(starts.windows(2)) {
                    let copies = &sent[span[0] as usize..span[1] as usize];
                    let sum: i32 = copies.iter().map(|&llr| i32::from(llr)).sum();
                    *llr = sum.clamp(-128, 127) as i8;
                }
            }
        }
    }
}

vectorised!(fn repeat(once: &[u8], again: &[i8], places: &mut [u8]) = repeat_scalar);
vectorised!(fn sum(sent: &[i8], again: &[i8], sums: &mut [i8]) = sum_scalar);

/// Copies the bits that come again.
#[inline(always)]
fn repeat_scalar(once: &[u8], again: &[i8], places: &mut [u8]) {
    for (((place, bit), before), again) in places.iter_mut().zip(&once[1..]).zip(once).zip(again) {
        *place = bit | (before & *again as u8);
    }
}

/// Each soft value and the next, if that is of the same bit.
#[inline(always)]
fn sum_scalar(sent: &[i8], again: &[i8], sums: &mut [i8]) {
    let last = sums.len() - 1;
    for (((sum, llr), next), again) in sums[..last].iter_mut().zip(sent).zip(&sent[1..]).zip(&again[1..]) {
        *sum = llr.saturating_add(next & again);
    }
    sums[last] = sent[last].saturating_add(sent.get(last + 1).map_or(0, |next| next & again[last + 1]));
}
