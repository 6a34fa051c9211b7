//! Between bits of a byte each and bits of a word.
//!
//! Blocks travel as one byte a bit. Where a kernel works on 64 bits at once, the first bit of a block is the lowest bit of
//! the first word. Only the lowest bit of a byte counts.

/// Packs `bits` into `words`; the last word is filled with zeros.
///
/// # Panics
/// If `words` is not as long as the bits need.
pub(crate) fn pack(bits: &[u8], words: &mut [u64]) {
    assert_eq!(words.len(), bits.len().div_ceil(64), "words for the bits");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only condition of `pack` is that the processor has AVX2, and the line above asked it.
        #[allow(unsafe_code)]
        return unsafe { avx2::pack(bits, words) };
    }
    pack_scalar(bits, words);
}

/// Unpacks the first `bits.len()` bits of `words`.
///
/// # Panics
/// If `words` is not as long as the bits need.
pub(crate) fn unpack(words: &[u64], bits: &mut [u8]) {
    assert_eq!(words.len(), bits.len().div_ceil(64), "words for the bits");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only condition of `unpack` is that the processor has AVX2, and the line above asked it.
        #[allow(unsafe_code)]
        return unsafe { avx2::unpack(words, bits) };
    }
    unpack_scalar(words, bits);
}

fn pack_scalar(bits: &[u8], words: &mut [u64]) {
    for (word, chunk) in words.iter_mut().zip(bits.chunks(64)) {
        *word = pack_word(chunk);
    }
}

/// Up to 64 bits.
#[inline]
fn pack_word(bits: &[u8]) -> u64 {
    let (eights, rest) = bits.as_chunks::<8>();
    let whole = eights.iter().rev().fold(0, |word, eight| word << 8 | pack_byte(*eight));
    rest.iter().enumerate().fold(whole, |word, (i, bit)| word | u64::from(bit & 1) << (8 * eights.len() + i))
}

/// Byte i times 2^(56 - 7 i) lands in bit 56 + i; no two of the 64 products meet.
#[inline]
fn pack_byte(bits: [u8; 8]) -> u64 {
    (u64::from_le_bytes(bits) & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

fn unpack_scalar(words: &[u64], bits: &mut [u8]) {
    for (word, chunk) in words.iter().zip(bits.chunks_mut(64)) {
        unpack_word(*word, chunk);
    }
}

#[inline]
fn unpack_word(word: u64, bits: &mut [u8]) {
    for (eight, byte) in bits.chunks_mut(8).zip(word.to_le_bytes()) {
        eight.copy_from_slice(&SPREAD[usize::from(byte)][..eight.len()]);
    }
}

/// The eight bits of a byte, the lowest first.
static SPREAD: [[u8; 8]; 256] = {
    let (mut table, mut i) = ([[0; 8]; 256], 0);
    while i < 2048 {
        table[i / 8][i % 8] = ((i / 8) >> (i % 8) & 1) as u8;
        i += 1;
    }
    table
};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub fn pack(bits: &[u8], words: &mut [u64]) {
        let (whole, rest) = bits.as_chunks::<64>();
        for (word, chunk) in words.iter_mut().zip(whole) {
            let [low, high]: [__m256i; 2] = bytemuck::cast(*chunk);
            *word = u64::from(lowest_bits(low)) | u64::from(lowest_bits(high)) << 32;
        }
        if let Some(last) = words.get_mut(whole.len()) {
            *last = super::pack_word(rest);
        }
    }

    /// The lowest bit of each byte.
    #[target_feature(enable = "avx2")]
    fn lowest_bits(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_slli_epi16::<7>(bytes)) as u32
    }

    #[target_feature(enable = "avx2")]
    pub fn unpack(words: &[u64], bits: &mut [u8]) {
        let (whole, rest) = bits.as_chunks_mut::<64>();
        for (word, chunk) in words.iter().zip(&mut *whole) {
            *chunk = bytemuck::cast([spread(*word as u32), spread((*word >> 32) as u32)]);
        }
        if let Some(last) = words.get(whole.len()) {
            super::unpack_word(*last, rest);
        }
    }

    /// Each bit in a byte of its own.
    #[target_feature(enable = "avx2")]
    fn spread(bits: u32) -> __m256i {
        let byte_of_bit = _mm256_set_epi64x(0x0303_0303_0303_0303, 0x0202_0202_0202_0202, 0x0101_0101_0101_0101, 0);
        let bit_of_byte = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), byte_of_bit);
        let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of_byte), bit_of_byte);
        _mm256_and_si256(set, _mm256_set1_epi8(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_bits_are_the_lowest_of_each_byte(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut words = vec![!0; bytes.len().div_ceil(64)];
            pack(&bytes, &mut words);
            let mut scalar = vec![!0; words.len()];
            pack_scalar(&bytes, &mut scalar);
            prop_assert_eq!(&words, &scalar);
            for i in 0..64 * words.len() {
                prop_assert_eq!(words[i / 64] >> (i % 64) & 1, bytes.get(i).map_or(0, |b| u64::from(b & 1)));
            }
            let (mut back, mut scalar) = (vec![9; bytes.len()], vec![9; bytes.len()]);
            unpack(&words, &mut back);
            unpack_scalar(&words, &mut scalar);
            prop_assert_eq!(&back, &scalar);
            prop_assert_eq!(back, bytes.iter().map(|b| b & 1).collect::<Vec<_>>());
        }
    }
}
