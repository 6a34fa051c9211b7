//! The plans of a bandwidth: its transport block sizes, how each is cut, and the lengths of code blocks.

use std::collections::BTreeSet;

use takt_dsp::lte::Segmentation;

use super::table::{ROWS, SIZES};
use crate::Bandwidth;

/// Bits of the CRC24A.
pub(super) const PARITY: usize = 24;

/// How the transport blocks of a bandwidth are cut, and a plan for each length of code block.
///
/// No size of the table needs filler bits, so that a length has one plan; a test checks this.
pub(super) struct Plans<T> {
    /// By size, the smallest first.
    cuts: Box<[Segmentation]>,
    lengths: Box<[usize]>,
    plans: Box<[T]>,
}

impl<T> Plans<T> {
    /// `make` makes the plan of a length of code block.
    pub(super) fn new(bandwidth: Bandwidth, make: impl Fn(usize) -> T) -> Plans<T> {
        let cuts = cuts(bandwidth);
        let lengths: BTreeSet<usize> =
            cuts.iter().flat_map(|cut| (0..cut.blocks()).map(|r| cut.block_len(r))).collect();
        let lengths: Box<[usize]> = lengths.into_iter().collect();
        Plans { plans: lengths.iter().map(|&length| make(length)).collect(), cuts, lengths }
    }

    /// How a transport block of `bits` is cut, if the bandwidth has that size.
    pub(super) fn cut(&self, bits: usize) -> Option<Segmentation> {
        let at = self.cuts.binary_search_by_key(&bits, |cut| cut.bits() - PARITY).ok()?;
        Some(self.cuts[at])
    }

    /// The plan of code blocks of `length`, which one of the cuts has.
    pub(super) fn of(&mut self, length: usize) -> &mut T {
        let at = self.lengths.binary_search(&length).expect("there is a plan for each length of a cut");
        &mut self.plans[at]
    }
}

/// How each transport block size of a bandwidth is cut, the smallest first.
pub(super) fn cuts(bandwidth: Bandwidth) -> Box<[Segmentation]> {
    let sizes = (0..ROWS).flat_map(|row| &SIZES[row][..bandwidth.blocks()]);
    let sizes: BTreeSet<usize> = sizes.map(|&bits| bits as usize).collect();
    let cut = |bits| Segmentation::new(bits + PARITY).expect("a size of the standard is short enough");
    sizes.into_iter().map(cut).collect()
}

/// The most of something over all transport block sizes of a bandwidth.
pub(super) fn most(bandwidth: Bandwidth, of: impl Fn(&Segmentation) -> usize) -> usize {
    cuts(bandwidth).iter().map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_needs_fillers_and_no_block_is_longer_than_the_code_allows() {
        for bandwidth in Bandwidth::ALL {
            let plans = Plans::new(bandwidth, |length| length);
            assert!(plans.cuts.iter().all(|cut| cut.fillers() == 0));
            assert!(plans.cuts.iter().all(|cut| (cut.bits() - PARITY).is_multiple_of(8)));
            assert!(plans.plans.iter().all(|&length| (40..=6144).contains(&length)));
        }
        assert_eq!(most(Bandwidth::Prb100, Segmentation::blocks), 13);
        assert_eq!(most(Bandwidth::Prb25, Segmentation::bits), 18_360);
    }
}
