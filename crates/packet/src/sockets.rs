//! What the engines over kernel sockets have in common: ports, waiting, order, errors, counts. How many datagrams a
//! system call carries is the business of [`Calls`].

use std::net::SocketAddr;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};

use crate::errno::{RecvTrouble, SendTrouble, of_recv, of_send};
use crate::inbox::{Inbox, Message};
use crate::port::Port;
use crate::refusals::Refusals;
use crate::stamp::StampClock;
use crate::sys::message::{Got, Wants, recv_one};
use crate::{
    Config, Counters, Engine, EngineError, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch, TxEntry,
    Wait,
};

/// Ports an engine can own.
pub(crate) const MAX_PORTS: usize = 16;
/// ICMP answers that may come between us and one datagram before we go on without it.
const PATIENCE: u32 = 16;
/// How often a full queue below the socket is looked at again: nothing wakes us when it drains.
const CONGESTED: Duration = Duration::from_micros(50);

/// How datagrams cross into the kernel and out of it.
pub(crate) trait Calls: Send {
    /// Bytes between two receive frames.
    fn stride(&self) -> usize;

    /// Fills frames of a row from its front until the port is empty or the row full, and hands each message to `each`.
    /// `Ok(true)`: the port was empty in the end.
    fn recv(&mut self, port: &Port, row: &mut [u8], calls: &mut u64, each: &mut dyn FnMut(Got)) -> Result<bool, Errno>;

    /// Sends from the front of `entries`, all of one port; returns how many are gone, at least one.
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno>;

    /// Whether sends may leave, and receives arrive, as aggregates.
    fn aggregates(&self) -> (bool, bool);
}

/// An engine over kernel sockets.
pub(crate) struct Sockets<C> {
    core: Core<C>,
    rx_arena: Box<[u8]>,
    rx_entries: Vec<RxEntry>,
    tx_arena: Box<[u8]>,
    tx_entries: Vec<TxEntry>,
    limits: Limits,
}

struct Core<C> {
    ports: Vec<Port>,
    calls: C,
    inbox: Inbox,
    stamps: StampClock,
    refusals: Refusals,
    refused_since_recv: bool,
    counters: Counters,
}

impl<C: Calls> Sockets<C> {
    /// Over ports that are open already. All memory is taken, and touched, here.
    pub(crate) fn new(ports: Vec<Port>, calls: C, config: &Config) -> Sockets<C> {
        let (batch, max_payload_bytes) = (config.batch, config.max_payload_bytes);
        let least = |of: fn(&Port) -> usize| ports.iter().map(of).min().unwrap_or(0);
        let (aggregates_sends, aggregates_receives) = calls.aggregates();
        let limits = Limits {
            batch,
            max_payload_bytes,
            recv_buffer_bytes: least(|p| p.recv_buffer_bytes),
            send_buffer_bytes: least(|p| p.send_buffer_bytes),
            stamps: ports.iter().all(|p| p.stamps),
            aggregates_sends,
            aggregates_receives,
        };
        let inbox = Inbox::new(ports.len(), batch, calls.stride(), max_payload_bytes);
        Sockets {
            rx_arena: vec![0xa5; inbox.arena_bytes()].into(),
            rx_entries: Vec::with_capacity(batch),
            tx_arena: vec![0xa5; batch * max_payload_bytes].into(),
            tx_entries: Vec::with_capacity(batch),
            limits,
            core: Core {
                ports,
                calls,
                inbox,
                stamps: StampClock::new(),
                refusals: Refusals::new(),
                refused_since_recv: false,
                counters: Counters::default(),
            },
        }
    }

    fn collect(&mut self) -> Result<bool, EngineError> {
        self.core.fill(&mut self.rx_arena)?;
        self.rx_entries.clear();
        self.core.inbox.take(&mut self.rx_entries, self.limits.batch);
        Ok(!self.rx_entries.is_empty())
    }
}

impl<C: Calls> Engine for Sockets<C> {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        while !self.collect()? && !self.core.refused_since_recv && self.core.await_datagram(wait)? {}
        self.core.refused_since_recv = false;
        let counters = &mut self.core.counters;
        for entry in &self.rx_entries {
            counters.received_datagrams += 1;
            counters.received_bytes += entry.len as u64;
            counters.truncated_datagrams += u64::from(entry.truncated);
        }
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
        self.core.refusals.pop()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.core.ports.get(usize::from(port.0)).map(|port| port.local)
    }

    fn limits(&self) -> Limits {
        Limits { aggregates_sends: self.core.calls.aggregates().0, ..self.limits }
    }

    fn counters(&self) -> Counters {
        let drops: Option<u64> = self.core.ports.iter().map(Port::drops).sum();
        let exact = |&drops: &u64| drops == 0 || !self.limits.aggregates_receives;
        Counters { receive_buffer_drops: drops.filter(exact), ..self.core.counters }
    }
}

impl<C: Calls> Core<C> {
    /// Fills the rows that are empty, later ports first: see [`crate::inbox`].
    fn fill(&mut self, arena: &mut [u8]) -> Result<(), EngineError> {
        self.stamps.look();
        for index in (0..self.ports.len()).rev() {
            if let Some(row) = self.inbox.free_row(index).and_then(|range| arena.get_mut(range)) {
                self.fill_row(index, row)?;
            }
        }
        Ok(())
    }

    fn fill_row(&mut self, index: usize, row: &mut [u8]) -> Result<(), EngineError> {
        let (stride, mut filled) = (self.calls.stride(), 0);
        for _ in 0..PATIENCE {
            let Core { ports, calls, inbox, stamps, counters, .. } = self;
            let Some((port, rest)) = ports.get(index).zip(row.get_mut(filled * stride..)) else { break };
            let mut each = |got: Got| {
                filled += 1;
                inbox.filled(index, message_of(&got, port, stamps));
            };
            match calls.recv(port, rest, &mut counters.receive_calls, &mut each) {
                Ok(false) => return Ok(()),
                Ok(true) => break,
                Err(errno) => match of_recv(errno) {
                    RecvTrouble::Nothing => break,
                    RecvTrouble::Again => {}
                    RecvTrouble::Reported => drop(self.read_errors(index)),
                    RecvTrouble::Gone => return Err(self.gone("recvmsg", index, errno)),
                },
            }
        }
        self.inbox.drained(index);
        Ok(())
    }

    /// Waits until a port has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        let Some(timeout) = left(wait) else { return Ok(false) };
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        let Some(first) = self.ports.first() else { return Ok(false) };
        let mut fds: [PollFd<'_>; MAX_PORTS] =
            std::array::from_fn(|i| PollFd::new(self.ports.get(i).unwrap_or(first), PollFlags::IN));
        let fds = fds.get_mut(..self.ports.len()).unwrap_or(&mut []);
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(Errno::INTR | Errno::NOMEM) => return Ok(true),
            Err(errno) => return Err(self.gone("ppoll", 0, errno)),
        }
        for (fd, ready) in fds.iter().zip(&mut ready) {
            *ready = fd.revents();
        }
        self.heed_errors(&ready)?;
        Ok(true)
    }

    /// Waits until a port takes datagrams again; `false` when `wait` has run out.
    fn await_room(&mut self, index: usize, wait: Wait) -> Result<bool, EngineError> {
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
        self.heed_errors(&ready)?;
        Ok(true)
    }

    /// An error makes a poll return at once until it is read.
    fn heed_errors(&mut self, ready: &[PollFlags; MAX_PORTS]) -> Result<(), EngineError> {
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
    fn read_errors(&mut self, index: usize) -> usize {
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

    fn gone(&self, call: &'static str, index: usize, errno: Errno) -> EngineError {
        let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
        let addr = self.ports.get(index).map_or(unknown, |port| port.local);
        EngineError::Port { call, addr, source: errno.into() }
    }
}

impl<C: Calls> Transmit for Core<C> {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let (mut done, mut troubles) = (0, 0);
        while let Some((first, rest)) = entries.get(done..).and_then(<[TxEntry]>::split_first) {
            let index = usize::from(first.port.0);
            let same = 1 + rest.iter().take_while(|entry| entry.port == first.port).count();
            let together = &entries[done..done + same];
            let Core { ports, calls, counters, .. } = &mut *self;
            let Some(port) = ports.get(index) else {
                counters.undeliverable_datagrams += same as u64;
                done += same;
                continue;
            };
            match calls.send(port, arena, together, &mut counters.send_calls) {
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
                    SendTrouble::Gone => return Err(self.gone("sendmsg", index, errno)),
                },
            }
        }
        self.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
}

fn message_of(got: &Got, port: &Port, stamps: &StampClock) -> Message {
    Message {
        // A UDP socket always says who sent; an address we can't read is nobody's.
        source: got.from.or(port.peer).unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0))),
        arrived: got.ancillary.arrived_real_ns.map(|real| stamps.monotonic(real)),
        len: got.len,
        segment: got.ancillary.segment.unwrap_or(0),
        cut: got.cut,
    }
}

/// What is left of a wait, as `ppoll` wants it (`None` inside: for ever); `None` if nothing is.
fn left(wait: Wait) -> Option<Option<Timespec>> {
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
fn nap(wait: Wait) -> bool {
    let Some(timeout) = left(wait) else { return false };
    let moment = timeout.and_then(|left| Duration::try_from(left).ok()).map_or(CONGESTED, |left| left.min(CONGESTED));
    let _interrupted = poll(&mut [], Timespec::try_from(moment).ok().as_ref());
    true
}
