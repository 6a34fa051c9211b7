//! `recvmsg`, `recvmmsg` and `sendmmsg`, straight to the kernel: musl's `sendmmsg` and `recvmmsg` are loops over the
//! single calls, which is what a batch is meant to avoid.
//!
//! Headers hold addresses as numbers and are written anew before each call, so nothing here outlives what it points to.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::addr::RawAddr;
use super::control::{Ancillary, Control};
use super::option::last;
use crate::TxEntry;

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    address: usize,
    bytes: usize,
}

/// `struct user_msghdr` (linux/socket.h).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    name: usize,
    pub(super) name_bytes: u32,
    spans: usize,
    span_count: usize,
    control: usize,
    pub(super) control_bytes: usize,
    flags: u32,
}

/// `struct mmsghdr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ManyHeader {
    header: Header,
    bytes: u32,
}

/// Data that the kernel is requested to write beside a datagram. Each costs some ten nanoseconds a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) source: bool,
    /// Stamps, segment sizes, errors.
    pub(crate) ancillary: bool,
}

impl Wants {
    pub(crate) const NOTHING: Wants = Wants { source: false, ancillary: false };
    pub(crate) const ALL: Wants = Wants { source: true, ancillary: true };

    const fn name_bytes(self) -> usize {
        if self.source { size_of::<RawAddr>() } else { 0 }
    }

    const fn control_bytes(self) -> usize {
        if self.ancillary { size_of::<Control>() } else { 0 }
    }
}

/// The kernel's account of a received message. Lengths are claims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) len: usize,
    /// `None` if it was not requested.
    pub(crate) from: Option<SocketAddr>,
    pub(crate) ancillary: Ancillary,
    /// Whether it was longer than the frame.
    pub(crate) cut: bool,
}

impl Received {
    fn new(header: &Header, name: &RawAddr, control: &Control, len: usize, frame_bytes: usize) -> Received {
        Received {
            len: len.min(frame_bytes),
            from: name.read(header.name_bytes as usize),
            ancillary: control.read(header.control_bytes),
            cut: header.flags & libc::MSG_TRUNC.cast_unsigned() != 0,
        }
    }
}

impl Header {
    /// The two lengths alone.
    pub(super) fn of_lengths(name_bytes: u32, control_bytes: usize) -> Header {
        Header { name_bytes, control_bytes, ..Header::default() }
    }

    fn new(
        name: &mut RawAddr,
        name_bytes: usize,
        spans: &mut [Span],
        control: &mut Control,
        control_bytes: usize,
    ) -> Header {
        Header {
            name: if name_bytes == 0 { 0 } else { (&raw mut *name).expose_provenance() },
            name_bytes: u32::try_from(name_bytes).unwrap_or(0),
            spans: spans.as_mut_ptr().expose_provenance(),
            span_count: spans.len(),
            control: if control_bytes == 0 { 0 } else { (&raw mut *control).expose_provenance() },
            control_bytes,
            flags: 0,
        }
    }
}

/// One `recvmsg` into `frame`, never waiting. `flags` adds to `MSG_DONTWAIT`.
pub(crate) fn recv_one(socket: BorrowedFd<'_>, frame: &mut [u8], wants: Wants, flags: i32) -> Result<Received, Errno> {
    let (mut name, mut control) = (RawAddr::EMPTY, Control::EMPTY);
    let mut span = [Span { address: frame.as_mut_ptr().expose_provenance(), bytes: frame.len() }];
    let mut header = Header::new(&mut name, wants.name_bytes(), &mut span, &mut control, wants.control_bytes());
    // SAFETY: `header` describes `name`, `span`, `control` and, through `span`, `frame` with their true lengths; all are
    // borrowed mutably here and outlive the call, after which the kernel writes no more. Any bytes are valid in them.
    #[allow(unsafe_code)]
    let answer =
        unsafe { libc::syscall(libc::SYS_recvmsg, socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT | flags) };
    let len = usize::try_from(answer).map_err(|_| last())?;
    Ok(Received::new(&header, &name, &control, len, frame.len()))
}

/// Memory that `recvmmsg` or `sendmmsg` needs for a number of messages.
#[derive(Debug)]
pub(crate) struct MessageBatch {
    headers: Box<[ManyHeader]>,
    spans: Box<[Span]>,
    names: Box<[RawAddr]>,
    controls: Box<[Control]>,
}

impl MessageBatch {
    pub(crate) fn new(messages: usize) -> MessageBatch {
        MessageBatch {
            headers: vec![ManyHeader::default(); messages].into(),
            spans: vec![Span::default(); messages].into(),
            names: vec![RawAddr::EMPTY; messages].into(),
            controls: vec![Control::EMPTY; messages].into(),
        }
    }

    /// One `recvmmsg`, never waiting: fills frames of `stride` bytes from the front of `row` and hands them to `each`
    /// in order. Returns how many frames there were and how many messages.
    pub(crate) fn recv(
        &mut self,
        socket: BorrowedFd<'_>,
        row: &mut [u8],
        stride: usize,
        wants: Wants,
        each: &mut dyn FnMut(Received),
    ) -> Result<(usize, usize), Errno> {
        let mut frames = 0;
        let parts = self.spans.iter_mut().zip(&mut self.names).zip(&mut self.controls).zip(&mut self.headers);
        for (frame, (((span, name), control), many)) in row.chunks_exact_mut(stride).zip(parts) {
            *span = Span { address: frame.as_mut_ptr().expose_provenance(), bytes: stride };
            let header =
                Header::new(name, wants.name_bytes(), std::slice::from_mut(span), control, wants.control_bytes());
            *many = ManyHeader { header, bytes: 0 };
            frames += 1;
        }
        let (headers, count) = (self.headers.as_mut_ptr(), u32::try_from(frames).unwrap_or(0));
        // SAFETY: the first `count` headers were written above and describe names, spans, controls and frames with their
        // true lengths; all are borrowed mutably here and outlive the call, after which the kernel
        // writes no more. No timeout: the last argument is null. Any bytes are valid in them.
        #[allow(unsafe_code)]
        let answer = unsafe {
            let no_timeout = std::ptr::null_mut::<libc::timespec>();
            libc::syscall(libc::SYS_recvmmsg, socket.as_raw_fd(), headers, count, libc::MSG_DONTWAIT, no_timeout)
        };
        let got = usize::try_from(answer).map_err(|_| last())?.min(frames);
        for ((many, name), control) in self.headers.iter().zip(&self.names).zip(&self.controls).take(got) {
            each(Received::new(&many.header, name, control, many.bytes as usize, stride));
        }
        Ok((frames, got))
    }

    /// Writes headers for `entries` cut into `runs`, as many as there is room for.
    pub(crate) fn prepare<'a>(&'a mut self, arena: &'a [u8], entries: &[TxEntry], runs: &[Run]) -> Prepared<'a> {
        let (mut rest, mut spans) = (entries, &mut self.spans[..]);
        let mut count = 0;
        let parts = self.names.iter_mut().zip(&mut self.controls).zip(&mut self.headers);
        for (run, ((name, control), many)) in runs.iter().zip(parts) {
            let (Some((now, later)), Some((mine, others))) =
                (rest.split_at_checked(run.datagrams), spans.split_at_mut_checked(run.datagrams))
            else {
                break;
            };
            for (entry, span) in now.iter().zip(&mut *mine) {
                let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
                *span = Span { address: bytes.as_ptr().expose_provenance(), bytes: bytes.len() };
            }
            let to = now.first().and_then(|entry| entry.to).map(RawAddr::of);
            *name = to.map_or(RawAddr::EMPTY, |(name, _)| name);
            let control_bytes = run.segment.map_or(0, |segment| {
                let (message, bytes) = Control::segment(segment);
                *control = message;
                bytes
            });
            // The first of several is the longest.
            let longest = mine.first().map_or(0, |span| span.bytes);
            let header = Header::new(name, to.map_or(0, |(_, bytes)| bytes), mine, control, control_bytes);
            *many = ManyHeader { header, bytes: u32::try_from(longest).unwrap_or(u32::MAX) };
            (rest, spans, count) = (later, others, count + 1);
        }
        Prepared { headers: self.headers.get_mut(..count).unwrap_or(&mut []), spans: &self.spans, _borrow: PhantomData }
    }
}

/// Headers of messages to be sent. All they point to is borrowed as long as this lives.
pub(crate) struct Prepared<'a> {
    headers: &'a mut [ManyHeader],
    spans: &'a [Span],
    _borrow: PhantomData<&'a [u8]>,
}

impl Prepared<'_> {
    /// One `sendmmsg`, never waiting. Returns how many messages the kernel took.
    pub(crate) fn send(self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let (headers, count) = (self.headers.as_mut_ptr(), self.headers.len());
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the `count` headers describe names, controls and, through spans, parts of an arena with their true
        // lengths; all are borrowed by `self` and outlive the call. The kernel reads them, and writes only into the
        // headers, which are borrowed mutably and in which any bytes are valid.
        #[allow(unsafe_code)]
        let answer = unsafe { libc::syscall(libc::SYS_sendmmsg, socket.as_raw_fd(), headers, count, flags) };
        Ok(usize::try_from(answer).map_err(|_| last())?.min(count))
    }

    /// Bytes of the longest datagram of each.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = usize> {
        self.headers.iter().map(|many| many.bytes as usize)
    }

    /// Places of all messages.
    pub(crate) fn each(&self) -> impl ExactSizeIterator<Item = Message> {
        let mut spans = self.spans;
        self.headers.iter().map(move |many| {
            let Header { name, name_bytes, span_count, control_bytes, .. } = many.header;
            let (mine, others) = spans.split_at_checked(span_count).unwrap_or((spans, &[]));
            spans = others;
            let single = mine.first().filter(|_| mine.len() == 1 && control_bytes == 0).map(|span| span.address);
            Message { header: (&raw const many.header).cast(), bytes: many.bytes, single, name, name_bytes }
        })
    }
}

/// A message as the kernel is shown it. Numbers are addresses of what [`Prepared`] borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// A `struct user_msghdr`, as `sendmsg` takes it.
    pub(crate) header: *const libc::msghdr,
    /// Bytes of its datagram, or of the longest of several.
    pub(crate) bytes: u32,
    /// Place of its datagrams, if in one piece with nothing written beside them.
    pub(crate) single: Option<usize>,
    /// The destination's address, and its length.
    pub(crate) name: usize,
    pub(crate) name_bytes: u32,
}

/// Consecutive entries that leave as one message: a single datagram, or an aggregate of equal-sized ones whose last may
/// be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Entries in it.
    pub(crate) datagrams: usize,
    /// Bytes of each, for an aggregate.
    pub(crate) segment: Option<u16>,
}

impl Run {
    pub(crate) const SINGLE: Run = Run { datagrams: 1, segment: None };
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn headers_have_the_kernels_layout() {
        assert_eq!((size_of::<Header>(), size_of::<ManyHeader>(), size_of::<Span>()), (56, 64, 16));
        assert_eq!(std::mem::offset_of!(Header, control), 32);
        assert_eq!(std::mem::offset_of!(ManyHeader, bytes), 56);
    }
}
