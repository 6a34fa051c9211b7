//! The cyclic redundancy checks of TS 25.212 (section 4.2.1.1) and TS 36.212 (section 5.1.1).
//!
//! All are remainders of a(D) D^L with a register that starts at 0, no reflection and no final inversion. How the parity is
//! attached differs: UMTS sends it in reverse, see [`umts::crc_attach`](crate::umts::crc_attach) and
//! [`lte::crc_attach`](crate::lte::crc_attach). Lengths are in bits and need not be multiples of 8.
//!
//! ```
//! use takt_dsp::crc::Crc;
//! assert_eq!(Crc::Crc24A.remainder(&[1, 1, 0, 0, 1, 1, 0, 0]), 0x1883ae);
//! ```
//!
//! How: bits are packed by 64, the first lowest, and the register is kept likewise and scaled to 32 bits, so that one code
//! serves all five. Long blocks are folded by carry-less products where the processor has them; what is left goes through
//! eight tables, 64 bits a step. The bit by bit form in the tests is the specification of both.
#[cfg(target_arch = "x86_64")]
mod fold;
mod table;

use crate::bits;
use table::{SLICED, Sliced};

/// A generator polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crc {
    /// D^8 + D^7 + D^4 + D^3 + D + 1: gCRC8 of both standards.
    Crc8,
    /// D^12 + D^11 + D^3 + D^2 + D + 1: gCRC12 of TS 25.212.
    Crc12,
    /// D^16 + D^12 + D^5 + 1: gCRC16 of both standards.
    Crc16,
    /// D^24 + D^23 + D^18 + D^17 + D^14 + D^11 + D^10 + D^7 + D^6 + D^5 + D^4 + D^3 + D + 1: gCRC24A of TS 36.212, of
    /// transport blocks.
    Crc24A,
    /// D^24 + D^23 + D^6 + D^5 + D + 1: gCRC24 of TS 25.212, and gCRC24B of TS 36.212, of code blocks.
    Crc24B,
}

impl Crc {
    /// All of them.
    pub const ALL: [Crc; 5] = [Crc::Crc8, Crc::Crc12, Crc::Crc16, Crc::Crc24A, Crc::Crc24B];

    /// L, how many parity bits there are.
    pub const fn bits(self) -> usize {
        match self {
            Crc::Crc8 => 8,
            Crc::Crc12 => 12,
            Crc::Crc16 => 16,
            Crc::Crc24A | Crc::Crc24B => 24,
        }
    }

    /// The polynomial without its highest term, D^0 lowest.
    pub const fn polynomial(self) -> u32 {
        match self {
            Crc::Crc8 => 0x9b,
            Crc::Crc12 => 0x80f,
            Crc::Crc16 => 0x1021,
            Crc::Crc24A => 0x86_4cfb,
            Crc::Crc24B => 0x80_0063,
        }
    }

    /// The remainder of `bits` times D^L, bits of a byte each, the highest power first. The coefficient of D^(L-1), p1 in
    /// TS 25.212 and p0 in TS 36.212, is bit L - 1 of the result. No bits: 0.
    pub fn remainder(self, bits: &[u8]) -> u32 {
        let mut words = [0; CHUNK];
        let mut register = Register { table: &SLICED[self as usize], value: 0 };
        for chunk in bits.chunks(64 * CHUNK) {
            let words = &mut words[..chunk.len().div_ceil(64)];
            bits::pack(chunk, words);
            register.take(words, chunk.len());
        }
        register.remainder(self.bits())
    }

    /// The same of the first `count` bits of `words`, the first bit lowest.
    ///
    /// # Panics
    /// If there are fewer words than that.
    pub fn remainder_words(self, words: &[u64], count: usize) -> u32 {
        let mut register = Register { table: &SLICED[self as usize], value: 0 };
        register.take(&words[..count.div_ceil(64)], count);
        register.remainder(self.bits())
    }
}

/// Words on the stack at a time: 6144 bits, the longest code block, and more.
const CHUNK: usize = 128;

/// The remainder so far, times D^(32 - L); the highest power in bit 0.
struct Register {
    table: &'static Sliced,
    value: u32,
}

impl Register {
    /// Takes `count` bits, all of `words` but for the upper bits of the last.
    fn take(&mut self, words: &[u64], count: usize) {
        let whole = &words[..count / 64];
        #[cfg(target_arch = "x86_64")]
        let whole = match fold::fold(&self.table.powers, self.value, whole) {
            Some((folded, rest)) => {
                self.value = 0;
                folded.into_iter().for_each(|word| self.step(word));
                rest
            }
            None => whole,
        };
        whole.iter().for_each(|&word| self.step(word));
        let rest = (count % 64) as u32;
        if rest != 0 {
            // As a word with zeros before it, which add nothing; bits of the register that are not met yet move up.
            let meeting = (words[count / 64] ^ u64::from(self.value)) << (64 - rest);
            let waiting = if rest < 32 { self.value >> rest } else { 0 };
            self.value = self.table.step(meeting) ^ waiting;
        }
    }

    fn step(&mut self, word: u64) {
        self.value = self.table.step(word ^ u64::from(self.value));
    }

    fn remainder(&self, bits: usize) -> u32 {
        self.value.reverse_bits() >> (32 - bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The long division of the clause.
    fn by_division(crc: Crc, bits: &[u8]) -> u32 {
        let top = 1 << (crc.bits() - 1);
        bits.iter().fold(0, |rest, &bit| {
            let feedback = (rest & top != 0) ^ (bit & 1 == 1);
            (rest << 1 & (2 * top - 1)) ^ if feedback { crc.polynomial() } else { 0 }
        })
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_a_long_division(bits in proptest::collection::vec(0u8..2, 0..2000)) {
            for crc in Crc::ALL {
                let expected = by_division(crc, &bits);
                prop_assert_eq!(crc.remainder(&bits), expected);
                let mut words = vec![0; bits.len().div_ceil(64)];
                bits::pack(&bits, &mut words);
                if let Some(last) = words.last_mut().filter(|_| bits.len() % 64 != 0) {
                    *last |= !0 << (bits.len() % 64); // what lies behind does not count
                }
                prop_assert_eq!(crc.remainder_words(&words, bits.len()), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn remainders_of_whole_bytes_are_those_of_the_catalogue(bytes in proptest::collection::vec(any::<u8>(), 0..800)) {
            let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)).collect();
            let wide = |algorithm| ::crc::Crc::<u32>::new(algorithm).checksum(&bytes);
            prop_assert_eq!(Crc::Crc24A.remainder(&bits), wide(&::crc::CRC_24_LTE_A));
            prop_assert_eq!(Crc::Crc24B.remainder(&bits), wide(&::crc::CRC_24_LTE_B));
            let narrow = |algorithm| u32::from(::crc::Crc::<u16>::new(algorithm).checksum(&bytes));
            prop_assert_eq!(Crc::Crc16.remainder(&bits), narrow(&::crc::CRC_16_XMODEM));
            // The catalogue has UMTS's CRC-12 as it is sent, in reverse.
            prop_assert_eq!(Crc::Crc12.remainder(&bits), narrow(&::crc::CRC_12_UMTS).reverse_bits() >> 20);
            let byte = u32::from(::crc::Crc::<u8>::new(&::crc::CRC_8_LTE).checksum(&bytes));
            prop_assert_eq!(Crc::Crc8.remainder(&bits), byte);
        }
    }

    #[test]
    fn blocks_longer_than_the_room_on_the_stack_are_taken_in_parts() {
        let bits: Vec<u8> = (0..100_003u32).map(|i| (i.wrapping_mul(i) >> 7 & 1) as u8).collect();
        for crc in Crc::ALL {
            for length in [8191, 8192, 8193, 16_383, 75_376, 100_003] {
                assert_eq!(crc.remainder(&bits[..length]), by_division(crc, &bits[..length]), "{crc:?} of {length}");
            }
        }
    }

    #[test]
    fn no_bits_leave_no_remainder() {
        assert_eq!(Crc::ALL.map(|crc| crc.remainder(&[])), [0; 5]);
    }
}
