//! A step of Viterbi's algorithm for codes without feedback whose generators all tap their newest and their oldest bit.
//!
//! A state is the bits before the input, the newest highest. State s comes from 2 s and 2 s + 1 (modulo the number of states),
//! and s and s + half that number have the same two predecessors: a butterfly. Its four branches carry one metric with two signs.

/// The signs of a generator on the upper branch into the lower half of the states: 1 for an output of 0, -1 for 1. The
/// generator has its newest tap highest.
pub(crate) fn branch_signs<const BUTTERFLIES: usize>(generator: u32) -> [i16; BUTTERFLIES] {
    // Input 0 from state 2 s: that is what the registers hold, the newest bit being the input's.
    std::array::from_fn(|s| 1 - 2 * (((2 * s as u32) & generator).count_ones() & 1) as i16)
}

/// From the metrics `before` a step to those `after`; `decisions` says of each state whether the better path came from the odd
/// predecessor. All are as long as there are states, the signs half as long.
#[inline(always)]
pub(crate) fn step<const BUTTERFLIES: usize>(
    signs: &[[i16; BUTTERFLIES]; 3],
    llrs: &[i16; 3],
    before: &[i16],
    after: &mut [i16],
    decisions: &mut [u8],
) {
    let before = &before[..2 * BUTTERFLIES];
    let (zeros, ones) = after[..2 * BUTTERFLIES].split_at_mut(BUTTERFLIES);
    let (from_zeros, from_ones) = decisions[..2 * BUTTERFLIES].split_at_mut(BUTTERFLIES);
    for s in 0..BUTTERFLIES {
        let gain = signs[0][s] * llrs[0] + signs[1][s] * llrs[1] + signs[2][s] * llrs[2];
        let (even, odd) = (before[2 * s], before[2 * s + 1]);
        let (a, b) = (even + gain, odd - gain);
        zeros[s] = a.max(b);
        from_zeros[s] = u8::from(b > a);
        let (a, b) = (even - gain, odd + gain);
        ones[s] = a.max(b);
        from_ones[s] = u8::from(b > a);
    }
}
