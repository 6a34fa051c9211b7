//! Pages of memory that the kernel reads and writes too, at times that its user knows.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Zeroed pages of this process, there from the start. They are this value's alone, and stay where they are.
#[derive(Debug)]
pub(crate) struct Memory {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process; nothing about it belongs to a thread, and access follows borrows of `self`.
#[allow(unsafe_code)]
unsafe impl Send for Memory {}

impl Memory {
    /// At least one page.
    pub(crate) fn new(bytes: usize) -> Result<Memory, Errno> {
        let bytes = bytes.max(1).next_multiple_of(rustix::param::page_size());
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::POPULATE);
        // SAFETY: no address is requested, so that nothing mapped before is replaced.
        #[allow(unsafe_code)]
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, kind) }?;
        let at = NonNull::new(at.cast()).ok_or(Errno::NOMEM)?;
        Ok(Memory { at, bytes })
    }

    /// In two, the first of them of the given length, in whole pages. Each is unmapped by its own owner.
    pub(crate) fn split(self, bytes: usize) -> (Memory, Memory) {
        let first = bytes.next_multiple_of(rustix::param::page_size()).min(self.bytes);
        let whole = ManuallyDrop::new(self);
        // SAFETY: in bounds of the mapping, or at its end.
        #[allow(unsafe_code)]
        let rest = unsafe { whole.at.add(first) };
        (Memory { at: whole.at, bytes: first }, Memory { at: rest, bytes: whole.bytes - first })
    }

    /// A part, in bounds or empty; other parts may be the kernel's.
    ///
    /// # Safety
    /// The kernel neither reads nor writes this part while it is borrowed.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn part_mut(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        if at.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            return &mut [];
        }
        // SAFETY: in bounds of a mapping that lives as long as `self`, which is borrowed mutably; every byte pattern is one.
        // The kernel stays away: the caller promises that.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr().add(at), bytes) }
    }

    /// Its address and length, for the kernel.
    pub(crate) fn span(&self) -> (u64, u64) {
        (self.at.as_ptr().expose_provenance() as u64, self.bytes as u64)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `bytes` readable bytes, initialised (zeroed), mapped until drop; they change only while `self` is
        // borrowed mutably: by `bytes_mut`, or by the kernel while a call is under way that borrows it so (`ring`,
        // `xsk` say which).
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.at.as_ptr(), self.bytes)
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, writable, and `self` is borrowed mutably.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts_mut(self.at.as_ptr(), self.bytes)
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: these pages are ours alone, and nobody can use them after this; none at all is an error and no more.
        #[allow(unsafe_code)]
        let _unmapped = unsafe { munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_whole_pages_zeroed_and_keeps_what_is_written() {
        let mut memory = Memory::new(5000).unwrap();
        assert_eq!(memory.bytes().len() % 4096, 0);
        assert!(memory.bytes().iter().all(|&byte| byte == 0));
        memory.bytes_mut()[4999] = 7;
        assert_eq!(memory.bytes()[4999], 7);
        assert_eq!(memory.span().0 % 4096, 0);
    }
    #[test]
    fn halves_are_apart_and_each_outlives_the_other() {
        let whole = Memory::new(3 * 4096).unwrap();
        let start = whole.span().0;
        let (mut first, mut second) = whole.split(4096);
        assert_eq!((first.span(), second.span()), ((start, 4096), (start + 4096, 8192)));
        first.bytes_mut().fill(1);
        assert!(second.bytes().iter().all(|&byte| byte == 0));
        drop(first);
        second.bytes_mut().fill(2);
        let (second, nothing) = second.split(9000);
        assert_eq!((second.bytes()[8191], nothing.bytes().len()), (2, 0));
    }
}
