//! A device and all engines that this process has over it.
//!
//! ```text
//!            receiving                    sending
//!   driver --> who gets it --> queues      who gets it --> driver
//!                         \--> ARP ----------^
//! ```
//!
//! **No engine waits for another.** Each queue of the driver is behind a lock that is only tried. The engine that gets
//! the receiving one takes a burst and puts each frame into the queue of the engine whose port it is for. Any other
//! looks into its own queue, since the first puts its frames there. An engine that does not get the sending one tries
//! again a moment later. Only opening and closing wait for the locks.
//!
//! **Who sleeps on the driver's socket.** One engine at a time, the poller: a frame would wake them all, and one of them would find
//! it. The others sleep on their eventfds (`queue.rs`), and look every [`STANDBY`] whether there still is a poller: one that has
//! stopped works on what it got, and looks again when it is done. A poller that was woken for others only stops, too: else a
//! transmitter that waits for a report would wake for each datagram that comes to a receiver.
//!
//! **ARP** is the device's, whichever engine takes it from the driver: such frames have a queue to the sending side, which knows
//! the neighbours. An ICMP message goes to the engine whose datagram it is about.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

use rustix::io::Errno;
use takt_base::MonoNs;

use super::arp::{Neighbours, is_arp};
use super::plugged::{Plugged, Receiver, Sender};
use super::queue::{Consumer, EngineConsumer, EngineProducer, Producer, QueueId, engine_queue, queue};
use super::socket::Socket;
use crate::DpdkDevice;
use crate::device::{OwnAddress, PciAddress};
use crate::network::Wanted;
use crate::network::frame::{Mac, destination};
use crate::network::icmp::unreachable;
use crate::sys::table;

/// How long an engine sleeps while another is the poller.
pub(super) const STANDBY: Duration = Duration::from_millis(1);
/// Frames that may be on their way below the driver's socket: more than its send buffer holds of the smallest.
const BELOW: usize = 512;
/// Frames of ARP that may wait: a neighbour repeats its request.
const ARP_FRAMES: usize = 64;

/// Facts about a running device.
pub(super) struct Facts {
    pub(super) kind: DpdkDevice,
    pub(super) place: Place,
    /// Its address, where the kernel does not answer for it.
    pub(super) own: Option<OwnAddress>,
    pub(super) mac: Mac,
    pub(super) mtu: usize,
    /// The longest payload that its buffers hold.
    pub(super) most: usize,
    /// Frames that the driver holds at most before an engine takes them, and those that wait for one engine at most.
    pub(super) frames: usize,
    pub(super) queue_frames: usize,
    pub(super) huge_pages: bool,
}

/// A running device.
pub(super) struct Device {
    pub(super) facts: Facts,
    /// The driver's own, where it has one.
    pub(super) socket: Option<Socket>,
    receiving: Mutex<Receiving>,
    sending: Mutex<Sending>,
    has_poller: AtomicBool,
    /// ARP has come that the sending side has not seen yet.
    arp_came: AtomicBool,
    /// As in [`Ring`].
    unsent: Arc<AtomicBool>,
    plugged: Arc<Plugged>,
}

struct Receiving {
    queues: Vec<EngineProducer>,
    arp: Producer,
    receiver: Receiver,
}

/// State that belongs to the sending engine alone.
pub(super) struct Sending {
    /// Ring of a packet socket.
    pub(super) ring: Option<Ring>,
    pub(super) neighbours: Option<Neighbours>,
    arp: Consumer,
    pub(super) sender: Sender,
}

/// Result of taking a burst from the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Frames came, for whomever.
    Some,
    None,
    /// Another engine has the receiving side just now.
    Busy,
}

impl Device {
    pub(super) fn new(facts: Facts, parts: (Arc<Plugged>, Receiver, Sender), socket: Option<Socket>) -> Arc<Device> {
        let (plugged, receiver, sender) = parts;
        let (producer, consumer) = queue(ARP_FRAMES, &plugged);
        let unsent = Arc::new(AtomicBool::new(false));
        let ring = (facts.kind == DpdkDevice::AfPacket).then(|| Ring::new(facts.frames, Arc::clone(&unsent)));
        let neighbours = facts.own.map(|own| Neighbours::new(own, facts.mac));
        Arc::new(Device {
            facts,
            socket,
            receiving: Mutex::new(Receiving { queues: Vec::new(), arp: producer, receiver }),
            sending: Mutex::new(Sending { ring, neighbours, arp: consumer, sender }),
            has_poller: AtomicBool::new(false),
            arp_came: AtomicBool::new(false),
            unsent,
            plugged,
        })
    }

    /// One engine more, with these ports, that wants room for so many frames, a power of two.
    pub(super) fn join(&self, ports: &[Wanted], frames: usize) -> Result<EngineConsumer, Errno> {
        let (producer, consumer) = engine_queue(ports, frames.min(self.facts.queue_frames), &self.plugged)?;
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.queues.push(producer);
        if let Err(errno) = self.filter(&receiving.queues) {
            receiving.queues.pop();
            return Err(errno);
        }
        if receiving.queues.len() > 1 {
            receiving.queues.iter().for_each(EngineProducer::mark_shared);
        }
        Ok(consumer)
    }

    fn leave(&self, id: &QueueId) {
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.queues.retain(|queue| !queue.is(id));
        // One that lets through too much costs time, and nothing else.
        let _wider = self.filter(&receiving.queues);
        drop(receiving);
        self.kick_last();
    }

    /// Frames in the driver's ring are lost when the device ends, but for what the kernel takes now.
    fn kick_last(&self) {
        if !self.has_unsent() {
            return;
        }
        let mut sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(ring), Some(socket)) = (&mut sending.ring, &self.socket) {
            ring.kick(socket, &mut 0);
        }
    }

    /// Whether the kernel may have left frames in the driver's ring, of whichever engine.
    pub(super) fn has_unsent(&self) -> bool {
        // Relaxed: who finds it set takes the lock before it does anything about it.
        self.unsent.load(Ordering::Relaxed)
    }

    /// Has the driver's packet socket take what is for the engines, and nothing else.
    fn filter(&self, queues: &[EngineProducer]) -> Result<(), Errno> {
        let Some(socket) = self.socket.as_ref().filter(|_| self.facts.kind == DpdkDevice::AfPacket) else {
            return Ok(());
        };
        socket.filter_ports(queues.iter().flat_map(|queue| &queue.ports))
    }

    /// Whether an engine has this port.
    pub(super) fn has(&self, port: SocketAddrV4) -> bool {
        let receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.queues.iter().any(|queue| is_for(queue, port))
    }

    /// Takes a burst from the driver, unless another engine does just now, and puts the frames into the queues of their engines.
    pub(super) fn look(&self) -> Look {
        let Some(mut receiving) = try_lock(&self.receiving) else { return Look::Busy };
        let Receiving { queues, arp, receiver } = &mut *receiving;
        let own = self.facts.own.map(|own| own.address);
        let came = receiver.take(|frame| match port_of(frame.bytes(), own) {
            Some(port) => {
                if let Some(queue) = queues.iter_mut().find(|queue| is_for(queue, port)) {
                    queue.push(frame);
                }
            }
            None => {
                if own.is_some() && is_arp(frame.bytes()) && arp.push(frame) {
                    self.arp_came.store(true, Ordering::Release);
                }
            }
        });
        queues.iter_mut().for_each(EngineProducer::wake);
        if came { Look::Some } else { Look::None }
    }

    /// The sending side, unless another engine has it just now.
    pub(super) fn sending(&self, now: MonoNs) -> Option<MutexGuard<'_, Sending>> {
        let mut sending = try_lock(&self.sending)?;
        if self.arp_came.swap(false, Ordering::Acquire) {
            sending.read_arp(now);
        }
        Some(sending)
    }

    /// Whether a request or a reply of ARP has come that no engine has read.
    pub(super) fn has_arp(&self) -> bool {
        self.arp_came.load(Ordering::Relaxed)
    }

    /// Makes the caller the poller, who sleeps on the driver's socket, unless another engine is.
    pub(super) fn poller(&self) -> Option<Poller<'_>> {
        let free = self.has_poller.compare_exchange(false, true, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        free.then_some(Poller(&self.has_poller))
    }

    /// Frames that came and found no room before an engine looked; `None` if nobody counts them all.
    pub(super) fn missed(&self) -> Option<u64> {
        let socket = self.socket.as_ref();
        match self.facts.kind {
            DpdkDevice::AfPacket => socket?.drops(),
            // The driver counts those that found no buffer.
            DpdkDevice::AfXdp => Some(self.plugged.missed()? + socket?.found_ring_full()?),
            // The kernel counts frames that find the tap's own queue full.
            DpdkDevice::Tap(_) => None,
            DpdkDevice::Pci(..) => self.plugged.missed(),
        }
    }
}

/// A lock that is only tried. A panic of another engine's thread is no reason to stop: each step leaves it whole.
fn try_lock<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn is_for(queue: &EngineProducer, port: SocketAddrV4) -> bool {
    queue.ports.iter().any(|wanted| wanted.local == port)
}

/// The port that a frame is for or, if it is an ICMP message about something sent earlier, about.
fn port_of(frame: &[u8], own: Option<Ipv4Addr>) -> Option<SocketAddrV4> {
    destination(frame).or_else(|| unreachable(frame, own?).map(|message| message.from))
}

/// The one who sleeps on the driver's socket, until it is dropped.
pub(super) struct Poller<'a>(&'a AtomicBool);

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Sending {
    fn read_arp(&mut self, now: MonoNs) {
        while let Some(frame) = self.arp.pop() {
            if let Some(neighbours) = &mut self.neighbours {
                neighbours.receive(frame.bytes(), now);
            }
        }
    }

    /// Sends what is due of ARP; what is written and not sent would leave with it.
    pub(super) fn send_arp(&mut self) {
        let Some(neighbours) = &mut self.neighbours else { return };
        while neighbours.wants_to_write() && self.sender.write(|frame| neighbours.write(frame)) {
            self.sender.send();
        }
    }
}

/// The driver of packet sockets waits, however long, when a frame is offered and its ring is full: none is offered then. This is
/// how many frames of the ring are surely free.
pub(super) struct Ring {
    frames: usize,
    free: usize,
    /// Frames may be in it that the kernel has not taken. Written with the sending side's lock, read without.
    unsent: Arc<AtomicBool>,
}

impl Ring {
    fn new(frames: usize, unsent: Arc<AtomicBool>) -> Ring {
        Ring { frames, free: 0, unsent }
    }

    /// Frames that the kernel left in it are offered to it again.
    pub(super) fn kick(&mut self, socket: &Socket, calls: &mut u64) {
        if self.unsent.load(Ordering::Relaxed) {
            self.empties(socket, calls);
        }
    }

    /// Whether it surely has room. If that is not known, a kernel that takes all that is in it leaves no more than
    /// [`BELOW`] frames.
    pub(super) fn has_room(&mut self, frames: usize, socket: &Socket, calls: &mut u64) -> bool {
        if self.free < frames {
            if !self.empties(socket, calls) {
                return false;
            }
            self.free = self.frames - BELOW.min(self.frames / 2);
        }
        true
    }

    /// Whether the kernel takes all that is in it.
    fn empties(&mut self, socket: &Socket, calls: &mut u64) -> bool {
        let empty = socket.kick(calls);
        self.unsent.store(!empty, Ordering::Relaxed);
        empty
    }

    pub(super) fn took(&mut self, frames: usize) {
        self.free = self.free.saturating_sub(frames);
        self.unsent.store(true, Ordering::Relaxed);
    }
}

/// Place of a device: there is one at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An interface of a network namespace, which this is the number of.
    Interface(u64, u32),
    /// In a namespace, a tap with this host's address at its other end.
    Tap(u64, OwnAddress),
    Card(PciAddress),
}

/// The devices of this process.
pub(super) struct Devices {
    open: Vec<Weak<Device>>,
    /// Interfaces that a driver never lets go of.
    kept: Vec<Place>,
}

static DEVICES: Mutex<Devices> = Mutex::new(Devices { open: Vec::new(), kept: Vec::new() });

/// Holds all of them: DPDK opens and closes one at a time.
pub(super) fn devices() -> MutexGuard<'static, Devices> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Devices {
    pub(super) fn at(&self, place: Place) -> Option<Arc<Device>> {
        self.open.iter().filter_map(Weak::upgrade).find(|device| device.facts.place == place)
    }

    pub(super) fn is_kept(&self, place: Place) -> bool {
        self.kept.contains(&place)
    }

    pub(super) fn add(&mut self, device: &Arc<Device>) {
        if self.at(device.facts.place).is_none() {
            self.open.push(Arc::downgrade(device));
        }
    }

    /// An engine has no use for it any more. It ends here if no other has.
    pub(super) fn close(&mut self, device: Arc<Device>) {
        let (place, socket) = (device.facts.place, device.socket.as_ref().map(Socket::drivers));
        drop(device);
        self.open.retain(|device| device.strong_count() > 0);
        // `net_af_xdp` of DPDK 22.11 keeps its socket and the rings mapped, and with them the interface's queue.
        if self.at(place).is_none() && socket.is_some_and(|socket| table::sockets().contains(&socket)) {
            self.kept.push(place);
        }
    }
}

/// Leaves the device when it is dropped. Everything else that refers to the device goes first.
pub(super) struct Leave {
    device: Option<Arc<Device>>,
    queue: QueueId,
}

impl Leave {
    pub(super) fn of(device: &Arc<Device>, queue: &EngineConsumer) -> Leave {
        Leave { device: Some(Arc::clone(device)), queue: queue.id() }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut devices = devices();
        if let Some(device) = self.device.take() {
            device.leave(&self.queue);
            devices.close(device);
        }
    }
}
