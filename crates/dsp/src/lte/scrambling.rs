//! The length-31 Gold sequence, TS 36.211 section 7.2, and scrambling with it, section 6.3.1.
//!
//! The recurrences hold for their 64th powers too (squaring over GF(2)), in which every distance is whole words of 64 bits:
//! word n + 31 of x1 is the sum of its words n + 3 and n, that of x2 the sum of n + 3, n + 2, n + 1 and n. So 31 words become
//! the next 31 in place. The first, behind the 1600 steps that the standard skips, are a linear map of the start, tabulated.

use crate::bits;
use crate::simd::vectorised;

/// The pseudo-random sequence c(n) of a start value c_init, 64 bits a time.
///
/// ```
/// use takt_dsp::lte::Gold;
/// assert_eq!(Gold::new(1).next_word().reverse_bits() >> 32, 0x0283_0374); // c(0), c(1), .., the first bit highest
/// ```
#[derive(Clone, Debug)]
pub struct Gold {
    x1: Words,
    x2: Words,
    sums: Words,
    /// How many of the sums were handed out.
    taken: usize,
}

/// So many words that the next as many follow.
type Words = [u64; 31];

impl Gold {
    /// The sequence for c_init, of which 31 bits count.
    pub fn new(c_init: u32) -> Gold {
        let mut gold = Gold { x1: X1, x2: [0; 31], sums: X1, taken: 0 };
        begin(c_init, &mut gold);
        gold
    }

    /// The next 64 bits, the first lowest.
    pub fn next_word(&mut self) -> u64 {
        if self.taken == self.sums.len() {
            go_on(self);
            self.taken = 0;
        }
        self.taken += 1;
        self.sums[self.taken - 1]
    }

    /// Replaces each of `items` by `f(item, bit of the sequence)`, from its first bit.
    #[inline]
    fn over(&mut self, items: &mut [u8], f: impl Fn(u8, u8) -> u8 + Copy) {
        let (first, rest) = items.split_at_mut(items.len().min(64 * self.sums.len()));
        bits::with_bits(&self.sums[..first.len().div_ceil(64)], first, f);
        for piece in rest.chunks_mut(64 * self.sums.len()) {
            go_on(self);
            bits::with_bits(&self.sums[..piece.len().div_ceil(64)], piece, f);
        }
    }
}

vectorised!(
    /// Adds what c_init contributes.
    fn begin(c_init: u32, gold: &mut Gold) = begin_scalar
);

#[inline(always)]
fn begin_scalar(c_init: u32, gold: &mut Gold) {
    let mut left = c_init & 0x7fff_ffff;
    while left != 0 {
        gold.x2.iter_mut().zip(&X2[left.trailing_zeros() as usize]).for_each(|(sum, word)| *sum ^= word);
        left &= left - 1;
    }
    gold.sums.iter_mut().zip(&gold.x2).for_each(|(sum, word)| *sum ^= word);
}

vectorised!(
    /// The words after these.
    fn go_on(gold: &mut Gold) = go_on_scalar
);

#[inline(always)]
fn go_on_scalar(gold: &mut Gold) {
    let Gold { x1, x2, sums, .. } = gold;
    // Before the last three, which need the first of the new, all that is read is old.
    for n in 0..28 {
        x1[n] ^= x1[n + 3];
        x2[n] ^= x2[n + 1] ^ x2[n + 2] ^ x2[n + 3];
    }
    for n in 28..31 {
        x1[n] ^= x1[n - 28];
        x2[n] ^= x2[(n + 1) % 31] ^ x2[(n + 2) % 31] ^ x2[n - 28];
    }
    for n in 0..31 {
        sums[n] = x1[n] ^ x2[n];
    }
}

/// Scrambles `bits` in place with the sequence of `c_init` (TS 36.211 section 6.3.1). Done twice, it is undone.
pub fn scramble(c_init: u32, bits: &mut [u8]) {
    Gold::new(c_init).over(bits, |bit, c| bit ^ c);
}

/// Takes [`scramble`] back on soft values: changes their signs where the sequence is 1. The opposite of -128 is 127.
pub fn descramble(c_init: u32, llrs: &mut [i8]) {
    Gold::new(c_init).over(bytemuck::cast_slice_mut(llrs), |llr, c| {
        let turned = -(c as i8);
        (llr as i8 ^ turned).saturating_sub(turned) as u8
    });
}

/// c_init of the PDSCH (TS 36.211 section 6.3.1): `rnti`, code word `q` (0 or 1), slot 0 to 19 of the radio frame, cell identity
/// 0 to 503. The PUSCH's (section 5.3.1) is the same with q = 0.
pub const fn pdsch_c_init(rnti: u16, q: u8, slot: u8, cell: u16) -> u32 {
    (rnti as u32) << 14 | (q as u32) << 13 | (slot as u32 / 2) << 9 | cell as u32
}

/// Bits 1600 to 3583 of a sequence that begins with `start`, and in which bit n + 31 is the sum of the bits `taps` from n on.
const fn behind_1600(start: u32, taps: u32) -> Words {
    let (mut state, mut words, mut n) = (start, [0; 31], 0);
    while n < 1600 + 31 * 64 {
        if n >= 1600 {
            words[(n - 1600) / 64] |= (state as u64 & 1) << ((n - 1600) % 64);
        }
        let next = (state & taps).count_ones() & 1;
        state = state >> 1 | next << 30;
        n += 1;
    }
    words
}

/// x1 always begins with 1, 0, 0, ..
static X1: Words = behind_1600(1, 0b1001);

/// x2 begins with c_init, its lowest bit first: what each of its bits contributes.
static X2: [Words; 31] = {
    let (mut table, mut bit) = ([[0; 31]; 31], 0);
    while bit < 31 {
        table[bit] = behind_1600(1 << bit, 0b1111);
        bit += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Section 7.2, bit by bit.
    fn by_the_clause(c_init: u32, count: usize) -> Vec<u8> {
        let (mut x1, mut x2) = (vec![0; count + 1631], vec![0; count + 1631]);
        x1[0] = 1;
        (0..31).for_each(|i| x2[i] = (c_init >> i & 1) as u8);
        for n in 0..count + 1600 {
            x1[n + 31] = x1[n + 3] ^ x1[n];
            x2[n + 31] = x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n];
        }
        (0..count).map(|n| x1[n + 1600] ^ x2[n + 1600]).collect()
    }

    proptest! {
        #[test]
        fn sequences_are_those_of_the_clause(c_init in 0u32..1 << 31, count in 0usize..12_000) {
            let expected = by_the_clause(c_init, count);
            let mut bits = vec![0; count];
            scramble(c_init, &mut bits);
            prop_assert_eq!(&bits, &expected);
            let mut gold = Gold::new(c_init);
            for bits in expected.chunks_exact(64) {
                let word = bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
                prop_assert_eq!(gold.next_word(), word);
            }
            let llrs: Vec<i8> = (0..count).map(|i| (i * 3) as u8 as i8).collect();
            let mut turned = llrs.clone();
            descramble(c_init, &mut turned);
            let opposite = |(&llr, &c): (&i8, &u8)| if c == 1 { 0i8.saturating_sub(llr) } else { llr };
            prop_assert_eq!(turned, llrs.iter().zip(&expected).map(opposite).collect::<Vec<_>>());
        }
    }
}
