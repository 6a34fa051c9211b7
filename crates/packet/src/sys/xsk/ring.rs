//! One ring of an AF_XDP socket, mapped, with us as its producer or its consumer.
//!
//! **Orderings.** Each ring has one producer and one consumer, we and the kernel. A producer writes entries, then stores
//! its index with Release; the consumer loads it with Acquire and sees all of them. The consumer stores its index with
//! Release once it has read an entry, and the producer, who loads it with Acquire, overwrites none that is still read.
//! Indices run freely and wrap; a ring has a power of two of entries.

use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::Pod;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::xdp::{XdpRingFlags, XdpRingOffset};

/// One ring, mapped.
pub(super) struct Ring<T> {
    at: NonNull<u8>,
    bytes: usize,
    producer: usize,
    consumer: usize,
    flags: Option<usize>,
    entries: usize,
    size: u32,
    /// Our index: of the next entry to write, or to read.
    next: u32,
    _of: std::marker::PhantomData<T>,
}

// SAFETY: a mapping belongs to the process; nothing about it belongs to a thread, and access follows borrows of `self`.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Pod> Ring<T> {
    pub(super) fn map(socket: BorrowedFd<'_>, at: XdpRingOffset, size: u32, page: u64) -> Result<Ring<T>, Errno> {
        let offset = |offset: u64| usize::try_from(offset).map_err(|_| Errno::OVERFLOW);
        let entries = offset(at.desc)?;
        let bytes = entries + size as usize * size_of::<T>();
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: no address is requested, so that nothing mapped before is replaced.
        #[allow(unsafe_code)]
        let mapped = unsafe { mmap(std::ptr::null_mut(), bytes, access, kind, socket, page) }?;
        let at_flags = at.flags.map(offset).transpose()?;
        let (producer, consumer) = (offset(at.producer)?, offset(at.consumer)?);
        let ring = Ring {
            at: NonNull::new(mapped.cast()).ok_or(Errno::NOMEM)?,
            bytes,
            producer,
            consumer,
            flags: at_flags,
            entries,
            size,
            next: 0,
            _of: std::marker::PhantomData,
        };
        // Every later access relies on these: three words, and `size` aligned entries behind them, inside the mapping.
        let word_fits = |at: usize| at.is_multiple_of(4) && at + 4 <= bytes;
        let fits = word_fits(producer) && word_fits(consumer) && at_flags.is_none_or(word_fits);
        if fits && entries.is_multiple_of(align_of::<T>()) && size.is_power_of_two() {
            Ok(ring)
        } else {
            Err(Errno::PROTO)
        }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: an aligned word inside the mapping (checked in `map`), which lives as long as `self`; both sides use it
        // atomically only.
        #[allow(unsafe_code)]
        unsafe {
            AtomicU32::from_ptr(self.at.as_ptr().add(offset).cast())
        }
    }

    fn entry(&self, index: u32) -> *mut T {
        let place = (index & (self.size - 1)) as usize * size_of::<T>();
        self.at.as_ptr().wrapping_add(self.entries + place).cast()
    }

    /// As producer: writes an entry that [`Ring::publish`] hands over; left out if the ring is full.
    pub(super) fn push(&mut self, value: T) {
        if self.waiting() >= self.size {
            return;
        }
        // SAFETY: an aligned entry inside the mapping (`map`), which the consumer does not read: its index is below the
        // one published, or it has been consumed.
        #[allow(unsafe_code)]
        unsafe {
            self.entry(self.next).write(value);
        }
        self.next = self.next.wrapping_add(1);
    }

    /// As producer: what was written is the consumer's.
    pub(super) fn publish(&mut self) {
        self.word(self.producer).store(self.next, Ordering::Release);
    }

    /// As producer: entries that were written and not taken.
    pub(super) fn waiting(&self) -> u32 {
        self.next.wrapping_sub(self.word(self.consumer).load(Ordering::Acquire))
    }

    /// As producer: whether the consumer waits to be woken.
    pub(super) fn needs_wakeup(&self) -> bool {
        let flags = self.flags.map(|at| self.word(at).load(Ordering::Relaxed));
        // Without the flag a kernel always wants it (before Linux 5.4).
        flags.is_none_or(|flags| flags & XdpRingFlags::XDP_RING_NEED_WAKEUP.bits() != 0)
    }

    /// As consumer: the next entry, which then is the producer's again.
    pub(super) fn pop(&mut self) -> Option<T> {
        let value = self.peek()?;
        self.next = self.next.wrapping_add(1);
        self.word(self.consumer).store(self.next, Ordering::Release);
        Some(value)
    }

    /// As consumer: the next entry.
    pub(super) fn peek(&self) -> Option<T> {
        let written = self.word(self.producer).load(Ordering::Acquire);
        if written == self.next {
            return None;
        }
        // SAFETY: an aligned entry inside the mapping (`map`) that the producer has written before it stored its index, and
        // does not overwrite before ours has passed it. Every bit pattern is a `T`, which is `Pod`.
        #[allow(unsafe_code)]
        Some(unsafe { self.entry(self.next).read() })
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and nobody can use it after this.
        #[allow(unsafe_code)]
        let _unmapped = unsafe { munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}
