//! One acknowledgement within the PUSCH, TS 36.212 section 5.2.2.6 and TS 36.213 section 8.6.3.

use takt_dsp::lte::Segmentation;

use super::PuschAllocation;
use super::config::DATA_SYMBOLS;

/// beta_offset^HARQ-ACK by its index, in eighths.
pub(super) const OFFSETS: [u32; 15] = [16, 20, 25, 32, 40, 50, 64, 80, 101, 127, 160, 248, 400, 640, 1008];

/// Q'_ACK: ceil(M_sc N_symb beta / sum of K_r), of at most 4 M_sc. A transport block longer than any of the standard's counts as
/// one: its symbols would be none.
pub(super) fn symbols(allocation: &PuschAllocation, offset: usize) -> usize {
    let carriers = allocation.subcarriers();
    let code_blocks = Segmentation::new(allocation.block_bits as usize + 24);
    let bits = code_blocks.map_or(1 << 20, |cut| cut.blocks_len()).max(1);
    (carriers * DATA_SYMBOLS * OFFSETS[offset] as usize).div_ceil(8 * bits).min(4 * carriers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_dsp::lte::Modulation;

    #[test]
    fn symbols_of_an_acknowledgement_are_those_of_the_formula() {
        let of = |blocks, block_bits, offset| {
            let modulation = Modulation::Qam16;
            symbols(&PuschAllocation { first_block: 0, blocks, modulation, cyclic_shift: 0, block_bits }, offset)
        };
        // 25 blocks, 7736 bits: two code blocks, 7760 bits and twice 24 of parity are 3904 each: 3600 * 20 / 7808 = 9.2.
        assert_eq!(of(25, 7736, 10), 10);
        assert_eq!(of(25, 680, 0), (3600 * 2_usize).div_ceil(704));
        assert_eq!(of(1, 16, 14), 48); // limited
        assert_eq!(of(1, u32::MAX, 0), 1);
    }
}
