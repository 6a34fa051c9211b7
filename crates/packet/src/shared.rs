//! Parts of every engine that owns kernel sockets: ports, their errors, the order of sends, counts.

use std::net::SocketAddr;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};

use crate::errno::{SendTrouble, of_send};
use crate::inbox::Message;
use crate::port::Port;
use crate::refusals::Refusals;
use crate::stamp::StampClock;
use crate::sys::message::{Received, Wants, recv_one};
use crate::{Config, Counters, EngineError, FramePath, Limits, PortIndex, Refusal, RxEntry, TxEntry, Wait};

/// Ports an engine can own.
pub(crate) const MAX_PORTS: usize = 16;
/// ICMP answers that may come between us and one datagram before we go on without it.
pub(crate) const PATIENCE: u32 = 16;
/// How often a full queue below the socket is looked at again: nothing wakes us when it drains.
pub(crate) const CONGESTED: Duration = Duration::from_micros(50);

/// How datagrams leave.
pub(crate) trait Sends {
    /// Sends from the front of `entries`, all of one port, without waiting; returns how many are gone, at least one.
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno>;

    /// Error that such an answer means, if it does not end the port.
    fn ended(&self, _: Errno) -> Option<EngineError> {
        None
    }
}

/// The ports of an engine.
pub(crate) struct Shared {
    pub(crate) ports: Vec<Port>,
    pub(crate) stamps: StampClock,
    pub(crate) refused_since_recv: bool,
    pub(crate) counters: Counters,
    refusals: Refusals,
}

impl Shared {
    pub(crate) fn new(ports: Vec<Port>) -> Shared {
        let (stamps, refusals) = (StampClock::new(), Refusals::new());
        Shared { ports, stamps, refusals, refused_since_recv: false, counters: Counters::default() }
    }

    /// Limits that the kernel granted for the ports; `aggregates` says whether sends may leave, and receives arrive, as
    /// such.
    pub(crate) fn limits(&self, config: &Config, aggregates: (bool, bool)) -> Limits {
        let least = |of: fn(&Port) -> usize| self.ports.iter().map(of).min().unwrap_or(0);
        Limits {
            batch: config.batch,
            max_payload_bytes: config.max_payload_bytes,
            recv_buffer_bytes: least(|p| p.recv_buffer_bytes),
            send_buffer_bytes: least(|p| p.send_buffer_bytes),
            stamps: self.ports.iter().all(|p| p.stamps),
            aggregates_sends: aggregates.0,
            aggregates_receives: aggregates.1,
            busy_poll: config.busy_poll,
            path: FramePath::Sockets,
        }
    }

    /// The address of a port.
    pub(crate) fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.ports.get(usize::from(port.0)).map(|port| port.local)
    }

    /// Relates the clock of stamps to this engine's, where there are stamps.
    pub(crate) fn compare_clocks(&mut self) {
        if self.ports.iter().any(|port| port.stamps) {
            self.stamps.look();
        }
    }

    pub(crate) fn refused(&mut self) -> Option<Refusal> {
        self.refusals.pop()
    }

    /// A batch goes to the caller.
    pub(crate) fn count(&mut self, batch: &[RxEntry]) {
        self.refused_since_recv = false;
        for entry in batch {
            self.counters.received_datagrams += 1;
            self.counters.received_bytes += entry.len as u64;
            self.counters.truncated_datagrams += u64::from(entry.truncated);
        }
    }

    /// All counts. If receives are `joined` the kernel counts what it joined, so that drops are known only while 0.
    pub(crate) fn counters(&self, joined: bool) -> Counters {
        let drops: Option<u64> = self.ports.iter().map(Port::drops).sum();
        Counters { receive_buffer_drops: drops.filter(|&drops| drops == 0 || !joined), ..self.counters }
    }

    /// Sends `entries` in order; what [`crate::TxBatch::send`] promises.
    pub(crate) fn transmit(
        &mut self,
        sends: &mut dyn Sends,
        arena: &[u8],
        entries: &[TxEntry],
        wait: Wait,
    ) -> Result<usize, EngineError> {
        let (mut done, mut troubles) = (0, 0);
        while let Some((first, rest)) = entries.get(done..).and_then(<[TxEntry]>::split_first) {
            let index = usize::from(first.port.0);
            let same = 1 + rest.iter().take_while(|entry| entry.port == first.port).count();
            let together = &entries[done..done + same];
            let Shared { ports, counters, .. } = &mut *self;
            let Some(port) = ports.get(index) else {
                counters.undeliverable_datagrams += same as u64;
                done += same;
                continue;
            };
            match sends.send(port, arena, together, &mut counters.send_calls) {
                Ok(sent) => {
                    counters.sent_datagrams += sent as u64;
                    counters.sent_bytes += together.iter().take(sent).map(|entry| entry.len as u64).sum::<u64>();
                    (done, troubles) = (done + sent, 0);
                }
                Err(errno) => match of_send(errno) {
                    SendTrouble::Full if self.await_room(index, wait)? => {}
                    SendTrouble::Full => break,
                    SendTrouble::Congested => {
                        self.counters.congested_sends += 1;
                        if !nap(wait) {
                            break;
                        }
                    }
                    SendTrouble::Again => {}
                    SendTrouble::Datagram => {
                        troubles += 1;
                        let about_an_earlier_one = self.read_errors(index) > 0 || errno == Errno::CONNREFUSED;
                        if !about_an_earlier_one || troubles > PATIENCE {
                            self.counters.undeliverable_datagrams += 1;
                            (done, troubles) = (done + 1, 0);
                        }
                    }
                    SendTrouble::Gone => {
                        return Err(sends.ended(errno).unwrap_or_else(|| self.gone("sendmsg", index, errno)));
                    }
                },
            }
        }
        self.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
    /// Waits until a port takes datagrams again; `false` when `wait` has run out.
    pub(crate) fn await_room(&mut self, index: usize, wait: Wait) -> Result<bool, EngineError> {
        let (Some(timeout), Some(port)) = (left(wait), self.ports.get(index)) else { return Ok(false) };
        let mut fd = [PollFd::new(port, PollFlags::OUT)];
        match poll(&mut fd, timeout.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(Errno::INTR | Errno::NOMEM) => return Ok(true),
            Err(errno) => return Err(self.gone("ppoll", index, errno)),
        }
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        if let Some(ready) = ready.get_mut(index) {
            *ready = fd[0].revents();
        }
        self.handle_errors(&ready)?;
        Ok(true)
    }

    /// An error makes a poll return at once until it is read.
    pub(crate) fn handle_errors(&mut self, ready: &[PollFlags; MAX_PORTS]) -> Result<(), EngineError> {
        for (index, ready) in ready.iter().enumerate() {
            if ready.contains(PollFlags::NVAL) {
                return Err(self.gone("ppoll", index, Errno::BADF));
            }
            if ready.contains(PollFlags::ERR) {
                self.read_errors(index);
            }
        }
        Ok(())
    }

    /// Empties the error queue of a port; returns how many ICMP errors were in it.
    pub(crate) fn read_errors(&mut self, index: usize) -> usize {
        let mut icmp = 0;
        let Some(port) = self.ports.get(index) else { return 0 };
        while let Ok(got) = recv_one(port.fd(), &mut [0; 1], Wants::ALL, libc::MSG_ERRQUEUE) {
            let Some(error) = got.ancillary.error.filter(|error| error.icmp) else { continue };
            icmp += 1;
            // For an error the kernel names the destination where the sender would stand: ip(7), IP_RECVERR.
            match (error.errno, got.from) {
                (libc::ECONNREFUSED, Some(to)) => {
                    self.counters.refusals += 1;
                    self.refused_since_recv = true;
                    self.refusals.note(Refusal { port: PortIndex(u8::try_from(index).unwrap_or(u8::MAX)), to });
                }
                _ => self.counters.other_icmp += 1,
            }
        }
        icmp
    }

    /// A destination answered that nobody listens there.
    #[cfg(feature = "dpdk")]
    pub(crate) fn note_refusal(&mut self, port: PortIndex, to: SocketAddr) {
        self.counters.refusals += 1;
        self.refused_since_recv = true;
        self.refusals.note(Refusal { port, to });
    }

    pub(crate) fn gone(&self, call: &'static str, index: usize, errno: Errno) -> EngineError {
        let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
        let addr = self.ports.get(index).map_or(unknown, |port| port.local);
        EngineError::Port { call, addr, source: errno.into() }
    }
}

/// A message as the inbox keeps it.
pub(crate) fn message_of(got: &Received, port: &Port, stamps: &StampClock) -> Message {
    Message {
        // A UDP socket always reports the sender; an address we can't read is nobody's.
        source: got.from.or(port.peer).unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0))),
        arrived: got.ancillary.arrived_real_ns.map(|real| stamps.monotonic(real)),
        len: got.len,
        segment: got.ancillary.segment.unwrap_or(0),
        cut: got.cut,
    }
}

/// Rest of a wait, as `ppoll` wants it (`None` inside: forever); `None` if nothing is left.
pub(crate) fn left(wait: Wait) -> Option<Option<Timespec>> {
    match wait {
        Wait::Poll => None,
        Wait::Until(MonoNs::NEVER) => Some(None),
        Wait::Until(end) => {
            let span = end - WallClock.now();
            (!span.is_zero()).then(|| Timespec::try_from(span).ok())
        }
    }
}

/// Sleeps a moment; `false` when `wait` has run out.
pub(crate) fn nap(wait: Wait) -> bool {
    let Some(timeout) = left(wait) else { return false };
    let _interrupted = poll(&mut [], Some(&moment(timeout)));
    true
}

/// How long a queue that is full is left alone, of what is left of a wait.
pub(crate) fn moment(left: Option<Timespec>) -> Timespec {
    at_most(left, CONGESTED)
}

/// Rest of a wait, but no longer than `most`.
pub(crate) fn at_most(left: Option<Timespec>, most: Duration) -> Timespec {
    let span = left.and_then(|left| Duration::try_from(left).ok()).map_or(most, |left| left.min(most));
    Timespec::try_from(span).unwrap_or_default()
}
