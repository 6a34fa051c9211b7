//! Which elements of a grid the PDSCH has, and in which order: TS 36.211 sections 6.3.5 and 6.4.
//!
//! Symbol after symbol from the first that control channels leave, and the lowest subcarrier first. Elements of reference
//! signals, of synchronisation signals and of the PBCH are passed over. Around the PBCH that is all of the 72 subcarriers in the
//! middle: it reserves the reference signals of four antenna ports (section 6.6.4), which no other channel may use.

use num_complex::Complex32;

use super::blocks::BlockSet;
use crate::control::control_symbols;
use crate::{Bandwidth, Cell, ResourceGrid, SUBCARRIERS_OF_BLOCK, SYMBOLS, SYMBOLS_OF_SLOT, Tti};

/// Half of the subcarriers that synchronisation signals, with the empty ones beside them, and the PBCH have.
const HALF_MIDDLE: usize = 36;
/// A bit for each subcarrier of a block.
const FULL: u16 = 0xfff;

/// How many elements the PDSCH has in `blocks`.
#[must_use]
pub fn pdsch_elements(cell: &Cell, tti: Tti, cfi: u8, blocks: &BlockSet) -> usize {
    let mut count = 0;
    over(cell, tti, cfi, blocks, |_, _, free| count += free.count_ones() as usize);
    count
}

/// Puts `symbols` on the elements of the PDSCH; all others of `grid` stay. Blocks that the carrier does not have are left out.
///
/// # Panics
/// If there is not one symbol for each element, or the grid is of another bandwidth.
pub fn map_pdsch(cell: &Cell, tti: Tti, cfi: u8, blocks: &BlockSet, symbols: &[Complex32], grid: &mut ResourceGrid) {
    assert_eq!(grid.subcarriers(), cell.bandwidth.subcarriers(), "a grid of the cell");
    let mut rest = symbols;
    over(cell, tti, cfi, blocks, |symbol, block, free| {
        let (these, more) = rest.split_at(free.count_ones() as usize);
        let elements = &mut grid.symbol_mut(symbol)[block * SUBCARRIERS_OF_BLOCK..][..SUBCARRIERS_OF_BLOCK];
        if free == FULL {
            elements.copy_from_slice(these);
        } else {
            places(free).zip(these).for_each(|(place, value)| elements[place] = *value);
        }
        rest = more;
    });
    assert!(rest.is_empty(), "{} symbols more than elements", rest.len());
}

/// Reads the elements of the PDSCH, of what was received or of a channel's gains.
///
/// # Panics
/// If `out` has not one place for each element, or the grid is of another bandwidth.
pub fn gather_pdsch(cell: &Cell, tti: Tti, cfi: u8, blocks: &BlockSet, from: &ResourceGrid, out: &mut [Complex32]) {
    assert_eq!(from.subcarriers(), cell.bandwidth.subcarriers(), "a grid of the cell");
    let mut at = 0;
    over(cell, tti, cfi, blocks, |symbol, block, free| {
        let these = &mut out[at..][..free.count_ones() as usize];
        let elements = &from.symbol(symbol)[block * SUBCARRIERS_OF_BLOCK..][..SUBCARRIERS_OF_BLOCK];
        if free == FULL {
            these.copy_from_slice(elements);
        } else {
            places(free).zip(&mut *these).for_each(|(place, value)| *value = elements[place]);
        }
        at += these.len();
    });
    assert_eq!(at, out.len(), "places for the elements");
}

/// Calls `f` with each symbol and each block that has free subcarriers there, and a bit for each of them.
fn over(cell: &Cell, tti: Tti, cfi: u8, blocks: &BlockSet, mut f: impl FnMut(usize, usize, u16)) {
    for symbol in control_symbols(cell.bandwidth, cfi.clamp(1, 3))..SYMBOLS {
        let (references, middle) = (references(cell, symbol), is_middle_taken(tti, symbol));
        for block in blocks.iter().take_while(|&block| block < cell.bandwidth.blocks()) {
            let taken = references | if middle { middle_of(cell.bandwidth, block) } else { 0 };
            if taken != FULL {
                f(symbol, block, FULL & !taken);
            }
        }
    }
}

/// The subcarriers of each block that the reference signal of port 0 has in a symbol (TS 36.211 section 6.10.1.2).
fn references(cell: &Cell, symbol: usize) -> u16 {
    let shift = |v: u16| 0b0000_0100_0001 << ((v + cell.id.get()) % 6);
    match symbol % SYMBOLS_OF_SLOT {
        0 => shift(0),
        4 => shift(3),
        _ => 0,
    }
}

/// Whether synchronisation signals or the PBCH have the middle of a symbol.
fn is_middle_taken(tti: Tti, symbol: usize) -> bool {
    match tti.subframe() {
        0 => (5..=10).contains(&symbol),
        5 => (5..=6).contains(&symbol),
        _ => false,
    }
}

/// The subcarriers of a block that lie among the 72 in the middle of the carrier.
fn middle_of(bandwidth: Bandwidth, block: usize) -> u16 {
    let within = |subcarrier: usize| subcarrier.saturating_sub(block * SUBCARRIERS_OF_BLOCK).min(SUBCARRIERS_OF_BLOCK);
    let middle = bandwidth.subcarriers() / 2;
    let (from, to) = (within(middle - HALF_MIDDLE), within(middle + HALF_MIDDLE));
    ((1 << to) - 1) & !((1 << from) - 1)
}

/// The places of the ones in a word, the lowest first.
fn places(mut left: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CellId, PhichResource};
    use proptest::prelude::*;

    fn cell(id: u16, bandwidth: Bandwidth) -> Cell {
        Cell { id: CellId::new(id).unwrap(), bandwidth, phich: PhichResource::default() }
    }

    fn elements(bandwidth: Bandwidth, subframe: u64, cfi: u8) -> usize {
        pdsch_elements(&cell(1, bandwidth), Tti::new(subframe), cfi, &BlockSet::all(bandwidth))
    }

    #[test]
    fn a_carrier_has_as_many_elements_as_the_standard_leaves() {
        assert_eq!([1, 0].map(|subframe| elements(Bandwidth::Prb25, subframe, 2)), [3450, 3030]);
        assert_eq!(elements(Bandwidth::Prb25, 5, 1), 3606);
        assert_eq!(elements(Bandwidth::Prb100, 3, 1), 15_000);
        // In 6 blocks all of the middle is taken, and control channels have a symbol more.
        assert_eq!([0, 1].map(|subframe| elements(Bandwidth::Prb6, subframe, 1)), [72 * 6 - 24, 72 * 12 - 36]);
        assert_eq!((elements(Bandwidth::Prb15, 1, 0), elements(Bandwidth::Prb15, 1, 9)), (2250, 1890));
    }

    /// Whether the PDSCH has an element, by the words of the standard.
    fn is_free(cell: &Cell, tti: Tti, cfi: u8, symbol: usize, k: usize) -> bool {
        let (slot, l) = (symbol / 7, symbol % 7);
        let reference = |v: usize| k % 6 == (v + usize::from(cell.id.get())) % 6;
        let middle = (k as i64 - cell.bandwidth.subcarriers() as i64 / 2 + 36) as u64;
        let synchronisation = slot == 0 && l >= 5 && tti.subframe().is_multiple_of(5);
        let broadcast = slot == 1 && l < 4 && tti.subframe() == 0;
        symbol >= control_symbols(cell.bandwidth, cfi.clamp(1, 3))
            && !(l == 0 && reference(0) || l == 4 && reference(3))
            && !(middle < 72 && (synchronisation || broadcast))
    }

    proptest! {
        #[test]
        fn elements_are_free_ones_in_order_and_come_back(
            id in 0u16..504, bandwidth in prop::sample::select(&Bandwidth::ALL[..]), tti in 0u64..20, cfi in 0u8..5,
            bits in any::<[u64; 2]>(),
        ) {
            let (cell, tti) = (cell(id, bandwidth), Tti::new(tti));
            let chosen = |block: usize| bits[block / 64] >> (block % 64) & 1 == 1;
            let blocks = (0..bandwidth.blocks() + 8).filter(|&block| chosen(block));
            let blocks = blocks.fold(BlockSet::default(), BlockSet::with);
            let mut expected = Vec::new();
            for symbol in 0..14 {
                let subcarriers = 0..bandwidth.subcarriers();
                let free = subcarriers.filter(|k| chosen(k / 12) && is_free(&cell, tti, cfi, symbol, *k));
                expected.extend(free.map(|k| symbol * bandwidth.subcarriers() + k));
            }
            prop_assert_eq!(pdsch_elements(&cell, tti, cfi, &blocks), expected.len());
            let symbols: Vec<Complex32> = (0..expected.len()).map(|at| Complex32::new(1.0 + at as f32, 2.0)).collect();
            let mut grid = ResourceGrid::new(bandwidth);
            map_pdsch(&cell, tti, cfi, &blocks, &symbols, &mut grid);
            let mut wanted = ResourceGrid::new(bandwidth);
            expected.iter().zip(&symbols).for_each(|(at, symbol)| wanted.elements_mut()[*at] = *symbol);
            prop_assert!(grid == wanted);
            let mut back = vec![Complex32::default(); symbols.len()];
            gather_pdsch(&cell, tti, cfi, &blocks, &grid, &mut back);
            prop_assert_eq!(back, symbols);
        }
    }
}
