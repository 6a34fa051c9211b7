//! How many bits a transport block has: TS 36.213 section 7.1.7.2.

use super::table::SIZES;

/// Bits of a transport block of I_TBS 0 to 26 in 1 to 110 resource blocks (TS 36.213 table 7.1.7.2.1-1). Outside of the table
/// 0, which is no size: an encoder refuses it, and a decoder finds nothing.
///
/// ```
/// assert_eq!(takt_lte::transport_block_bits(26, 100), 75_376);
/// ```
#[must_use]
pub fn transport_block_bits(i_tbs: u8, blocks: usize) -> usize {
    let row = SIZES.get(usize::from(i_tbs));
    row.and_then(|row| row.get(blocks.checked_sub(1)?)).map_or(0, |&bits| bits as usize)
}

/// Bits of a transport block that format 1A announces to all terminals, with the identity of system information, paging or a
/// random access response (TS 36.213 section 7.1.7). I_TBS is `mcs` itself, and the size that of `blocks`, N_PRB^1A, which is 2
/// or 3 whatever the allocation. Otherwise 0.
#[must_use]
pub fn transport_block_bits_common(mcs: u8, blocks: usize) -> usize {
    if matches!(blocks, 2 | 3) { transport_block_bits(mcs, blocks) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_the_table_there_is_no_size() {
        for (i_tbs, blocks) in [(27, 1), (255, 50), (0, 0), (0, 111), (26, usize::MAX)] {
            assert_eq!(transport_block_bits(i_tbs, blocks), 0);
        }
        assert_eq!([1, 2, 3, 4].map(|blocks| transport_block_bits_common(5, blocks)), [0, 144, 224, 0]);
    }
}
