//! Engine `xdp`: AF_XDP. A program in front of one interface takes the datagrams of the engine's ports out of the receive
//! path, frame and all, and frames that are written here leave without the kernel's protocol layers.
//!
//! * The **kernel keeps** the address, ARP, ICMP and routing. Each port also is a kernel socket, bound as with the other
//!   engines: it keeps others from taking the port, and ICMP answers to what was sent here come to its error queue.
//! * **Queues** of the interface that the engine serves have a socket each; of several, the earliest stamp goes first. Which
//!   these are, and what brings datagrams there, is [`takt_host::steering`]'s. Stamps are made by the program, on the
//!   monotonic clock itself.
//! * **Native or generic**, as the engine is called: `xdp` wants the driver's own place and says so where there is none;
//!   `xdp-generic` works everywhere. Neither becomes the other by itself. [`crate::Limits::path`] says which it is, and
//!   whether frames are copied between driver and socket.
//! * **One way or both**, as [`crate::Config::way`] says. An engine that receives leaves its few sends to its kernel sockets,
//!   and one that transmits what comes: each then needs one half of the interface's sockets, and two share an interface
//!   without sharing anything between their threads ([`held`]).
//! * The program **ends with the engine**, also if the process is killed: it hangs on a descriptor (a bpf link).
//!
//! A frame on arrival is copied once more, into the batch, where it is the caller's as with every engine; so is one that
//! leaves. One that is longer than a chunk comes in several, and is put together before: that is a copy more.

mod frames;
mod held;
mod opening;
mod program;
mod transmitting;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use takt_base::MonoNs;
use takt_host::bpf::Attached;
use takt_host::steering::Steering;

use self::frames::{Fate, Frames};
use self::held::Lease;
pub(crate) use self::opening::{fits, open};
use crate::framed::Core;
use crate::network::martian::Martians;
use crate::network::{Wanted, ends, gone, still_there, take};
use crate::shared::{MAX_PORTS, Shared, left};
use crate::socket::OneByOne;
use crate::sys::xsk::Receiving;
use crate::{Counters, EngineError, Limits, RxEntry, Transmit, TxEntry, Wait};

/// Queues of an interface that have a socket.
pub(crate) const MAX_QUEUES: usize = 16;

/// An engine over the sockets of an interface.
pub(crate) struct Xdp {
    // First: no frame is sent to a socket that is closed.
    _attached: Attached,
    queues: Vec<Receiving>,
    /// None where little is sent: the ports do that.
    out: Option<Frames>,
    ports: OneByOne,
    shared: Shared,
    wanted: Vec<Wanted>,
    martians: Martians,
    max_payload: usize,
    interface: String,
    _lease: Option<Lease>,
    // Last: the queues are free by then.
    steering: Option<Steering>,
}

impl Core for Xdp {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn shared_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Takes frames until a batch is full or none are left.
    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, limits: &Limits) -> Result<(), EngineError> {
        if let Some(out) = &mut self.out {
            out.remind(&mut self.shared.counters.send_calls);
        }
        self.shared.counters.receive_calls += 1;
        let Xdp { queues, shared, wanted, martians, max_payload, .. } = self;
        let ours = (wanted.as_slice(), &*martians);
        while entries.len() < limits.batch {
            let Some(queue) = earliest(queues) else { break };
            let at = entries.len() * *max_payload;
            let Some(place) = arena.get_mut(at..at + *max_payload) else { break };
            queue.receive(|stamp, bytes| {
                let arrived = stamp.map(MonoNs);
                entries.extend(take(&mut shared.counters, ours, arrived, bytes, place, at));
            });
        }
        queues.iter_mut().for_each(Receiving::refill);
        Ok(())
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
        self.shared.handle_errors(&ready)?;
        Ok(came || self.shared.refused_since_recv || left.is_some())
    }

    fn counters(&self, _: &Limits) -> Counters {
        let drops = self.queues.iter().map(Receiving::drops).sum();
        let congested = self.out.as_ref().map_or(0, |out| out.congested);
        let counters = self.shared.counters;
        Counters { receive_buffer_drops: drops, congested_sends: counters.congested_sends + congested, ..counters }
    }

    fn queues(&self) -> Option<&str> {
        self.steering.as_ref().and_then(Steering::summary)
    }
}

impl Transmit for Xdp {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let Some(out) = &mut self.out else {
            return self.shared.transmit(&mut self.ports, arena, entries, wait);
        };
        let gone = |errno| gone(&self.interface, errno);
        let mut done = 0;
        for entry in entries {
            let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
            let fate = match ends(&self.wanted, entry, out.mtu) {
                Some(ends) => out.queue(&mut self.shared.counters.send_calls, bytes, ends, wait).map_err(gone)?,
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
        // Frames in the ring now leave with this call, or with the next.
        out.flush(&mut self.shared.counters.send_calls, 1, wait).map_err(gone)?;
        self.shared.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
}

/// The queue whose next frame came first; where one has no stamp, the first queue that has a frame.
fn earliest(queues: &mut [Receiving]) -> Option<&mut Receiving> {
    if queues.len() == 1 {
        return queues.first_mut().filter(|queue| queue.has_frame());
    }
    queues
        .iter_mut()
        .filter_map(|queue| queue.next_stamp().map(|stamp| (stamp, queue)))
        .min_by_key(|(stamp, _)| *stamp)
        .map(|(_, queue)| queue)
}
