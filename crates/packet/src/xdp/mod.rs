//! Engine `xdp`: AF_XDP. A program in front of one interface takes the datagrams of the engine's ports out of the receive
//! path, frame and all, and frames that are written here leave without the kernel's protocol layers.
//!
//! * The **kernel keeps** the address, ARP, ICMP and routing. Each port also is a kernel socket, bound as with the other
//!   engines: it keeps others from taking the port, and ICMP answers to what was sent here come to its error queue.
//! * **Every queue** of the interface has a socket of its own; of several, the earliest stamp goes first. Stamps are made
//!   by the program, on the monotonic clock itself.
//! * **Native or generic**, as the engine is called: `xdp` wants the driver's own place and says so where there is none;
//!   `xdp-generic` works everywhere. Neither becomes the other by itself. [`crate::Limits::path`] says which it is, and
//!   whether frames are copied between driver and socket.
//! * The program **ends with the engine**, also if the process is killed: it hangs on a descriptor (a bpf link).
//!
//! A frame on arrival is copied once more, into the batch, where it is the caller's as with every engine; so is one that
//! leaves.

mod opening;
mod program;

use std::net::SocketAddr;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};
use takt_host::bpf::Attached;

pub(crate) use self::opening::open;
use crate::network::frame::{self, Ends, Mac};
use crate::network::hops::{Hop, Hops};
use crate::network::{Wanted, ends, gone, still_there, take};
use crate::shared::{MAX_PORTS, Shared, left, nap};
use crate::sys::xsk::Xsk;
use crate::{
    Counters, Engine, EngineError, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch, TxEntry, Wait,
};

/// Queues of an interface that have a socket.
pub(crate) const MAX_QUEUES: usize = 16;

/// An engine over the sockets of an interface.
pub(crate) struct Xdp {
    core: Core,
    rx_arena: Box<[u8]>,
    rx_entries: Vec<RxEntry>,
    tx_arena: Box<[u8]>,
    tx_entries: Vec<TxEntry>,
    limits: Limits,
}

struct Core {
    // First: no frame is sent to a socket that is closed.
    _attached: Attached,
    queues: Vec<Xsk>,
    shared: Shared,
    wanted: Vec<Wanted>,
    hops: Hops,
    interface: String,
    mac: Mac,
    mtu: usize,
    max_payload: usize,
}

impl Engine for Xdp {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        loop {
            self.core.collect(&mut self.rx_arena, &mut self.rx_entries, self.limits.batch);
            let go_on = self.rx_entries.is_empty() && !self.core.shared.refused_since_recv;
            if !go_on || !self.core.await_datagram(wait)? {
                break;
            }
        }
        self.core.shared.count(&self.rx_entries);
        Ok(RxBatch::new(&self.rx_arena, &self.rx_entries))
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.rx_arena, &self.rx_entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let Limits { batch, max_payload_bytes, .. } = self.limits;
        TxBatch::new(&mut self.tx_arena, max_payload_bytes, &mut self.tx_entries, want.min(batch), &mut self.core)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.core.shared.refused()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.core.shared.local(port)
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn counters(&self) -> Counters {
        let drops = self.core.queues.iter().map(Xsk::drops).sum();
        Counters { receive_buffer_drops: drops, ..self.core.shared.counters }
    }
}

impl Core {
    /// Takes frames until a batch is full or none are left.
    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, batch: usize) {
        entries.clear();
        self.remind();
        self.shared.counters.receive_calls += 1;
        let Core { queues, shared, wanted, max_payload, .. } = self;
        while entries.len() < batch {
            let Some(queue) = earliest(queues) else { break };
            let at = entries.len() * *max_payload;
            let Some(place) = arena.get_mut(at..at + *max_payload) else { break };
            queue.receive(|stamp, bytes| {
                if let Some(entry) = take(&mut shared.counters, wanted, stamp.map(MonoNs), bytes, place, at) {
                    entries.push(entry);
                }
            });
        }
        queues.iter_mut().for_each(Xsk::refill);
    }

    /// Waits until a queue or a port's error queue has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        for queue in &mut self.queues {
            match queue.wake() {
                // Down: it may come up again, and goes on then.
                Ok(()) | Err(Errno::NETDOWN | Errno::INTR | Errno::AGAIN) => {}
                Err(errno) => return Err(gone(&self.interface, errno)),
            }
        }
        let left = left(wait);
        let timeout = still_there(left);
        let Some(any) = self.queues.first() else { return Ok(false) };
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        let (ports, queues) = (&self.shared.ports, &self.queues);
        let mut fds: [PollFd<'_>; MAX_QUEUES + MAX_PORTS] =
            std::array::from_fn(|n| match (queues.get(n), ports.get(n.wrapping_sub(queues.len()))) {
                (Some(queue), _) => PollFd::new(queue, PollFlags::IN),
                // Only its errors: what comes is not for it.
                (None, Some(port)) => PollFd::new(port, PollFlags::empty()),
                _ => PollFd::new(any, PollFlags::empty()),
            });
        let fds = fds.get_mut(..queues.len() + ports.len()).unwrap_or(&mut []);
        let answer = poll(fds, Some(&timeout));
        let came = fds.iter().take(queues.len()).any(|fd| fd.revents().contains(PollFlags::IN));
        for (fd, ready) in fds.iter().skip(queues.len()).zip(&mut ready) {
            *ready = fd.revents();
        }
        match answer {
            Ok(_) | Err(Errno::INTR | Errno::NOMEM) => {}
            Err(errno) => return Err(self.shared.gone("ppoll", 0, errno)),
        }
        self.shared.heed_errors(&ready)?;
        Ok(came || self.shared.refused_since_recv || left.is_some())
    }

    /// Writes one datagram into a chunk; `None` when the wait is over before there was one, or a way.
    fn queue(&mut self, bytes: &[u8], ends: Ends, wait: Wait) -> Result<Option<Fate>, EngineError> {
        let mac = loop {
            match self.hops.hop(*ends.destination.ip(), WallClock.now()) {
                Hop::To(mac) => break mac,
                Hop::Nowhere => return Ok(Some(Fate::Nowhere)),
                Hop::Soon => {
                    self.flush(wait)?;
                    if !nap(wait) {
                        return Ok(None);
                    }
                }
            }
        };
        let own = self.mac;
        let Some(queue) = self.queues.first_mut() else { return Ok(None) };
        if queue.reap() == 0 && !self.flush(wait)? {
            return Ok(None);
        }
        let Some(queue) = self.queues.first_mut() else { return Ok(None) };
        let queued = queue.send(|chunk| frame::write(chunk, own, mac, ends, bytes));
        Ok(queued.then_some(Fate::Queued))
    }

    /// Has the kernel take what is queued, as far as it does before the wait is over; `false` when no chunk is free then.
    /// What it has not taken leaves with the next send or receive.
    fn flush(&mut self, wait: Wait) -> Result<bool, EngineError> {
        let Some(queue) = self.queues.first_mut() else { return Ok(false) };
        loop {
            let counters = &mut self.shared.counters;
            match queue.kick(&mut counters.send_calls) {
                Ok(true) if queue.reap() > 0 => return Ok(true),
                Ok(false) | Err(Errno::INTR) => continue,
                Ok(true) | Err(Errno::AGAIN | Errno::BUSY | Errno::NETDOWN) => {}
                Err(Errno::NOBUFS | Errno::NOMEM) => counters.congested_sends += 1,
                Err(errno) => return Err(gone(&self.interface, errno)),
            }
            if !nap(wait) {
                return Ok(queue.reap() > 0);
            }
        }
    }

    /// Sends that the kernel would not take are offered again.
    fn remind(&mut self) {
        for queue in self.queues.iter_mut().filter(|queue| queue.has_queued()) {
            // What it says, it says again to the next send.
            let _taken = queue.kick(&mut self.shared.counters.send_calls);
        }
    }
}

/// What became of a datagram.
enum Fate {
    Queued,
    Nowhere,
}

impl Transmit for Core {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let mut done = 0;
        for entry in entries {
            let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
            let fate = match ends(&self.wanted, entry, self.mtu) {
                Some(ends) => self.queue(bytes, ends, wait)?,
                None => Some(Fate::Nowhere),
            };
            match fate {
                Some(Fate::Queued) => {
                    self.shared.counters.sent_datagrams += 1;
                    self.shared.counters.sent_bytes += entry.len as u64;
                }
                Some(Fate::Nowhere) => self.shared.counters.undeliverable_datagrams += 1,
                None => break,
            }
            done += 1;
        }
        // What is in the ring now leaves with this call, or with the next.
        self.flush(wait)?;
        self.shared.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
}

/// The queue whose next frame came first; where one has no stamp, the first queue that has a frame.
fn earliest(queues: &mut [Xsk]) -> Option<&mut Xsk> {
    if queues.len() == 1 {
        return queues.first_mut().filter(|queue| queue.has_frame());
    }
    queues
        .iter_mut()
        .filter_map(|queue| queue.next_stamp().map(|stamp| (stamp, queue)))
        .min_by_key(|(stamp, _)| *stamp)
        .map(|(_, queue)| queue)
}
