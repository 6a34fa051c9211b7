//! Frames that leave: where to, into which chunks, and when the kernel takes them.

use rustix::io::Errno;
use takt_base::{Clock, WallClock};

use crate::network::frame::{self, Ends, Mac};
use crate::network::gone;
use crate::network::hops::{Hop, Hops};
use crate::shared::nap;
use crate::sys::xsk::Sending;
use crate::{Counters, EngineError, Wait};

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Queued,
    Nowhere,
}

/// The sending half of an interface's first queue, and what its frames say.
pub(super) struct Frames {
    pub(super) queue: Sending,
    pub(super) hops: Hops,
    pub(super) interface: String,
    pub(super) mac: Mac,
    pub(super) mtu: usize,
}

impl Frames {
    /// Writes one datagram into chunks; `None` when the wait is over before there were any, or a way.
    pub(super) fn queue(
        &mut self,
        counters: &mut Counters,
        bytes: &[u8],
        ends: Ends,
        wait: Wait,
    ) -> Result<Option<Fate>, EngineError> {
        let mac = loop {
            match self.hops.hop(*ends.destination.ip(), WallClock.now()) {
                Hop::To(mac) => break mac,
                Hop::Nowhere => return Ok(Some(Fate::Nowhere)),
                Hop::Soon => {
                    self.flush(counters, 1, wait)?;
                    if !nap(wait) {
                        return Ok(None);
                    }
                }
            }
        };
        let Some(headers) = frame::headers(self.mac, mac, ends, bytes) else { return Ok(Some(Fate::Nowhere)) };
        let need = Sending::parts(headers.len() + bytes.len());
        if self.queue.reap() < need && !self.flush(counters, need, wait)? {
            return Ok(None);
        }
        Ok(self.queue.send(&headers, bytes).then_some(Fate::Queued))
    }

    /// Has the kernel take what is queued, as far as it does before the wait is over; `false` when fewer than `need` chunks
    /// are free then. What it has not taken leaves with the next send or receive.
    pub(super) fn flush(&mut self, counters: &mut Counters, need: usize, wait: Wait) -> Result<bool, EngineError> {
        loop {
            match self.queue.kick(&mut counters.send_calls) {
                Ok(true) if self.queue.reap() >= need => return Ok(true),
                Ok(false) | Err(Errno::INTR) => continue,
                Ok(true) | Err(Errno::AGAIN | Errno::BUSY | Errno::NETDOWN) => {}
                Err(Errno::NOBUFS | Errno::NOMEM) => counters.congested_sends += 1,
                Err(errno) => return Err(gone(&self.interface, errno)),
            }
            if !nap(wait) {
                return Ok(self.queue.reap() >= need);
            }
        }
    }

    /// Sends that the kernel would not take are offered again.
    pub(super) fn remind(&mut self, counters: &mut Counters) {
        if self.queue.has_queued() {
            // What it says, it says again to the next send.
            let _taken = self.queue.kick(&mut counters.send_calls);
        }
    }
}
