//! Whole Ethernet frames of one interface, in and out, in batches: the ports of a hop between two interfaces.
//!
//! A frame travels with the ten bytes in which the kernel says what is left to do on it (`struct virtio_net_hdr`): on
//! virtual interfaces checksums are filled in late or never, and a frame sent on without that note would arrive damaged.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use takt_base::MonoNs;

use crate::stamp::{StampClock, await_stamps};
use crate::sys::message::{MessageBatch, Run, Wants};
use crate::sys::{link, option};
use crate::{PortIndex, TxEntry};

/// Bytes before a frame that belong to the kernel's note.
pub const NOTE_BYTES: usize = 10;

// linux/if_packet.h
const PACKET_VNET_HDR: i32 = 15;
const PACKET_IGNORE_OUTGOING: i32 = 23;

/// A socket that receives what an interface receives and sends what it is to send. Never waits.
#[derive(Debug)]
pub struct LinkPort {
    socket: OwnedFd,
    many: MessageBatch,
    send: MessageBatch,
    row: Box<[u8]>,
    stride: usize,
    entries: Vec<TxEntry>,
    runs: Vec<Run>,
    stamps: StampClock,
    overrun: u64,
}

/// A frame that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// Note and frame.
    pub bytes: &'a [u8],
    /// It was longer than the port was opened for.
    pub cut: bool,
    /// When, by the kernel's own stamp.
    pub at: Option<MonoNs>,
}

/// A frame in memory of another: where its note begins, and the bytes of note and frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte of the note.
    pub offset: usize,
    /// Bytes of note and frame.
    pub len: usize,
}

impl LinkPort {
    /// Opens one on an interface of the calling thread's network namespace, for `batch` frames a call of up to
    /// `frame_bytes` each, with as large a receive buffer as is granted up to `buffer_bytes`.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` if there is no such interface.
    pub fn open(interface: &str, batch: usize, frame_bytes: usize, buffer_bytes: usize) -> Result<LinkPort, Errno> {
        let batch = batch.min(MAX_BATCH);
        // Protocol 0: nothing is received before it is bound.
        let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        let fd = socket.as_fd();
        let index = rustix::net::netdevice::name_to_index(fd, interface)?;
        option::set(fd, libc::SOL_PACKET, PACKET_VNET_HDR, 1)?;
        option::set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
        option::set(fd, libc::SOL_SOCKET, option::SO_TIMESTAMPNS_NEW, 1)?;
        let buffer = i32::try_from(buffer_bytes).unwrap_or(i32::MAX);
        for (forced, ordinary) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            option::set(fd, libc::SOL_SOCKET, forced, buffer)
                .or_else(|_| option::set(fd, libc::SOL_SOCKET, ordinary, buffer))?;
        }
        await_stamps();
        link::bind(fd, index)?;
        let stride = frame_bytes + NOTE_BYTES;
        Ok(LinkPort {
            many: MessageBatch::new(batch),
            send: MessageBatch::new(batch),
            row: vec![0; stride * batch].into(),
            stride,
            entries: Vec::with_capacity(batch),
            stamps: StampClock::new(),
            runs: vec![Run { datagrams: 1, segment: None }; batch],
            socket,
            overrun: 0,
        })
    }

    /// Hands what has arrived to `each`, a batch at most; how many there were.
    ///
    /// # Errors
    /// The interface is gone or down.
    pub fn recv(&mut self, each: &mut dyn FnMut(Arrived<'_>)) -> Result<usize, Errno> {
        let wants = Wants { source: false, ancillary: true };
        let (mut messages, mut got) = ([None; MAX_BATCH], 0);
        let received = self.many.recv(self.socket.as_fd(), &mut self.row, self.stride, wants, &mut |message| {
            if let Some(place) = messages.get_mut(got) {
                *place = Some(message);
                got += 1;
            }
        });
        match received {
            Ok(_) => {}
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(errno) => return Err(errno),
        }
        self.stamps.look();
        for (frame, message) in self.row.chunks_exact(self.stride).zip(messages.iter().flatten()) {
            let bytes = frame.get(..message.len).unwrap_or_default();
            let at = message.ancillary.arrived_real_ns.map(|real_ns| self.stamps.monotonic(real_ns));
            each(Arrived { bytes, cut: message.cut, at });
        }
        Ok(got)
    }

    /// Sends frames that lie in `arena`, from the front; how many the kernel took. Fewer than there are: the queue is
    /// full, and nothing wakes the caller when it drains.
    ///
    /// # Errors
    /// The first frame is refused for good: too long for the interface, no interface, not Ethernet.
    pub fn send(&mut self, arena: &[u8], spans: &[Span]) -> Result<usize, Errno> {
        self.entries.clear();
        let entry = |span: &Span| TxEntry { port: PortIndex(0), to: None, offset: span.offset, len: span.len };
        self.entries.extend(spans.iter().take(self.runs.len()).map(entry));
        let runs = self.runs.get(..self.entries.len()).unwrap_or_default();
        match self.send.prepare(arena, &self.entries, runs).send(self.socket.as_fd()) {
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
            sent => sent,
        }
    }

    /// Frames that came and found the receive buffer full, since it was opened.
    pub fn overruns(&mut self) -> u64 {
        if let Some((_, dropped)) = link::statistics(self.socket.as_fd()) {
            self.overrun += u64::from(dropped);
        }
        self.overrun
    }
}

/// Frames a call at most.
pub const MAX_BATCH: usize = 64;

impl AsFd for LinkPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
