//! [`Lent`]: memory of another owner that a port has for the time of one tick: of a cell of its ring, or of the program that
//! loaded a component's library. So a component looks for its packet once, whichever it is.
#![allow(unsafe_code)]

use super::Sample;
use super::packet::Buffer;

/// Bytes of another owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: an address and a length. Who made it promised what holds where it is used; it is taken back at the end of the
// tick, before the port can move to another thread.
unsafe impl Send for Lent {}

impl Buffer {
    /// So many bytes of the margin and the items behind them.
    ///
    /// # Safety
    /// As [`Lent::new`], to read.
    #[inline]
    pub(super) unsafe fn lend(&self, history: usize, bytes: usize) -> Lent {
        if history > self.margin_bytes() || bytes > self.room_bytes() {
            return Lent::NONE;
        }
        // SAFETY: margin and room lie behind each other in one piece of memory, and neither is exceeded; the rest is the
        // caller's promise.
        unsafe { Lent::new(self.start().add(self.margin_bytes() - history).cast_mut(), history + bytes) }
    }

    /// All items there is room for.
    ///
    /// # Safety
    /// As [`Lent::new`], to write.
    #[inline]
    pub(super) unsafe fn lend_mut(&mut self) -> Lent {
        let (margin, room) = (self.margin_bytes(), self.room_bytes());
        // SAFETY: margin and room lie behind each other in one piece of memory; the rest is the caller's promise.
        unsafe { Lent::new(self.start_mut().add(margin), room) }
    }
}

impl Lent {
    pub(crate) const NONE: Lent = Lent { start: std::ptr::dangling_mut(), bytes: 0 };

    /// `bytes` bytes from `start`.
    ///
    /// # Safety
    /// Until this value and its copies are gone: the memory is readable, nobody else writes it; and where it is given to
    /// an output it is writable and nobody else's at all.
    #[inline]
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

#[cfg(test)]
mod tests {
    use super::super::packet::{LINE, Room};
    use super::*;

    #[test]
    fn history_is_contiguous_with_the_items_and_what_is_too_long_is_nothing() {
        let mut buffer = Buffer::new(Room { bytes: 10, margin_bytes: 6 });
        buffer.items_mut::<u8>()[..3].copy_from_slice(&[7, 8, 9]);
        buffer.set_history(&[4, 5, 6]);
        // SAFETY: nobody writes the buffer while it is lent.
        let lend = |history, bytes| unsafe { buffer.lend(history, bytes) };
        assert_eq!(lend(3, 3).items::<u8>(), [4, 5, 6, 7, 8, 9]);
        assert_eq!([lend(LINE + 1, 3), lend(3, LINE + 1), lend(0, 0)], [Lent::NONE; 3]);
    }
}
