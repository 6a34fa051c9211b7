//! Engine `dpdk`: frames through a driver of DPDK's in this process.
//!
//! * **The caller's thread polls** the driver itself, in `recv` and `send`; there is no thread of the engine's. UHD's transport
//!   gives each card a thread that spins. On two cores that is half of the host, spent also while nothing comes; and each
//!   datagram would change hands between threads. A caller who polls all the time has the same here, on its own core, and its
//!   time counts as its own.
//! * **Several engines** of the process share a device (`device.rs`): who polls puts what is for the others into their queues.
//! * **Waiting** is polling first, then sleeping: on the driver's own socket where it has one (`af_packet`, `af_xdp`), else in
//!   naps of 50 µs; and on an eventfd, by which another engine wakes it.
//! * **`af_packet`**: the kernel keeps the interface, with ARP, ICMP and routing, and sees all traffic too. Ports are held by
//!   kernel sockets that take no datagrams. The driver's socket gets what is for the engines' ports only.
//! * **The other devices** are the engines' alone. They send and answer requests of ARP themselves, receive "port
//!   unreachable", and reach the network of their own address only.
//! * **Stamps** are of the moment just after the frame was taken from the driver.
//!
//! A frame on arrival is copied from its buffer into the batch, where it is the caller's as with every engine; so is one that
//! leaves. Checksums are made and compared in software.

mod arp;
mod device;
mod eal;
mod opening;
mod plugged;
mod queue;
mod socket;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};

use self::device::{Device, Leave, Look, STANDBY, Sending};
pub(crate) use self::opening::open;
use self::plugged::BURST;
use self::queue::EngineConsumer;
use self::socket::Socket;
use crate::framed::Core;
use crate::network::frame::{self, Ends, Mac};
use crate::network::hops::{Hop, Hops};
use crate::network::icmp::unreachable;
use crate::network::martian::Martians;
use crate::network::watch::InterfaceWatch;
use crate::network::{Wanted, ends, still_there, take};
use crate::shared::{MAX_PORTS, Shared, left, nap};
use crate::{Counters, EngineError, Limits, PortIndex, RxEntry, Transmit, TxEntry, Wait};

/// How long a wait sleeps where nothing wakes it.
const NAP: Duration = Duration::from_micros(50);
/// How long even a sender that does not wait lets another engine finish its burst.
const PATIENCE: Duration = Duration::from_micros(500);

/// One engine over a device.
pub(crate) struct Dpdk {
    device: Arc<Device>,
    queue: EngineConsumer,
    /// The kernel's, where it knows the neighbours.
    hops: Option<Hops>,
    watch: Option<InterfaceWatch>,
    shared: Shared,
    wanted: Vec<Wanted>,
    martians: Martians,
    mtu: usize,
    max_payload: usize,
    /// Frames that the device had missed when this engine began.
    missed_before: Option<u64>,
    /// Another engine had the receiving side when this one looked last.
    busy: bool,
    /// All that came then was for others.
    for_others: bool,
    // Last: it ends the device, unless another engine has it.
    _leave: Leave,
}

impl Core for Dpdk {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn shared_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.wanted.get(usize::from(port.0)).map(|port| port.local.into())
    }

    /// A device's misses are the engine's own if no other had it meanwhile; else no engine knows whose they were.
    fn counters(&self, _: &Limits) -> Counters {
        let missed = self.device.missed().zip(self.missed_before).map(|(now, before)| now.saturating_sub(before));
        let own = missed.filter(|&missed| missed == 0 || self.queue.was_alone());
        Counters { receive_buffer_drops: own.map(|own| own + self.queue.dropped()), ..self.shared.counters }
    }

    /// Takes frames until a batch is full or none are left.
    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, limits: &Limits) -> Result<(), EngineError> {
        let now = WallClock.now();
        self.look(now)?;
        self.shared.counters.receive_calls += 1;
        // As often as a batch takes, however many frames come that are not for the engine.
        let mut bursts = limits.batch.div_ceil(BURST) + 1;
        let mut came = false;
        self.busy = false;
        while entries.len() < limits.batch {
            let Some(frame) = self.queue.pop() else {
                let found = if bursts > 0 { self.device.look() } else { Look::None };
                self.busy = found == Look::Busy;
                if found != Look::Some {
                    break;
                }
                came = true;
                bursts -= 1;
                continue;
            };
            let offset = entries.len() * self.max_payload;
            let Some(place) = arena.get_mut(offset..offset + self.max_payload) else { break };
            let bytes = frame.bytes();
            if frame::destination(bytes).is_some() {
                let arrived = Some(frame.at).filter(|_| limits.stamps);
                let ours = (&*self.wanted, &self.martians);
                entries.extend(take(&mut self.shared.counters, ours, arrived, bytes, place, offset));
            } else {
                self.handle_icmp(bytes);
            }
        }
        self.for_others = came && entries.is_empty() && !self.queue.was_alone();
        if entries.is_empty() {
            // Whoever only polls from now on never waits. Not before: it may be another engine that sends.
            self.kick();
        }
        if self.device.has_arp()
            && let Some(mut sending) = self.device.sending(now)
        {
            sending.send_arp();
        }
        Ok(())
    }

    /// Waits until the device, another engine or a port's error queue has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        let left = left(wait);
        // An engine that has the device just now will soon have done, and ARP waits for an engine that gets to it.
        let soon = self.busy || self.device.has_arp();
        // One that the traffic of others wakes leaves polling to them, who may let it wait so that one wake-up fetches much of it.
        let polls = left.is_some() && !soon && !self.for_others;
        let poller = if polls { self.device.poller() } else { None };
        let socket = self.device.socket.as_ref().filter(|_| poller.is_some());
        let most = match (&poller, socket) {
            // Nothing tells when the kernel takes more of the driver's ring, nor that another engine left something in it.
            (Some(_), Some(_)) if self.device.has_unsent() || !self.queue.was_alone() => STANDBY,
            (Some(_), Some(_)) => Duration::MAX,
            (Some(_), None) => NAP,
            (None, _) if soon => NAP,
            (None, _) => STANDBY,
        };
        self.queue.begin_sleep();
        let timeout = if self.queue.is_empty() { shorter(still_there(left), most) } else { Timespec::default() };
        let polled = self.poll(socket, &timeout);
        self.queue.end_sleep(polled.is_ok_and(|polled| polled.woken));
        drop(poller);
        let polled = match polled {
            Ok(polled) => polled,
            Err(Errno::INTR | Errno::NOMEM) => return Ok(left.is_some()),
            Err(errno) => return Err(self.shared.gone("ppoll", 0, errno)),
        };
        if let (true, Some(socket), Some(watch)) = (polled.error, &self.device.socket, &mut self.watch) {
            // Down, from which it may come up, or gone: reading it makes the next wait a wait again.
            let _down = socket.error();
            watch.recheck();
        }
        self.shared.handle_errors(&polled.ports)?;
        Ok(self.shared.refused_since_recv || left.is_some())
    }
}

/// Result of a poll.
#[derive(Clone, Copy)]
struct Polled {
    /// Another engine has put something into the queue.
    woken: bool,
    /// The driver's socket has an error.
    error: bool,
    ports: [PollFlags; MAX_PORTS],
}

impl Dpdk {
    /// # Errors
    /// The interface is gone.
    fn look(&mut self, now: MonoNs) -> Result<(), EngineError> {
        self.watch.as_mut().map_or(Ok(()), |watch| watch.look(now))
    }

    /// Waits for the eventfd of the queue, for the driver's socket if it is given, and for errors of the ports.
    fn poll(&self, socket: Option<&Socket>, timeout: &Timespec) -> Result<Polled, Errno> {
        let wake_fd = self.queue.as_fd();
        let of_driver = if socket.is_some() { PollFlags::IN } else { PollFlags::empty() };
        let mut fds: [PollFd<'_>; MAX_PORTS + 2] = std::array::from_fn(|n| match n {
            0 => PollFd::from_borrowed_fd(wake_fd, PollFlags::IN),
            1 => PollFd::from_borrowed_fd(socket.map_or(wake_fd, AsFd::as_fd), of_driver),
            // Only its errors: what comes is not for it.
            _ => {
                PollFd::from_borrowed_fd(self.shared.ports.get(n - 2).map_or(wake_fd, AsFd::as_fd), PollFlags::empty())
            }
        });
        let fds = fds.get_mut(..2 + self.shared.ports.len()).unwrap_or(&mut []);
        poll(fds, Some(timeout))?;
        let mut polled = Polled { woken: false, error: false, ports: [PollFlags::empty(); MAX_PORTS] };
        if let [wake_fd, driver, ports @ ..] = fds {
            polled.woken = wake_fd.revents().contains(PollFlags::IN);
            polled.error = driver.revents().contains(PollFlags::ERR);
            for (fd, ready) in ports.iter().zip(&mut polled.ports) {
                *ready = fd.revents();
            }
        }
        Ok(polled)
    }

    /// Frames that the kernel left in the driver's ring are offered to it again.
    fn kick(&mut self) {
        if self.device.has_unsent()
            && let Some(socket) = &self.device.socket
            && let Some(mut sending) = self.device.sending(WallClock.now())
            && let Some(ring) = &mut sending.ring
        {
            ring.kick(socket, &mut self.shared.counters.send_calls);
        }
    }

    /// An ICMP message about something sent earlier concerns its port.
    fn handle_icmp(&mut self, bytes: &[u8]) {
        let own = self.device.facts.own.map(|own| own.address);
        let Some(message) = own.and_then(|own| unreachable(bytes, own)) else { return };
        let index = self.wanted.iter().position(|port| port.local == message.from);
        match index.and_then(|index| u8::try_from(index).ok()) {
            Some(index) if message.no_port => self.shared.note_refusal(PortIndex(index), message.to.into()),
            _ => self.shared.counters.other_icmp += 1,
        }
    }

    /// The hardware address of a neighbour, or a request for it.
    fn resolve(&mut self, to: Ipv4Addr, now: MonoNs) -> Hop {
        let hop = {
            let Some(mut sending) = self.device.sending(now) else { return Hop::Soon };
            let hop = next(&mut self.hops, &mut sending, to, now);
            sending.send_arp();
            hop
        };
        if hop == Hop::Soon {
            self.look_for_reply();
        }
        hop
    }

    /// Reads the reply of a neighbour while a sender waits for it. Datagrams of this engine that come meanwhile wait in its
    /// queue, and are left to the driver where many do.
    fn look_for_reply(&self) {
        if self.hops.is_none() && !self.queue.is_half_full() {
            self.device.look();
        }
    }

    /// Writes a burst from the front and offers it to the driver; how many frames it took, and why it took no more.
    fn burst(&mut self, arena: &[u8], entries: &[TxEntry]) -> (usize, Option<Stop>) {
        let now = WallClock.now();
        let Some(mut sending) = self.device.sending(now) else { return (0, Some(Stop::Busy)) };
        let sending = &mut *sending;
        let entries = entries.get(..BURST.min(entries.len())).unwrap_or(&[]);
        if let (Some(ring), Some(socket)) = (&mut sending.ring, &self.device.socket)
            && !ring.has_room(entries.len(), socket, &mut self.shared.counters.send_calls)
        {
            return (0, Some(Stop::Full));
        }
        let (own, hops) = (self.device.facts.mac, &mut self.hops);
        let mut write = |entry: &TxEntry| {
            let ends: Ends = ends(&self.wanted, entry, self.mtu).ok_or(Stop::Nowhere)?;
            let to: Mac = match next(hops, sending, *ends.destination.ip(), now) {
                Hop::To(mac) => mac,
                Hop::Nowhere => return Err(Stop::Nowhere),
                Hop::Soon => return Err(Stop::Soon),
            };
            let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
            let written = sending.sender.write(|room| frame::write(room, own, to, ends, bytes));
            if written { Ok(()) } else { Err(Stop::Full) }
        };
        let stop = entries.iter().find_map(|entry| write(entry).err());
        let written = sending.sender.written();
        let mut taken = 0;
        if written > 0 {
            self.shared.counters.send_calls += 1;
            taken = sending.sender.send();
            if let Some(ring) = &mut sending.ring {
                ring.took(taken);
            }
        }
        sending.send_arp();
        (taken, if taken < written { Some(Stop::Full) } else { stop })
    }
}

/// Next hop of a datagram: the kernel knows it, or the device does.
fn next(hops: &mut Option<Hops>, sending: &mut Sending, to: Ipv4Addr, now: MonoNs) -> Hop {
    match (hops, &mut sending.neighbours) {
        (Some(hops), _) => hops.hop(to, now),
        (None, Some(neighbours)) => neighbours.hop(to, now),
        (None, None) => Hop::Nowhere,
    }
}

fn shorter(timeout: Timespec, most: Duration) -> Timespec {
    match (Duration::try_from(timeout), Timespec::try_from(most)) {
        (Ok(timeout), Ok(most_spec)) if timeout > most => most_spec,
        _ => timeout,
    }
}

/// Why a burst stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The next datagram has no way to its destination.
    Nowhere,
    /// Its neighbour is being sought.
    Soon,
    /// The driver's queue, or all of its buffers are on their way.
    Full,
    /// Another engine sends just now.
    Busy,
}

impl Transmit for Dpdk {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let now = WallClock.now();
        self.look(now)?;
        let mut done = 0;
        while done < entries.len() {
            let rest = entries.get(done..).unwrap_or(&[]);
            let (sent, stop) = self.burst(arena, rest);
            let counters = &mut self.shared.counters;
            counters.sent_datagrams += sent as u64;
            counters.sent_bytes += rest.iter().take(sent).map(|entry| entry.len as u64).sum::<u64>();
            done += sent;
            match stop {
                None => continue,
                Some(Stop::Nowhere) => {
                    counters.undeliverable_datagrams += 1;
                    done += 1;
                    continue;
                }
                Some(Stop::Soon) => self.look_for_reply(),
                // Nothing was thrown away.
                Some(Stop::Full | Stop::Busy) => {}
            }
            self.look(WallClock.now())?;
            let wait = match (stop, wait) {
                (Some(Stop::Busy), Wait::Poll) => Wait::Until(now + PATIENCE),
                _ => wait,
            };
            if !nap(wait) {
                break;
            }
        }
        self.shared.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
}
