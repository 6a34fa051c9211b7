//! Fourier transforms of the PUSCH for all numbers of blocks: transform precoding, TS 36.211 section 5.3.3.

use std::sync::Arc;

use num_complex::Complex32;
use takt_fft::{Fft, FftDirection};

use super::valid_uplink_blocks;
use crate::{Bandwidth, SUBCARRIERS_OF_BLOCK};

/// In one direction, scaled so that power stays.
pub(super) struct Transforms {
    by_blocks: Vec<Option<Arc<dyn Fft<f32>>>>,
    scratch: Vec<Complex32>,
}

impl Transforms {
    pub(super) fn new(bandwidth: Bandwidth, direction: FftDirection) -> Transforms {
        let plan = |blocks| takt_fft::plan(blocks * SUBCARRIERS_OF_BLOCK, direction);
        let by_blocks: Vec<_> =
            (0..=bandwidth.blocks()).map(|blocks| valid_uplink_blocks(blocks).then(|| plan(blocks))).collect();
        let scratch = by_blocks.iter().flatten().map(|plan| plan.get_inplace_scratch_len()).max().unwrap_or(0);
        Transforms { by_blocks, scratch: vec![Complex32::default(); scratch] }
    }

    /// Transforms the values of a symbol.
    pub(super) fn apply(&mut self, symbol: &mut [Complex32]) {
        let plan = self.by_blocks[symbol.len() / SUBCARRIERS_OF_BLOCK].as_ref().expect("a valid number of blocks");
        let scratch = &mut self.scratch[..plan.get_inplace_scratch_len()];
        plan.process_with_scratch(symbol, scratch);
        let scale = 1.0 / (symbol.len() as f32).sqrt();
        symbol.iter_mut().for_each(|value| *value *= scale);
    }
}
