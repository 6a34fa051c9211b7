//! Frames that leave: where to, into which chunks, and when the kernel takes them.

use rustix::io::Errno;
use takt_base::{Clock, WallClock};

use crate::Wait;
use crate::network::frame::{self, Ends, Mac};
use crate::network::hops::{Hop, Hops};
use crate::shared::nap;
use crate::sys::xsk::Sending;

/// Fate of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Queued,
    Nowhere,
}

/// The sending half of an interface's first queue, and what its frames say.
pub(super) struct Frames {
    pub(super) queue: Sending,
    pub(super) hops: Hops,
    pub(super) mac: Mac,
    pub(super) mtu: usize,
    /// Times the kernel had no memory for a frame.
    pub(super) congested: u64,
}

impl Frames {
    /// Writes one datagram into chunks; `None` when the wait is over before there were any, or a way.
    ///
    /// # Errors
    /// The interface is gone.
    pub(super) fn queue(
        &mut self,
        calls: &mut u64,
        bytes: &[u8],
        ends: Ends,
        wait: Wait,
    ) -> Result<Option<Fate>, Errno> {
        let mac = loop {
            match self.hops.hop(*ends.destination.ip(), WallClock.now()) {
                Hop::To(mac) => break mac,
                Hop::Nowhere => return Ok(Some(Fate::Nowhere)),
                Hop::Soon => {
                    self.flush(calls, 1, wait)?;
                    if !nap(wait) {
                        return Ok(None);
                    }
                }
            }
        };
        let Some(headers) = frame::headers(self.mac, mac, ends, bytes) else { return Ok(Some(Fate::Nowhere)) };
        let need = Sending::parts(headers.len() + bytes.len());
        if self.queue.reap() < need && !self.flush(calls, need, wait)? {
            return Ok(None);
        }
        Ok(self.queue.send(&headers, bytes).then_some(Fate::Queued))
    }

    /// Has the kernel take what is queued, as far as it does before the wait is over; `false` when fewer than `need` chunks
    /// are free then. Frames not taken leave with the next send or receive.
    ///
    /// # Errors
    /// The interface is gone.
    pub(super) fn flush(&mut self, calls: &mut u64, need: usize, wait: Wait) -> Result<bool, Errno> {
        loop {
            match self.queue.kick(calls) {
                Ok(true) if self.queue.reap() >= need => return Ok(true),
                Ok(false) | Err(Errno::INTR) => continue,
                Ok(true) | Err(Errno::AGAIN | Errno::BUSY | Errno::NETDOWN) => {}
                Err(Errno::NOBUFS | Errno::NOMEM) => self.congested += 1,
                Err(errno) => return Err(errno),
            }
            if !nap(wait) {
                return Ok(self.queue.reap() >= need);
            }
        }
    }

    /// Sends that the kernel would not take are offered again.
    pub(super) fn remind(&mut self, calls: &mut u64) {
        if self.queue.has_queued() {
            // Its answer comes again at the next send.
            let _taken = self.queue.kick(calls);
        }
    }
}
