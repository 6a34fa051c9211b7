//! The signal of a cell: its pilots, and random QPSK everywhere else.

use num_complex::Complex32;
use takt_lte::{Bandwidth, Cell, CellId, PhichResource, ResourceGrid, Tti, map_cell_reference};

pub fn cell(id: u16, bandwidth: Bandwidth) -> Cell {
    Cell { id: CellId::new(id).unwrap(), bandwidth, phich: PhichResource::One }
}

pub fn subframe(cell: &Cell, tti: Tti, random: &mut Random) -> ResourceGrid {
    let mut grid = ResourceGrid::new(cell.bandwidth);
    for element in grid.elements_mut() {
        let quarter = (random.next() >> 62) as f32 + 0.5;
        *element = Complex32::from_polar(1.0, std::f32::consts::FRAC_PI_2 * quarter);
    }
    map_cell_reference(cell, tti, &mut grid);
    grid
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Evenly from 0 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// Complex, Gaussian, of this power.
    pub fn noise(&mut self, power: f32) -> Complex32 {
        let radius = (-power * (1.0 - self.unit()).ln()).sqrt();
        Complex32::from_polar(radius, std::f32::consts::TAU * self.unit())
    }
}
