//! Items dealt in turn to F streams, and F streams taken in turn. Both are written so that the compiler turns them into
//! shuffles: all streams in one loop, their lengths known equal. It does not find those that deal to eight, which stand here.

/// Item k of the input goes to stream k modulo F.
///
/// # Panics
/// If a stream is shorter than its share.
#[inline(always)]
pub(crate) fn split<const F: usize>(input: &[u8], streams: [&mut [u8]; F]) {
    let rows = input.as_chunks::<F>().0;
    let streams = streams.map(|stream| &mut stream[..rows.len()]);
    for (r, row) in rows.iter().enumerate() {
        for f in 0..F {
            streams[f][r] = row[f];
        }
    }
}

/// Item k of the output comes from stream k modulo F.
///
/// # Panics
/// If a stream is shorter than its share.
#[inline(always)]
pub(crate) fn join<const F: usize>(streams: &[&[u8]; F], out: &mut [u8]) {
    let rows = out.as_chunks_mut::<F>().0;
    let streams = streams.map(|stream| &stream[..rows.len()]);
    for (r, row) in rows.iter_mut().enumerate() {
        for f in 0..F {
            row[f] = streams[f][r];
        }
    }
}

/// [`split`] to eight streams: the transposition of 16 rows of 8 at a time, in words of the machine that are vectors where there
/// are any.
///
/// # Panics
/// If a stream is shorter than its share.
pub(crate) fn split_8(input: &[u8], streams: [&mut [u8]; 8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only condition of `split` is that the processor has AVX2, and the line above asked it.
        #[allow(unsafe_code)]
        return unsafe { avx2::split(input, streams) };
    }
    split_8_scalar(input, streams);
}

/// Eight rows at a time: [`transposed`].
fn split_8_scalar(input: &[u8], streams: [&mut [u8]; 8]) {
    let (squares, rest) = input.as_chunks::<64>();
    let mut streams = streams;
    for (at, square) in squares.iter().enumerate() {
        for (stream, items) in streams.iter_mut().zip(transposed(bytemuck::cast(*square))) {
            stream[8 * at..][..8].copy_from_slice(&items.to_le_bytes());
        }
    }
    split(rest, streams.map(|stream| &mut stream[8 * squares.len()..]));
}

/// Transposes 8 rows of 8 bytes, the first the lowest: squares of 4, of 2 and of 1 change places across the diagonal.
fn transposed(mut rows: [u64; 8]) -> [u64; 8] {
    for (half, lower) in [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
        for upper in (0..8).filter(|row| row & half == 0) {
            let (a, b) = (rows[upper], rows[upper + half]);
            rows[upper] = a & lower | (b & lower) << (8 * half);
            rows[upper + half] = a >> (8 * half) & lower | b & !lower;
        }
    }
    rows
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Sixteen rows in each half of eight registers. A round moves the highest bit of the register's number to the lowest of the
    /// item's; after four the registers are columns.
    #[target_feature(enable = "avx2")]
    pub fn split(input: &[u8], mut streams: [&mut [u8]; 8]) {
        let (tiles, rest) = input.as_chunks::<256>();
        for (at, tile) in tiles.iter().enumerate() {
            let pieces: &[[u8; 16]; 16] = bytemuck::cast_ref(tile);
            let mut columns: [__m256i; 8] = std::array::from_fn(|i| bytemuck::cast([pieces[i], pieces[8 + i]]));
            for _ in 0..4 {
                let before = columns;
                for i in 0..4 {
                    columns[2 * i] = _mm256_unpacklo_epi8(before[i], before[i + 4]);
                    columns[2 * i + 1] = _mm256_unpackhi_epi8(before[i], before[i + 4]);
                }
            }
            for (stream, column) in streams.iter_mut().zip(columns) {
                stream[32 * at..][..32].copy_from_slice(&bytemuck::cast::<_, [u8; 32]>(column));
            }
        }
        super::split_8_scalar(rest, streams.map(|stream| &mut stream[32 * tiles.len()..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Deal<'a> = &'a dyn Fn(&[u8], [&mut [u8]; 8]);

    proptest! {
        #[test]
        fn items_are_dealt_to_eight_in_turn_at_every_level(input in proptest::collection::vec(any::<u8>(), 0..1000)) {
            let rows = input.len() / 8;
            let dealt = |deal: Deal<'_>| {
                let mut streams = vec![0; 8 * rows];
                let mut rest = &mut streams[..];
                deal(&input, std::array::from_fn(|_| rest.split_off_mut(..rows).unwrap()));
                streams
            };
            let expected: Vec<u8> = (0..8).flat_map(|f| (0..rows).map(move |r| 8 * r + f)).map(|at| input[at]).collect();
            prop_assert_eq!(&dealt(&|input, streams| split(input, streams)), &expected);
            prop_assert_eq!(&dealt(&|input, streams| split_8_scalar(input, streams)), &expected);
            prop_assert_eq!(&dealt(&|input, streams| split_8(input, streams)), &expected);
        }
    }
}
