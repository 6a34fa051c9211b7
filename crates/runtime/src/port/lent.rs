//! [`Lent`]: memory of another owner that a port has for the time of one tick. A component in a shared library sees
//! the packets of the program that loaded it where they lie.
#![allow(unsafe_code)]

use super::Sample;

/// Bytes of another owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: an address and a length. Who made it promised what holds where it is used; it is taken back at the end of the
// tick, before the port can move to another thread.
unsafe impl Send for Lent {}

impl Lent {
    pub(crate) const NONE: Lent = Lent { start: std::ptr::dangling_mut(), bytes: 0 };

    /// `bytes` bytes from `start`.
    ///
    /// # Safety
    /// Until this value and its copies are gone: the memory is readable, nobody else writes it; and where it is given to
    /// an output it is writable and nobody else's at all.
    pub(crate) unsafe fn new(start: *mut u8, bytes: usize) -> Lent {
        if bytes == 0 { Lent::NONE } else { Lent { start, bytes } }
    }

    /// As items; none where the address does not suit their alignment.
    #[inline]
    pub(crate) fn items<T: Sample>(&self) -> &[T] {
        // SAFETY: readable and unchanged, as whoever called `new` promised; for no byte a dangling address will do.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.bytes) };
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }

    /// As items to write; none where the address does not suit their alignment.
    #[inline]
    pub(crate) fn items_mut<T: Sample>(&mut self) -> &mut [T] {
        // SAFETY: an output's memory is writable and nobody else's, as whoever called `new` promised; this is the one
        // value of it that an output holds, borrowed exclusively.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) };
        bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
    }
}
