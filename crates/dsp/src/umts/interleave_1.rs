//! The first interleaver, TS 25.212 section 4.2.5, and radio frame segmentation, section 4.2.6.

use super::Tti;
use crate::Binary;
use crate::bits::interlace;
use crate::simd::vectorised;

/// Interleaves the blocks of a TTI over its F radio frames: written row by row into F columns, which are permuted and read one
/// after the other (TS 25.212 section 4.2.5.2). Radio frame f is then piece f of F equal pieces of `out` (section 4.2.6), see
/// [`radio_frames`]. With F = 1 this is a copy.
///
/// # Panics
/// If the input's length is not a multiple of F, or `out` is not as long.
pub fn interleave_1<T: Binary>(tti: Tti, input: &[T], out: &mut [T]) {
    check(tti, input.len(), out.len());
    let (input, out) = (bytemuck::cast_slice(input), bytemuck::cast_slice_mut(out));
    match tti {
        Tti::Ms10 => out.copy_from_slice(input),
        Tti::Ms20 => split_2(input, out),
        Tti::Ms40 => split_4(input, out),
        Tti::Ms80 => interlace::split_8(input, frames(out)),
    }
}

/// Takes [`interleave_1`] back.
///
/// # Panics
/// If the input's length is not a multiple of F, or `out` is not as long.
pub fn deinterleave_1<T: Binary>(tti: Tti, input: &[T], out: &mut [T]) {
    check(tti, input.len(), out.len());
    let (input, out) = (bytemuck::cast_slice(input), bytemuck::cast_slice_mut(out));
    match tti {
        Tti::Ms10 => out.copy_from_slice(input),
        Tti::Ms20 => join_2(input, out),
        Tti::Ms40 => join_4(input, out),
        Tti::Ms80 => join_8(input, out),
    }
}

/// Radio frame segmentation: the F pieces of an interleaved block, in the order of their radio frames (TS 25.212 section
/// 4.2.6).
///
/// # Panics
/// If the length is not a multiple of F.
pub fn radio_frames<T>(tti: Tti, block: &[T]) -> impl ExactSizeIterator<Item = &[T]> {
    assert!(block.len().is_multiple_of(tti.frames()), "{} bits are no {} radio frames", block.len(), tti.frames());
    let frame = block.len() / tti.frames();
    (0..tti.frames()).map(move |f| &block[f * frame..][..frame])
}

fn check(tti: Tti, input: usize, out: usize) {
    assert!(input.is_multiple_of(tti.frames()), "{input} bits are no {} radio frames", tti.frames());
    assert_eq!(input, out, "as many bits out as in");
}

vectorised!(fn split_2(input: &[u8], out: &mut [u8]) = split::<2>);
vectorised!(fn split_4(input: &[u8], out: &mut [u8]) = split::<4>);
vectorised!(fn join_2(input: &[u8], out: &mut [u8]) = join::<2>);
vectorised!(fn join_4(input: &[u8], out: &mut [u8]) = join::<4>);
vectorised!(fn join_8(input: &[u8], out: &mut [u8]) = join::<8>);

/// Column c of F goes where bit reversal of c says, as Table 4 has it.
const fn place<const F: usize>(column: usize) -> usize {
    column.reverse_bits() >> (usize::BITS - F.trailing_zeros())
}

#[inline(always)]
fn split<const F: usize>(input: &[u8], out: &mut [u8]) {
    interlace::split(input, frames::<F>(out));
}

/// The radio frames in the order of the columns that they take.
#[inline(always)]
fn frames<const F: usize>(mut out: &mut [u8]) -> [&mut [u8]; F] {
    let count = out.len() / F;
    let mut frames: [&mut [u8]; F] = std::array::from_fn(|_| out.split_off_mut(..count).expect("F frames"));
    // A pair of columns changes places at most, and the permutation is its own inverse.
    for c in (0..F).filter(|&c| place::<F>(c) > c) {
        frames.swap(c, place::<F>(c));
    }
    frames
}

#[inline(always)]
fn join<const F: usize>(input: &[u8], out: &mut [u8]) {
    let count = out.len() / F;
    interlace::join::<F>(&std::array::from_fn(|c| &input[place::<F>(c) * count..][..count]), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_are_columns_in_their_order_and_join_again(
            (tti, input) in proptest::sample::select(&Tti::ALL[..]).prop_flat_map(|tti| {
                (Just(tti), proptest::collection::vec(any::<u8>(), 0..500).prop_map(move |mut input| {
                    input.truncate(input.len() / tti.frames() * tti.frames());
                    input
                }))
            })
        ) {
            let (mut out, mut back) = (vec![0; input.len()], vec![0; input.len()]);
            interleave_1(tti, &input, &mut out);
            for (frame, &column) in radio_frames(tti, &out).zip(tti.columns()) {
                let expected: Vec<u8> = input.iter().skip(column.into()).step_by(tti.frames()).copied().collect();
                prop_assert_eq!(frame, expected);
            }
            deinterleave_1(tti, &out, &mut back);
            prop_assert_eq!(back, input);
        }
    }
}
