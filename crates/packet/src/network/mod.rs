//! Parts that engines of whole frames share: the frames, whose they are, where a datagram goes next, and what the
//! kernel reports of its interfaces.

pub(crate) mod features;
pub mod frame;
pub(crate) mod hops;
pub mod icmp;
pub(crate) mod martian;
pub(crate) mod netlink;
pub(crate) mod watch;

use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::io::Errno;
use takt_base::MonoNs;

use self::frame::{Ends, FrameError, PACKET_HEADERS_BYTES};
use self::martian::Martians;
use self::netlink::{Interface, Local, Routing};
use crate::port::{Port, ports};
use crate::sys::filter;
use crate::{Config, Counters, EngineError, EngineKind, Missing, PortIndex, RxEntry, TxEntry};

/// How often an engine looks whether its interface is still there: nothing wakes it when that is removed.
pub(crate) const STILL_THERE: Duration = Duration::from_millis(100);

/// One port: where its datagrams go to, and where they come from if it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) local: SocketAddrV4,
    pub(crate) peer: Option<SocketAddrV4>,
}

/// Settings of kernel sockets that datagrams pass by: nothing is read from them but errors, of which some hundred wait
/// meanwhile.
pub(crate) fn quiet(config: &Config) -> Config {
    Config { recv_buffer_bytes: 128 << 10, send_buffer_bytes: 4096, stamps: false, ..config.clone() }
}

/// Kernel sockets that keep the ports from others and receive ICMP messages, and whose the datagrams are.
pub(crate) fn hold(kind: EngineKind, config: &Config) -> Result<(Vec<Port>, Vec<Wanted>), EngineError> {
    let missing = |missing| EngineError::Missing { engine: kind, missing };
    if config.ports.iter().any(|spec| spec.bind.is_ipv6()) {
        return Err(missing(Missing::Ipv6));
    }
    // A connected one whose address is left to the kernel has one now.
    let ports = ports(config)?;
    let wanted = ports.iter().map(|port| wanted(port.local, port.peer)).collect::<Result<_, _>>().map_err(missing)?;
    Ok((ports, wanted))
}

/// Keeps kernel sockets empty of datagrams, and so with room for errors. Fragments and what this host sends itself come to them
/// also where the program or the driver takes all else, and nobody reads them.
pub(crate) fn take_nothing(ports: &[Port]) -> Result<(), EngineError> {
    let kernel = |errno: Errno| EngineError::Kernel { call: "setsockopt SO_ATTACH_FILTER", source: errno.into() };
    for port in ports {
        filter::drop_datagrams(port.as_fd()).map_err(kernel)?;
        port.drain();
    }
    Ok(())
}

/// # Errors
/// One of them is of IPv6, or any address.
pub(crate) fn wanted(local: SocketAddr, peer: Option<SocketAddr>) -> Result<Wanted, Missing> {
    let v4 = |address| match address {
        SocketAddr::V4(v4) if !v4.ip().is_unspecified() => Ok(v4),
        SocketAddr::V4(_) => Err(Missing::OneAddress),
        SocketAddr::V6(_) => Err(Missing::Ipv6),
    };
    Ok(Wanted { local: v4(local)?, peer: peer.map(v4).transpose()? })
}

/// The interface that has the address of the first port; the others have to be of it too, or its broadcast address.
pub(crate) fn interface_of(routing: &mut Routing, ports: &[Wanted]) -> Result<Interface, EngineError> {
    let kernel = |errno: Errno| EngineError::Kernel { call: "netlink", source: errno.into() };
    let mut locals = Vec::new();
    routing.addresses(&mut |local| locals.push(local)).map_err(kernel)?;
    let mut found: Option<Local> = None;
    for Wanted { local: bound, .. } in ports {
        let of = |local: &&Local| {
            let within = found.is_none_or(|found: Local| found.interface == local.interface);
            // All of 127.0.0.0/8 is loopback's.
            let loopback = bound.ip().is_loopback() && local.address.is_loopback();
            (local.address == *bound.ip() || local.broadcast == Some(*bound.ip()) || loopback) && within
        };
        found = Some(*locals.iter().find(of).ok_or(EngineError::NotLocal { addr: (*bound).into() })?);
    }
    routing.interface(found.map_or(0, |local| local.interface)).map_err(kernel)
}

/// Takes a frame apart and copies its payload to `place`, at `offset` of the arena. `None`: it is no sound datagram, or from a
/// source that no host may have, which is counted, or nobody's here.
pub(crate) fn take(
    counters: &mut Counters,
    (ports, martians): (&[Wanted], &Martians),
    arrived: Option<MonoNs>,
    bytes: &[u8],
    place: &mut [u8],
    offset: usize,
) -> Option<RxEntry> {
    let carried = match frame::parse(bytes) {
        Ok(carried) => carried,
        Err(error) => {
            match error {
                FrameError::Unfinished => counters.unfinished_checksums += 1,
                _ => counters.damaged_datagrams += 1,
            }
            return None;
        }
    };
    let port = port_of(ports, carried.ends)?;
    if martians.has(*carried.ends.source.ip()) {
        counters.martian_datagrams += 1;
        return None;
    }
    let len = carried.payload.len().min(place.len());
    place.get_mut(..len)?.copy_from_slice(carried.payload.get(..len)?);
    let truncated = carried.payload.len() > len;
    Some(RxEntry { port, source: carried.ends.source.into(), arrived, offset, len, truncated })
}

fn port_of(ports: &[Wanted], ends: Ends) -> Option<PortIndex> {
    let is_for = |port: &Wanted| port.local == ends.destination && port.peer.is_none_or(|peer| peer == ends.source);
    u8::try_from(ports.iter().position(is_for)?).ok().map(PortIndex)
}

/// From where to where; `None` if no frame can carry it: no destination, one of IPv6, port 0, too long.
pub(crate) fn ends(ports: &[Wanted], entry: &TxEntry, mtu: usize) -> Option<Ends> {
    let port = ports.get(usize::from(entry.port.0))?;
    let destination = match entry.to {
        Some(SocketAddr::V4(to)) => to,
        Some(SocketAddr::V6(_)) => return None,
        None => port.peer?,
    };
    let carried = destination.port() != 0 && entry.len + PACKET_HEADERS_BYTES <= mtu;
    carried.then_some(Ends { source: port.local, destination })
}

/// Longest wait of a poll, so that an interface that is removed is noticed. `left` is what the caller allows.
pub(crate) fn still_there(left: Option<Option<Timespec>>) -> Timespec {
    let slice = Timespec::try_from(STILL_THERE).unwrap_or_default();
    match left {
        None => Timespec::default(),
        Some(Some(left)) if (left.tv_sec, left.tv_nsec) < (slice.tv_sec, slice.tv_nsec) => left,
        Some(_) => slice,
    }
}

pub(crate) fn gone(interface: &str, errno: Errno) -> EngineError {
    EngineError::InterfaceGone { interface: interface.to_owned(), source: errno.into() }
}
