//! [`Map`]: memory that processes share, as words. All access is by atomic operations, so that whatever another side
//! writes, and whenever it does, is a value and never undefined behaviour.
#![allow(unsafe_code)]

use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A map that several threads keep.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<Map>);

impl Deref for Shared {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}

/// Shared words; unmapped when dropped. The memory has no name: it is gone with the last process that has it.
#[derive(Debug)]
pub struct Map {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the address of atomic words, which any thread may use; unmapped by whoever drops the only owner.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

/// A file that can't change its size: no process can take the pages away.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

impl Map {
    /// Takes new memory, all zero, and the descriptor by which another process maps it, if there are both.
    pub fn create(words: usize) -> io::Result<(Map, OwnedFd)> {
        let file = memfd_create("takt-isolated", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, (words * size_of::<AtomicU64>()) as u64)?;
        fcntl_add_seals(&file, SEALS)?;
        Ok((Map::of(&file)?, file))
    }

    /// Maps what another process created; refuses other memory.
    pub fn of(file: impl AsFd) -> io::Result<Map> {
        if !fcntl_get_seals(&file)?.contains(SEALS) {
            return Err(io::Error::other("shared memory whose size is not sealed"));
        }
        let bytes = usize::try_from(fstat(&file)?.st_size).map_err(io::Error::other)?;
        let words = bytes / size_of::<AtomicU64>();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice: no other memory is touched.
        let start =
            unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED | MapFlags::POPULATE, &file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a mapping at address 0"))?;
        Ok(Map { start, words })
    }
}

impl Deref for Map {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: as many words as are mapped until `drop`, page-aligned, of a file whose size is sealed, so that every
        // page is there. They are atomic: other processes may write them at any time.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping of `of`, whole; nobody borrows it while it is dropped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.words * size_of::<AtomicU64>()) };
    }
}
