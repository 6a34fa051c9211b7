//! Eight tables a polynomial: what each byte of a word leaves behind it.

use super::Crc;

/// The tables of a polynomial P, scaled to degree 32.
pub(super) struct Sliced {
    /// Entry b of table i: the remainder of byte b followed by 32 + 8 (7 - i) zeros.
    bytes: [[u32; 256]; 8],
    /// D^319 and D^255 modulo P, the coefficient of D^63 in bit 0: what folding multiplies by.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing is folded there"))]
    pub(super) powers: [u64; 2],
}

impl Sliced {
    /// The remainder of a word followed by 32 zeros.
    #[inline]
    pub(super) fn step(&self, word: u64) -> u32 {
        let parts = word.to_le_bytes();
        let mut rest = 0;
        for (table, byte) in self.bytes.iter().zip(parts) {
            rest ^= table[usize::from(byte)];
        }
        rest
    }

    const fn new(crc: Crc) -> Sliced {
        // The highest power in bit 0, as bits are packed.
        let polynomial = (crc.polynomial() << (32 - crc.bits())).reverse_bits();
        let mut bytes = [[0; 256]; 8];
        let mut byte = 0;
        while byte < 256 {
            let mut rest = byte as u32;
            let mut table = 8;
            while table > 0 {
                table -= 1;
                let mut bit = 0;
                while bit < 8 {
                    rest = times_d(rest, polynomial);
                    bit += 1;
                }
                bytes[table][byte] = rest;
            }
            byte += 1;
        }
        Sliced { bytes, powers: [power(319, polynomial), power(255, polynomial)] }
    }
}

/// Times D, modulo the polynomial.
const fn times_d(rest: u32, polynomial: u32) -> u32 {
    if rest & 1 == 1 { rest >> 1 ^ polynomial } else { rest >> 1 }
}

/// D^n modulo the polynomial, with the coefficient of D^63 in bit 0.
const fn power(n: u32, polynomial: u32) -> u64 {
    let mut rest = 1 << 31; // D^0
    let mut i = 0;
    while i < n {
        rest = times_d(rest, polynomial);
        i += 1;
    }
    (rest as u64) << 32
}

/// In the order of [`Crc`]'s variants.
pub(super) static SLICED: [Sliced; 5] = [
    Sliced::new(Crc::Crc8),
    Sliced::new(Crc::Crc12),
    Sliced::new(Crc::Crc16),
    Sliced::new(Crc::Crc24A),
    Sliced::new(Crc::Crc24B),
];
