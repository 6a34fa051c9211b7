//! Requests to the kernel's routing (rtnetlink(7)), written and read as bytes in fixed buffers: an engine sends them while it runs,
//! and must not allocate. Lengths are claims until compared.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use super::frame::Mac;

/// Message types and flags (linux/rtnetlink.h, linux/netlink.h).
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTM_NEWNEIGH: u16 = 28;
const RTM_GETNEIGH: u16 = 30;
const ERROR: u16 = 2;
const DONE: u16 = 3;
pub(super) const REQUEST: u16 = 1;
const MULTI: u16 = 2;
const ACKNOWLEDGE: u16 = 4;
pub(super) const DUMP: u16 = 0x300;
const CREATE: u16 = 0x400;

/// Attributes.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFA_LOCAL: u16 = 2;
const IFA_BROADCAST: u16 = 4;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;

/// States of a neighbour whose hardware address may be used: permanent, no ARP, reachable, stale, delay, probe.
const NEIGHBOUR_VALID: u16 = 0x80 | 0x40 | 0x02 | 0x04 | 0x08 | 0x10;
const NEIGHBOUR_FAILED: u16 = 0x20;
/// "It is being used": the kernel asks for the address as it would for a datagram of its own.
const NEIGHBOUR_USE: u8 = 1;

const HEADER_BYTES: usize = 16;

/// An interface, as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) mtu: u32,
    pub(crate) mac: Mac,
    pub(crate) loopback: bool,
    pub(crate) up: bool,
    /// Whether it is set to take all frames.
    #[cfg(feature = "dpdk")]
    pub(crate) promiscuous: bool,
}

/// An address of this host and the interface that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) interface: u32,
    pub(crate) address: Ipv4Addr,
    /// Bits of it that name the network.
    pub(crate) prefix: u8,
    pub(crate) broadcast: Option<Ipv4Addr>,
}

/// How the kernel would send to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) interface: u32,
    /// `None`: the destination itself.
    pub(crate) gateway: Option<Ipv4Addr>,
    /// `RTN_UNICAST` and its like of linux/rtnetlink.h.
    pub(crate) kind: u8,
}

/// The kernel's knowledge of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    Known(Mac),
    /// The kernel is finding out its hardware address.
    Unknown,
    /// The kernel knows nothing of it, and does nothing about that.
    Absent,
    /// It did not answer.
    Silent,
}

/// A socket to ask by. It belongs to the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Routing {
    socket: OwnedFd,
    sequence: u32,
}

impl Routing {
    pub(crate) fn open() -> Result<Routing, Errno> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // Protocol 0 is NETLINK_ROUTE.
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        Ok(Routing { socket, sequence: 0 })
    }

    /// The same towards another part of the kernel: see [`super::features`].
    pub(super) fn towards(protocol: Protocol) -> Result<Routing, Errno> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(protocol))?;
        Ok(Routing { socket, sequence: 0 })
    }

    /// The addresses of this host, to `each`.
    pub(crate) fn addresses(&mut self, each: &mut dyn FnMut(Local)) -> Result<(), Errno> {
        // `struct ifaddrmsg`: family, prefix, flags, scope, interface.
        let body = Body::of(&[libc::AF_INET as u8, 0, 0, 0, 0, 0, 0, 0]);
        self.request(RTM_GETADDR, REQUEST | DUMP, &body, &mut |kind, body| {
            if let (RTM_NEWADDR, Some((fixed, attributes))) = (kind, body.split_first_chunk::<8>())
                && let Some(address) = address(attributes, IFA_LOCAL)
            {
                let interface = word(fixed, 4).unwrap_or(0);
                each(Local {
                    interface,
                    address,
                    prefix: fixed[1],
                    broadcast: self::address(attributes, IFA_BROADCAST),
                });
            }
        })
    }

    /// # Errors
    /// `ENODEV`: there is none (any more).
    pub(crate) fn interface(&mut self, index: u32) -> Result<Interface, Errno> {
        // `struct ifinfomsg`: family, padding, type, index, flags, change.
        let mut body = Body::of(&[0; 16]);
        body.bytes[4..8].copy_from_slice(&index.to_ne_bytes());
        let mut found = None;
        self.request(RTM_GETLINK, REQUEST, &body, &mut |kind, body| {
            if let (RTM_NEWLINK, Some((fixed, attributes))) = (kind, body.split_first_chunk::<16>()) {
                let flags = word(fixed, 8).unwrap_or(0);
                let name = attribute(attributes, IFLA_IFNAME).unwrap_or_default();
                found = Some(Interface {
                    index,
                    name: String::from_utf8_lossy(name.split(|&byte| byte == 0).next().unwrap_or_default()).into(),
                    mtu: attribute(attributes, IFLA_MTU).and_then(|mtu| word(mtu, 0)).unwrap_or(0),
                    mac: mac(attributes, IFLA_ADDRESS).unwrap_or_default(),
                    loopback: flags & libc::IFF_LOOPBACK.cast_unsigned() != 0,
                    up: flags & libc::IFF_UP.cast_unsigned() != 0,
                    #[cfg(feature = "dpdk")]
                    promiscuous: flags & libc::IFF_PROMISC.cast_unsigned() != 0,
                });
            }
        })?;
        found.ok_or(Errno::NODEV)
    }

    /// Whether an interface is up; allocates nothing.
    ///
    /// # Errors
    /// `ENODEV`: there is none (any more).
    pub(crate) fn is_up(&mut self, index: u32) -> Result<bool, Errno> {
        let mut body = Body::of(&[0; 16]);
        body.bytes[4..8].copy_from_slice(&index.to_ne_bytes());
        let mut found = None;
        self.request(RTM_GETLINK, REQUEST, &body, &mut |kind, body| {
            if kind == RTM_NEWLINK {
                found = word(body, 8).map(|flags| flags & libc::IFF_UP.cast_unsigned() != 0);
            }
        })?;
        found.ok_or(Errno::NODEV)
    }

    /// # Errors
    /// `ENETUNREACH` and its like: there is no route.
    pub(crate) fn route(&mut self, to: Ipv4Addr) -> Result<Route, Errno> {
        // `struct rtmsg`: family, lengths of both prefixes, tos, table, protocol, scope, type, flags.
        let mut body = Body::of(&[libc::AF_INET as u8, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        body.attribute(RTA_DST, &to.octets());
        let mut found = None;
        self.request(RTM_GETROUTE, REQUEST, &body, &mut |kind, body| {
            if let (RTM_NEWROUTE, Some((fixed, attributes))) = (kind, body.split_first_chunk::<12>()) {
                let interface = attribute(attributes, RTA_OIF).and_then(|index| word(index, 0)).unwrap_or(0);
                found = Some(Route { interface, gateway: address(attributes, RTA_GATEWAY), kind: fixed[7] });
            }
        })?;
        found.ok_or(Errno::NETUNREACH)
    }

    /// The kernel's knowledge of a neighbour on an interface.
    pub(crate) fn neighbour(&mut self, interface: u32, address: Ipv4Addr) -> Result<Neighbour, Errno> {
        let mut found = Neighbour::Absent;
        let answered = self.request(RTM_GETNEIGH, REQUEST, &neighbour(interface, address, 0), &mut |kind, body| {
            if let (RTM_NEWNEIGH, Some((fixed, attributes))) = (kind, body.split_first_chunk::<12>()) {
                let state = u16::from_ne_bytes([fixed[8], fixed[9]]);
                found = match mac(attributes, NDA_LLADDR) {
                    Some(mac) if state & NEIGHBOUR_VALID != 0 => Neighbour::Known(mac),
                    _ if state & NEIGHBOUR_FAILED != 0 => Neighbour::Silent,
                    _ => Neighbour::Unknown,
                };
            }
        });
        match answered {
            Err(Errno::NOENT) => Ok(Neighbour::Absent),
            other => other.map(|()| found),
        }
    }

    /// Has the kernel find out a neighbour's hardware address, by its own ARP; returns at once.
    pub(crate) fn look_for(&mut self, interface: u32, address: Ipv4Addr) -> Result<(), Errno> {
        let body = neighbour(interface, address, NEIGHBOUR_USE);
        self.request(RTM_NEWNEIGH, REQUEST | ACKNOWLEDGE | CREATE, &body, &mut |_, _| ())
    }

    /// Sends a request and hands out what is answered, until the answer is complete.
    pub(super) fn request(
        &mut self,
        kind: u16,
        flags: u16,
        body: &Body,
        each: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut request = [0; HEADER_BYTES + Body::BYTES];
        let len = HEADER_BYTES + body.len;
        request[..4].copy_from_slice(&(len as u32).to_ne_bytes());
        request[4..6].copy_from_slice(&kind.to_ne_bytes());
        request[6..8].copy_from_slice(&flags.to_ne_bytes());
        request[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        request[HEADER_BYTES..].copy_from_slice(&body.bytes);
        sendto(&self.socket, request.get(..len).unwrap_or(&[]), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        // A message of the kernel's is never longer than this where nobody asks for more (netlink(7)).
        let mut answer = [0; 8192];
        loop {
            let got = match recv(&self.socket, &mut answer[..], RecvFlags::empty()) {
                Err(Errno::INTR) => continue,
                got => got?.0,
            };
            let mut rest = answer.get(..got).unwrap_or_default();
            while let Some((header, body, after)) = message(rest) {
                rest = after;
                match header.kind {
                    _ if header.sequence != self.sequence => {}
                    DONE => return Ok(()),
                    ERROR => {
                        let errno = word(body, 0).map_or(0, |word| word.cast_signed().saturating_neg());
                        return if errno == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(errno)) };
                    }
                    kind => {
                        each(kind, body);
                        if header.flags & MULTI == 0 && flags & ACKNOWLEDGE == 0 {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }
}

/// `struct ndmsg`: family, padding, interface, state, flags, type; and whom it is about.
fn neighbour(interface: u32, address: Ipv4Addr, flags: u8) -> Body {
    let mut body = Body::of(&[libc::AF_INET as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, flags, 0]);
    body.bytes[4..8].copy_from_slice(&interface.to_ne_bytes());
    body.attribute(NDA_DST, &address.octets());
    body
}

/// Body that follows a request's header.
pub(super) struct Body {
    bytes: [u8; Body::BYTES],
    len: usize,
}

impl Body {
    const BYTES: usize = 32;

    /// A fixed part of at most 16 bytes.
    pub(super) fn of(fixed: &[u8]) -> Body {
        let mut body = Body { bytes: [0; Body::BYTES], len: fixed.len() };
        body.bytes[..fixed.len()].copy_from_slice(fixed);
        body
    }

    /// An attribute of four bytes (rtnetlink(7), `struct rtattr`).
    pub(super) fn attribute(&mut self, kind: u16, value: &[u8; 4]) {
        let at = self.len;
        self.bytes[at..at + 2].copy_from_slice(&8_u16.to_ne_bytes());
        self.bytes[at + 2..at + 4].copy_from_slice(&kind.to_ne_bytes());
        self.bytes[at + 4..at + 8].copy_from_slice(value);
        self.len += 8;
    }
}

struct Header {
    kind: u16,
    flags: u16,
    sequence: u32,
}

/// The first message (`struct nlmsghdr`), its body, and what follows it.
fn message(bytes: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let len = word(bytes, 0)? as usize;
    let body = bytes.get(HEADER_BYTES..len)?;
    let half = |at: usize| Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    let header = Header { kind: half(4)?, flags: half(6)?, sequence: word(bytes, 8)? };
    Some((header, body, bytes.get(len.next_multiple_of(4)..).unwrap_or_default()))
}

/// The value of the first attribute of this kind.
pub(super) fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16::from_ne_bytes(*attributes.first_chunk()?));
        let kind = u16::from_ne_bytes(*attributes.get(2..)?.first_chunk()?);
        let value = attributes.get(4..len)?;
        if kind == wanted {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

fn address(attributes: &[u8], wanted: u16) -> Option<Ipv4Addr> {
    attribute(attributes, wanted)?.first_chunk::<4>().map(|&octets| octets.into())
}

fn mac(attributes: &[u8], wanted: u16) -> Option<Mac> {
    attribute(attributes, wanted)?.first_chunk().copied()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&word| u32::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_described_and_reached_by_itself() {
        let mut routing = Routing::open().unwrap();
        let mut locals = Vec::new();
        routing.addresses(&mut |local| locals.push(local)).unwrap();
        let loopback = locals.iter().find(|local| local.address == Ipv4Addr::LOCALHOST).expect("every host has it");
        let interface = routing.interface(loopback.interface).unwrap();
        assert_eq!((&interface.name[..], interface.loopback, interface.mac), ("lo", true, [0; 6]));
        let route = routing.route(Ipv4Addr::new(127, 1, 2, 3)).unwrap();
        assert_eq!((route.interface, route.gateway), (loopback.interface, None));
        assert_eq!(routing.interface(u32::MAX >> 1), Err(Errno::NODEV));
    }

    #[test]
    fn lengths_that_lie_end_the_reading() {
        let mut bytes = [0; 32];
        for len in [0_u32, 15, 33, u32::MAX] {
            bytes[..4].copy_from_slice(&len.to_ne_bytes());
            assert!(message(&bytes).is_none(), "{len}");
        }
        for len in [0_u16, 3, 33, u16::MAX] {
            bytes[..2].copy_from_slice(&len.to_ne_bytes());
            assert_eq!(attribute(&bytes, 7), None, "{len}");
        }
        assert_eq!(attribute(&[8, 0, 7, 0, 1, 2, 3, 4], 7), Some(&[1, 2, 3, 4][..]));
        assert_eq!(attribute(&[5, 0, 9, 0, 1, 0, 0, 0, 4, 0, 7, 0], 7), Some(&[][..]));
    }
}
