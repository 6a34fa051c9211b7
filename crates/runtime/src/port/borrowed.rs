//! [`BorrowedPacket`]: memory of another owner that a port has while its component executes: of a cell of its ring, of its scratch
//! cell, or of the packet that it keeps. So a component looks for its packet once, whichever it is.
//!
//! **From when until when.** A port borrows when it is opened for a slot. Nothing gives the cell away without ending that: input
//! ports release it, output ports hand it over, both exchange its buffer. A worker finishes all ports of a component after it has
//! executed, also if it has panicked.
#![allow(unsafe_code)]

use super::Sample;
use super::packet::Buffer;

/// Bytes of another owner. Not `Copy`: a port has the only one of its packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BorrowedPacket {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: an address and a length, and nothing about them belongs to a thread. They lead to memory that may move to another
// thread, as its owners are `Send`: cells of the port's own ring, which the port keeps alive, and cells that it owns.
unsafe impl Send for BorrowedPacket {}

impl Buffer {
    /// So many bytes of the margin and the items behind them.
    ///
    /// # Safety
    /// As [`BorrowedPacket::new`], to read.
    #[inline]
    pub(super) unsafe fn lend(&self, history: usize, bytes: usize) -> BorrowedPacket {
        if history > self.margin_bytes() || bytes > self.room_bytes() {
            return BorrowedPacket::NONE;
        }
        // SAFETY: margin and room lie behind each other in one piece of memory, and neither is exceeded; the rest is the
        // caller's promise.
        unsafe { BorrowedPacket::new(self.start().add(self.margin_bytes() - history).cast_mut(), history + bytes) }
    }

    /// All items there is room for.
    ///
    /// # Safety
    /// As [`BorrowedPacket::new`], to write.
    #[inline]
    pub(super) unsafe fn lend_mut(&mut self) -> BorrowedPacket {
        let (margin, room) = (self.margin_bytes(), self.room_bytes());
        // SAFETY: margin and room lie behind each other in one piece of memory; the rest is the caller's promise.
        unsafe { BorrowedPacket::new(self.start_mut().add(margin), room) }
    }
}

impl BorrowedPacket {
    pub(super) const NONE: BorrowedPacket = BorrowedPacket { start: std::ptr::dangling_mut(), bytes: 0 };

    /// `bytes` bytes from `start`.
    ///
    /// # Safety
    /// Until this value is gone, or ended ([`BorrowedPacket::end`]): the memory is there and readable, nobody else writes it; and
    /// where it is given to an output it is writable and nobody else's at all.
    #[inline]
    unsafe fn new(start: *mut u8, bytes: usize) -> BorrowedPacket {
        if bytes == 0 { BorrowedPacket::NONE } else { BorrowedPacket { start, bytes } }
    }

    /// Nothing of the memory is reached through this any more.
    #[inline(always)]
    pub(super) fn end(&mut self) {
        self.bytes = 0;
    }

    /// As items; none where the address does not suit their alignment.
    #[inline]
    pub(super) fn items<T: Sample>(&self) -> &[T] {
        // SAFETY: readable and unchanged, as whoever called `new` promised until `end`; for no byte a dangling address will
        // do.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.bytes) };
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }

    /// As items to write; none where the address does not suit their alignment.
    #[inline]
    pub(super) fn items_mut<T: Sample>(&mut self) -> &mut [T] {
        // SAFETY: an output's memory is writable and nobody else's, as whoever called `new` promised until `end`; this is the
        // one value of it, borrowed exclusively. For no byte a dangling address will do.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) };
        bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::super::packet::{LINE, Room};
    use super::super::{Grant, Header, InPort, OutPort, Warm};
    use super::*;

    #[test]
    fn history_is_contiguous_with_the_items_and_what_is_too_long_is_nothing() {
        let mut buffer = Buffer::new(Room { bytes: 10, margin_bytes: 6 });
        buffer.items_mut::<u8>()[..3].copy_from_slice(&[7, 8, 9]);
        buffer.set_history(&[4, 5, 6]);
        // SAFETY: nobody writes the buffer while it is lent.
        let lend = |history, bytes| unsafe { buffer.lend(history, bytes) };
        assert_eq!(lend(3, 3).items::<u8>(), [4, 5, 6, 7, 8, 9]);
        assert_eq!([lend(LINE + 1, 3), lend(3, LINE + 1), lend(0, 0)], [BorrowedPacket::NONE; 3]);
    }

    #[test]
    fn a_component_that_panics_keeps_no_packet() {
        let room = Room { bytes: 4, margin_bytes: 2 };
        let mut input = InPort::without_link(u8::ITEM, 2);
        input.keep_last(room);
        let mut output = OutPort::new(u8::ITEM, Grant::Fixed(4), Vec::new(), room, 0);
        input.place(&[1, 2], &[3, 4, 5], Header::new(0, 0, 3, false));
        output.begin(0, &[], &mut Warm::default());
        let mut had = (Vec::new(), 0);
        let executed: std::thread::Result<()> = catch_unwind(AssertUnwindSafe(|| {
            had = (input.bytes_with_history().to_vec(), output.bytes_mut().len());
            resume_unwind(Box::new("a mistake"));
        }));
        assert!(executed.is_err());
        assert_eq!(had, (vec![1, 2, 3, 4, 5], 4));
        input.finish(0);
        output.finish(true);
        assert_eq!((input.bytes_with_history(), &*output.bytes_mut()), (&[][..], &[][..]));
    }
}
