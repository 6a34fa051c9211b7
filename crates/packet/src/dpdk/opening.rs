//! From a configuration to a running device: what it lacks, how it is plugged in, who knows its neighbours.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use super::arp::Neighbours;
use super::plugged::{BURST, Plan, Plugged, changing};
use super::socket::{Socket, nothing_for};
use super::watch::Watch;
use super::{Dpdk, Reach, Ring, eal};
use crate::device::OwnAddress;
use crate::framed::Framed;
use crate::network::frame::{HEADERS_BYTES, Mac, PACKET_HEADERS_BYTES};
use crate::network::hops::{Hop, Hops, find_peers};
use crate::network::netlink::{Interface, Routing};
use crate::network::{Wanted, hold, interface_of, quiet, wanted};
use crate::port::Port;
use crate::shared::Shared;
use crate::sys::table;
use crate::{Config, DpdkDevice, EngineError, EngineKind, FramePath, Limits, Missing, PortSpec};

/// What a small datagram takes of a kernel socket's buffer, about: so many frames hold what such a buffer would.
const SMALL_BYTES: usize = 512;
/// Frames of a packet socket's ring each way, as far as they take no more than 32 MiB.
const FRAMES: std::ops::RangeInclusive<usize> = 1024..=16_384;
const RING_BYTES: usize = 32 << 20;
/// Bytes of a frame in that ring: as short and as long as they can be.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 2048..=32_768;
/// What the kernel puts before a frame in that ring, at most (`TPACKET2_HDRLEN` and what aligns the packet).
const RING_HEADER_BYTES: usize = 96;
/// The longest packet that is received whole where the MTU allows longer ones and nobody asked for them (loopback).
const PACKET_BYTES: usize = 9000;
/// Bytes before a frame in a buffer (`RTE_PKTMBUF_HEADROOM`).
const HEADROOM_BYTES: usize = 128;
/// Frames of a card's queue, and buffers that `net_af_xdp` keeps for its rings.
const DESCRIPTORS: u16 = 1024;
const XDP_BUFFERS: u32 = 3 * 4096;

/// What is common to all devices before one is plugged in.
struct Prepared {
    kind: EngineKind,
    device: DpdkDevice,
    config: Config,
    ports: Vec<Port>,
    wanted: Vec<Wanted>,
}

/// Opens engine `dpdk` over a device.
pub(crate) fn open(device: DpdkDevice, config: &Config) -> Result<Framed<Dpdk>, EngineError> {
    let kind = EngineKind::Dpdk(device);
    match device {
        DpdkDevice::AfPacket | DpdkDevice::AfXdp => {
            let (ports, wanted) = hold(kind, &quiet(config))?;
            let prepared = Prepared { kind, device, config: config.clone(), ports, wanted };
            on_interface(prepared)
        }
        DpdkDevice::Tap(own) | DpdkDevice::Pci(_, own) => {
            let wanted = own_ports(kind, own, &config.ports)?;
            alone(Prepared { kind, device, config: config.clone(), ports: Vec::new(), wanted }, own)
        }
    }
}

/// On an interface of the kernel's.
fn on_interface(mut prepared: Prepared) -> Result<Framed<Dpdk>, EngineError> {
    let (kind, device) = (prepared.kind, prepared.device);
    let missing = |missing| EngineError::Missing { engine: kind, missing };
    let netlink = |errno: Errno| EngineError::Kernel { call: "netlink", source: errno.into() };
    let mut routing = Routing::open().map_err(netlink)?;
    let interface = interface_of(&mut routing, &prepared.wanted)?;
    let mtu = interface.mtu as usize;
    fits(&mut prepared.config, mtu, &interface.name).map_err(missing)?;
    if !interface.up {
        return Err(missing(Missing::InterfaceUp { interface: interface.name }));
    }
    permitted(device).map_err(missing)?;
    let mut claim = Claim::on(&interface).map_err(missing)?;
    let started = eal::start(false).map_err(missing)?;
    let failed = |why| missing(Missing::DpdkDevice { device: format!("{device} on {}", interface.name), why });
    let plan = plan(device, &interface, &prepared.config).map_err(failed)?;
    if device == DpdkDevice::AfPacket && plan.ring < *FRAMES.start() {
        return Err(missing(Missing::LockedMemory));
    }
    let (plugged, socket) = {
        let alone = changing();
        let before = table::sockets();
        let plugged = Plugged::open(&plan.plan, &alone);
        let socket = plugged.is_ok().then(|| match device {
            DpdkDevice::AfPacket => Socket::of_driver(&before, interface.index),
            _ => Socket::of_xdp(&before),
        });
        (plugged, socket.flatten())
    };
    let plugged = plugged.map_err(failed)?;
    claim.socket = socket.as_ref().map(Socket::drivers);
    let (reach, ring) = if device == DpdkDevice::AfPacket {
        let socket = socket.as_ref().ok_or_else(|| failed("its socket was not found".to_owned()))?;
        let kernel = |errno: Errno| EngineError::Kernel { call: "setsockopt SO_ATTACH_FILTER", source: errno.into() };
        socket.only(&prepared.wanted).map_err(kernel)?;
        prepared.ports.iter().try_for_each(|port| nothing_for(port.as_fd())).map_err(kernel)?;
        (Reach::Kernel(Hops::new(routing, &interface)), Some(Ring { frames: plan.ring, free: 0, unsent: false }))
    } else {
        let own = own_of(&mut routing, &interface, &prepared.wanted).map_err(netlink)?;
        (Reach::Own(Neighbours::new(own, interface.mac)), None)
    };
    let watch = Watch::new(&interface).map_err(netlink)?;
    let on = On { plugged, socket, ring, reach, watch: Some(watch), claim: Some(claim), mac: interface.mac, mtu };
    Ok(finish(prepared, on, &plan, started.huge_pages))
}

/// On a device that the kernel has no part in.
fn alone(mut prepared: Prepared, own: OwnAddress) -> Result<Framed<Dpdk>, EngineError> {
    let (kind, device) = (prepared.kind, prepared.device);
    let missing = |missing| EngineError::Missing { engine: kind, missing };
    permitted(device).map_err(missing)?;
    let started = eal::start(matches!(device, DpdkDevice::Pci(..))).map_err(missing)?;
    let failed = |why| missing(Missing::DpdkDevice { device: device.to_string(), why });
    let plan = plan(device, &Interface::default(), &prepared.config).map_err(failed)?;
    let plugged = Plugged::open(&plan.plan, &changing()).map_err(failed)?;
    let (mut mac, mtu) = plugged.describe().map_err(failed)?;
    if matches!(device, DpdkDevice::Tap(_)) {
        // The kernel's end has that one.
        mac[5] ^= 1;
    }
    fits(&mut prepared.config, mtu.into(), &device.to_string()).map_err(missing)?;
    let reach = Reach::Own(Neighbours::new(own, mac));
    let on = On { plugged, socket: None, ring: None, reach, watch: None, claim: None, mac, mtu: mtu.into() };
    Ok(finish(prepared, on, &plan, started.huge_pages))
}

/// A running device and what is known of it.
struct On {
    plugged: Plugged,
    socket: Option<Socket>,
    ring: Option<Ring>,
    reach: Reach,
    watch: Option<Watch>,
    claim: Option<Claim>,
    mac: Mac,
    mtu: usize,
}

fn finish(prepared: Prepared, on: On, plan: &Sized, huge_pages: bool) -> Framed<Dpdk> {
    let Prepared { device, config, ports, wanted, .. } = prepared;
    let limits = Limits {
        recv_buffer_bytes: plan.ring * config.max_payload_bytes,
        send_buffer_bytes: plan.ring * config.max_payload_bytes,
        stamps: config.stamps,
        path: FramePath::Dpdk { device, huge_pages },
        ..Shared::new(Vec::new()).limits(&config, (false, false))
    };
    let On { plugged, socket, ring, reach, watch, claim, mac, mtu } = on;
    let mut dpdk = Dpdk {
        device: plugged,
        socket,
        ring,
        reach,
        watch,
        shared: Shared::new(ports),
        wanted,
        mac,
        mtu,
        max_payload: config.max_payload_bytes,
        _claim: claim,
    };
    let ports = dpdk.wanted.clone();
    find_peers(&ports, |to, _| {
        let hop = dpdk.hop(to);
        if hop == Hop::Soon {
            dpdk.listen();
        }
        hop
    });
    Framed::new(dpdk, config.batch * config.max_payload_bytes, &config, limits)
}

/// A plan, and how many frames wait where the engine has not looked yet.
struct Sized {
    plan: Plan,
    ring: usize,
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
    let frames = (config.recv_buffer_bytes / SMALL_BYTES).max(2 * config.batch).next_power_of_two();
    let frames = frames.clamp(*FRAMES.start(), *FRAMES.end()).min(RING_BYTES.min(lockable_bytes() / 4) / frame);
    let frames = if frames.is_power_of_two() { frames } else { frames.next_power_of_two() / 2 };
    let plan = Plan {
        bus: "vdev",
        name: String::new(),
        arguments: String::new(),
        descriptors: DESCRIPTORS,
        frame_bytes: (frame + HEADROOM_BYTES) as u16,
        kept: 0,
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
    Ok(Sized { plan, ring })
}

/// Memory that this process may lock, as the rings of a packet socket are, both ways.
fn lockable_bytes() -> usize {
    let privileged = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    let limit = getrlimit(Resource::Memlock).current.filter(|_| !privileged);
    limit.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// What the interface can't carry is refused, or less is granted to who asks for no more.
fn fits(config: &mut Config, mtu: usize, name: &str) -> Result<(), Missing> {
    let most = *FRAME_BYTES.end() - RING_HEADER_BYTES - HEADERS_BYTES;
    let carried = mtu.saturating_sub(PACKET_HEADERS_BYTES).min(most);
    if config.shorter_payloads {
        config.max_payload_bytes = config.max_payload_bytes.min(carried).max(1);
    }
    let payload = config.max_payload_bytes;
    if payload > most {
        return Err(Missing::ShortFrames { payload, most });
    }
    if payload > carried {
        return Err(Missing::Mtu { interface: name.to_owned(), mtu, need: payload + PACKET_HEADERS_BYTES });
    }
    Ok(())
}

/// What the process may not do is told before DPDK fails at it.
fn permitted(device: DpdkDevice) -> Result<(), Missing> {
    let sockets = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    let has = |all| capabilities(None).is_ok_and(|sets| sets.effective.contains(all));
    match device {
        DpdkDevice::AfPacket if has(sockets) => Ok(()),
        DpdkDevice::AfPacket => Err(Missing::PacketSockets),
        _ if has(sockets | CapabilitySet::BPF) => Ok(()),
        _ => Err(Missing::DpdkPermission { device: device.to_string() }),
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

/// Ports of an address that the kernel does not know: nobody else can have them.
fn own_ports(kind: EngineKind, own: OwnAddress, specs: &[PortSpec]) -> Result<Vec<Wanted>, EngineError> {
    // RFC 6335, section 6.
    const DYNAMIC: std::ops::RangeInclusive<u16> = 49_152..=65_535;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let mut ports: Vec<Wanted> = Vec::new();
    for spec in specs {
        let taken = |number: u16| {
            let given = specs.iter().map(|spec| spec.bind.port()).any(|given| given == number);
            given || ports.iter().any(|port| port.local.port() == number)
        };
        let number = match spec.bind.port() {
            0 => std::iter::repeat_with(|| DYNAMIC.start() | NEXT.fetch_add(1, Ordering::Relaxed))
                .find(|&number| !taken(number))
                .unwrap_or(0),
            number => number,
        };
        let local = SocketAddr::from(SocketAddrV4::new(own.address, number));
        let ip = spec.bind.ip();
        if spec.bind.is_ipv4() && ip != local.ip() && !ip.is_unspecified() {
            return Err(EngineError::NotLocal { addr: spec.bind });
        }
        if ports.iter().any(|port| SocketAddr::from(port.local) == local) {
            return Err(EngineError::PortInUse { addr: local });
        }
        let bound = if spec.bind.is_ipv4() { local } else { spec.bind };
        ports.push(wanted(bound, spec.peer).map_err(|missing| EngineError::Missing { engine: kind, missing })?);
    }
    Ok(ports)
}

/// An interface that an engine of this process has: the driver of packet sockets shares what comes between all that it has
/// opened on one interface.
pub(super) struct Claim {
    /// The number of its network namespace, and its own.
    interface: (u64, u32),
    /// The driver's socket, once it is open.
    socket: Option<(RawFd, PathBuf)>,
}

/// Interfaces, and whether they are free. Those that a driver never lets go of stay.
static CLAIMED: Mutex<Vec<((u64, u32), bool)>> = Mutex::new(Vec::new());

impl Claim {
    fn on(interface: &Interface) -> Result<Claim, Missing> {
        let namespace = std::fs::metadata("/proc/thread-self/ns/net").map_or(0, |file| file.ino());
        let this = (namespace, interface.index);
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        let name = || interface.name.clone();
        match claimed.iter().find(|(claim, _)| *claim == this) {
            Some((_, false)) => Err(Missing::DpdkInterface { interface: name() }),
            Some((_, true)) => Err(Missing::DpdkOnce { interface: name() }),
            None => {
                claimed.push((this, false));
                Ok(Claim { interface: this, socket: None })
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // `net_af_xdp` of DPDK 22.11 keeps its socket and the rings mapped, and with them the interface's queue.
        let kept = self.socket.as_ref().is_some_and(|socket| table::sockets().contains(socket));
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.retain(|(claim, _)| *claim != self.interface);
        if kept {
            claimed.push((self.interface, true));
        }
    }
}
