//! From a configuration to an engine over a running device: what it lacks, how it is plugged in if no engine of this process has
//! it yet, who knows its neighbours.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use takt_host::namespace::own_network;

use super::device::{Device, Devices, Facts, Leave, Place, devices};
use super::plugged::{BURST, Plan, Plugged};
use super::queue::EngineConsumer;
use super::socket::Socket;
use super::{Dpdk, eal};
use crate::device::OwnAddress;
use crate::framed::Framed;
use crate::network::frame::{HEADERS_BYTES, Mac, PACKET_HEADERS_BYTES};
use crate::network::hops::{Hops, find_peers};
use crate::network::martian::Martians;
use crate::network::netlink::{Interface, Routing};
use crate::network::watch::InterfaceWatch;
use crate::network::{Wanted, hold, interface_of, quiet, take_nothing, wanted};
use crate::port::Port;
use crate::shared::Shared;
use crate::sys::table;
use crate::{Config, DpdkDevice, EngineError, EngineKind, FramePath, Limits, Missing, PortSpec};

/// Space of a small datagram in a kernel socket's buffer, about: so many frames hold what such a buffer would.
const SMALL_BYTES: usize = 512;
/// Frames of a packet socket's ring each way, as far as they take no more than 32 MiB.
const FRAMES: std::ops::RangeInclusive<usize> = 1024..=16_384;
const RING_BYTES: usize = 32 << 20;
/// Bytes of a frame in that ring: as short and as long as they can be.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 2048..=32_768;
/// Space that the kernel puts before a frame in that ring, at most (`TPACKET2_HDRLEN` and what aligns the packet).
const RING_HEADER_BYTES: usize = 96;
/// The longest packet that is received whole where the MTU allows longer ones and the configuration does not (loopback).
const PACKET_BYTES: usize = 9000;
/// Bytes before a frame in a buffer (`RTE_PKTMBUF_HEADROOM`).
const HEADROOM_BYTES: usize = 128;
/// Frames of a card's queue, and buffers that `net_af_xdp` keeps for its rings.
const DESCRIPTORS: u16 = 1024;
const XDP_BUFFERS: u32 = 3 * 4096;
/// Received frames that may wait for one engine, as far as those of [`FULL_QUEUES`] take no more than 20 MiB. If more
/// queues than these are full, the next frames wait for a buffer below the driver.
const QUEUE_FRAMES: std::ops::RangeInclusive<usize> = 64..=4096;
const QUEUES_BYTES: usize = 20 << 20;
const FULL_QUEUES: usize = 2;
/// Space of a buffer beside a frame, about (`struct rte_mbuf`, the header of the pool's element).
const BUFFER_BYTES: usize = HEADROOM_BYTES + 192;
/// A tap's, as `net_tap` makes it.
const TAP_MTU: usize = 1500;
/// The longest payload in a buffer of a frame's size.
const MOST: usize = payload_in(*FRAME_BYTES.end());

const fn payload_in(frame: usize) -> usize {
    frame - RING_HEADER_BYTES - HEADERS_BYTES
}

/// Parts common to all devices before one is plugged in.
struct Prepared {
    kind: EngineKind,
    device: DpdkDevice,
    config: Config,
    ports: Vec<Port>,
    wanted: Vec<Wanted>,
    /// Whether another engine has opened the device before.
    shares: bool,
}

impl Prepared {
    fn missing(&self, missing: Missing) -> EngineError {
        EngineError::Missing { engine: self.kind, missing }
    }

    /// The running device at a place, if this process has it.
    fn running(
        &self,
        devices: &Devices,
        place: Place,
        own: Option<OwnAddress>,
        name: &str,
    ) -> Result<Option<Arc<Device>>, EngineError> {
        let interface = name.to_owned();
        match devices.at(place) {
            Some(there) if there.facts.kind == self.device && there.facts.own == own => Ok(Some(there)),
            Some(_) => Err(self.missing(Missing::DpdkInterface { interface })),
            None if devices.is_kept(place) => Err(self.missing(Missing::DpdkOnce { interface })),
            None => Ok(None),
        }
    }

    /// Refuses what the interface can't carry, or grants less to a configuration that allows it.
    fn fits(&mut self, mtu: usize, most: usize, name: &str) -> Result<(), EngineError> {
        let carried = mtu.saturating_sub(PACKET_HEADERS_BYTES).min(most);
        let config = &mut self.config;
        if config.shorter_payloads {
            config.max_payload_bytes = config.max_payload_bytes.min(carried).max(1);
        }
        let payload = config.max_payload_bytes;
        if payload > most && self.shares {
            return Err(self.missing(Missing::DeviceOpenedShort { device: name.to_owned(), payload, most }));
        }
        if payload > most {
            return Err(self.missing(Missing::ShortFrames { payload, most }));
        }
        if payload > carried {
            return Err(self.missing(self.short_device(mtu, carried, name)));
        }
        Ok(())
    }

    /// Why a device carries no datagram as long as is wanted: who can change that differs.
    fn short_device(&self, mtu: usize, most: usize, name: &str) -> Missing {
        let payload = self.config.max_payload_bytes;
        match self.device {
            DpdkDevice::AfPacket | DpdkDevice::AfXdp => {
                let need = payload + PACKET_HEADERS_BYTES;
                Missing::Mtu { interface: name.to_owned(), mtu, need }
            }
            DpdkDevice::Pci(..) if self.shares => Missing::DeviceOpenedShort { device: name.to_owned(), payload, most },
            DpdkDevice::Tap(_) | DpdkDevice::Pci(..) => {
                Missing::DeviceFrames { device: name.to_owned(), payload, most }
            }
        }
    }
}

/// Opens engine `dpdk` over a device.
pub(crate) fn open(device: DpdkDevice, config: &Config) -> Result<Framed<Dpdk>, EngineError> {
    let kind = EngineKind::Dpdk(device);
    let prepared = |ports, wanted| Prepared { kind, device, config: config.clone(), ports, wanted, shares: false };
    match device {
        DpdkDevice::AfPacket | DpdkDevice::AfXdp => {
            let (ports, wanted) = hold(kind, &quiet(config))?;
            on_interface(prepared(ports, wanted))
        }
        DpdkDevice::Tap(own) => alone(prepared(Vec::new(), Vec::new()), own, Place::Tap(own_network(), own)),
        DpdkDevice::Pci(card, own) => alone(prepared(Vec::new(), Vec::new()), own, Place::Card(card)),
    }
}

/// On an interface of the kernel's.
fn on_interface(mut prepared: Prepared) -> Result<Framed<Dpdk>, EngineError> {
    let netlink = |errno: Errno| EngineError::Kernel { call: "netlink", source: errno.into() };
    let mut routing = Routing::open().map_err(netlink)?;
    let interface = interface_of(&mut routing, &prepared.wanted)?;
    let mtu = interface.mtu as usize;
    prepared.fits(mtu, MOST, &interface.name)?;
    if !interface.up {
        return Err(prepared.missing(Missing::InterfaceUp { interface: interface.name }));
    }
    permitted(prepared.device).map_err(|missing| prepared.missing(missing))?;
    let own = match prepared.device {
        DpdkDevice::AfPacket => None,
        _ => Some(own_of(&mut routing, &interface, &prepared.wanted).map_err(netlink)?),
    };
    let martians = Martians::on(&interface, &mut routing).map_err(netlink)?;
    let watch = InterfaceWatch::new(&interface).map_err(netlink)?;
    let place = Place::Interface(own_network(), interface.index);
    let mut devices = devices();
    let running = prepared.running(&devices, place, own, &interface.name)?;
    prepared.shares = running.is_some();
    let device = match running {
        Some(device) => device,
        None => plug_on(&prepared, &interface, place, own)?,
    };
    let of_kernel = OfKernel { hops: own.is_none().then(|| Hops::new(routing, &interface)), watch: Some(watch) };
    let joined = join(&mut devices, device, &mut prepared, (mtu, &interface.name));
    drop(devices);
    Ok(finish(prepared, joined?, of_kernel, martians, mtu))
}

/// Plugs in a device on an interface of the kernel's.
fn plug_on(
    prepared: &Prepared,
    interface: &Interface,
    place: Place,
    own: Option<OwnAddress>,
) -> Result<Arc<Device>, EngineError> {
    let kind = prepared.device;
    let huge_pages = eal::start(false).map_err(|missing| prepared.missing(missing))?.huge_pages;
    let device = || format!("{kind} on {}", interface.name);
    let failed = |why| prepared.missing(Missing::DpdkDevice { device: device(), why });
    let sized = plan(kind, interface, &prepared.config).map_err(failed)?;
    if kind == DpdkDevice::AfPacket && sized.ring < *FRAMES.start() {
        return Err(prepared.missing(Missing::LockedMemory));
    }
    let before = table::sockets();
    let parts = Plugged::open(&sized.plan).map_err(failed)?;
    let socket = match kind {
        DpdkDevice::AfPacket => {
            let socket = Socket::of_driver(&before, interface.index);
            Some(socket.ok_or_else(|| failed("its socket was not found".to_owned()))?)
        }
        _ => Socket::of_xdp(&before),
    };
    let facts = sized.facts(kind, place, own, (interface.mac, interface.mtu as usize), huge_pages);
    Ok(Device::new(facts, parts, socket))
}

/// On a device that the kernel has no part in.
fn alone(mut prepared: Prepared, own: OwnAddress, place: Place) -> Result<Framed<Dpdk>, EngineError> {
    let name = prepared.device.to_string();
    permitted(prepared.device).map_err(|missing| prepared.missing(missing))?;
    if let DpdkDevice::Tap(_) = prepared.device {
        prepared.fits(TAP_MTU, MOST, &name)?;
    }
    let mut devices = devices();
    let running = prepared.running(&devices, place, Some(own), &name)?;
    prepared.shares = running.is_some();
    let taken = |port| running.as_ref().is_some_and(|device| device.has(port));
    prepared.wanted = own_ports(prepared.kind, own, &prepared.config.ports, taken)?;
    let device = match running {
        Some(device) => device,
        None => plug_alone(&prepared, place, own)?,
    };
    let mtu = device.facts.mtu;
    let joined = join(&mut devices, device, &mut prepared, (mtu, &name));
    drop(devices);
    Ok(finish(prepared, joined?, OfKernel::default(), Martians::at(own), mtu))
}

/// Plugs in such a device.
fn plug_alone(prepared: &Prepared, place: Place, own: OwnAddress) -> Result<Arc<Device>, EngineError> {
    let kind = prepared.device;
    let pci = matches!(kind, DpdkDevice::Pci(..));
    let huge_pages = eal::start(pci).map_err(|missing| prepared.missing(missing))?.huge_pages;
    let failed = |why| prepared.missing(Missing::DpdkDevice { device: kind.to_string(), why });
    let sized = plan(kind, &Interface::default(), &prepared.config).map_err(failed)?;
    let parts = Plugged::open(&sized.plan).map_err(failed)?;
    let (mut mac, mtu) = parts.0.describe().map_err(failed)?;
    if !pci {
        // The kernel's end has that one.
        mac[5] ^= 1;
    }
    let facts = sized.facts(kind, place, Some(own), (mac, mtu.into()), huge_pages);
    Ok(Device::new(facts, parts, None))
}

/// An engine's part in a device.
struct Joined {
    device: Arc<Device>,
    queue: EngineConsumer,
}

/// Joins a device, or has it closed if no other engine has it.
fn join(
    devices: &mut Devices,
    device: Arc<Device>,
    prepared: &mut Prepared,
    (mtu, name): (usize, &str),
) -> Result<Joined, EngineError> {
    devices.add(&device);
    let kernel = |errno: Errno| EngineError::Kernel { call: "setsockopt SO_ATTACH_FILTER", source: errno.into() };
    let joined = prepared.fits(mtu, device.facts.most, name).and_then(|()| {
        if prepared.device == DpdkDevice::AfPacket {
            take_nothing(&prepared.ports)?;
        }
        let frames = frames_of(&prepared.config).max(*QUEUE_FRAMES.start());
        device.join(&prepared.wanted, frames).map_err(kernel)
    });
    match joined {
        Ok(queue) => Ok(Joined { device, queue }),
        Err(error) => {
            devices.close(device);
            Err(error)
        }
    }
}

/// Services of the kernel to an engine on one of its interfaces.
#[derive(Default)]
struct OfKernel {
    /// It knows the neighbours.
    hops: Option<Hops>,
    watch: Option<InterfaceWatch>,
}

/// The engine, and its peers' hardware addresses found.
fn finish(
    prepared: Prepared,
    joined: Joined,
    OfKernel { hops, watch }: OfKernel,
    martians: Martians,
    mtu: usize,
) -> Framed<Dpdk> {
    let Prepared { device: kind, config, ports, wanted, .. } = prepared;
    let Joined { device, queue } = joined;
    let facts = &device.facts;
    let limits = Limits {
        recv_buffer_bytes: facts.frames * config.max_payload_bytes,
        send_buffer_bytes: facts.frames * config.max_payload_bytes,
        stamps: config.stamps,
        path: FramePath::Dpdk { device: kind, huge_pages: facts.huge_pages },
        ..Shared::new(Vec::new()).limits(&config, (false, false))
    };
    let mut dpdk = Dpdk {
        _leave: Leave::of(&device, &queue),
        missed_before: device.missed(),
        device,
        queue,
        hops,
        watch,
        shared: Shared::new(ports),
        wanted,
        martians,
        mtu,
        max_payload: config.max_payload_bytes,
        busy: false,
        for_others: false,
    };
    let ports = dpdk.wanted.clone();
    find_peers(&ports, |to, now| dpdk.resolve(to, now));
    Framed::new(dpdk, config.batch * config.max_payload_bytes, &config, limits)
}

/// A plan, how many frames the driver holds before an engine takes them, and how many wait for one engine.
struct Sized {
    plan: Plan,
    ring: usize,
    frame: usize,
    queue: usize,
}

impl Sized {
    fn facts(
        &self,
        kind: DpdkDevice,
        place: Place,
        own: Option<OwnAddress>,
        (mac, mtu): (Mac, usize),
        huge_pages: bool,
    ) -> Facts {
        let (most, frames, queue_frames) = (payload_in(self.frame), self.ring, self.queue);
        Facts { kind, place, own, mac, mtu, most, frames, queue_frames, huge_pages }
    }
}

/// Frames that hold what a kernel socket's buffer would.
fn frames_of(config: &Config) -> usize {
    (config.recv_buffer_bytes / SMALL_BYTES).max(2 * config.batch).next_power_of_two()
}

fn plan(device: DpdkDevice, interface: &Interface, config: &Config) -> Result<Sized, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = &interface.name;
    // DPDK reads a list of words; the kernel lets an interface be called almost anything.
    if name.contains([',', '=', '[', ']', '"', '\'']) {
        return Err(format!("DPDK can't read the name {name:?}"));
    }
    let longest = (interface.mtu as usize).min(PACKET_BYTES).max(config.max_payload_bytes + PACKET_HEADERS_BYTES);
    let frame = (longest + HEADERS_BYTES - PACKET_HEADERS_BYTES + RING_HEADER_BYTES).next_power_of_two();
    let frame = frame.clamp(*FRAME_BYTES.start(), *FRAME_BYTES.end());
    let frames =
        frames_of(config).clamp(*FRAMES.start(), *FRAMES.end()).min(RING_BYTES.min(lockable_bytes() / 4) / frame);
    let frames = if frames.is_power_of_two() { frames } else { frames.next_power_of_two() / 2 };
    let queue = (QUEUES_BYTES / FULL_QUEUES / (frame + BUFFER_BYTES)).clamp(*QUEUE_FRAMES.start(), *QUEUE_FRAMES.end());
    let queue = if queue.is_power_of_two() { queue } else { queue.next_power_of_two() / 2 };
    let plan = Plan {
        bus: "vdev",
        name: String::new(),
        arguments: String::new(),
        descriptors: DESCRIPTORS,
        frame_bytes: (frame + HEADROOM_BYTES) as u16,
        kept: 0,
        waiting: (FULL_QUEUES * queue) as u32,
        sending: 2 * BURST as u32,
        mtu: 0,
        promiscuous: interface.promiscuous,
    };
    let card = |plan: Plan| Plan { kept: DESCRIPTORS.into(), sending: 2 * u32::from(DESCRIPTORS), ..plan };
    let (plan, ring) = match device {
        DpdkDevice::AfPacket => {
            // A block is a page or a frame; a queue below the socket holds what a card can't take at once.
            let block = frame.max(4096);
            let sizes = format!("blocksz={block},framesz={frame},framecnt={frames}");
            let arguments = format!("iface={name},{sizes},qdisc_bypass=0");
            (Plan { name: format!("net_af_packet{number}"), arguments, ..plan }, frames)
        }
        DpdkDevice::AfXdp => {
            let (name, arguments) = (format!("net_af_xdp{number}"), format!("iface={name},force_copy=1"));
            (Plan { name, arguments, kept: XDP_BUFFERS, ..card(plan) }, DESCRIPTORS.into())
        }
        DpdkDevice::Tap(_) => (card(Plan { name: format!("net_tap{number}"), ..plan }), DESCRIPTORS.into()),
        DpdkDevice::Pci(address, _) => {
            let mtu = config.max_payload_bytes + PACKET_HEADERS_BYTES;
            let mtu = if mtu > 1500 { mtu as u16 } else { 0 };
            (card(Plan { bus: "pci", name: address.to_string(), mtu, ..plan }), DESCRIPTORS.into())
        }
    };
    Ok(Sized { plan, ring, frame, queue })
}

/// Memory that this process may lock, as the rings of a packet socket are, both ways.
fn lockable_bytes() -> usize {
    let privileged = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    let limit = getrlimit(Resource::Memlock).current.filter(|_| !privileged);
    limit.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Reports a missing permission before DPDK fails at it. A card is whose its file of vfio is.
fn permitted(device: DpdkDevice) -> Result<(), Missing> {
    let sockets = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    let has = |all| capabilities(None).is_ok_and(|sets| sets.effective.contains(all));
    let lacks = |needs| Err(Missing::DpdkPermission { device: device.to_string(), needs });
    match device {
        DpdkDevice::AfPacket if !has(sockets) => Err(Missing::PacketSockets),
        DpdkDevice::AfXdp if !has(sockets | CapabilitySet::BPF) => lacks("CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"),
        DpdkDevice::Tap(_) if !has(CapabilitySet::NET_ADMIN) => lacks("CAP_NET_ADMIN"),
        _ => Ok(()),
    }
}

/// The address of the first port, and how much of it names the network.
fn own_of(routing: &mut Routing, interface: &Interface, wanted: &[Wanted]) -> Result<OwnAddress, Errno> {
    let address = wanted.first().map_or(Ipv4Addr::UNSPECIFIED, |port| *port.local.ip());
    let mut prefix = 32;
    routing.addresses(&mut |local| {
        if local.interface == interface.index && local.address == address {
            prefix = local.prefix;
        }
    })?;
    Ok(OwnAddress { address, prefix })
}

/// Ports of an address that the kernel does not know: only `others` of this process can have them.
fn own_ports(
    kind: EngineKind,
    own: OwnAddress,
    specs: &[PortSpec],
    others: impl Fn(SocketAddrV4) -> bool,
) -> Result<Vec<Wanted>, EngineError> {
    // RFC 6335, section 6.
    const DYNAMIC: std::ops::RangeInclusive<u16> = 49_152..=65_535;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let mut ports: Vec<Wanted> = Vec::new();
    for spec in specs {
        let taken = |number: u16| {
            let given = specs.iter().map(|spec| spec.bind.port()).any(|given| given == number);
            let ours = given || ports.iter().any(|port| port.local.port() == number);
            ours || others(SocketAddrV4::new(own.address, number))
        };
        let number = match spec.bind.port() {
            0 => std::iter::repeat_with(|| DYNAMIC.start() | NEXT.fetch_add(1, Ordering::Relaxed))
                .find(|&number| !taken(number))
                .unwrap_or(0),
            number => number,
        };
        let v4 = SocketAddrV4::new(own.address, number);
        let local = SocketAddr::from(v4);
        let ip = spec.bind.ip();
        if spec.bind.is_ipv4() && ip != local.ip() && !ip.is_unspecified() {
            return Err(EngineError::NotLocal { addr: spec.bind });
        }
        if others(v4) || ports.iter().any(|port| port.local == v4) {
            return Err(EngineError::PortInUse { addr: local });
        }
        let bound = if spec.bind.is_ipv4() { local } else { spec.bind };
        ports.push(wanted(bound, spec.peer).map_err(|missing| EngineError::Missing { engine: kind, missing })?);
    }
    Ok(ports)
}
