//! The constituent encoder of the turbo codes of TS 25.212 (section 4.2.3.2.1) and TS 36.212 (section 5.1.3.2.1): recursive,
//! systematic, 8 states, G(D) = [1, g1/g0] with g0 = 1 + D^2 + D^3 and g1 = 1 + D + D^3.
//!
//! The registers hold a, the fed-back input: a = u + D^2 a + D^3 a, z = a + D a + D^3 a. So a = u / g0, and 64 bits are divided
//! at once: squaring a polynomial over GF(2) doubles its exponents, g0^64 = 1 + D^128 + D^192 is 1 as far as a word goes, and
//! 1 / g0 = g0^63 = g0 g0^2 g0^4 g0^8 g0^16 (g0^32 is 1 there as well), each factor two shifts. Tried before: a table by state
//! and byte of input, twice as slow, since each look-up waits for the one before.

/// The registers: the last 64 values of a, the newest in bit 63. All zero at the start of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Registers(u64);

impl Registers {
    /// Takes `count` (1 to 64) inputs, the first in bit 0, and returns as many parity bits. Higher bits mean nothing.
    #[inline]
    pub(crate) fn encode(&mut self, inputs: u64, count: u32) -> u64 {
        let last = self.0;
        // The registers' contents add to the first three inputs.
        let mut a = inputs ^ last >> 62 ^ last >> 61;
        a ^= a << 2 ^ a << 3;
        a ^= a << 4 ^ a << 6;
        a ^= a << 8 ^ a << 12;
        a ^= a << 16 ^ a << 24;
        a ^= a << 32 ^ a << 48;
        let parity = a ^ (a << 1 | last >> 63) ^ (a << 3 | last >> 61);
        self.0 = if count == 64 { a } else { a << (64 - count) | last >> count };
        parity
    }

    /// The three steps that empty the registers (the switch of Figure 4 of TS 25.212 down): the inputs x that do it, with
    /// their parities, as `[x, z, x, z, x, z]`.
    #[inline]
    pub(crate) fn tail(self) -> [u8; 6] {
        let bit = |n: u32| (self.0 >> (64 - n) & 1) as u8;
        let (s1, s2, s3) = (bit(1), bit(2), bit(3));
        // a = 0 asks for x = D^2 a + D^3 a; then zeros follow s1, s2.
        [s2 ^ s3, s1 ^ s3, s1 ^ s2, s2, s1, s1]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The encoder of the figure, a bit at a time: coded bits, then the tail as x, z pairs.
    pub(crate) fn by_the_figure(bits: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut s1, mut s2, mut s3) = (0, 0, 0);
        let mut step = |u: Option<u8>| {
            let u = u.unwrap_or(s2 ^ s3);
            let a = u ^ s2 ^ s3;
            let z = a ^ s1 ^ s3;
            (s1, s2, s3) = (a, s1, s2);
            [u, z]
        };
        let parity = bits.iter().map(|&u| step(Some(u))[1]).collect();
        (parity, (0..3).flat_map(|_| step(None)).collect())
    }

    proptest! {
        #[test]
        fn words_are_encoded_as_single_bits_are(bits in proptest::collection::vec(0u8..2, 1..300)) {
            let (parity, tail) = by_the_figure(&bits);
            let mut registers = Registers::default();
            let mut words = Vec::new();
            for chunk in bits.chunks(64) {
                let mut inputs = [0];
                crate::bits::pack(chunk, &mut inputs);
                words.push(registers.encode(inputs[0], chunk.len() as u32));
            }
            let mut found = vec![0; bits.len()];
            crate::bits::unpack(&words, &mut found);
            prop_assert_eq!(found, parity);
            prop_assert_eq!(registers.tail().to_vec(), tail);
        }
    }
}
