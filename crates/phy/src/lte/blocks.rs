//! Which code blocks a packet has: those of a transport block of A bits, or one of K bits.

use takt_dsp::lte::{self, Segmentation};
use takt_runtime::MakeError;

use super::refused;

/// K where it is not given: that of a transport block of 4008 bits (25 resource blocks, MCS 9).
pub(super) const LENGTH: u32 = 4032;

/// A code block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) bits: usize,
    /// Filler bits at its head.
    pub(super) fillers: usize,
}

/// How a transport block of A bits is cut, its CRC24A included. A parameter's range keeps A below what is refused.
pub(super) fn cut(transport: u32) -> Result<Segmentation, MakeError> {
    Segmentation::new(transport as usize + 24).map_err(|error| refused(&error))
}

/// The code blocks of a packet.
pub(super) fn blocks(transport: u32, length: u32, fillers: u32) -> Result<Vec<Block>, MakeError> {
    let (bits, fillers) = (length as usize, fillers as usize);
    if transport == 0 {
        return Ok(vec![Block { bits, fillers }]);
    }
    if length != LENGTH || fillers != 0 {
        let what = format!(
            "K = {length} and F = {fillers} were given, but a transport block of A = {transport} bits determines both"
        );
        return Err(MakeError { what, fix: "give A, or K and F".into() });
    }
    let cut = cut(transport)?;
    let block = |r| Block { bits: cut.block_len(r), fillers: if r == 0 { cut.fillers() } else { 0 } };
    Ok((0..cut.blocks()).map(block).collect())
}

/// Bits of all code blocks. Shapes ask before anything is refused: what is not legal is one bit long.
pub(super) fn block_bits(transport: u32, length: u32) -> usize {
    if transport == 0 {
        return length as usize;
    }
    cut(transport).map_or(1, |cut| cut.blocks_len())
}

/// 3 (K + 4) of each code block.
pub(super) fn coded_bits(transport: u32, length: u32) -> usize {
    let blocks = if transport == 0 { 1 } else { cut(transport).map_or(1, |cut| cut.blocks()) };
    3 * (block_bits(transport, length) + 4 * blocks)
}

/// Things made once for all code blocks that are alike, and found by a block's number.
pub(super) struct ByBlock<T> {
    made: Vec<T>,
    of: Vec<usize>,
}

impl<T> ByBlock<T> {
    /// With one for each different block.
    pub(super) fn new(
        blocks: impl Iterator<Item = Block>,
        make: impl Fn(Block) -> Result<T, lte::Error>,
    ) -> Result<ByBlock<T>, MakeError> {
        let (mut kinds, mut made, mut of) = (Vec::new(), Vec::new(), Vec::new());
        for block in blocks {
            let known = kinds.iter().position(|kind| *kind == block);
            of.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                made.push(make(block).map_err(|error| refused(&error))?);
                kinds.push(block);
            }
        }
        Ok(ByBlock { made, of })
    }

    /// How many code blocks there are.
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }

    /// All that were made.
    pub(super) fn made(&self) -> &[T] {
        &self.made
    }

    /// Makes block after block of the packet, each by its own, from as many items and to as many as `lengths` says.
    pub(super) fn each<I, O>(
        &mut self,
        mut packet: &[I],
        mut output: &mut [O],
        lengths: impl Fn(usize, &T) -> (usize, usize),
        mut make: impl FnMut(&mut T, &[I], &mut [O]),
    ) {
        for (r, &of) in self.of.iter().enumerate() {
            let made = &mut self.made[of];
            let (taken, given) = lengths(r, made);
            let (block, more) = packet.split_at(taken);
            let (out, later) = output.split_at_mut(given);
            make(made, block, out);
            (packet, output) = (more, later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_block_has_the_blocks_of_its_segmentation() {
        let of = |transport| -> Vec<(usize, usize)> {
            let blocks = blocks(transport, LENGTH, 0).expect("legal");
            assert_eq!(block_bits(transport, LENGTH), blocks.iter().map(|block| block.bits).sum::<usize>());
            assert_eq!(coded_bits(transport, LENGTH), blocks.iter().map(|block| 3 * block.bits + 12).sum::<usize>());
            blocks.iter().map(|block| (block.bits, block.fillers)).collect()
        };
        assert_eq!(of(4008), [(4032, 0)]);
        assert_eq!(of(10), [(40, 6)]);
        assert_eq!(of(75_376), [(5824, 0); 13]);
        let made = ByBlock::new(blocks(6144 * 3, LENGTH, 0).expect("legal").into_iter(), |block| Ok(block.bits));
        let made = made.expect("legal");
        assert!(made.made().len() < made.count() && made.made().iter().all(|&bits| bits >= 4096));
    }

    #[test]
    fn a_block_alone_is_what_it_is_said_to_be_and_both_are_refused() {
        assert!(blocks(0, 40, 3).expect("legal") == [Block { bits: 40, fillers: 3 }]);
        assert!(blocks(4008, 40, 0).is_err() && blocks(4008, LENGTH, 1).is_err());
    }
}
