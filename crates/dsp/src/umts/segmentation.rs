//! Concatenation of transport blocks and code block segmentation, TS 25.212 section 4.2.2.

use super::{Coding, Error};

/// How the bits of a TTI, all transport blocks with their parity one after the other, are cut into code blocks of one length.
///
/// ```
/// use takt_dsp::umts::{Coding, Segmentation};
/// let segmentation = Segmentation::new(Coding::Turbo, 10_000)?;
/// assert_eq!((segmentation.blocks(), segmentation.block_len(), segmentation.fillers()), (2, 5000, 0));
/// # Ok::<_, takt_dsp::umts::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    bits: usize,
    blocks: usize,
    block_len: usize,
}

impl Segmentation {
    /// For `bits`, X, to be coded by `coding` (section 4.2.2.2). No bits make no blocks.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub const fn new(coding: Coding, bits: usize) -> Result<Segmentation, Error> {
        if bits > super::MAX_BITS {
            return Err(Error::TooLong { bits, most: super::MAX_BITS });
        }
        let blocks = bits.div_ceil(coding.longest_block());
        let block_len = match coding {
            _ if blocks == 0 => 0,
            Coding::Turbo if bits < 40 => 40,
            _ => bits.div_ceil(blocks),
        };
        Ok(Segmentation { bits, blocks, block_len })
    }

    /// X, the bits of a TTI.
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// C, how many code blocks there are.
    pub const fn blocks(&self) -> usize {
        self.blocks
    }

    /// K, the bits of each.
    pub const fn block_len(&self) -> usize {
        self.block_len
    }

    /// Y, how many zeros precede the first block's bits. They are coded and transmitted like any bit.
    pub const fn fillers(&self) -> usize {
        self.blocks * self.block_len - self.bits
    }

    /// Writes the C code blocks, one after the other, to `blocks`: fillers, then the bits.
    ///
    /// # Panics
    /// If `bits` is not X long, or `blocks` not C K.
    pub fn segment(&self, bits: &[u8], blocks: &mut [u8]) {
        assert_eq!((bits.len(), blocks.len()), (self.bits, self.blocks * self.block_len), "bits and code blocks");
        let (fillers, rest) = blocks.split_at_mut(self.fillers());
        fillers.fill(0);
        rest.copy_from_slice(bits);
    }

    /// The bits in the C code blocks `blocks`, decoded and one after the other.
    ///
    /// # Panics
    /// If `blocks` is not C K long.
    pub fn join<'a>(&self, blocks: &'a [u8]) -> &'a [u8] {
        assert_eq!(blocks.len(), self.blocks * self.block_len, "code blocks");
        &blocks[self.fillers()..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umts::ConvolutionalRate;

    #[test]
    fn any_number_of_bits_is_cut_into_the_fewest_equal_blocks_and_joined_again() {
        let codings = [Coding::Turbo, Coding::Convolutional(ConvolutionalRate::Half)];
        for (coding, bits) in codings.into_iter().flat_map(|coding| (0..21_000).map(move |bits| (coding, bits))) {
            let cut = Segmentation::new(coding, bits).unwrap();
            let longest = coding.longest_block();
            assert!(cut.blocks() * longest >= bits && cut.blocks().saturating_sub(1) * longest < bits.max(1), "{bits}");
            assert!(
                cut.block_len() <= longest && (coding != Coding::Turbo || bits == 0 || cut.block_len() >= 40),
                "{bits}"
            );
            assert!(bits < 40 || cut.fillers() < cut.blocks(), "{bits}");
            if bits % 97 == 0 {
                let sent: Vec<u8> = (0..bits).map(|i| (i % 251) as u8).collect();
                let mut blocks = vec![9; cut.blocks() * cut.block_len()];
                cut.segment(&sent, &mut blocks);
                assert_eq!(blocks[..cut.fillers()], vec![0; cut.fillers()]);
                assert_eq!(cut.join(&blocks), sent);
            }
        }
    }
}
