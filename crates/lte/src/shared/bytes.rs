//! Between bytes, the most significant bit first, and bits of a byte each.

/// Writes the bits of `bytes`.
///
/// # Panics
/// If there are not 8 for each.
pub(super) fn to_bits(bytes: &[u8], bits: &mut [u8]) {
    assert_eq!(bits.len(), 8 * bytes.len(), "bits of the bytes");
    for (bits, &byte) in bits.as_chunks_mut::<8>().0.iter_mut().zip(bytes) {
        // Each byte of the word keeps one bit, the first the highest; adding makes it the top bit of its byte.
        let kept = (u64::from(byte) * ONES) & 0x0102_0408_1020_4080;
        *bits = ((kept + 0x7f * ONES) >> 7 & ONES).to_le_bytes();
    }
}

/// The reverse.
///
/// # Panics
/// If there are not 8 bits for each byte.
pub(super) fn to_bytes(bits: &[u8], bytes: &mut [u8]) {
    assert_eq!(bits.len(), 8 * bytes.len(), "bits of the bytes");
    for (&bits, byte) in bits.as_chunks::<8>().0.iter().zip(bytes) {
        // No two products meet in one place, and bit i of eight comes to place 63 - i.
        *byte = ((u64::from_le_bytes(bits) & ONES).wrapping_mul(0x8040_2010_0804_0201) >> 56) as u8;
    }
}

/// A 1 in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        for byte in 0..=255 {
            let (mut bits, mut back) = ([9; 8], [0]);
            to_bits(&[byte], &mut bits);
            assert_eq!(bits, std::array::from_fn(|place| byte >> (7 - place) & 1));
            to_bytes(&bits, &mut back);
            assert_eq!(back, [byte]);
        }
    }

    #[test]
    fn the_most_significant_bit_comes_first() {
        let (mut bits, mut back) = ([9; 16], [0; 2]);
        to_bits(&[0b1000_0010, 0xff], &mut bits);
        assert_eq!(bits, [1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
        to_bytes(&bits, &mut back);
        assert_eq!(back, [0b1000_0010, 0xff]);
    }
}
