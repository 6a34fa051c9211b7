//! Block interleaving with 16 to 32 columns: a matrix written row by row and read column by column, and back.
//!
//! The second interleaver of UMTS and the sub-block interleaver of LTE are this with a permutation of the columns. It is the
//! transposition of a byte matrix: tiles of 32 rows and 16 columns go through four rounds of interleaving registers, and the
//! tiles at the right and at the bottom overlap their neighbours, so that no size needs special code. Below 32 rows, or
//! without AVX2, it is the double loop. With AVX-512 the tile is the same, but it stays in registers: there are 32 of them.

/// Places of each column's items, one behind the other, in the output of [`read`] and the input of [`write`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<const WIDTH: usize> {
    items: usize,
    /// By column, before the permutation.
    starts: [usize; WIDTH],
}

impl<const WIDTH: usize> Layout<WIDTH> {
    /// Layout of `items` items in rows of `WIDTH`, whose columns are read in `order`. The last row may be short: there
    /// is nothing to read from its other columns.
    pub(crate) fn new(items: usize, order: &[u8; WIDTH]) -> Layout<WIDTH> {
        const { assert!(WIDTH >= 16 && WIDTH <= 32, "two tiles side by side") };
        let (rows, short) = (items / WIDTH, items % WIDTH);
        let (mut starts, mut at) = ([0; WIDTH], 0);
        for &column in order {
            let column = usize::from(column);
            starts[column] = at;
            at += rows + usize::from(column < short);
        }
        Layout { items, starts }
    }

    #[cfg(target_arch = "x86_64")]
    fn full_rows(&self) -> usize {
        self.items / WIDTH
    }

    /// The place of an item of column `column` in row `row`.
    fn place(&self, row: usize, column: usize) -> usize {
        self.starts[column] + row
    }
}

/// Reads the matrix `from`, rows one after the other, column by column to `to`.
///
/// # Panics
/// If either is not as long as the layout says.
pub(crate) fn read<const WIDTH: usize>(layout: &Layout<WIDTH>, from: &[u8], to: &mut [u8]) {
    assert_eq!((from.len(), to.len()), (layout.items, layout.items), "items of the interleaver");
    let done = tiles(layout, from, to, Way::Read);
    for (row, items) in from.chunks(WIDTH).enumerate().skip(done) {
        for (column, item) in items.iter().enumerate() {
            to[layout.place(row, column)] = *item;
        }
    }
}

/// Writes what [`read`] returned back to rows.
///
/// # Panics
/// If either is not as long as the layout says.
pub(crate) fn write<const WIDTH: usize>(layout: &Layout<WIDTH>, from: &[u8], to: &mut [u8]) {
    assert_eq!((from.len(), to.len()), (layout.items, layout.items), "items of the interleaver");
    let done = tiles(layout, from, to, Way::Write);
    for (row, items) in to.chunks_mut(WIDTH).enumerate().skip(done) {
        for (column, item) in items.iter_mut().enumerate() {
            *item = from[layout.place(row, column)];
        }
    }
}

/// Rows to columns, or back.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Read,
    Write,
}

/// Does what can be done in tiles and returns how many rows that were.
fn tiles<const WIDTH: usize>(layout: &Layout<WIDTH>, from: &[u8], to: &mut [u8], way: Way) -> usize {
    #[cfg(target_arch = "x86_64")]
    if layout.full_rows() >= 32 && std::arch::is_x86_feature_detected!("avx2") {
        let many_registers = crate::simd::avx512();
        // SAFETY: the only condition of these is that the processor has AVX2, or AVX-512VL, and the lines above asked it.
        #[allow(unsafe_code)]
        unsafe {
            match (way, many_registers) {
                (Way::Read, false) => avx2::read(layout, from, to),
                (Way::Read, true) => avx512::read(layout, from, to),
                (Way::Write, false) => avx2::write(layout, from, to),
                (Way::Write, true) => avx512::write(layout, from, to),
            }
        }
        return layout.full_rows();
    }
    let _ = (layout, from, to, way);
    0
}

/// The code on tiles, compiled for some features.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled {
    (mod $name:ident for $features:literal) => {
        mod $name {
            use super::{Layout, corners, piece};
            use std::arch::x86_64::*;

            #[target_feature(enable = $features)]
            pub fn read<const WIDTH: usize>(layout: &Layout<WIDTH>, from: &[u8], to: &mut [u8]) {
                for (row, column) in corners(layout) {
                    // One check of bounds for the tile: its offsets are constants.
                    let rows = &from[row * WIDTH + column..][..31 * WIDTH + 16];
                    let mut tile = [_mm256_setzero_si256(); 16];
                    for (i, both) in tile.iter_mut().enumerate() {
                        *both = bytemuck::cast([piece::<16>(rows, i * WIDTH), piece(rows, (16 + i) * WIDTH)]);
                    }
                    let starts: &[usize; 16] = layout.starts[column..].first_chunk().unwrap();
                    for (items, start) in transposed(tile).into_iter().zip(starts) {
                        to[start + row..][..32].copy_from_slice(&bytemuck::cast::<_, [u8; 32]>(items));
                    }
                }
            }

            #[target_feature(enable = $features)]
            pub fn write<const WIDTH: usize>(layout: &Layout<WIDTH>, from: &[u8], to: &mut [u8]) {
                for (row, column) in corners(layout) {
                    let mut tile = [_mm256_setzero_si256(); 16];
                    let starts: &[usize; 16] = layout.starts[column..].first_chunk().unwrap();
                    for (items, start) in tile.iter_mut().zip(starts) {
                        *items = bytemuck::cast(piece::<32>(from, start + row));
                    }
                    let rows = &mut to[row * WIDTH + column..][..31 * WIDTH + 16];
                    for (i, both) in transposed(tile).into_iter().enumerate() {
                        let [upper, lower]: [[u8; 16]; 2] = bytemuck::cast(both);
                        rows[i * WIDTH..][..16].copy_from_slice(&upper);
                        rows[(16 + i) * WIDTH..][..16].copy_from_slice(&lower);
                    }
                }
            }

            /// Transposes 16 x 16 bytes in each half of the registers: item j of register i becomes item i of register j. A
            /// round moves the highest bit of the register's number to the lowest of the item's; after four they have changed
            /// places.
            #[target_feature(enable = $features)]
            #[inline]
            fn transposed(mut tile: [__m256i; 16]) -> [__m256i; 16] {
                for _ in 0..4 {
                    let before = tile;
                    for i in 0..8 {
                        tile[2 * i] = _mm256_unpacklo_epi8(before[i], before[i + 8]);
                        tile[2 * i + 1] = _mm256_unpackhi_epi8(before[i], before[i + 8]);
                    }
                }
                tile
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
compiled!(mod avx2 for "avx2");
#[cfg(target_arch = "x86_64")]
compiled!(mod avx512 for "avx512vl");

/// The first row and column of every tile. There are 32 full rows at least.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn corners<const WIDTH: usize>(layout: &Layout<WIDTH>) -> impl Iterator<Item = (usize, usize)> {
    let last_row = layout.full_rows() - 32;
    let rows = (0..layout.full_rows().div_ceil(32)).map(move |at| (32 * at).min(last_row));
    rows.flat_map(|row| [(row, 0), (row, WIDTH - 16)])
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn piece<const N: usize>(items: &[u8], at: usize) -> [u8; N] {
    *items[at..].first_chunk().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::without_avx512;
    use proptest::prelude::*;

    /// Item by item, as the clauses say: pads behind the last item are not read.
    fn by_item(from: &[u8], order: &[u8]) -> Vec<u8> {
        let rows = from.len().div_ceil(order.len());
        let at = |column: u8, row: usize| from.get(row * order.len() + usize::from(column));
        order.iter().flat_map(|&column| (0..rows).filter_map(move |row| at(column, row))).copied().collect()
    }

    fn comes_back<const WIDTH: usize>(order: &[u8; WIDTH], from: &[u8]) -> Result<(), TestCaseError> {
        let layout = Layout::new(from.len(), order);
        let (mut to, mut back) = (vec![0; from.len()], vec![0; from.len()]);
        read(&layout, from, &mut to);
        prop_assert_eq!(&to, &by_item(from, order));
        write(&layout, &to, &mut back);
        prop_assert_eq!(&back, from);
        let (mut narrower, mut narrower_back) = (vec![0; from.len()], vec![0; from.len()]);
        without_avx512(|| {
            read(&layout, from, &mut narrower);
            write(&layout, &to, &mut narrower_back);
        });
        prop_assert_eq!((narrower, narrower_back), (to, back));
        Ok(())
    }

    proptest! {
        #[test]
        fn columns_are_read_item_by_item_and_written_back(
            order in Just(std::array::from_fn(|column| column as u8)).prop_shuffle(),
            from in proptest::collection::vec(any::<u8>(), 0..4000),
        ) {
            comes_back::<32>(&order, &from)?;
            let narrower: Vec<u8> = order.into_iter().filter(|&column| column < 30).collect();
            comes_back::<30>(narrower.as_slice().try_into().unwrap(), &from)?;
        }
    }
}
