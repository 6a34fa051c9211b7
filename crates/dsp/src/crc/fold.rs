//! Folding by carry-less products: 256 bits become 256 bits that leave the same remainder, 256 places further on.
//!
//! With the highest power in the lowest bit, a product of two words comes out one place lower than it is, which is made
//! good by multiplying with one power less. A pair of words (L, H) is L D^64 + H, so 256 places further on it is
//! L D^320 + H D^256: two products, exclusive-or.

use std::arch::x86_64::*;

/// Folds as many groups of four words as there are into the first, which takes in `register`. The four words returned, and
/// the words behind the last group, leave the remainder of the whole. `None` if the processor cannot, or it does not pay.
pub(super) fn fold<'a>(powers: &[u64; 2], register: u32, words: &'a [u64]) -> Option<([u64; 4], &'a [u64])> {
    let (groups, rest) = words.as_chunks::<4>();
    let (first, more) = groups.split_first().filter(|_| groups.len() > 1)?;
    if !std::arch::is_x86_feature_detected!("pclmulqdq") {
        return None;
    }
    // SAFETY: the only condition of `fold_groups` is that the processor has PCLMULQDQ, and the lines above asked it.
    #[allow(unsafe_code)]
    let folded = unsafe { fold_groups(powers, register, first, more) };
    Some((folded, rest))
}

#[target_feature(enable = "pclmulqdq")]
fn fold_groups(powers: &[u64; 2], register: u32, first: &[u64; 4], more: &[[u64; 4]]) -> [u64; 4] {
    let powers: __m128i = bytemuck::cast(*powers);
    let further = |pair: __m128i| {
        _mm_xor_si128(_mm_clmulepi64_si128::<0x00>(pair, powers), _mm_clmulepi64_si128::<0x11>(pair, powers))
    };
    let mut start = *first;
    start[0] ^= u64::from(register);
    let [mut a, mut b]: [__m128i; 2] = bytemuck::cast(start);
    for group in more {
        let [c, d]: [__m128i; 2] = bytemuck::cast(*group);
        a = _mm_xor_si128(further(a), c);
        b = _mm_xor_si128(further(b), d);
    }
    bytemuck::cast([a, b])
}
