//! An engine that transmits: frames leave by the sending half, and what little comes is the kernel's to deliver to its
//! sockets. No program runs for it.

use std::time::Duration;

use rustix::io::Errno;
use takt_base::{Clock, WallClock};

use super::frames::{Fate, Frames};
use super::held::Lease;
use crate::mmsg::Batches;
use crate::network::watch::InterfaceWatch;
use crate::network::{STILL_THERE, Wanted, ends};
use crate::port::Port;
use crate::shared::{CONGESTED, Sends};
use crate::sockets::Calls;
use crate::sys::message::Received;
use crate::{EngineError, FramePath, Limits, TxEntry, Wait};

/// How datagrams cross.
pub(super) struct Transmitting {
    pub(super) out: Frames,
    pub(super) received: Batches,
    pub(super) wanted: Vec<Wanted>,
    pub(super) watch: InterfaceWatch,
    pub(super) send_buffer_bytes: usize,
    pub(super) _lease: Option<Lease>,
}

impl Calls for Transmitting {
    fn stride(&self) -> usize {
        self.received.stride()
    }

    fn recv(
        &mut self,
        port: &Port,
        row: &mut [u8],
        calls: &mut u64,
        each: &mut dyn FnMut(Received),
    ) -> Result<bool, Errno> {
        self.out.remind(&mut 0);
        self.received.recv(port, row, calls, each)
    }

    fn aggregates(&self) -> (bool, bool) {
        (false, self.received.aggregates().1)
    }

    /// Nothing wakes the caller when what it has queued could leave, or when the interface is removed.
    fn longest_sleep(&self) -> Option<Duration> {
        Some(if self.out.queue.has_queued() { CONGESTED } else { STILL_THERE })
    }

    fn look(&mut self) -> Result<(), EngineError> {
        self.watch.look(WallClock.now())
    }

    fn limits(&self, sockets: Limits) -> Limits {
        let path = FramePath::TransmitXdp { zero_copy: self.out.queue.zero_copy() };
        Limits { path, send_buffer_bytes: self.send_buffer_bytes, ..sockets }
    }
}

impl Sends for Transmitting {
    /// A ring without room and a neighbour that is being sought both say that nothing will wake the caller: `ENOBUFS`.
    fn send(&mut self, _: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        let mut sent = 0;
        for entry in entries {
            let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
            let fate = match ends(&self.wanted, entry, self.out.mtu) {
                Some(ends) => self.out.queue(calls, bytes, ends, Wait::Poll)?,
                None => Some(Fate::Nowhere),
            };
            match fate {
                Some(Fate::Queued) => sent += 1,
                // By an interface that is gone there is no way either, and no frame that could say so.
                Some(Fate::Nowhere) if sent == 0 => {
                    return Err(self.look().map_or(Errno::NXIO, |()| Errno::HOSTUNREACH));
                }
                None if sent == 0 => return Err(Errno::NOBUFS),
                _ => break,
            }
        }
        self.out.flush(calls, 1, Wait::Poll)?;
        Ok(sent)
    }

    fn ended(&self, errno: Errno) -> Option<EngineError> {
        Some(self.watch.ended(errno))
    }
}
