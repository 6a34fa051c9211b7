//! A ring before its first use, and the memory that is registered with it.

use std::io;

use io_uring::IoUring;
use rustix::io::Errno;

use super::group::Group;
use crate::sys::memory::Memory;

/// Buffers for the receives of each port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) ports: usize,
    /// Buffers of each port, a power of two.
    pub(crate) buffers: usize,
    /// Bytes of each.
    pub(crate) buffer_bytes: usize,
    /// Messages sent together at most.
    pub(crate) sends: usize,
    /// Blocks of as many, whose messages may leave by zero copy.
    pub(crate) blocks: usize,
}

/// A ring that no thread uses yet, and groups of buffers registered with it, all of them empty.
pub(super) fn set_up(shape: &Shape) -> io::Result<(IoUring, Vec<Group>)> {
    // A batch, a receive of each port, and what cancels them.
    let entries = (shape.sends + shape.ports + 1).next_power_of_two();
    // Sends have an answer each, and a second one each that a block holds, or that was cancelled.
    let completions = (shape.ports * (shape.buffers + 2) + shape.sends * (2 + shape.blocks) + 2).next_power_of_two();
    let size = |number: usize| u32::try_from(number).map_err(|_| io::Error::from(Errno::INVAL));
    let uring = IoUring::builder()
        .setup_cqsize(size(completions.max(entries * 2))?)
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_submit_all()
        .setup_r_disabled()
        .dontfork()
        .build(size(entries)?)?;
    let mut groups = Vec::with_capacity(shape.ports);
    for number in 0..shape.ports {
        groups.push(Group::register(&uring, number, shape.buffers)?);
    }
    Ok((uring, groups))
}

/// Blocks of frames that are sent from, by their place.
pub(super) fn register(uring: &IoUring, blocks: &[Memory]) -> io::Result<()> {
    let span = |block: &Memory| {
        let (at, bytes) = block.span();
        libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(at as usize), iov_len: bytes as usize }
    };
    let spans: Vec<libc::iovec> = blocks.iter().map(span).collect();
    // SAFETY: the kernel pins these pages and needs no address after the call. Whoever unmaps them takes them from himself only:
    // they are whole pages of nobody else's, and stay until the ring and the last frame with them are gone.
    #[allow(unsafe_code)]
    unsafe {
        uring.submitter().register_buffers(&spans)
    }
}
