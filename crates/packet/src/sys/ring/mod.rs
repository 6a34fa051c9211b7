//! An io_uring that receives into buffers of its own and sends what is lent to it.
//!
//! The ring is set up so that **the kernel writes to this process's memory only inside [`Ring::enter`] and
//! [`Ring::send`]**: with `IORING_SETUP_DEFER_TASKRUN` a request's work is done only when its one thread calls
//! `io_uring_enter(2)` for events (io_uring_setup(2)), the sockets never block, so nothing goes to a worker thread, and
//! there is no polling thread. Both calls borrow the ring mutably, so bytes lent by [`Ring::arena`] never change under a
//! reader.
//!
//! **After a send by zero copy the kernel goes on reading** the block of frames that the bytes lie in, until
//! [`Ring::is_free`] says otherwise ([`sends`]). It holds the pages themselves, not their addresses, from registration on, or
//! from before `send` returns: whoever unmaps a block ([`Memory`] is whole pages of nobody else's) takes it from himself only,
//! and the pages are free when the last frame with them is gone. So nothing has to be waited for when a ring ends, and nothing
//! can be read that was not sent.
//!
//! One thread at a time: the kernel answers `EEXIST` to any other than the first to use a ring. An engine that was sent
//! to another thread makes a new one with [`Ring::renew`].

mod group;
mod sends;
mod set_up;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::io::Errno;

use self::group::Group;
use self::sends::Sends;
pub(crate) use self::sends::Usage;
pub(crate) use self::set_up::Shape;
use self::set_up::set_up;
use super::memory::Memory;
use super::message::{Header, Prepared};

/// How a receive of a port went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) port: usize,
    /// The buffer that was filled, by its first byte in the arena, and how many bytes of it; or why nothing was received.
    pub(crate) result: Result<(usize, usize), Errno>,
    /// Whether the receive goes on. If not it has to be armed again.
    pub(crate) more: bool,
}

/// How bytes are offered by zero copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZeroCopySend {
    /// The block that they lie in.
    pub(crate) block: usize,
    /// Shorter datagrams are copied.
    pub(crate) least_bytes: usize,
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
    sends: Sends,
    /// Receives that go on.
    receiving: usize,
    /// Receives completed while sends were waited for.
    arrivals: Vec<Arrival>,
    /// One a port. The kernel reads it when a receive is submitted, and of a multishot one its two lengths alone
    /// (io_uring_prep_recvmsg_multishot(3)).
    headers: Box<[Header]>,
    /// Whether its blocks are registered, by their number.
    registered: bool,
    /// A submission failed half-way: what is left of it must not be submitted any more, so the ring has to be renewed.
    broken: bool,
}

/// Marks what a cancellation is answered.
const CANCEL: u64 = 1 << 33;

impl Ring {
    /// # Errors
    /// The kernel's answer when it has no such ring, or memory for it.
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
            sends: Sends::new(shape.sends, shape.blocks),
            receiving: 0,
            arrivals: Vec::with_capacity(completions),
            headers: vec![Header::default(); shape.ports].into(),
            registered: false,
            broken: false,
        };
        for buffer in 0..shape.ports * shape.buffers {
            ring.give_back(buffer * shape.buffer_bytes);
        }
        Ok(ring)
    }

    /// A new ring for the thread that calls, over the same buffers: all of them are the kernel's again but those for which
    /// `held` is true. Completed requests are kept for [`Ring::arrival`]; armed ones have to be armed again.
    pub(crate) fn renew(&mut self, held: impl Fn(usize) -> bool) -> io::Result<()> {
        self.collect();
        self.sends.abandon();
        let (uring, groups) = set_up(&self.shape)?;
        self.uring = uring;
        self.groups = groups;
        self.enabled = false;
        self.registered = false;
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
        *header = Header::of_lengths(name_bytes, control_bytes);
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
    /// over (`None` inside: for ever); without it never waits. Returns how many completions there were, not all of which need be
    /// arrivals: 0 when the time is over, or a signal came.
    pub(crate) fn enter(&mut self, wait: Option<Option<rustix::event::Timespec>>) -> Result<usize, Errno> {
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
        let completed = self.collect();
        match answer.map_err(|error| errno_of(&error)) {
            Err(Errno::TIME | Errno::INTR) | Ok(_) => Ok(completed),
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

    /// Whether the kernel has sends by zero copy (`IORING_OP_SENDMSG_ZC`, Linux 6.1).
    pub(crate) fn has_zero_copy(&self) -> bool {
        let mut probe = Probe::new();
        let probed = self.uring.submitter().register_probe(&mut probe);
        probed.is_ok() && probe.is_supported(opcode::SendMsgZc::CODE)
    }

    /// Whether the bytes of a block may be written: no frame refers to them.
    pub(crate) fn is_free(&self, block: usize) -> bool {
        self.sends.is_free(block)
    }

    /// Whether a block will never be free, since the ring that it was lent to is closed.
    pub(crate) fn is_abandoned(&self, block: usize) -> bool {
        self.sends.is_abandoned(block)
    }

    /// An abandoned block has other memory now.
    pub(crate) fn replaced(&mut self, block: usize) {
        self.sends.replaced(block);
    }

    /// Fate of messages by zero copy so far.
    pub(crate) fn usage(&self) -> Usage {
        self.sends.usage()
    }

    /// Sends in one submission, in order, without waiting for room; returns how many from the front were taken, at least
    /// one. Each waits for the one before it (`IOSQE_IO_LINK`), and none is tried after one has failed. With `zero_copy` their bytes
    /// must lie in that block.
    pub(crate) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: &Prepared<'_>,
        zero_copy: Option<ZeroCopySend>,
    ) -> Result<usize, Errno> {
        self.enable()?;
        let messages = messages.each();
        let (most, mut count) = (messages.len().min(self.sends.room()), 0);
        self.sends.begin();
        for (number, message) in messages.take(most).enumerate() {
            let linked = if number + 1 < most { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
            let zero_copy = zero_copy.filter(|zero_copy| message.bytes as usize >= zero_copy.least_bytes);
            let zero_copy = zero_copy.filter(|_| self.sends.may_announce());
            let entry = sends::entry(socket, message, zero_copy, self.registered);
            let mark = self.sends.mark(zero_copy.map_or(0, |zero_copy| zero_copy.block), number);
            if !self.push(&entry.flags(linked).user_data(mark)) {
                break;
            }
            count += 1;
        }
        // They are all answered before what `messages` borrows is anybody else's.
        while self.sends.missing(count) > 0 {
            let answer = self.uring.submitter().submit_and_wait(self.sends.missing(count));
            self.collect();
            match answer.map_err(|error| errno_of(&error)) {
                Ok(_) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                Err(errno) => {
                    self.broken = true;
                    return Err(errno);
                }
            }
        }
        self.sends.taken(count).map_err(of)
    }

    /// Registers blocks, so that sends by zero copy need not pin their pages one by one; where that is not permitted they do.
    pub(crate) fn register(&mut self, blocks: &[Memory]) {
        self.registered = set_up::register(&self.uring, blocks).is_ok();
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
        // `send` returns when each is answered, or has made sure that the ring is never entered again. The kernel reads
        // a block after that by its pages, which it holds.
        #[allow(unsafe_code)]
        unsafe {
            self.uring.submission().push(entry).is_ok()
        }
    }

    /// Sorts what is completed; how much there was.
    fn collect(&mut self) -> usize {
        let Shape { buffers, buffer_bytes, .. } = self.shape;
        let mut completed = 0;
        for entry in self.uring.completion() {
            completed += 1;
            let data = entry.user_data();
            if data & CANCEL != 0 || self.sends.take(data, entry.result(), entry.flags()) {
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
        completed
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
                Ok(_) | Err(Errno::AGAIN | Errno::BUSY) => self.arrivals.clear(),
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
        assert_eq!(size_of::<Header>(), 56);
        assert_eq!(std::mem::offset_of!(Header, name_bytes), 8);
        assert_eq!(std::mem::offset_of!(Header, control_bytes), 40);
    }
}
