//! Places and values of pilots: TS 36.211 sections 6.10.1.1 and 6.10.1.2, port 0, normal prefix.

use std::f32::consts::FRAC_1_SQRT_2;

use num_complex::Complex32;
use takt_dsp::lte::Gold;

use crate::{Bandwidth, Cell, CellId, ResourceGrid, SYMBOLS_OF_SLOT, Tti};

/// The symbols of a subframe that carry pilots of port 0.
pub const REFERENCE_SYMBOLS: [usize; 4] = [0, 4, 7, 11];

/// Subcarriers from a pilot to the next of its symbol.
pub(super) const SPACING: usize = 6;

/// Resource blocks of the widest carrier, for which the sequence is made.
const WIDEST: usize = 110;

/// The lowest subcarrier, 0 to 5, with a pilot in symbol 0 to 13 of a subframe, if the symbol has any. Every sixth from there
/// has one.
#[must_use]
pub fn reference_comb(id: CellId, symbol: usize) -> Option<usize> {
    let shift = match symbol % SYMBOLS_OF_SLOT {
        0 => 0,
        4 => 3,
        _ => return None,
    };
    Some((shift + usize::from(id.get())) % SPACING)
}

/// Writes the pilots of a subframe into their places, with power 1, and leaves all other elements as they are.
///
/// # Panics
/// If the grid has another bandwidth than the cell.
pub fn map_cell_reference(cell: &Cell, tti: Tti, grid: &mut ResourceGrid) {
    assert_eq!(grid.subcarriers(), cell.bandwidth.subcarriers(), "subcarriers of the grid and of the cell");
    for symbol in REFERENCE_SYMBOLS {
        let places = grid.symbol_mut(symbol).iter_mut().skip(comb(cell.id, symbol)).step_by(SPACING);
        places.zip(pilots(cell.id, cell.bandwidth, tti, symbol)).for_each(|(place, pilot)| *place = pilot);
    }
}

/// The comb of one of the [`REFERENCE_SYMBOLS`].
pub(super) fn comb(id: CellId, symbol: usize) -> usize {
    reference_comb(id, symbol).expect("a symbol with pilots")
}

/// The pilots of one of the [`REFERENCE_SYMBOLS`], the lowest subcarrier first.
pub(super) fn pilots(id: CellId, bandwidth: Bandwidth, tti: Tti, symbol: usize) -> impl Iterator<Item = Complex32> {
    // A narrow carrier has the middle of the widest one's sequence.
    let mut at = 2 * (WIDEST - bandwidth.blocks());
    let mut gold = Gold::new(c_init(id, tti, symbol));
    let mut word = 0;
    (0..=at / 64).for_each(|_| word = gold.next_word());
    std::iter::repeat_with(move || {
        let pair = word >> (at % 64);
        at += 2;
        if at.is_multiple_of(64) {
            word = gold.next_word();
        }
        let axis = |bit: u64| if bit & 1 == 0 { FRAC_1_SQRT_2 } else { -FRAC_1_SQRT_2 };
        Complex32::new(axis(pair), axis(pair >> 1))
    })
    .take(2 * bandwidth.blocks())
}

/// Section 6.10.1.1, with N_CP = 1.
fn c_init(id: CellId, tti: Tti, symbol: usize) -> u32 {
    let slot = (tti.first_slot() + symbol / SYMBOLS_OF_SLOT) as u32;
    let within = (symbol % SYMBOLS_OF_SLOT) as u32;
    let id = u32::from(id.get());
    ((7 * (slot + 1) + within + 1) * (2 * id + 1)) << 10 | (2 * id + 1)
}
