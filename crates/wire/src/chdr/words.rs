//! Little-endian 64-bit words, the unit in which CHDR is laid out.

use crate::WireError;

/// The first `N` words, and what follows them.
pub(super) fn read<'a, const N: usize>(bytes: &'a [u8], what: &'static str) -> Result<([u64; N], &'a [u8]), WireError> {
    let have = bytes.len();
    let (head, rest) = bytes.split_at_checked(8 * N).ok_or(WireError::Short { what, need: 8 * N, have })?;
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(head.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Ok((words, rest))
}

/// Writes these words to the front of `out`, as many as there is room for.
pub(super) fn put(out: &mut [u8], words: impl IntoIterator<Item = u64>) {
    for (bytes, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

/// `count` bits of `word` from bit `low` on; `count` is below 64.
pub(super) const fn bits(word: u64, low: u32, count: u32) -> u64 {
    (word >> low) & ((1 << count) - 1)
}
