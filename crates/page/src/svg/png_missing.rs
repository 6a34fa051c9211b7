//! PNG in a program that was built without it.

use crate::{Figure, PngError};

impl Figure {
    /// Refuses: this build draws no PNG.
    ///
    /// # Errors
    /// `NotBuilt`, always.
    pub fn to_print_png(&self, _width_mm: f64) -> Result<Vec<u8>, PngError> {
        Err(PngError::NotBuilt)
    }
}
