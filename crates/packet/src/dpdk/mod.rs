//! Engine `dpdk`: frames through a driver of DPDK's in this process.
//!
//! * **The caller's thread polls** the driver itself, in `recv` and `send`; there is no thread of the engine's. UHD's transport
//!   gives each card a thread that spins. On two cores that is half of the host, spent also while nothing comes; and each
//!   datagram would change hands between threads. A caller who polls all the time has the same here, on its own core, and its
//!   time counts as its own.
//! * **Waiting** is polling first, then sleeping: on the driver's own socket where it has one (`af_packet`, `af_xdp`), else in
//!   naps of 50 µs.
//! * **`af_packet`**: the kernel keeps the interface, with ARP, ICMP and routing, and sees all traffic too. Ports are held by
//!   kernel sockets that take no datagrams. The driver's socket gets what is for the engine's ports only.
//! * **The other devices** are the engine's alone. It asks and answers ARP itself, hears "port unreachable", and reaches the
//!   network of its own address only.
//! * **Stamps** are of the moment at which the frame was taken from the driver.
//!
//! A frame on arrival is copied from its buffer into the batch, where it is the caller's as with every engine; so is one that
//! leaves. Checksums are made and compared in software.

mod arp;
mod eal;
mod opening;
mod plugged;
mod socket;
mod watch;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};

use self::arp::{Icmp, Neighbours};
pub(crate) use self::opening::open;
use self::plugged::{BURST, Plugged};
use self::socket::Socket;
use self::watch::Watch;
use crate::framed::Core;
use crate::network::frame::{self, Ends, Mac};
use crate::network::hops::{Hop, Hops};
use crate::network::{Wanted, ends, still_there, take};
use crate::shared::{MAX_PORTS, Shared, left, nap};
use crate::{Counters, EngineError, Limits, PortIndex, RxEntry, Transmit, TxEntry, Wait};

/// How long a wait sleeps where nothing wakes it.
const NAP: Duration = Duration::from_micros(50);
/// Frames that may be on their way below the driver's socket: more than its send buffer holds of the smallest.
const BELOW: usize = 512;

/// What an engine over one device is made of.
pub(crate) struct Dpdk {
    device: Plugged,
    socket: Option<Socket>,
    /// Of a packet socket: frames of the driver's ring, and how many of them are surely free.
    ring: Option<Ring>,
    reach: Reach,
    watch: Option<Watch>,
    shared: Shared,
    wanted: Vec<Wanted>,
    mac: Mac,
    mtu: usize,
    max_payload: usize,
    // Last: the interface is another engine's then.
    _claim: Option<opening::Claim>,
}

/// Who knows the neighbours.
enum Reach {
    Kernel(Hops),
    Own(Neighbours),
}

/// The driver of packet sockets waits, however long, when a frame is offered and its ring is full: none is offered then.
#[derive(Clone, Copy)]
struct Ring {
    frames: usize,
    free: usize,
    /// Frames were left in it by a kernel that would not take them.
    unsent: bool,
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

    fn counters(&self, _: &Limits) -> Counters {
        let drops = match (&self.ring, &self.socket) {
            (Some(_), Some(socket)) => socket.drops(),
            _ => self.device.missed(),
        };
        Counters { receive_buffer_drops: drops, ..self.shared.counters }
    }

    /// Takes frames until a batch is full or none are left.
    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, limits: &Limits) -> Result<(), EngineError> {
        let now = WallClock.now();
        self.look(now)?;
        self.shared.counters.receive_calls += 1;
        // As often as a batch takes, however many frames come that are not for the engine.
        let mut bursts = limits.batch.div_ceil(BURST) + 1;
        while entries.len() < limits.batch {
            let Some((at, bytes)) = self.device.frames().next() else {
                if bursts == 0 || !self.device.fill(now) {
                    break;
                }
                bursts -= 1;
                continue;
            };
            let offset = entries.len() * self.max_payload;
            if frame::destination(bytes).is_some_and(|to| self.wanted.iter().any(|port| port.local == to)) {
                let Some(place) = arena.get_mut(offset..offset + self.max_payload) else { break };
                let arrived = Some(at).filter(|_| limits.stamps);
                entries.extend(take(&mut self.shared.counters, &self.wanted, arrived, bytes, place, offset));
            } else if let Reach::Own(neighbours) = &mut self.reach {
                let icmp = neighbours.receive(bytes, at);
                heed(&mut self.shared, &self.wanted, icmp);
            }
            self.device.pop();
        }
        self.speak();
        Ok(())
    }

    /// Waits until the device or a port's error queue has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        self.kick();
        let left = left(wait);
        let timeout = match &self.socket {
            Some(_) => still_there(left),
            None => shorter(still_there(left), NAP),
        };
        let (came, wrong, ready) = match self.poll(&timeout) {
            Ok(found) => found,
            Err(Errno::INTR | Errno::NOMEM) => return Ok(true),
            Err(errno) => return Err(self.shared.gone("ppoll", 0, errno)),
        };
        if let (true, Some(socket), Some(watch)) = (wrong, &self.socket, &mut self.watch) {
            // Down, from which it may come up, or gone: reading it makes the next wait a wait again.
            let _down = socket.error();
            watch.hurry();
        }
        self.shared.heed_errors(&ready)?;
        Ok(came || self.shared.refused_since_recv || left.is_some())
    }
}

impl Dpdk {
    /// # Errors
    /// The interface is gone.
    fn look(&mut self, now: MonoNs) -> Result<(), EngineError> {
        self.watch.as_mut().map_or(Ok(()), |watch| watch.look(now))
    }

    /// Whether the device has something, whether it is in trouble, and what the ports say.
    fn poll(&self, timeout: &Timespec) -> Result<(bool, bool, [PollFlags; MAX_PORTS]), Errno> {
        let (socket, ports) = (self.socket.as_ref(), &self.shared.ports);
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        let Some(any) = socket.map(AsFd::as_fd).or_else(|| ports.first().map(AsFd::as_fd)) else {
            poll(&mut [], Some(timeout))?;
            return Ok((false, false, ready));
        };
        let first = usize::from(socket.is_some());
        let mut fds: [PollFd<'_>; MAX_PORTS + 1] =
            std::array::from_fn(|n| match (socket, n.checked_sub(first).and_then(|port| ports.get(port))) {
                (Some(socket), _) if n == 0 => PollFd::new(socket, PollFlags::IN),
                // Only its errors: what comes is not for it.
                (_, Some(port)) => PollFd::new(port, PollFlags::empty()),
                _ => PollFd::from_borrowed_fd(any, PollFlags::empty()),
            });
        let fds = fds.get_mut(..first + ports.len()).unwrap_or(&mut []);
        poll(fds, Some(timeout))?;
        let (device, ports) = fds.split_at(first.min(fds.len()));
        for (fd, ready) in ports.iter().zip(&mut ready) {
            *ready = fd.revents();
        }
        let of_device = device.first().map_or(PollFlags::empty(), PollFd::revents);
        Ok((of_device.contains(PollFlags::IN), of_device.contains(PollFlags::ERR), ready))
    }

    /// Frames that the kernel left in the driver's ring are offered to it again.
    fn kick(&mut self) {
        if let (Some(ring), Some(socket)) = (&mut self.ring, &self.socket)
            && ring.unsent
        {
            self.shared.counters.send_calls += 1;
            ring.unsent = !socket.kick();
        }
    }

    /// Where a datagram goes next.
    fn hop(&mut self, to: Ipv4Addr) -> Hop {
        let now = WallClock.now();
        let hop = match &mut self.reach {
            Reach::Kernel(hops) => hops.hop(to, now),
            Reach::Own(neighbours) => neighbours.hop(to, now),
        };
        self.speak();
        hop
    }

    /// Sends a question or an answer of ARP that is due, unless frames are waiting to be sent: then it follows them.
    fn speak(&mut self) {
        let Reach::Own(neighbours) = &mut self.reach else { return };
        while self.device.written() == 0 && neighbours.wants_to_write() {
            if !self.device.write(|frame| neighbours.write(frame)) {
                return;
            }
            self.device.send();
            self.device.forget();
        }
    }

    /// Has the answer of a neighbour read while a sender waits for it; datagrams stay where they are.
    fn listen(&mut self) {
        let Reach::Own(neighbours) = &mut self.reach else { return };
        let now = WallClock.now();
        self.device.fill(now);
        for (_, bytes) in self.device.frames() {
            neighbours.receive(bytes, now);
        }
    }

    /// Offers what is written, until the wait is over; how many the driver has taken. The rest is forgotten.
    fn flush(&mut self, wait: Wait) -> Result<usize, EngineError> {
        let mut sent = 0;
        while self.device.written() > 0 {
            if self.has_room() {
                self.shared.counters.send_calls += 1;
                let taken = self.device.send();
                sent += taken;
                if let Some(ring) = &mut self.ring {
                    ring.free = ring.free.saturating_sub(taken);
                    ring.unsent = true;
                }
                if self.device.written() == 0 {
                    break;
                }
            }
            self.shared.counters.congested_sends += 1;
            self.look(WallClock.now())?;
            if !nap(wait) {
                self.device.forget();
            }
        }
        Ok(sent)
    }

    /// Whether the driver's ring surely has room for what is written. Where that is not known, a kernel that takes all that
    /// is in it leaves no more than [`BELOW`] frames.
    fn has_room(&mut self) -> bool {
        let (Some(ring), Some(socket)) = (&mut self.ring, &self.socket) else { return true };
        if ring.free < self.device.written() {
            self.shared.counters.send_calls += 1;
            ring.unsent = !socket.kick();
            if ring.unsent {
                return false;
            }
            ring.free = ring.frames - BELOW.min(ring.frames / 2);
        }
        true
    }
}

/// What an answer to something sent earlier means for the ports.
fn heed(shared: &mut Shared, ports: &[Wanted], icmp: Icmp) {
    match icmp {
        Icmp::None => {}
        Icmp::Unreachable => shared.counters.other_icmp += 1,
        Icmp::PortUnreachable { from, to } => {
            let index = ports.iter().position(|port| port.local == from).and_then(|index| u8::try_from(index).ok());
            if let Some(index) = index {
                shared.note_refusal(PortIndex(index), to.into());
            }
        }
    }
}

fn shorter(timeout: Timespec, most: Duration) -> Timespec {
    match (Duration::try_from(timeout), Timespec::try_from(most)) {
        (Ok(asked), Ok(most_spec)) if asked > most => most_spec,
        _ => timeout,
    }
}

/// What is to become of the datagram at which a burst stopped.
enum Stop {
    Nowhere,
    Soon,
    NoBuffer,
}

impl Transmit for Dpdk {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        self.look(WallClock.now())?;
        let mut done = 0;
        while done < entries.len() {
            let rest = entries.get(done..).unwrap_or(&[]);
            let stop = rest.iter().take(BURST).find_map(|entry| self.write(arena, entry).err());
            let written = self.device.written();
            let sent = self.flush(wait)?;
            self.shared.counters.sent_datagrams += sent as u64;
            self.shared.counters.sent_bytes += rest.iter().take(sent).map(|entry| entry.len as u64).sum::<u64>();
            done += sent;
            if sent < written {
                break;
            }
            match stop {
                None => {}
                Some(Stop::Nowhere) => {
                    self.shared.counters.undeliverable_datagrams += 1;
                    done += 1;
                }
                Some(Stop::Soon | Stop::NoBuffer) => {
                    self.listen();
                    if !nap(wait) {
                        break;
                    }
                }
            }
        }
        self.speak();
        self.shared.counters.unsent_datagrams += (entries.len() - done) as u64;
        Ok(done)
    }
}

impl Dpdk {
    /// Writes one datagram into a buffer.
    fn write(&mut self, arena: &[u8], entry: &TxEntry) -> Result<(), Stop> {
        let ends: Ends = ends(&self.wanted, entry, self.mtu).ok_or(Stop::Nowhere)?;
        let mac = match self.hop(*ends.destination.ip()) {
            Hop::To(mac) => mac,
            Hop::Nowhere => return Err(Stop::Nowhere),
            Hop::Soon => return Err(Stop::Soon),
        };
        let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
        let own = self.mac;
        let written = self.device.write(|room| frame::write(room, own, mac, ends, bytes));
        if written { Ok(()) } else { Err(Stop::NoBuffer) }
    }
}
