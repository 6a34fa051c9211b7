//! The length-31 Gold sequence, TS 36.211 section 7.2, and scrambling with it, section 6.3.1.
//!
//! The recurrences hold for their fourth powers too (squaring over GF(2)): x1(n) = x1(n - 112) + x1(n - 124) and
//! x2(n) = x2(n - 112) + x2(n - 116) + x2(n - 120) + x2(n - 124). So 128 past bits give the next 64 at once. The 1600 steps
//! that the standard skips are a linear map of the start, tabulated.

use crate::bits;

/// The pseudo-random sequence c(n) of a start value c_init, 64 bits a time.
///
/// ```
/// use takt_dsp::lte::Gold;
/// assert_eq!(Gold::new(1).next_word().reverse_bits() >> 32, 0x0283_0374); // c(0), c(1), .., the first bit highest
/// ```
#[derive(Clone, Debug)]
pub struct Gold {
    /// The last 128 bits of x1 and of x2, the newest highest.
    x1: u128,
    x2: u128,
}

impl Gold {
    /// The sequence for c_init, of which 31 bits count.
    pub fn new(c_init: u32) -> Gold {
        let starts = X2.iter().enumerate().filter(|(bit, _)| c_init >> bit & 1 == 1);
        Gold { x1: X1, x2: starts.fold(0, |sum, (_, past)| sum ^ past) }
    }

    /// The next 64 bits, the first lowest.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        let x1 = (self.x1 >> 16 ^ self.x1 >> 4) as u64;
        let x2 = (self.x2 >> 16 ^ self.x2 >> 12 ^ self.x2 >> 8 ^ self.x2 >> 4) as u64;
        self.x1 = self.x1 >> 64 | u128::from(x1) << 64;
        self.x2 = self.x2 >> 64 | u128::from(x2) << 64;
        x1 ^ x2
    }

    /// Calls `f` with pieces of `items` and the bits that belong to them.
    #[inline]
    fn over<T>(mut self, items: &mut [T], f: impl Fn(&mut [T], &[u8])) {
        let (mut words, mut sequence) = ([0; PIECE / 64], [0; PIECE]);
        for piece in items.chunks_mut(PIECE) {
            let words = &mut words[..piece.len().div_ceil(64)];
            words.iter_mut().for_each(|word| *word = self.next_word());
            let sequence = &mut sequence[..piece.len()];
            bits::unpack(words, sequence);
            f(piece, sequence);
        }
    }
}

/// Items whose sequence is on the stack at a time.
const PIECE: usize = 1024;

/// Scrambles `bits` in place with the sequence of `c_init` (TS 36.211 section 6.3.1). Done twice, it is undone.
pub fn scramble(c_init: u32, bits: &mut [u8]) {
    Gold::new(c_init).over(bits, |bits, sequence| {
        bits.iter_mut().zip(sequence).for_each(|(bit, c)| *bit ^= c);
    });
}

/// Takes [`scramble`] back on soft values: changes their signs where the sequence is 1. The opposite of -128 is 127.
pub fn descramble(c_init: u32, llrs: &mut [i8]) {
    Gold::new(c_init).over(llrs, |llrs, sequence| {
        llrs.iter_mut().zip(sequence).for_each(|(llr, c)| {
            let turned = -(*c as i8);
            *llr = (*llr ^ turned).saturating_sub(turned);
        });
    });
}

/// c_init of the PDSCH (TS 36.211 section 6.3.1): `rnti`, code word `q` (0 or 1), slot 0 to 19 of the radio frame, cell identity
/// 0 to 503. The PUSCH's (section 5.3.1) is the same with q = 0.
pub const fn pdsch_c_init(rnti: u16, q: u8, slot: u8, cell: u16) -> u32 {
    (rnti as u32) << 14 | (q as u32) << 13 | (slot as u32 / 2) << 9 | cell as u32
}

/// The past of c(0): bits 1472 to 1599 of a sequence that begins with `start`, and in which bit n + 31 is the sum of the bits
/// `taps` from n on.
const fn past(start: u32, taps: u32) -> u128 {
    let (mut state, mut past, mut n) = (start, 0, 0);
    while n < 1600 {
        past = past >> 1 | (state as u128 & 1) << 127;
        let next = (state & taps).count_ones() & 1;
        state = state >> 1 | next << 30;
        n += 1;
    }
    past
}

/// x1 always begins with 1, 0, 0, ..
const X1: u128 = past(1, 0b1001);

/// x2 begins with c_init, its lowest bit first: what each of its bits contributes.
static X2: [u128; 31] = {
    let (mut table, mut bit) = ([0; 31], 0);
    while bit < 31 {
        table[bit] = past(1 << bit, 0b1111);
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
        fn sequences_are_those_of_the_clause(c_init in 0u32..1 << 31, count in 0usize..5000) {
            let expected = by_the_clause(c_init, count);
            let mut bits = vec![0; count];
            scramble(c_init, &mut bits);
            prop_assert_eq!(&bits, &expected);
            let llrs: Vec<i8> = (0..count).map(|i| (i * 3) as u8 as i8).collect();
            let mut turned = llrs.clone();
            descramble(c_init, &mut turned);
            let opposite = |(&llr, &c): (&i8, &u8)| if c == 1 { 0i8.saturating_sub(llr) } else { llr };
            prop_assert_eq!(turned, llrs.iter().zip(&expected).map(opposite).collect::<Vec<_>>());
        }
    }
}
