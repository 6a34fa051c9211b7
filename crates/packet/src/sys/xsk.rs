//! An AF_XDP socket (kernel documentation, networking/af_xdp.rst): chunks of memory that frames lie in, and four rings by
//! which chunks change hands.
//!
//! ```text
//!            fill: empty chunks                 tx: filled chunks
//!    us ------------------------> kernel   us ------------------------> kernel
//!       <------------------------             <------------------------
//!            rx: filled chunks                  completion: empty chunks
//! ```
//!
//! **Who may touch a chunk.** The first [`Sizes::receive`] chunks are for receiving, the others for sending, and no number
//! is ever in two places: a chunk is ours from its descriptor in `rx` until it is put into `fill`, and from its number in
//! `completion` (or the start) until it is put into `tx`. Between those it is the kernel's. Bytes are lent only inside one
//! call of [`Xsk::receive`] or [`Xsk::send`], in which the chunk is ours.
//!
//! **Orderings.** Each ring has one producer and one consumer, we and the kernel. A producer writes entries, then stores
//! its index with Release; the consumer loads it with Acquire and sees all of them. The consumer stores its index with
//! Release once it has read an entry, and the producer, who loads it with Acquire, overwrites none that is still read.
//! Indices run freely and wrap; a ring has a power of two of entries.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
    XDP_UMEM_PGOFF_FILL_RING, XdpOptionsFlags, XdpRingFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with, sockopt,
};

use super::memory::Memory;
use super::option;

/// Bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = 2048;
/// Bytes that the kernel leaves free at the front of a chunk it receives into (`XDP_PACKET_HEADROOM`, linux/bpf.h).
const HEADROOM_BYTES: usize = 256;
/// The longest frame that can be received.
pub(crate) const FRAME_BYTES: usize = CHUNK_BYTES - HEADROOM_BYTES;

/// asm-generic/socket.h: microseconds, a switch, frames.
const SO_BUSY_POLL: i32 = 46;
const SO_PREFER_BUSY_POLL: i32 = 69;
const SO_BUSY_POLL_BUDGET: i32 = 70;

/// How many chunks, powers of two both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) receive: u32,
    pub(crate) send: u32,
}

/// A step of opening that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) call: &'static str,
    pub(crate) errno: Errno,
}

/// A socket bound to one queue of an interface.
pub(crate) struct Xsk {
    // Closed first: the kernel lets go of the memory below.
    socket: OwnedFd,
    fill: Ring<u64>,
    completion: Ring<u64>,
    rx: Ring<Descriptor>,
    tx: Ring<Descriptor>,
    memory: Memory,
    sizes: Sizes,
    /// Chunks for sending that are ours, by number.
    free: Vec<u32>,
    zero_copy: bool,
}

/// `struct xdp_desc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Descriptor {
    address: u64,
    bytes: u32,
    options: u32,
}

impl Xsk {
    /// # Errors
    /// The first step that the kernel refused.
    pub(crate) fn open(interface: u32, queue: u32, sizes: Sizes) -> Result<Xsk, Failed> {
        let of = |call| move |errno| Failed { call, errno };
        let socket = socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(of("socket AF_XDP"))?;
        let chunks = (sizes.receive + sizes.send) as usize;
        let memory = Memory::new(chunks * CHUNK_BYTES).map_err(of("mmap"))?;
        let (addr, len) = memory.span();
        let region = XdpUmemReg {
            addr,
            len,
            chunk_size: CHUNK_BYTES as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        sockopt::set_xdp_umem_reg(&socket, region).map_err(of("setsockopt XDP_UMEM_REG"))?;
        sockopt::set_xdp_umem_fill_ring_size(&socket, sizes.receive).map_err(of("setsockopt XDP_UMEM_FILL_RING"))?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, sizes.send)
            .map_err(of("setsockopt XDP_UMEM_COMPLETION_RING"))?;
        sockopt::set_xdp_rx_ring_size(&socket, sizes.receive).map_err(of("setsockopt XDP_RX_RING"))?;
        sockopt::set_xdp_tx_ring_size(&socket, sizes.send).map_err(of("setsockopt XDP_TX_RING"))?;
        let at = sockopt::xdp_mmap_offsets(&socket).map_err(of("getsockopt XDP_MMAP_OFFSETS"))?;
        let fd = socket.as_fd();
        let of_ring = of("mmap of an AF_XDP ring");
        let fill = Ring::map(fd, at.fr, sizes.receive, XDP_UMEM_PGOFF_FILL_RING).map_err(of_ring)?;
        let completion = Ring::map(fd, at.cr, sizes.send, XDP_UMEM_PGOFF_COMPLETION_RING).map_err(of_ring)?;
        let rx = Ring::map(fd, at.rx, sizes.receive, XDP_PGOFF_RX_RING).map_err(of_ring)?;
        let tx = Ring::map(fd, at.tx, sizes.send, XDP_PGOFF_TX_RING).map_err(of_ring)?;
        let free = (sizes.receive..sizes.receive + sizes.send).rev().collect();
        let mut xsk = Xsk { socket, fill, completion, rx, tx, memory, sizes, free, zero_copy: false };
        (0..sizes.receive).for_each(|chunk| xsk.give_back(chunk));
        xsk.refill();
        let address = SocketAddrXdp::new(SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP, interface, queue);
        bind(&xsk.socket, &address).map_err(of("bind AF_XDP"))?;
        let options = sockopt::xdp_options(&xsk.socket).map_err(of("getsockopt XDP_OPTIONS"))?;
        xsk.zero_copy = options.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY);
        Ok(xsk)
    }

    /// Has [`Xsk::wake`] do the driver's work, for so long and so many frames a call (networking/napi.rst, busy polling).
    pub(crate) fn poll_driver(&self) -> Result<(), Errno> {
        for (option, value) in [(SO_PREFER_BUSY_POLL, 1), (SO_BUSY_POLL, 20), (SO_BUSY_POLL_BUDGET, 64)] {
            option::set(self.socket.as_fd(), libc::SOL_SOCKET, option, value)?;
        }
        Ok(())
    }

    /// Whether the driver reads and writes the chunks themselves; otherwise the kernel copies.
    pub(crate) fn zero_copy(&self) -> bool {
        self.zero_copy
    }

    pub(crate) fn has_frame(&self) -> bool {
        self.rx.peek().is_some()
    }

    /// The stamp before the next frame, 0 if it has none; `None` when there is no frame.
    pub(crate) fn next_stamp(&mut self) -> Option<u64> {
        let Descriptor { address, .. } = self.rx.peek()?;
        let (chunk, within) = (address / CHUNK_BYTES as u64, (address % CHUNK_BYTES as u64) as usize);
        let chunk = u32::try_from(chunk).ok().filter(|&chunk| chunk < self.sizes.receive);
        let before = chunk.and_then(|chunk| self.chunk(chunk).get(..within)?.last_chunk::<8>().copied());
        Some(before.map_or(0, u64::from_ne_bytes))
    }

    /// Hands the next frame to `each`, with the 8 bytes before it if something was written there, and gives its chunk
    /// back. `false` when there is none.
    pub(crate) fn receive(&mut self, each: impl FnOnce(Option<u64>, &[u8])) -> bool {
        let Some(Descriptor { address, bytes, .. }) = self.rx.pop() else { return false };
        let chunk = address / CHUNK_BYTES as u64;
        let (within, bytes) = ((address % CHUNK_BYTES as u64) as usize, bytes as usize);
        // What the kernel says is a claim: a number that is no chunk for receiving is nobody's.
        let Some(chunk) = u32::try_from(chunk).ok().filter(|&chunk| chunk < self.sizes.receive) else { return true };
        if let Some(frame) = self.chunk(chunk).get_mut(..within.saturating_add(bytes)) {
            let (before, frame) = frame.split_at(within);
            let stamp = before.last_chunk::<8>().map(|&stamp| u64::from_ne_bytes(stamp)).filter(|&stamp| stamp != 0);
            each(stamp, frame);
        }
        // The next frame that lies here may get no stamp.
        self.chunk(chunk)[HEADROOM_BYTES - 8..HEADROOM_BYTES].fill(0);
        self.give_back(chunk);
        true
    }

    /// Lets `write` fill a chunk and queues what it says it wrote; `false` when no chunk is ours. The frame leaves with the
    /// next [`Xsk::kick`].
    pub(crate) fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        let Some(number) = self.free.pop() else { return false };
        match write(self.chunk(number)).and_then(|bytes| u32::try_from(bytes.min(CHUNK_BYTES)).ok()) {
            Some(bytes) => {
                let address = u64::from(number) * CHUNK_BYTES as u64;
                // The ring has an entry for each chunk.
                self.tx.push(Descriptor { address, bytes, options: 0 });
            }
            None => self.free.push(number),
        }
        true
    }

    /// Has the kernel send what is queued. `Ok(true)`: all of it has been taken; `Ok(false)`: a part, since one call takes
    /// only so many (`TX_BATCH_SIZE` in net/xdp/xsk.c).
    ///
    /// # Errors
    /// None was taken, and why.
    pub(crate) fn kick(&mut self, calls: &mut u64) -> Result<bool, Errno> {
        self.tx.publish();
        let before = self.tx.waiting();
        if before == 0 {
            return Ok(true);
        }
        let answer = if self.tx.needs_wakeup() {
            *calls += 1;
            send(&self.socket, &[], SendFlags::DONTWAIT).map(drop)
        } else {
            Ok(())
        };
        match self.tx.waiting() {
            0 => Ok(true),
            // At the end of its batch the kernel says `EAGAIN` as well.
            after if after != before => Ok(false),
            _ => Err(answer.err().unwrap_or(Errno::AGAIN)),
        }
    }

    /// Whether frames were queued that the kernel has not taken.
    pub(crate) fn has_queued(&self) -> bool {
        self.tx.waiting() > 0
    }

    /// Takes back the chunks whose frames have left; returns how many are ours now.
    pub(crate) fn reap(&mut self) -> usize {
        while let Some(address) = self.completion.pop() {
            let number = u32::try_from(address / CHUNK_BYTES as u64).unwrap_or(u32::MAX);
            let ours = self.sizes.receive..self.sizes.receive + self.sizes.send;
            if ours.contains(&number) && self.free.len() < self.free.capacity() {
                self.free.push(number);
            }
        }
        self.free.len()
    }

    /// Puts the given-back chunks where the kernel finds them.
    pub(crate) fn refill(&mut self) {
        self.fill.publish();
    }

    /// Has the driver look for frames, where it waits to be told, or where the socket polls (`SO_BUSY_POLL`).
    ///
    /// # Errors
    /// `ENETDOWN`: the interface is down. `ENXIO`: it is gone, and with it this socket's use.
    pub(crate) fn wake(&mut self) -> Result<(), Errno> {
        recv(&self.socket, &mut [0_u8; 0][..], RecvFlags::DONTWAIT).map(drop)
    }

    /// Frames that came for this socket and were dropped because all chunks were filled.
    pub(crate) fn drops(&self) -> Option<u64> {
        let counts = sockopt::xdp_statistics(&self.socket).ok()?;
        Some(counts.rx_dropped + counts.rx_ring_full.unwrap_or(0))
    }

    fn give_back(&mut self, chunk: u32) {
        // The ring has an entry for each chunk.
        self.fill.push(u64::from(chunk) * CHUNK_BYTES as u64);
    }

    /// The bytes of a chunk that is ours: see the page.
    fn chunk(&mut self, number: u32) -> &mut [u8] {
        let at = number as usize * CHUNK_BYTES;
        self.memory.part_mut(at, CHUNK_BYTES)
    }
}

impl AsFd for Xsk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// One ring, mapped.
struct Ring<T> {
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

impl<T: Copy> Ring<T> {
    fn map(socket: BorrowedFd<'_>, at: XdpRingOffset, size: u32, page: u64) -> Result<Ring<T>, Errno> {
        let offset = |offset: u64| usize::try_from(offset).map_err(|_| Errno::OVERFLOW);
        let entries = offset(at.desc)?;
        let bytes = entries + size as usize * size_of::<T>();
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: no address is asked for, so that nothing mapped before is replaced.
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
    fn push(&mut self, value: T) {
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
    fn publish(&mut self) {
        self.word(self.producer).store(self.next, Ordering::Release);
    }

    /// As producer: entries that were written and not taken.
    fn waiting(&self) -> u32 {
        self.next.wrapping_sub(self.word(self.consumer).load(Ordering::Acquire))
    }

    /// As producer: whether the consumer waits to be woken.
    fn needs_wakeup(&self) -> bool {
        let flags = self.flags.map(|at| self.word(at).load(Ordering::Relaxed));
        // Without the flag a kernel always wants it (before Linux 5.4).
        flags.is_none_or(|flags| flags & XdpRingFlags::XDP_RING_NEED_WAKEUP.bits() != 0)
    }

    /// As consumer: the next entry, which then is the producer's again.
    fn pop(&mut self) -> Option<T> {
        let value = self.peek()?;
        self.next = self.next.wrapping_add(1);
        self.word(self.consumer).store(self.next, Ordering::Release);
        Some(value)
    }

    /// As consumer: the next entry.
    fn peek(&self) -> Option<T> {
        let written = self.word(self.producer).load(Ordering::Acquire);
        if written == self.next {
            return None;
        }
        // SAFETY: an aligned entry inside the mapping (`map`) that the producer has written before it stored its index, and
        // does not overwrite before ours has passed it. Every bit pattern is a `T`: integers only.
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
