//! Items of the runtime as the kernels take them, bits as bytes and soft values as `i8`; and counts as results.

use takt_graph::Value;
use takt_runtime::{Bit, Llr};

pub(crate) fn bits(bits: &[Bit]) -> &[u8] {
    bytemuck::cast_slice(bits)
}

pub(crate) fn bits_mut(bits: &mut [Bit]) -> &mut [u8] {
    bytemuck::cast_slice_mut(bits)
}

pub(crate) fn llrs(llrs: &[Llr]) -> &[i8] {
    bytemuck::cast_slice(llrs)
}

pub(crate) fn llrs_mut(llrs: &mut [Llr]) -> &mut [i8] {
    bytemuck::cast_slice_mut(llrs)
}

/// Whether soft values say nothing at all. Decoders would make zeros of it, and of a block of zeros the CRC holds.
pub(crate) fn is_silence(llrs: &[Llr]) -> bool {
    llrs.iter().all(|llr| llr.0 == 0)
}

/// Counts of a component, by name.
pub(crate) fn counts<T: TryInto<i64>, const N: usize>(counts: [(&'static str, T); N]) -> Vec<(&'static str, Value)> {
    counts.into_iter().map(|(name, count)| (name, Value::Int(count.try_into().unwrap_or(i64::MAX)))).collect()
}
