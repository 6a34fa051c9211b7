//! The places of the synchronisation signals in the grid: TS 36.211 sections 6.11.1.2 and 6.11.2.2, frame structure type 1.

use num_complex::Complex32;

use super::{LEN, primary::primary, secondary::secondary};
use crate::{CellId, ResourceGrid, Tti};

/// Symbols of subframes 0 and 5.
const SECONDARY_SYMBOL: usize = 5;
const PRIMARY_SYMBOL: usize = 6;
/// Elements on either side that nothing may use.
const RESERVED: usize = 5;

/// Writes both signals into the 72 middle subcarriers of subframes 0 and 5: elements of power 1, and five empty ones on each
/// side. Other subframes stay as they are.
pub fn map_synchronisation(id: CellId, tti: Tti, grid: &mut ResourceGrid) {
    let in_subframe_0 = tti.subframe() == 0;
    if !in_subframe_0 && tti.subframe() != 5 {
        return;
    }
    middle(grid, PRIMARY_SYMBOL).copy_from_slice(&primary(usize::from(id.within_group())));
    let signs = secondary(id, in_subframe_0);
    let elements = middle(grid, SECONDARY_SYMBOL).iter_mut();
    elements.zip(signs).for_each(|(element, sign)| *element = Complex32::from(f32::from(sign)));
}

/// The 62 elements in the middle of a symbol, whose neighbours it empties.
fn middle(grid: &mut ResourceGrid, symbol: usize) -> &mut [Complex32] {
    let first = grid.subcarriers() / 2 - LEN / 2 - RESERVED;
    let all = &mut grid.symbol_mut(symbol)[first..][..LEN + 2 * RESERVED];
    all.fill(Complex32::default());
    &mut all[RESERVED..][..LEN]
}
