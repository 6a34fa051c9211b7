//! Items of the runtime as the kernels take them: bits as bytes, soft values as `i8`.

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
