//! An io_uring that receives into buffers of its own and sends what is lent to it.
//!
//! The ring is set up so that **the kernel touches this process's memory only inside [`Ring::enter`] and
//! [`Ring::send`]**: with `IORING_SETUP_DEFER_TASKRUN` a request's work is done only when its one thread calls
//! `io_uring_enter(2)` for events (io_uring_setup(2)), the sockets never block, so nothing goes to a worker thread, and
//! there is no polling thread. Both calls borrow the ring mutably, so bytes lent by [`Ring::arena`] never change under a
//! reader.
//!
//! One thread at a time: the kernel answers `EEXIST` to any other than the first to use a ring. An engine that was sent
//! to another thread makes a new one with [`Ring::renew`].

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;

use super::memory::Memory;
use super::message::Prepared;

/// What is to be received of each port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) ports: usize,
    /// Buffers of each port, a power of two.
    pub(crate) buffers: usize,
    /// Bytes of each.
    pub(crate) buffer_bytes: usize,
    /// Messages sent together at most.
    pub(crate) sends: usize,
}

/// How a receive of a port went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) port: usize,
    /// The buffer that was filled, by its first byte in the arena, and how many bytes of it; or why nothing was received.
    pub(crate) result: Result<(usize, usize), Errno>,
    /// Whether the receive goes on. If not it has to be armed again.
    pub(crate) more: bool,
}

/// Bytes of a `struct io_uring_buf`: address, length, number, and in the first of a ring its tail.
const ENTRY_BYTES: usize = 16;
const TAIL_AT: usize = 14;

/// Buffers of one port, as the kernel is told of them (`struct io_uring_buf_ring`, io_uring_register_buf_ring(3)).
#[derive(Debug)]
struct Group {
    entries: Memory,
    tail: u16,
}

/// The ring, its buffers, and what has been completed.
pub(crate) struct Ring {
    // Dropped first: no request outlives the memory below.
    uring: IoUring,
    groups: Vec<Group>,
    arena: Memory,
    /// Whether the thread that uses it has begun.
    enabled: bool,
    shape: Shape,
    /// Results of the sends under way: for each what the kernel answered, once it did.
    sent: Vec<Option<i32>>,
    /// Receives that go on.
    receiving: usize,
    /// Receives completed while sends were waited for.
    arrivals: Vec<Arrival>,
    /// One a port. The kernel reads it when a receive is submitted.
    headers: Box<[ReceiveHeader]>,
    /// A submission failed half-way: what is left of it must not be submitted any more, so the ring has to be renewed.
    broken: bool,
}

/// `struct user_msghdr`, of which a multishot receive reads the two lengths (io_uring_prep_recvmsg_multishot(3)).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ReceiveHeader {
    name: usize,
    name_bytes: u32,
    spans: usize,
    span_count: usize,
    control: usize,
    control_bytes: usize,
    flags: u32,
}

/// Marks the completion of a send; the rest is which.
const SEND: u64 = 1 << 32;
const CANCEL: u64 = 1 << 33;

impl Ring {
    /// # Errors
    /// What the kernel answers when it has no such ring, or memory for it.
    pub(crate) fn open(shape: Shape) -> io::Result<Ring> {
        let arena = Memory::new(shape.ports * shape.buffers * shape.buffer_bytes)?;
        let (uring, groups) = set_up(&shape)?;
        let completions = shape.ports * (shape.buffers + 2);
        let mut ring = Ring {
            uring,
            groups,
            arena,
            enabled: false,
            shape,
            sent: vec![None; shape.sends],
            receiving: 0,
            arrivals: Vec::with_capacity(completions),
            headers: vec![ReceiveHeader::default(); shape.ports].into(),
            broken: false,
        };
        for buffer in 0..shape.ports * shape.buffers {
            ring.give_back(buffer * shape.buffer_bytes);
        }
        Ok(ring)
    }

    /// A new ring for the thread that calls, over the same buffers: all of them are the kernel's again but those for which
    /// `held` is true. What was completed is kept for [`Ring::arrival`]; what was armed has to be armed again.
    pub(crate) fn renew(&mut self, held: impl Fn(usize) -> bool) -> io::Result<()> {
        self.collect();
        let (uring, groups) = set_up(&self.shape)?;
        self.uring = uring;
        self.groups = groups;
        self.enabled = false;
        self.broken = false;
        self.receiving = 0;
        for buffer in 0..self.shape.ports * self.shape.buffers {
            let offset = buffer * self.shape.buffer_bytes;
            let completed = self.arrivals.iter().any(|one| one.result.is_ok_and(|(at, _)| at == offset));
            if !completed && !held(offset) {
                self.give_back(offset);
            }
        }
        Ok(())
    }

    /// The memory of all buffers. Buffer `b` of port `p` begins at `(p * buffers + b) * buffer_bytes`.
    pub(crate) fn arena(&self) -> &[u8] {
        self.arena.bytes()
    }

    /// The buffer at `offset` is the kernel's again.
    pub(crate) fn give_back(&mut self, offset: usize) {
        let Shape { buffers, buffer_bytes, .. } = self.shape;
        let number = offset / buffer_bytes;
        let address = self.arena.span().0 + offset as u64;
        if let (Some(group), Ok(number)) = (self.groups.get_mut(number / buffers), u16::try_from(number % buffers)) {
            group.push(address, buffer_bytes, number, buffers);
        }
    }

    /// Has the kernel fill buffers of a port with what comes to `socket`, from the next [`Ring::enter`] on, until they run
    /// out or something goes wrong: a header, `name_bytes` for the source, `control_bytes` for control messages, the payload.
    pub(crate) fn arm(&mut self, port: usize, socket: BorrowedFd<'_>, name_bytes: usize, control_bytes: usize) {
        let (Some(header), Ok(group)) = (self.headers.get_mut(port), u16::try_from(port)) else { return };
        let name_bytes = u32::try_from(name_bytes).unwrap_or(0);
        *header = ReceiveHeader { name_bytes, control_bytes, ..ReceiveHeader::default() };
        let header = (&raw const *header).cast();
        let entry = opcode::RecvMsgMulti::new(Fd(socket.as_raw_fd()), header, group).build().user_data(port as u64);
        if self.push(&entry) {
            self.receiving += 1;
        }
    }

    /// Whether the kernel has work to do for us: then something may have come, and [`Ring::enter`] finds it.
    pub(crate) fn has_work(&mut self) -> bool {
        let queue = self.uring.submission();
        queue.taskrun() || queue.cq_overflow() || !queue.is_empty()
    }

    /// Lets the kernel do what it has to for this ring. With `wait` it waits until something is completed, or the time is
    /// over (`None` inside: for ever); without it never waits. `Ok` when there is something to see in
    /// [`Ring::arrival`], or when a signal came.
    pub(crate) fn enter(&mut self, wait: Option<Option<rustix::event::Timespec>>) -> Result<(), Errno> {
        self.enable()?;
        let submitter = self.uring.submitter();
        let answer = match wait {
            None => submitter.submit(),
            Some(None) => submitter.submit_and_wait(1),
            Some(Some(span)) => {
                let nanos = u32::try_from(span.tv_nsec).unwrap_or(0);
                let span = Timespec::new().sec(span.tv_sec.cast_unsigned()).nsec(nanos);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&span))
            }
        };
        self.collect();
        match answer.map_err(|error| errno_of(&error)) {
            Err(Errno::TIME | Errno::INTR) | Ok(_) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// How many arrivals there are that were not yet forgotten.
    pub(crate) fn arrived(&self) -> usize {
        self.arrivals.len()
    }

    /// One of them, in order of completion, counted from 0.
    pub(crate) fn arrival(&self, number: usize) -> Option<Arrival> {
        self.arrivals.get(number).copied()
    }

    pub(crate) fn forget_arrivals(&mut self) {
        self.arrivals.clear();
    }

    /// Sends in one submission, in order, without waiting for room; returns how many from the front were taken, at least
    /// one. Each waits for the one before it (`IOSQE_IO_LINK`), and none is tried after one has failed.
    pub(crate) fn send(&mut self, socket: BorrowedFd<'_>, messages: Prepared<'_>) -> Result<usize, Errno> {
        self.enable()?;
        let addresses = messages.addresses();
        let (most, mut count) = (addresses.len().min(self.sent.len()), 0);
        self.sent.fill(None);
        for (number, header) in addresses.take(most).enumerate() {
            let flags = (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL).cast_unsigned();
            let linked = if number + 1 < most { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
            let entry = opcode::SendMsg::new(Fd(socket.as_raw_fd()), header).flags(flags).build();
            if !self.push(&entry.flags(linked).user_data(SEND | number as u64)) {
                break;
            }
            count += 1;
        }
        // They are all answered before what `messages` borrows is anybody else's.
        while self.missing(count) > 0 {
            let missing = self.missing(count);
            let answer = self.uring.submitter().submit_and_wait(missing);
            self.collect();
            match answer.map_err(|error| errno_of(&error)) {
                Ok(_) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                Err(errno) => {
                    self.broken = true;
                    return Err(errno);
                }
            }
        }
        let answers = self.sent.get(..count).unwrap_or_default();
        match answers.iter().position(|answer| answer.is_none_or(|answer| answer < 0)) {
            None => Ok(count),
            Some(0) => Err(answers.first().copied().flatten().map_or(Errno::INVAL, of)),
            Some(taken) => Ok(taken),
        }
    }

    fn missing(&self, count: usize) -> usize {
        self.sent.iter().take(count).filter(|answer| answer.is_none()).count()
    }

    /// The first thread to use a ring is its only one: any other is answered `EEXIST`.
    fn enable(&mut self) -> Result<(), Errno> {
        if self.broken {
            return Err(Errno::EXIST);
        }
        if !self.enabled {
            self.uring.submitter().register_enable_rings().map_err(|error| errno_of(&error))?;
            self.enabled = true;
        }
        Ok(())
    }

    /// Queues a request; `false` if there is no room, as there always should be: see `set_up`.
    fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: the memory a request names is alive, and borrowed as long as the kernel may use it: a receive names
        // buffers of `arena` and one of `headers`, which live as long as the ring; a send names what `Prepared` borrows, and
        // `send` returns when each is answered, or has made sure that the ring is never entered again.
        #[allow(unsafe_code)]
        unsafe {
            self.uring.submission().push(entry).is_ok()
        }
    }

    /// Sorts what is completed.
    fn collect(&mut self) {
        let Shape { buffers, buffer_bytes, .. } = self.shape;
        for entry in self.uring.completion() {
            let data = entry.user_data();
            if data & CANCEL != 0 {
                continue;
            }
            if data & SEND != 0 {
                if let Some(sent) = self.sent.get_mut((data & !SEND) as usize) {
                    *sent = Some(entry.result());
                }
                continue;
            }
            let port = data as usize;
            let result = match (usize::try_from(entry.result()), cqueue::buffer_select(entry.flags())) {
                (Ok(bytes), Some(number)) => Ok(((port * buffers + usize::from(number)) * buffer_bytes, bytes)),
                (Ok(_), None) => Err(Errno::NOBUFS),
                (Err(_), _) => Err(of(entry.result())),
            };
            self.receiving -= usize::from(!cqueue::more(entry.flags())).min(self.receiving);
            // There is room for one of each buffer and two endings of each port; the kernel makes no more.
            if self.arrivals.len() < self.arrivals.capacity() {
                self.arrivals.push(Arrival { port, result, more: cqueue::more(entry.flags()) });
            }
        }
    }

    /// Ends all receives, so that the sockets they hold are free when this returns.
    fn cancel(&mut self) {
        if !self.enabled {
            return;
        }
        // A receive that is cancelled does its last work in a later call. Another thread than the ring's can't make one;
        // there the kernel ends the receives some time after the ring is closed.
        let moment = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        for _ in 0..100 {
            if self.broken || self.receiving == 0 {
                return;
            }
            // One that takes in datagrams at this moment is not found (`EALREADY`, io_uring_enter(2)), and goes on: so each
            // turn cancels again.
            let all = opcode::AsyncCancel2::new(io_uring::types::CancelBuilder::any()).build();
            let _no_room_until_submitted = self.push(&all.user_data(CANCEL));
            match self.enter(Some(Some(moment))) {
                Ok(()) | Err(Errno::AGAIN | Errno::BUSY) => self.arrivals.clear(),
                Err(_) => return,
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Group {
    /// Adds a buffer at the tail. The kernel reads entries and tail inside calls only, so plain writes do.
    fn push(&mut self, address: u64, bytes: usize, number: u16, entries: usize) {
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

/// A ring that no thread uses yet, and groups of buffers registered with it, all of them empty.
fn set_up(shape: &Shape) -> io::Result<(IoUring, Vec<Group>)> {
    // A batch, a receive of each port, and what cancels them.
    let entries = (shape.sends + shape.ports + 1).next_power_of_two();
    let completions = (shape.ports * (shape.buffers + 2) + shape.sends + 2).next_power_of_two();
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
        let group = Group { entries: Memory::new(shape.buffers * ENTRY_BYTES)?, tail: 0 };
        let (address, _) = group.entries.span();
        let (count, number) = (u16::try_from(shape.buffers), u16::try_from(number));
        let (Ok(count), Ok(number)) = (count, number) else { return Err(Errno::INVAL.into()) };
        // SAFETY: `count` entries lie there, page-aligned, zeroed (no buffer yet), and live as long as the ring.
        #[allow(unsafe_code)]
        unsafe {
            uring.submitter().register_buf_ring_with_flags(address, count, number, 0)?;
        }
        groups.push(group);
    }
    Ok((uring, groups))
}

/// A completion's negative result.
fn of(result: i32) -> Errno {
    Errno::from_raw_os_error(result.saturating_neg())
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::INVAL)
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_receive_has_the_kernels_layout() {
        assert_eq!(size_of::<ReceiveHeader>(), 56);
        assert_eq!(std::mem::offset_of!(ReceiveHeader, name_bytes), 8);
        assert_eq!(std::mem::offset_of!(ReceiveHeader, control_bytes), 40);
    }
}
