//! The resource elements of a subframe: symbols by subcarriers, TS 36.211 sections 5.2.2 and 6.2.2.

use num_complex::Complex32;

use crate::{Bandwidth, SYMBOLS};

/// One subframe of a carrier: 14 rows, symbol after symbol, of a value each subcarrier, the lowest first. The average power of
/// a used element is 1 by convention.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceGrid {
    subcarriers: usize,
    elements: Vec<Complex32>,
}

impl ResourceGrid {
    /// An empty one.
    #[must_use]
    pub fn new(bandwidth: Bandwidth) -> ResourceGrid {
        let subcarriers = bandwidth.subcarriers();
        ResourceGrid { subcarriers, elements: vec![Complex32::default(); SYMBOLS * subcarriers] }
    }

    /// Subcarriers of a symbol.
    #[must_use]
    pub fn subcarriers(&self) -> usize {
        self.subcarriers
    }

    /// Symbol 0 to 13.
    #[must_use]
    pub fn symbol(&self, symbol: usize) -> &[Complex32] {
        &self.elements[symbol * self.subcarriers..][..self.subcarriers]
    }

    /// Symbol 0 to 13.
    pub fn symbol_mut(&mut self, symbol: usize) -> &mut [Complex32] {
        &mut self.elements[symbol * self.subcarriers..][..self.subcarriers]
    }

    /// All elements, symbol after symbol.
    #[must_use]
    pub fn elements(&self) -> &[Complex32] {
        &self.elements
    }

    /// All elements, symbol after symbol.
    pub fn elements_mut(&mut self) -> &mut [Complex32] {
        &mut self.elements
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.elements.fill(Complex32::default());
    }
}
