//! Between bits of a byte each and bits of a word.
//!
//! Blocks travel as one byte a bit. If a kernel works on 64 bits at once, the first bit of a block is the lowest bit of
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
    with_bits(words, bits, |_, bit| bit);
}

/// Replaces each of `items` by `f(item, bit)`, the bit being that of `words`, 0 or 1.
///
/// # Panics
/// If `words` is not as long as the items need.
pub(crate) fn with_bits(words: &[u64], items: &mut [u8], f: impl Fn(u8, u8) -> u8) {
    assert_eq!(words.len(), items.len().div_ceil(64), "words for the bits");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512vbmi") {
        // SAFETY: the only condition of `with_bits` is that the processor has AVX-512VBMI, and the line above asked it.
        #[allow(unsafe_code)]
        return unsafe { avx512::with_bits(words, items, f) };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as above, with AVX2.
        #[allow(unsafe_code)]
        return unsafe { avx2::with_bits(words, items, f) };
    }
    with_bits_scalar(words, items, f);
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

fn with_bits_scalar(words: &[u64], items: &mut [u8], f: impl Fn(u8, u8) -> u8) {
    for (word, chunk) in words.iter().zip(items.chunks_mut(64)) {
        with_word(*word, chunk, &f);
    }
}

/// Up to 64 items.
#[inline]
fn with_word(word: u64, items: &mut [u8], f: impl Fn(u8, u8) -> u8) {
    let (eights, rest) = items.as_chunks_mut::<8>();
    let spread = word.to_le_bytes().map(|byte| SPREAD[usize::from(byte)]);
    for (eight, bits) in eights.iter_mut().zip(&spread) {
        eight.iter_mut().zip(bits).for_each(|(item, bit)| *item = f(*item, *bit));
    }
    if let Some(bits) = spread.get(eights.len()) {
        rest.iter_mut().zip(bits).for_each(|(item, bit)| *item = f(*item, *bit));
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
    pub fn with_bits(words: &[u64], items: &mut [u8], f: impl Fn(u8, u8) -> u8) {
        let (whole, rest) = items.as_chunks_mut::<64>();
        for (word, chunk) in words.iter().zip(&mut *whole) {
            let bits: [u8; 64] = bytemuck::cast([spread(*word as u32), spread((*word >> 32) as u32)]);
            chunk.iter_mut().zip(bits).for_each(|(item, bit)| *item = f(*item, bit));
        }
        if let Some(last) = words.get(whole.len()) {
            super::with_word(*last, rest, f);
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

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512vbmi")]
    pub fn with_bits(words: &[u64], items: &mut [u8], f: impl Fn(u8, u8) -> u8) {
        let (whole, rest) = items.as_chunks_mut::<64>();
        let place = bytemuck::cast(std::array::from_fn::<u8, 64, _>(|i| i as u8));
        for (word, chunk) in words.iter().zip(&mut *whole) {
            // Byte i: eight bits of the word from bit i on.
            let bytes: [u8; 64] = bytemuck::cast(_mm512_multishift_epi64_epi8(place, _mm512_set1_epi64(*word as i64)));
            chunk.iter_mut().zip(bytes).for_each(|(item, byte)| *item = f(*item, byte & 1));
        }
        if let Some(last) = words.get(whole.len()) {
            super::with_word(*last, rest, f);
        }
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
            let mut back = vec![9; bytes.len()];
            unpack(&words, &mut back);
            prop_assert_eq!(back, bytes.iter().map(|b| b & 1).collect::<Vec<_>>());
        }

        #[test]
        fn items_meet_their_bits_at_every_level(items in proptest::collection::vec((any::<u8>(), 0u8..2), 0..300)) {
            let (items, bits): (Vec<u8>, Vec<u8>) = items.into_iter().unzip();
            let mut words = vec![0; bits.len().div_ceil(64)];
            pack(&bits, &mut words);
            let f = |item: u8, bit: u8| item.rotate_left(1) ^ bit;
            let expected: Vec<u8> = items.iter().zip(&bits).map(|(&item, &bit)| f(item, bit)).collect();
            let found = |level: &dyn Fn(&[u64], &mut [u8])| {
                let mut found = items.clone();
                level(&words, &mut found);
                found
            };
            prop_assert_eq!(&found(&|words, items| with_bits(words, items, f)), &expected);
            prop_assert_eq!(&found(&|words, items| with_bits_scalar(words, items, f)), &expected);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                #[allow(unsafe_code)]
                let found = found(&|words, items| unsafe { avx2::with_bits(words, items, f) });
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
