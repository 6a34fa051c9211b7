//! Place, sequence and shifts of a resource of the PUCCH: TS 36.211 sections 5.4.1 to 5.4.3, with N_cs^(1) = 0.

use num_complex::Complex32;
use takt_dsp::lte::Gold;

use super::UplinkConfig;
use super::sequence::{base_sequence, twelfths};
use crate::{SUBCARRIERS_OF_BLOCK, SYMBOLS_OF_SLOT, Tti};

/// Symbols of a slot with the reference signals of formats 1 and 1a.
pub(super) const REFERENCES_OF_1: [usize; 3] = [2, 3, 4];
/// The others.
pub(super) const DATA_OF_1: [usize; 4] = [0, 1, 5, 6];
/// Symbols of a slot with the data of format 2; 1 and 5 have reference signals.
pub(super) const DATA_OF_2: [usize; 5] = [0, 2, 3, 4, 6];

/// A resource in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub block: usize,
    /// n_cs less the cell's shift of the symbol.
    pub shift: usize,
    /// n_oc, the orthogonal cover; 0 for format 2.
    pub cover: usize,
    /// Whether S(n_s) = j.
    pub turned: bool,
}

/// Sequences and shifts of a cell.
pub(super) struct Resources {
    config: UplinkConfig,
    /// n_cs^cell(n_s, l).
    cell_shifts: [[u8; SYMBOLS_OF_SLOT]; 20],
    base: Vec<Complex32>,
    twelfths: [Complex32; 12],
}

impl Resources {
    pub(super) fn new(config: &UplinkConfig) -> Resources {
        let id = config.cell.id.get();
        let mut gold = Gold::new(id.into());
        // A slot has 7 symbols of 8 bits each; 20 slots have 140 bytes.
        let bytes: Vec<u8> = (0..18).flat_map(|_| gold.next_word().to_le_bytes()).collect();
        let cell_shifts = std::array::from_fn(|slot| std::array::from_fn(|l| bytes[SYMBOLS_OF_SLOT * slot + l] % 12));
        Resources { config: *config, cell_shifts, base: base_sequence(usize::from(id) % 30, 1), twelfths: twelfths() }
    }

    /// A resource of formats 1 and 1a, in both slots.
    pub(super) fn format_1(&self, resource: u16) -> [Place; 2] {
        let distance = usize::from(self.config.pucch.shift_distance);
        let of_block = 3 * 12 / distance;
        let even = usize::from(resource) % of_block;
        let odd = 3 * (even + 1) % (of_block + 1) - 1;
        let m = usize::from(resource) / of_block + usize::from(self.config.pucch.report_blocks);
        let place = |slot, n: usize| {
            let cover = n * distance / 12;
            let shift = (n * distance + cover % distance) % 12;
            Place { block: self.block(m, slot), shift, cover, turned: !n.is_multiple_of(2) }
        };
        [place(0, even), place(1, odd)]
    }

    /// A resource of format 2, in both slots.
    pub(super) fn format_2(&self, resource: u16) -> [Place; 2] {
        let n = usize::from(resource);
        let within = n < 12 * usize::from(self.config.pucch.report_blocks);
        let even = if within { n % 12 } else { (n + 1) % 12 };
        let odd = if within { 12 * (even + 1) % 13 - 1 } else { (10 + 12 * 6000 - n) % 12 };
        let place = |slot, shift| Place { block: self.block(n / 12, slot), shift, cover: 0, turned: false };
        [place(0, even), place(1, odd)]
    }

    /// Section 5.4.3: from the edges inwards, each slot on another side. A number beyond the carrier wraps.
    fn block(&self, m: usize, slot: usize) -> usize {
        let blocks = self.config.cell.bandwidth.blocks();
        let from_edge = m / 2 % blocks;
        if (m + slot).is_multiple_of(2) { from_edge } else { blocks - 1 - from_edge }
    }

    /// The sequence r^(alpha) of a symbol of a slot (0 or 1).
    pub(super) fn sequence(
        &self,
        tti: Tti,
        slot: usize,
        symbol: usize,
        shift: usize,
    ) -> [Complex32; SUBCARRIERS_OF_BLOCK] {
        let step = usize::from(self.cell_shifts[tti.first_slot() + slot][symbol]) + shift;
        std::array::from_fn(|n| self.base[n] * self.twelfths[step * n % 12])
    }
}

/// w(m) of the data of formats 1 and 1a, table 5.4.1-2.
pub(super) fn data_cover(cover: usize) -> [f32; 4] {
    [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]][cover]
}

/// The one that no terminal uses: what is seen through it is noise.
pub(super) const FREE_COVER: [f32; 4] = [1.0, 1.0, -1.0, -1.0];

/// w(m) of the reference signals of formats 1 and 1a, table 5.5.2.2.1-2.
pub(super) fn reference_cover(cover: usize) -> [Complex32; 3] {
    std::array::from_fn(|m| Complex32::from_polar(1.0, std::f32::consts::TAU / 3.0 * (cover * m % 3) as f32))
}

/// The start of the scrambling sequence of format 2, section 5.4.2.
pub(super) fn report_c_init(cell: u16, rnti: u16, tti: Tti) -> u32 {
    (((tti.subframe() as u32 + 1) * (2 * u32::from(cell) + 1)) << 16).wrapping_add(rnti.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bandwidth, Cell, CellId, PhichResource};
    use std::collections::HashSet;

    fn resources(distance: u8, report_blocks: u8) -> Resources {
        let cell = Cell { id: CellId::new(7).unwrap(), bandwidth: Bandwidth::Prb25, phich: PhichResource::One };
        let mut config = UplinkConfig::new(cell);
        (config.pucch.shift_distance, config.pucch.report_blocks) = (distance, report_blocks);
        Resources::new(&config)
    }

    #[test]
    fn no_two_resources_share_block_shift_and_cover() {
        for distance in 1..=3 {
            let resources = resources(distance, 2);
            for slot in 0..2 {
                let places = (0..100).map(|n| resources.format_1(n)[slot]);
                let distinct: HashSet<_> = places.map(|place| (place.block, place.shift, place.cover)).collect();
                assert_eq!(distinct.len(), 100, "distance {distance}, slot {slot}");
                let places = (0..24).map(|n| resources.format_2(n)[slot]);
                assert_eq!(places.map(|place| (place.block, place.shift)).collect::<HashSet<_>>().len(), 24);
            }
        }
    }

    #[test]
    fn slots_lie_on_opposite_edges() {
        let resources = resources(2, 1);
        let blocks = |places: [Place; 2]| places.map(|place| place.block);
        assert_eq!(blocks(resources.format_2(0)), [0, 24]);
        assert_eq!(blocks(resources.format_1(0)), [24, 0]);
        assert_eq!(blocks(resources.format_1(17)), [24, 0]);
        assert_eq!(blocks(resources.format_1(18)), [1, 23]);
        for wild in [1000, u16::MAX] {
            assert!([resources.format_1(wild), resources.format_2(wild)].into_iter().flatten().all(|p| p.block < 25));
        }
    }

    #[test]
    fn covers_are_orthogonal() {
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let data: f32 = data_cover(a).iter().zip(data_cover(b)).map(|(a, b)| a * b).sum();
            let reference: Complex32 =
                reference_cover(a).iter().zip(reference_cover(b)).map(|(a, b)| a * b.conj()).sum();
            assert!((data == 0.0) == (a != b) && (reference.norm() < 1e-5) == (a != b), "{a} {b}");
        }
        assert!((0..3).all(|a| data_cover(a).iter().zip(FREE_COVER).map(|(a, b)| a * b).sum::<f32>() == 0.0));
    }
}
