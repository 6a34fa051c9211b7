//! Received datagrams, copied out of the engine so that its frames are free for the answers.

use std::net::SocketAddr;

use takt_base::MonoNs;
use takt_packet::{PortIndex, RxBatch};

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) port: PortIndex,
    pub(super) source: SocketAddr,
    /// By the kernel's stamp; when it was received, where there is none.
    pub(super) arrived: MonoNs,
    start: usize,
    len: usize,
}

/// Holds one batch; takes no memory after the first full one.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    waiting: Vec<Waiting>,
    next: usize,
}

impl Inbox {
    pub(super) fn new(datagrams: usize, max_payload_bytes: usize) -> Inbox {
        Inbox {
            bytes: Vec::with_capacity(datagrams * max_payload_bytes),
            waiting: Vec::with_capacity(datagrams),
            next: 0,
        }
    }

    /// Forgets what it held and takes a batch received at `now`.
    pub(super) fn fill(&mut self, batch: &RxBatch<'_>, now: MonoNs) {
        self.bytes.clear();
        self.waiting.clear();
        self.next = 0;
        for datagram in batch.iter() {
            self.waiting.push(Waiting {
                port: datagram.port,
                source: datagram.source,
                arrived: datagram.arrived.unwrap_or(now).min(now),
                start: self.bytes.len(),
                len: datagram.bytes.len(),
            });
            self.bytes.extend_from_slice(datagram.bytes);
        }
    }

    pub(super) fn front(&self) -> Option<(Waiting, &[u8])> {
        let waiting = *self.waiting.get(self.next)?;
        Some((waiting, self.bytes.get(waiting.start..waiting.start + waiting.len).unwrap_or(&[])))
    }

    pub(super) fn pop(&mut self) {
        self.next += 1;
    }
}
