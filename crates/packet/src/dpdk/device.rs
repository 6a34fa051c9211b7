//! A device and all engines that this process has over it.
//!
//! ```text
//!            receiving                    sending
//!   driver --> who gets it --> lanes       who gets it --> driver
//!                         \--> ARP ----------^
//! ```
//!
//! **Nobody waits for anybody.** Each queue of the driver is behind a lock that is only tried. Who gets the receiving one takes a
//! burst and gives each frame to the engine whose port it is for; who does not, looks into its own lane, since whoever has it will
//! put there what comes. Who does not get the sending one tries again a moment later. Only opening and closing wait for them.
//!
//! **Who sleeps on the driver's socket.** One engine at a time: a frame would wake them all, and one of them would find it. The
//! others sleep on their bells (`lane.rs`), and look every [`ASIDE`] whether somebody still watches: who has left the watch works
//! on what it got, and looks again when it is done. Whom the watch has woken for others only is such a one, too: else a transmitter
//! that waits for a report would wake for each datagram that comes to a receiver.
//!
//! **ARP** is the device's, whoever meets it: such frames have a ring to the sending side, which knows the neighbours. An ICMP
//! answer goes to the engine whose datagram it is about.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

use rustix::io::Errno;
use takt_base::MonoNs;

use super::arp::{Neighbours, is_arp, unreachable};
use super::lane::{Giver, Inbox, InboxName, Lane, Taker, lane, way};
use super::plugged::{Plugged, Receiver, Sender};
use super::socket::Socket;
use crate::device::{OwnAddress, PciAddress};
use crate::network::Wanted;
use crate::network::frame::{Mac, destination};
use crate::sys::table;
use crate::{Counters, DpdkDevice};

/// How long an engine sleeps that leaves the watch to another.
pub(super) const ASIDE: Duration = Duration::from_millis(1);
/// Frames that may be on their way below the driver's socket: more than its send buffer holds of the smallest.
const BELOW: usize = 512;
/// Frames of ARP that may wait: what a neighbour asks it asks again.
const ARP_FRAMES: usize = 64;

/// What is known of a device when it runs.
pub(super) struct Facts {
    pub(super) kind: DpdkDevice,
    pub(super) place: Place,
    /// Its address, where the kernel does not answer for it.
    pub(super) own: Option<OwnAddress>,
    pub(super) mac: Mac,
    pub(super) mtu: usize,
    /// The longest payload that its buffers hold.
    pub(super) most: usize,
    /// Frames that wait where nobody has looked yet, and those that wait for one engine at most.
    pub(super) frames: usize,
    pub(super) lane_frames: usize,
    pub(super) huge_pages: bool,
}

/// A running device.
pub(super) struct Device {
    pub(super) facts: Facts,
    /// The driver's own, where it has one.
    pub(super) socket: Option<Socket>,
    receiving: Mutex<Receiving>,
    sending: Mutex<Sending>,
    watched: AtomicBool,
    /// ARP has come that the sending side has not seen yet.
    arp_came: AtomicBool,
    plugged: Arc<Plugged>,
}

struct Receiving {
    lanes: Vec<Lane>,
    arp: Giver,
    receiver: Receiver,
}

/// What whoever sends has to itself.
pub(super) struct Sending {
    /// Of a packet socket.
    pub(super) ring: Option<Ring>,
    pub(super) neighbours: Option<Neighbours>,
    arp: Taker,
    pub(super) sender: Sender,
}

/// What looking at the driver came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Frames came, for whomever.
    Some,
    None,
    /// Another engine looks just now.
    Taken,
}

impl Device {
    pub(super) fn new(facts: Facts, parts: (Arc<Plugged>, Receiver, Sender), socket: Option<Socket>) -> Arc<Device> {
        let (plugged, receiver, sender) = parts;
        let (giver, taker) = way(ARP_FRAMES, &plugged);
        let ring = (facts.kind == DpdkDevice::AfPacket).then(|| Ring::new(facts.frames));
        let neighbours = facts.own.map(|own| Neighbours::new(own, facts.mac));
        Arc::new(Device {
            facts,
            socket,
            receiving: Mutex::new(Receiving { lanes: Vec::new(), arp: giver, receiver }),
            sending: Mutex::new(Sending { ring, neighbours, arp: taker, sender }),
            watched: AtomicBool::new(false),
            arp_came: AtomicBool::new(false),
            plugged,
        })
    }

    /// One engine more, with these ports, that wants room for so many frames, a power of two.
    pub(super) fn join(&self, ports: &[Wanted], frames: usize) -> Result<Inbox, Errno> {
        let (lane, inbox) = lane(ports, frames.min(self.facts.lane_frames), &self.plugged)?;
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.lanes.push(lane);
        if let Err(errno) = self.filter(&receiving.lanes) {
            receiving.lanes.pop();
            return Err(errno);
        }
        if receiving.lanes.len() > 1 {
            receiving.lanes.iter().for_each(Lane::has_company);
        }
        Ok(inbox)
    }

    fn leave(&self, name: &InboxName) {
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.lanes.retain(|lane| !lane.is_of(name));
        // One that lets through too much costs time, and nothing else.
        let _wider = self.filter(&receiving.lanes);
    }

    /// Has the driver's packet socket take what is for the engines, and nothing else.
    fn filter(&self, lanes: &[Lane]) -> Result<(), Errno> {
        let Some(socket) = self.socket.as_ref().filter(|_| self.facts.kind == DpdkDevice::AfPacket) else {
            return Ok(());
        };
        socket.only(lanes.iter().flat_map(|lane| &lane.ports))
    }

    /// Whether an engine has this port.
    pub(super) fn has(&self, port: SocketAddrV4) -> bool {
        let receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        receiving.lanes.iter().any(|lane| is_for(lane, port))
    }

    /// Takes a burst from the driver, unless another engine does just now, and gives the frames to the engines.
    pub(super) fn look(&self, now: MonoNs) -> Look {
        let Some(mut receiving) = attempt(&self.receiving) else { return Look::Taken };
        let Receiving { lanes, arp, receiver } = &mut *receiving;
        let own = self.facts.own.map(|own| own.address);
        let came = receiver.take(now, |frame| match port_of(frame.bytes(), own) {
            Some(port) => {
                if let Some(lane) = lanes.iter_mut().find(|lane| is_for(lane, port)) {
                    lane.give(frame);
                }
            }
            None => {
                if own.is_some() && is_arp(frame.bytes()) && arp.give(frame) {
                    self.arp_came.store(true, Ordering::Release);
                }
            }
        });
        lanes.iter_mut().for_each(Lane::ring);
        if came { Look::Some } else { Look::None }
    }

    /// The sending side, unless another engine has it just now.
    pub(super) fn sending(&self, now: MonoNs) -> Option<MutexGuard<'_, Sending>> {
        let mut sending = attempt(&self.sending)?;
        if self.arp_came.swap(false, Ordering::Acquire) {
            sending.read_arp(now);
        }
        Some(sending)
    }

    /// Whether somebody has asked by ARP, or answered, and nobody has read it.
    pub(super) fn has_arp(&self) -> bool {
        self.arp_came.load(Ordering::Relaxed)
    }

    /// The watch over the driver, unless another engine has it.
    pub(super) fn watch(&self) -> Option<Watching<'_>> {
        let free = self.watched.compare_exchange(false, true, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        free.then_some(Watching(&self.watched))
    }

    /// Frames that came and found no room before anybody looked.
    pub(super) fn missed(&self) -> Option<u64> {
        match (self.facts.kind, &self.socket) {
            (DpdkDevice::AfPacket, Some(socket)) => socket.drops(),
            _ => self.plugged.missed(),
        }
    }
}

/// A lock that is only tried. A panic of another engine's thread is no reason to stop: each step leaves it whole.
fn attempt<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn is_for(lane: &Lane, port: SocketAddrV4) -> bool {
    lane.ports.iter().any(|wanted| wanted.local == port)
}

/// The port that a frame is for or, if it is an answer to something sent earlier, about.
fn port_of(frame: &[u8], own: Option<Ipv4Addr>) -> Option<SocketAddrV4> {
    destination(frame).or_else(|| unreachable(frame, own?).map(|answer| answer.from))
}

/// Over the driver, until it is dropped.
pub(super) struct Watching<'a>(&'a AtomicBool);

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Sending {
    fn read_arp(&mut self, now: MonoNs) {
        while let Some(frame) = self.arp.take() {
            if let Some(neighbours) = &mut self.neighbours {
                neighbours.receive(frame.bytes(), now);
            }
        }
    }

    /// Sends what is due of ARP; what is written and not sent would leave with it.
    pub(super) fn speak(&mut self) {
        let Some(neighbours) = &mut self.neighbours else { return };
        while neighbours.wants_to_write() && self.sender.write(|frame| neighbours.write(frame)) {
            self.sender.send();
        }
    }
}

/// The driver of packet sockets waits, however long, when a frame is offered and its ring is full: none is offered then. This is
/// how many frames of the ring are surely free.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    frames: usize,
    free: usize,
    /// Frames were left in it by a kernel that would not take them.
    unsent: bool,
}

impl Ring {
    fn new(frames: usize) -> Ring {
        Ring { frames, free: 0, unsent: false }
    }

    /// Frames that the kernel left in it are offered to it again; whether it took them all.
    pub(super) fn kick(&mut self, socket: &Socket, counters: &mut Counters) -> bool {
        if self.unsent {
            counters.send_calls += 1;
            self.unsent = !socket.kick();
        }
        !self.unsent
    }

    /// Whether it surely has room. Where that is not known, a kernel that takes all that is in it leaves no more than [`BELOW`]
    /// frames.
    pub(super) fn has_room(&mut self, frames: usize, socket: &Socket, counters: &mut Counters) -> bool {
        if self.free < frames {
            counters.send_calls += 1;
            self.unsent = !socket.kick();
            if self.unsent {
                return false;
            }
            self.free = self.frames - BELOW.min(self.frames / 2);
        }
        true
    }

    pub(super) fn took(&mut self, frames: usize) {
        self.free = self.free.saturating_sub(frames);
        self.unsent = true;
    }
}

/// Where a device is: there is one at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of a network namespace, which this is the number of, an interface.
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

    /// Somebody has no use for it any more. It ends here if nobody else has.
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

/// Leaves the device when it is dropped. What else refers to the device goes first.
pub(super) struct Leave {
    device: Option<Arc<Device>>,
    inbox: InboxName,
}

impl Leave {
    pub(super) fn of(device: &Arc<Device>, inbox: &Inbox) -> Leave {
        Leave { device: Some(Arc::clone(device)), inbox: inbox.name() }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut devices = devices();
        if let Some(device) = self.device.take() {
            device.leave(&self.inbox);
            devices.close(device);
        }
    }
}
