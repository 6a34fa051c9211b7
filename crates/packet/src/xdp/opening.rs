//! From a configuration to sockets on an interface: which interface, what it lacks, the program in front of it.

use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Errno;
use takt_host::bpf::{Attached, BpfError, Table, XdpMode, attach_xdp, load_xdp};
use takt_host::steering::{Queues, Steering, SteeringError};

use super::frames::Frames;
use super::held::{Halves, Socket, halves};
use super::program::program;
use super::transmitting::Transmitting;
use super::{MAX_QUEUES, Xdp};
use crate::framed::Framed;
use crate::mmsg::Batches;
use crate::network::features::{RUNS_PROGRAMS, xdp_features};
use crate::network::frame::{HEADERS_BYTES, PACKET_HEADERS_BYTES};
use crate::network::hops::{Hops, find_peers};
use crate::network::martian::Martians;
use crate::network::netlink::{Interface, Routing};
use crate::network::watch::InterfaceWatch;
use crate::network::{Wanted, hold, interface_of, quiet, take_nothing};
use crate::shared::Shared;
use crate::socket::OneByOne;
use crate::sockets::Sockets;
use crate::sys::xsk::{self, CHUNK_BYTES, FRAME_BYTES, Failed, MAX_PARTS, Receiving, Sending, Sizes};
use crate::{Config, Engine, EngineError, EngineKind, FramePath, Limits, Missing, Way};

/// Chunks of a socket each way: two batches of the largest, and what takes 32 MiB.
const CHUNKS: std::ops::RangeInclusive<usize> = 64..=16_384;
/// Space of a small datagram in a kernel socket's buffer, about: so many chunks hold what such a buffer would.
const SMALL_BYTES: usize = 512;
/// The longest datagram: what leaves in one frame.
const MAX_PAYLOAD_BYTES: usize = MAX_PARTS * CHUNK_BYTES - HEADERS_BYTES;
/// A queue that has just been let go is free a little later: the kernel does that in a work queue.
const LET_GO: (u32, Duration) = (100, Duration::from_millis(10));

/// Opens engine `xdp` or `xdp-generic` (`kind`) on these queues of the interface.
pub(crate) fn open(kind: EngineKind, queues: Queues, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
    let missing = |missing| EngineError::Missing { engine: kind, missing };
    let netlink = |errno: Errno| EngineError::Kernel { call: "netlink", source: errno.into() };
    let mut routing = Routing::open().map_err(netlink)?;
    let (ports, wanted) = hold(kind, &for_sockets(config))?;
    if config.way != Way::Transmit {
        take_nothing(&ports)?;
    }
    let interface = interface_of(&mut routing, &wanted)?;
    let carried = (interface.mtu as usize).saturating_sub(PACKET_HEADERS_BYTES).min(MAX_PAYLOAD_BYTES);
    let granted = Config { max_payload_bytes: config.max_payload_bytes.min(carried).max(1), ..config.clone() };
    let config = if config.shorter_payloads { &granted } else { config };
    check(kind, &interface, config).map_err(missing)?;
    let steering = steer(kind, &interface, &wanted, queues, config.way)?;
    let serves = serves(queues, steering.as_ref(), &interface).map_err(missing)?;
    let open = |there| sockets(kind, &interface, config, &serves, there);
    let Halves { sizes, receiving: queues, sending, lease } = halves(config.way, interface.index, &serves, open)?;
    let frame_bytes = config.max_payload_bytes + HEADERS_BYTES;
    if frame_bytes > FRAME_BYTES && !sizes.is_long() {
        return Err(missing(Missing::LongFrames { most: FRAME_BYTES - HEADERS_BYTES }));
    }
    let martians = Martians::on(&interface, &mut routing).map_err(netlink)?;
    let mut hops = Hops::new(routing, &interface);
    find_peers(&wanted, |to, now| hops.hop(to, now));
    let out =
        sending.map(|queue| Frames { queue, hops, mac: interface.mac, mtu: interface.mtu as usize, congested: 0 });
    let send_buffer_bytes = sizes.send as usize / Sending::parts(frame_bytes) * config.max_payload_bytes;
    let out = match (config.way, out) {
        (Way::Transmit, Some(out)) => {
            let received = Batches::new(&ports, config);
            let watch = InterfaceWatch::new(&interface).map_err(netlink)?;
            let calls = Transmitting { out, received, wanted, watch, send_buffer_bytes, _lease: lease };
            return Ok(Box::new(Sockets::engine(ports, calls, config)));
        }
        (_, out) => out,
    };
    if config.busy_poll {
        let kernel =
            |errno: Errno| EngineError::Kernel { call: "setsockopt SO_PREFER_BUSY_POLL", source: errno.into() };
        queues.iter().try_for_each(|(_, queue)| queue.poll_driver()).map_err(kernel)?;
    }
    let code = |table: &Table| program(&wanted, config.stamps, table.descriptor());
    let attached = attach(kind, &interface, &queues, sizes, code)?;
    let renewed = steering.as_ref().map_or(Ok(()), Steering::renew);
    renewed.map_err(|source| EngineError::Kernel { call: "ethtool -X", source })?;
    let queues: Vec<Receiving> = queues.into_iter().map(|(_, queue)| queue).collect();
    let limits = Limits {
        recv_buffer_bytes: sizes.receive as usize / frame_bytes.div_ceil(FRAME_BYTES) * config.max_payload_bytes,
        send_buffer_bytes,
        stamps: config.stamps,
        path: match (place(kind), queues.iter().all(Receiving::zero_copy)) {
            (XdpMode::Generic, _) => FramePath::GenericXdp,
            (XdpMode::Native, false) => FramePath::NativeXdp,
            (XdpMode::Native, true) => FramePath::NativeXdpZeroCopy,
        },
        ..Shared::new(Vec::new()).limits(config, (false, false))
    };
    let xdp = Xdp {
        _attached: attached,
        queues,
        out,
        ports: OneByOne { frame_bytes: config.max_payload_bytes },
        shared: Shared::new(ports),
        wanted,
        martians,
        max_payload: config.max_payload_bytes,
        interface: interface.name,
        _lease: lease,
        steering,
    };
    Ok(Box::new(Framed::new(xdp, config.batch * config.max_payload_bytes, config, limits)))
}

/// Brings the ports' datagrams to the queues. An engine that transmits receives little, by whichever queue that comes.
fn steer(
    kind: EngineKind,
    interface: &Interface,
    ports: &[Wanted],
    queues: Queues,
    way: Way,
) -> Result<Option<Steering>, EngineError> {
    if way == Way::Transmit {
        return Ok(None);
    }
    let ports: Vec<u16> = ports.iter().map(|port| port.local.port()).collect();
    Steering::begin(&interface.name, &ports, queues).map(Some).map_err(|error| {
        let missing = match error {
            SteeringError::NoQueue { interface, queue, there } => Missing::NoQueue { interface, queue, there },
            SteeringError::Taken { interface, pid } => Missing::QueuesTaken { interface, pid },
            SteeringError::LeftBehind { interface } => Missing::QueuesLeftBehind { interface },
            SteeringError::Gone { interface, source } => return EngineError::InterfaceGone { interface, source },
            other => {
                return EngineError::Kernel { call: "asking who has queues", source: std::io::Error::other(other) };
            }
        };
        EngineError::Missing { engine: kind, missing }
    })
}

/// The queues that get a socket. If all do, their number may show only when they are opened.
fn serves(queues: Queues, steering: Option<&Steering>, interface: &Interface) -> Result<RangeInclusive<u32>, Missing> {
    let most = MAX_QUEUES as u32;
    let all = || 0..=steering.and_then(Steering::there).unwrap_or(most) - 1;
    let serves = match (queues, steering) {
        (_, Some(steering)) => steering.queues().unwrap_or_else(all),
        (Queues::Chosen, None) => 0..=0,
        (Queues::Named { first, .. }, None) => first.into()..=first.into(),
    };
    let there = serves.end() - serves.start() + 1;
    if there > most {
        return Err(Missing::ManyQueues { interface: interface.name.clone(), there, most: MAX_QUEUES });
    }
    Ok(serves)
}

fn place(kind: EngineKind) -> XdpMode {
    if matches!(kind, EngineKind::XdpGeneric(_)) { XdpMode::Generic } else { XdpMode::Native }
}

/// Load of the kernel sockets: nothing, or the little of the other way.
fn for_sockets(config: &Config) -> Config {
    match config.way {
        Way::Both => quiet(config),
        Way::Receive => Config { send_buffer_bytes: config.send_buffer_bytes, ..quiet(config) },
        Way::Transmit => config.clone(),
    }
}

/// Finds what the interface lacks for this configuration.
fn check(kind: EngineKind, interface: &Interface, config: &Config) -> Result<(), Missing> {
    let name = || interface.name.clone();
    let (payload, mtu) = (config.max_payload_bytes, interface.mtu as usize);
    if payload > MAX_PAYLOAD_BYTES {
        return Err(Missing::ShortFrames { payload, most: MAX_PAYLOAD_BYTES });
    }
    if payload + PACKET_HEADERS_BYTES > mtu {
        return Err(Missing::Mtu { interface: name(), mtu, need: payload + PACKET_HEADERS_BYTES });
    }
    // Nobody asks the driver of one that transmits to run a program. A kernel before 6.3 does not say what it would answer.
    let native = config.way == Way::Transmit && place(kind) == XdpMode::Native;
    if native && xdp_features(interface.index).is_ok_and(|features| features & RUNS_PROGRAMS == 0) {
        return Err(Missing::NativeXdp { interface: name(), why: "so it says itself".to_owned() });
    }
    if interface.loopback && config.way == Way::Transmit {
        return Err(Missing::Loopback);
    }
    if !interface.up {
        return Err(Missing::InterfaceUp { interface: name() });
    }
    Ok(())
}

/// Whether the longest datagram lies in one chunk.
pub(crate) fn fits(config: &Config) -> bool {
    config.max_payload_bytes + HEADERS_BYTES <= FRAME_BYTES
}

fn sizes(config: &Config, mtu: usize) -> Sizes {
    let frame_bytes = config.max_payload_bytes + HEADERS_BYTES;
    let chunks = |bytes: usize, each: usize, parts: usize| {
        let chunks = (bytes / each).max(2 * config.batch * parts).next_power_of_two();
        chunks.clamp(*CHUNKS.start(), *CHUNKS.end()) as u32
    };
    // The half that is not this engine's has what one has that says nothing.
    let usual = Config::new(Vec::new());
    let received = if config.way == Way::Transmit { &usual } else { config };
    let sent = if config.way == Way::Receive { &usual } else { config };
    Sizes {
        receive: chunks(received.recv_buffer_bytes, SMALL_BYTES, frame_bytes.div_ceil(FRAME_BYTES)),
        send: chunks(sent.send_buffer_bytes, CHUNK_BYTES, Sending::parts(frame_bytes)),
        // Also where only short datagrams are wanted: longer ones that come are cut, as with every engine.
        frame_bytes: mtu + HEADERS_BYTES - PACKET_HEADERS_BYTES,
    }
}

/// The program in front of the interface, which has a table of the sockets.
fn attach(
    kind: EngineKind,
    interface: &Interface,
    queues: &[(u32, Receiving)],
    sizes: Sizes,
    code: impl FnOnce(&Table) -> Vec<u64>,
) -> Result<Attached, EngineError> {
    let of_bpf = |error| EngineError::Missing { engine: kind, missing: of_bpf(error, interface, sizes) };
    let last = queues.last().map_or(0, |(number, _)| *number);
    let table = Table::of_sockets(last + 1).map_err(of_bpf)?;
    for (number, queue) in queues {
        table.put(*number, queue.as_fd()).map_err(|source| EngineError::Kernel { call: "bpf", source })?;
    }
    let loaded = load_xdp(&code(&table), sizes.is_long()).map_err(of_bpf)?;
    attach_xdp(loaded.as_fd(), interface.index, place(kind)).map_err(of_bpf)
}

/// Sockets of the queues, but for one that is there, for frames as long as its MTU if the kernel has them.
fn sockets(
    kind: EngineKind,
    interface: &Interface,
    config: &Config,
    queues: &RangeInclusive<u32>,
    there: Option<(u32, Sizes)>,
) -> Result<(Sizes, Vec<Socket>), EngineError> {
    let mut sizes = there.map_or_else(|| sizes(config, interface.mtu as usize), |(_, sizes)| sizes);
    let of_queues = |sizes| each(interface, sizes, queues, there.map(|(queue, _)| queue));
    let opened = match of_queues(sizes) {
        // Before Linux 6.6. Frames that fit into chunks pass there too.
        Err(Failed { call: "bind AF_XDP", errno: Errno::INVAL }) if sizes.is_long() && fits(config) => {
            sizes.frame_bytes = FRAME_BYTES;
            of_queues(sizes)
        }
        opened => opened,
    };
    opened.map(|sockets| (sizes, sockets)).map_err(|failed| refused(kind, interface, sizes, failed))
}

/// A socket for each queue. The kernel says `EINVAL` behind the last one of the interface.
fn each(
    interface: &Interface,
    sizes: Sizes,
    queues: &RangeInclusive<u32>,
    there: Option<u32>,
) -> Result<Vec<Socket>, Failed> {
    let mut sockets = Vec::new();
    for queue in queues.clone().filter(|queue| there != Some(*queue)) {
        match socket(interface, queue, sizes) {
            Ok((receiving, sending)) => sockets.push((queue, receiving, sending)),
            Err(Failed { call: "bind AF_XDP", errno: Errno::INVAL }) if queue > *queues.start() => break,
            Err(failed) => return Err(failed),
        }
    }
    Ok(sockets)
}

fn socket(interface: &Interface, queue: u32, sizes: Sizes) -> Result<(Receiving, Sending), Failed> {
    let (tries, pause) = LET_GO;
    for _ in 0..tries {
        match xsk::open(interface.index, queue, sizes) {
            Err(Failed { errno: Errno::BUSY, .. }) => std::thread::sleep(pause),
            opened => return opened,
        }
    }
    xsk::open(interface.index, queue, sizes)
}

/// Meaning of a refused step.
fn refused(kind: EngineKind, interface: &Interface, sizes: Sizes, failed: Failed) -> EngineError {
    let name = || interface.name.clone();
    let missing = match (failed.call, failed.errno) {
        // User emulation, as QEMU's, opens the socket and knows none of its options.
        ("socket AF_XDP", Errno::AFNOSUPPORT) | ("setsockopt XDP_UMEM_REG", Errno::NOPROTOOPT) => Missing::XdpSockets,
        ("socket AF_XDP", Errno::PERM | Errno::ACCESS) => Missing::XdpPermission,
        ("setsockopt XDP_UMEM_REG", Errno::NOBUFS | Errno::PERM) => Missing::LockedMemory,
        ("bind AF_XDP", Errno::BUSY) => Missing::QueueFree { interface: name() },
        ("bind AF_XDP", Errno::INVAL) if sizes.is_long() => Missing::LongFrames { most: FRAME_BYTES - HEADERS_BYTES },
        ("bind AF_XDP", Errno::NETDOWN) => Missing::InterfaceUp { interface: name() },
        _ => return EngineError::Kernel { call: failed.call, source: failed.errno.into() },
    };
    EngineError::Missing { engine: kind, missing }
}

fn of_bpf(error: BpfError, interface: &Interface, sizes: Sizes) -> Missing {
    let (mtu, interface) = (interface.mtu as usize, interface.name.clone());
    match error {
        BpfError::NotPermitted => Missing::XdpPermission,
        BpfError::Taken { .. } => Missing::InterfaceFree { interface },
        BpfError::NoDriver { source, .. } if sizes.is_long() => {
            Missing::NativeLong { interface, mtu, why: source.to_string() }
        }
        BpfError::NoDriver { source, .. } => Missing::NativeXdp { interface, why: source.to_string() },
        other => Missing::Program { interface, why: other.to_string() },
    }
}
