//! The parallel concatenation of two constituent encoders with an interleaver between, as both turbo codes have it
//! (TS 25.212 section 4.2.3.2, TS 36.212 section 5.1.3.2). The standard's own module orders the output.

use super::rsc::Registers;
use crate::bits;
use crate::bits::permutation::Permutation;

/// The encoder of blocks of one length.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    interleaver: Permutation,
    /// x, z and z' of the last block, 64 bits a word, the first lowest.
    pub(crate) streams: [Box<[u64]>; 3],
}

/// The tail of each encoder: x, z three times.
pub(crate) type Tails = [[u8; 6]; 2];

impl Encoder {
    /// For blocks as long as `interleaver`, at most 8192 bits.
    pub(crate) fn new(interleaver: Vec<u16>) -> Encoder {
        let words = interleaver.len().div_ceil(64);
        Encoder { interleaver: Permutation::new(interleaver), streams: std::array::from_fn(|_| vec![0; words].into()) }
    }

    /// Bits of a block.
    pub(crate) fn block_len(&self) -> usize {
        self.interleaver.len()
    }

    /// Encodes `block` into [`Encoder::streams`].
    ///
    /// # Panics
    /// If the block is not of the encoder's length.
    pub(crate) fn encode(&mut self, block: &[u8]) -> Tails {
        assert_eq!(block.len(), self.block_len(), "the block is of the length that the encoder was made for");
        let [x, z, z2] = &mut self.streams;
        bits::pack(block, x);
        self.interleaver.apply(x, z2);
        let (mut first, mut second) = (Registers::default(), Registers::default());
        let mut left = block.len() as u32;
        for ((x, z), z2) in x.iter().zip(z).zip(z2) {
            let count = left.min(64);
            *z = first.encode(*x, count);
            *z2 = second.encode(*z2, count);
            left -= count;
        }
        [first.tail(), second.tail()]
    }
}
