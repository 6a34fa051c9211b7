//! Big-endian 32-bit words, the unit in which this protocol is laid out.

use crate::WireError;

/// The first `N` words of a datagram, and what follows them.
pub(crate) fn read<'a, const N: usize>(
    datagram: &'a [u8],
    what: &'static str,
) -> Result<([u32; N], &'a [u8]), WireError> {
    let have = datagram.len();
    let (head, rest) = datagram.split_at_checked(4 * N).ok_or(WireError::Short { what, need: 4 * N, have })?;
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(head.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    Ok((words, rest))
}

/// Writes `N` words to the front of `out`; returns their size in bytes.
pub(crate) fn write<const N: usize>(out: &mut [u8], what: &'static str, words: [u32; N]) -> Result<usize, WireError> {
    let have = out.len();
    let room = out.get_mut(..4 * N).ok_or(WireError::Short { what, need: 4 * N, have })?;
    for (bytes, word) in room.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    Ok(4 * N)
}

/// A 64-bit count from its two words, high first.
pub(crate) fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two words of a 64-bit count, high first.
pub(crate) fn split(count: u64) -> [u32; 2] {
    [(count >> 32) as u32, count as u32]
}
