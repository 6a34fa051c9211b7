//! Code block segmentation and code block CRC, TS 36.212 section 5.1.2, and how many bits each block gets, section 5.1.4.1.2.

use super::crc::{crc_check, write_parity};
use super::{Error, TURBO_LENGTHS, turbo_length_at_least};
use crate::crc::Crc;

/// How a transport block with its CRC24A is cut into code blocks of at most 6144 bits.
///
/// ```
/// use takt_dsp::lte::Segmentation;
/// let cut = Segmentation::new(75_376 + 24)?; // the longest transport block of a 20 MHz carrier
/// assert_eq!((cut.blocks(), cut.block_len(0), cut.fillers()), (13, 5824, 0));
/// # Ok::<_, takt_dsp::lte::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    bits: usize,
    blocks: usize,
    plus: usize,
    minus: usize,
    minus_blocks: usize,
}

/// Z, the longest code block.
const LONGEST: usize = 6144;

/// Longer transport blocks are refused: far beyond any of the standard's.
const MAX_BITS: usize = 1 << 20;

impl Segmentation {
    /// For `bits`, B, CRC24A included.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub fn new(bits: usize) -> Result<Segmentation, Error> {
        if bits > MAX_BITS {
            return Err(Error::TooLong { bits, most: MAX_BITS });
        }
        let at_least = |bits| turbo_length_at_least(bits).expect("a block is 6144 bits at most");
        if bits <= LONGEST {
            return Ok(Segmentation { bits, blocks: 1, plus: at_least(bits), minus: 0, minus_blocks: 0 });
        }
        let blocks = bits.div_ceil(LONGEST - 24);
        let with_parity = bits + 24 * blocks;
        let plus = at_least(with_parity.div_ceil(blocks));
        let minus: usize = TURBO_LENGTHS[TURBO_LENGTHS.partition_point(|&k| usize::from(k) < plus) - 1].into();
        let minus_blocks = (blocks * plus - with_parity) / (plus - minus);
        Ok(Segmentation { bits, blocks, plus, minus, minus_blocks })
    }

    /// B, the bits of the transport block with its CRC24A.
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// C, how many code blocks there are.
    pub const fn blocks(&self) -> usize {
        self.blocks
    }

    /// K+ and C+: the longer length, and how many blocks have it.
    pub const fn longer(&self) -> (usize, usize) {
        (self.plus, self.blocks - self.minus_blocks)
    }

    /// K- and C-: the shorter length, and how many blocks, the first ones, have it. K- is 0 with one block.
    pub const fn shorter(&self) -> (usize, usize) {
        (self.minus, self.minus_blocks)
    }

    /// K of block `block`.
    pub const fn block_len(&self, block: usize) -> usize {
        if block < self.minus_blocks { self.minus } else { self.plus }
    }

    /// The bits of all code blocks.
    pub const fn blocks_len(&self) -> usize {
        self.blocks * self.plus - self.minus_blocks * (self.plus - self.minus)
    }

    /// F, the filler bits at the head of the first block.
    pub const fn fillers(&self) -> usize {
        self.blocks_len() - self.parity_len() * self.blocks - self.bits
    }

    /// L, the parity of each code block.
    const fn parity_len(&self) -> usize {
        if self.blocks > 1 { 24 } else { 0 }
    }

    /// E of block `block` of a transport block that is sent in `coded_bits`, G, by symbols of `symbol_bits` bits: N_L Q_m
    /// (section 5.1.4.1.2). Over all blocks the lengths add up to G, if that is a multiple of `symbol_bits`.
    ///
    /// # Panics
    /// If `symbol_bits` is 0.
    pub const fn matched_len(&self, coded_bits: usize, symbol_bits: usize, block: usize) -> usize {
        let symbols = coded_bits / symbol_bits;
        let longer = block >= self.blocks - symbols % self.blocks;
        symbol_bits * (symbols / self.blocks + longer as usize)
    }

    /// Writes the code blocks, one after the other, to `blocks`: fillers (as 0), bits, and, if there are several, the CRC24B
    /// of each.
    ///
    /// # Panics
    /// If `bits` is not B long, or `blocks` not [`Segmentation::blocks_len`].
    pub fn segment(&self, bits: &[u8], blocks: &mut [u8]) {
        assert_eq!((bits.len(), blocks.len()), (self.bits, self.blocks_len()), "bits and code blocks");
        let (mut rest, mut out) = (bits, blocks);
        for r in 0..self.blocks {
            let (block, more) = out.split_at_mut(self.block_len(r));
            let (data, parity) = block.split_at_mut(self.block_len(r) - self.parity_len());
            let (fillers, data_bits) = data.split_at_mut(if r == 0 { self.fillers() } else { 0 });
            let (these, later) = rest.split_at(data_bits.len());
            fillers.fill(0);
            data_bits.copy_from_slice(these);
            if !parity.is_empty() {
                write_parity(Crc::Crc24B, data, parity);
            }
            (rest, out) = (later, more);
        }
    }

    /// Puts the decoded code blocks `blocks` together to the transport block with its CRC24A. False if a block's CRC24B does
    /// not hold; with one block there is none, so always true.
    ///
    /// # Panics
    /// If `blocks` is not [`Segmentation::blocks_len`] long, or `bits` not B.
    pub fn join(&self, blocks: &[u8], bits: &mut [u8]) -> bool {
        assert_eq!((bits.len(), blocks.len()), (self.bits, self.blocks_len()), "bits and code blocks");
        let (mut rest, mut out, mut hold) = (blocks, bits, true);
        for r in 0..self.blocks {
            let (block, more) = rest.split_at(self.block_len(r));
            hold &= self.blocks == 1 || crc_check(Crc::Crc24B, block);
            let data = &block[if r == 0 { self.fillers() } else { 0 }..block.len() - self.parity_len()];
            let (these, later) = out.split_at_mut(data.len());
            these.copy_from_slice(data);
            (rest, out) = (more, later);
        }
        hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_transport_block_is_cut_into_legal_blocks_and_joined_again() {
        for bits in (0..7000).chain((7000..100_000).step_by(61)) {
            let cut = Segmentation::new(bits).unwrap();
            let lengths: Vec<usize> = (0..cut.blocks()).map(|r| cut.block_len(r)).collect();
            assert!(lengths.iter().all(|&k| TURBO_LENGTHS.contains(&(k as u16))), "{bits}: {lengths:?}");
            assert!(lengths.is_sorted() && lengths.iter().sum::<usize>() == cut.blocks_len(), "{bits}: {lengths:?}");
            let sent: Vec<u8> = (0..bits).map(|i| ((i * i) >> 3) as u8 & 1).collect();
            let (mut blocks, mut back) = (vec![9; cut.blocks_len()], vec![9; bits]);
            cut.segment(&sent, &mut blocks);
            assert!(blocks[..cut.fillers()].iter().all(|&filler| filler == 0), "{bits}");
            assert!(cut.join(&blocks, &mut back) && back == sent, "{bits}");
            if cut.blocks() > 1 {
                blocks[cut.blocks_len() - 30] ^= 1;
                assert!(!cut.join(&blocks, &mut back), "{bits}");
            }
            for (coded, symbol) in [(3 * bits, 1), (9120, 2), (14_400, 4), (90_000, 6)] {
                let given: usize = (0..cut.blocks()).map(|r| cut.matched_len(coded, symbol, r)).sum();
                assert_eq!(given, coded / symbol * symbol, "{bits} in {coded}");
            }
        }
    }
}
