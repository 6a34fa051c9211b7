//! How a coded block lies in a slice: TS 25.212 section 4.2.3.2.2, TS 36.212 section 5.1.3.2.2.

use crate::simd::vectorised;
use crate::{lte, umts};

/// Which code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// x1 z1 z'1 .. xK zK z'K, then x z three times of the first encoder's tail, then of the second's.
    Umts,
    /// Three streams of K + 4, the tails dealt to their ends.
    Lte,
}

impl Code {
    /// The interleaver of a UMTS block: bit `pi[i]` goes to place i.
    pub(super) fn umts(bits: usize) -> Result<Vec<u16>, umts::Error> {
        if !umts::TURBO_LENGTHS.contains(&bits) {
            return Err(umts::Error::TurboLength { bits });
        }
        let mut pi = vec![0; bits];
        umts::turbo_interleaver(&mut pi)?;
        Ok(pi)
    }

    /// The same of an LTE block.
    pub(super) fn lte(bits: usize) -> Result<Vec<u16>, lte::Error> {
        lte::qpp_parameters(bits).ok_or(lte::Error::TurboLength { bits })?;
        let mut pi = vec![0; bits];
        lte::qpp(&mut pi)?;
        Ok(pi)
    }

    /// Length of a coded block of `bits`.
    pub(super) fn coded_len(self, bits: usize) -> usize {
        3 * bits + 12
    }

    /// Sorts what is coded, but for the tails, to streams x, z and z'.
    #[inline(always)]
    pub(super) fn sort(self, coded: &[i8], [x, first, second]: [&mut [i8]; 3]) {
        let bits = x.len();
        match self {
            Code::Umts => deal(&coded.as_chunks().0[..bits], x, first, second),
            Code::Lte => {
                for (to, coded) in [x, first, second].into_iter().zip(coded.chunks_exact(bits + 4)) {
                    to.copy_from_slice(&coded[..bits]);
                }
            }
        }
    }

    /// Places of x and z in the tail of encoder `which` (0 or 1).
    pub(super) fn tail(self, bits: usize, which: usize) -> [(usize, usize); 3] {
        match self {
            Code::Umts => std::array::from_fn(|j| {
                let x = 3 * bits + 6 * which + 2 * j;
                (x, x + 1)
            }),
            Code::Lte => {
                // One after the other, x z x z x z of the first, then of the second, go to d0 d1 d2 d0 d1 d2 ..
                let at = |n: usize| (n % 3) * (bits + 4) + bits + n / 3;
                std::array::from_fn(|j| (at(6 * which + 2 * j), at(6 * which + 2 * j + 1)))
            }
        }
    }
}

vectorised! {
    fn deal(turns: &[[i8; 3]], x: &mut [i8], first: &mut [i8], second: &mut [i8]) = deal_plainly
}

#[inline(always)]
fn deal_plainly(turns: &[[i8; 3]], x: &mut [i8], first: &mut [i8], second: &mut [i8]) {
    for (((turn, x), first), second) in turns.iter().zip(x).zip(first).zip(second) {
        [*x, *first, *second] = *turn;
    }
}

/// How decoders of both kinds are made and set up: from the code, the interleaver and a level of instructions.
macro_rules! decoder {
    ($Decoder:ident) => {
        impl $Decoder {
            /// For UMTS blocks of `block_bits`, K.
            ///
            /// # Errors
            /// [`umts::Error::TurboLength`] if K is not 40 to 5114.
            pub fn umts(block_bits: usize) -> Result<$Decoder, umts::Error> {
                Ok($Decoder::new(Code::Umts, Code::umts(block_bits)?))
            }

            /// For LTE blocks of `block_bits`, K.
            ///
            /// # Errors
            /// [`lte::Error::TurboLength`] if K is not one of the 188 lengths.
            pub fn lte(block_bits: usize) -> Result<$Decoder, lte::Error> {
                Ok($Decoder::new(Code::Lte, Code::lte(block_bits)?))
            }

            /// With other instructions than the fastest there are: to compare them. The bits are the same.
            pub fn with_level(mut self, level: Level) -> $Decoder {
                self.level = level;
                self
            }

            /// 3 K + 12.
            pub fn coded_len(&self) -> usize {
                self.code.coded_len(self.block_len())
            }
        }
    };
}

pub(super) use decoder;
