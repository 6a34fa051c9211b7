//! Buffers of one port, as the kernel is shown them (`struct io_uring_buf_ring`, io_uring_register_buf_ring(3)).

use std::io;

use io_uring::IoUring;
use rustix::io::Errno;

use crate::sys::memory::Memory;

/// Bytes of a `struct io_uring_buf`: address, length, number, and in the first of a ring its tail.
const ENTRY_BYTES: usize = 16;
const TAIL_AT: usize = 14;

/// A ring of buffers that the kernel may fill.
#[derive(Debug)]
pub(super) struct Group {
    entries: Memory,
    tail: u16,
}

impl Group {
    /// Group `number` of `uring`, which outlives it, with room for `buffers` and none yet.
    pub(super) fn register(uring: &IoUring, number: usize, buffers: usize) -> io::Result<Group> {
        let group = Group { entries: Memory::new(buffers * ENTRY_BYTES)?, tail: 0 };
        let (address, _) = group.entries.span();
        let (count, number) = (u16::try_from(buffers), u16::try_from(number));
        let (Ok(count), Ok(number)) = (count, number) else { return Err(Errno::INVAL.into()) };
        // SAFETY: `count` entries lie there, page-aligned, zeroed (no buffer yet), and live as long as the ring: who has both
        // drops the ring first.
        #[allow(unsafe_code)]
        unsafe {
            uring.submitter().register_buf_ring_with_flags(address, count, number, 0)?;
        }
        Ok(group)
    }

    /// Adds a buffer at the tail. The kernel reads entries and tail inside calls only, so plain writes do.
    pub(super) fn push(&mut self, address: u64, bytes: usize, number: u16, entries: usize) {
        let at = (usize::from(self.tail) & (entries - 1)) * ENTRY_BYTES;
        self.tail = self.tail.wrapping_add(1);
        let tail = self.tail.to_ne_bytes();
        let memory = self.entries.bytes_mut();
        if let Some(entry) = memory.get_mut(at..at + TAIL_AT) {
            entry[..8].copy_from_slice(&address.to_ne_bytes());
            entry[8..12].copy_from_slice(&u32::try_from(bytes).unwrap_or(0).to_ne_bytes());
            entry[12..14].copy_from_slice(&number.to_ne_bytes());
        }
        if let Some(place) = memory.get_mut(TAIL_AT..ENTRY_BYTES) {
            place.copy_from_slice(&tail);
        }
    }
}
