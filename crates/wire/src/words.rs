//! Big-endian 32-bit words, the unit in which this protocol is laid out.

use crate::WireError;

/// The first `N` words of a datagram, and what follows them.
#[inline]
pub(crate) fn read<'a, const N: usize>(
    datagram: &'a [u8],
    what: &'static str,
) -> Result<([u32; N], &'a [u8]), WireError> {
    let have = datagram.len();
    let (head, rest) = datagram.split_at_checked(4 * N).ok_or(WireError::Short { what, need: 4 * N, have })?;
    Ok((get(head), rest))
}

/// Writes `N` words to the front of `out`; returns their size in bytes.
pub(crate) fn write<const N: usize>(out: &mut [u8], what: &'static str, words: [u32; N]) -> Result<usize, WireError> {
    let have = out.len();
    put(out.get_mut(..4 * N).ok_or(WireError::Short { what, need: 4 * N, have })?, words);
    Ok(4 * N)
}

/// The first `N` words; zeros where there are fewer.
#[inline]
pub(crate) fn get<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    words
}

/// Writes as many of these words as there is room for.
pub(crate) fn put(room: &mut [u8], words: impl IntoIterator<Item = u32>) {
    for (bytes, word) in room.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
}

/// A 64-bit count from its two words, high first.
#[must_use]
#[inline]
pub fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two words of a 64-bit count, high first.
#[must_use]
pub fn split(count: u64) -> [u32; 2] {
    [(count >> 32) as u32, count as u32]
}

/// Between an enum and its codes on the wire; its last variant, `Other`, holds any code without a name.
macro_rules! codes {
    ($name:ident: $code:ty { $($variant:ident = $value:literal),+ }) => {
        impl $name {
            /// Meaning of a code; a code with a name never becomes `Other`.
            #[must_use]
            pub fn from_code(code: $code) -> Self {
                match code {
                    $($value => Self::$variant,)+
                    other => Self::Other(other),
                }
            }

            /// The code on the wire.
            #[must_use]
            pub fn code(self) -> $code {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Other(code) => code,
                }
            }
        }
    };
}
pub(crate) use codes;
