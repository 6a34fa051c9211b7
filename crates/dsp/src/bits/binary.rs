//! The items that block kernels move about.

/// A binary digit in a byte: hard (`u8`: 0 or 1, other marks as they are) or soft (`i8`: positive means 0, the further from
/// zero the surer, 0 means unknown).
///
/// Kernels that only move items, the interleavers above all, take both. Nothing else implements it.
pub trait Binary: bytemuck::Pod + private::Sealed {}

impl Binary for u8 {}
impl Binary for i8 {}

mod private {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for i8 {}
}
