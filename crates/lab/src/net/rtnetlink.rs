//! The few requests that a path needs, over a blocking `NETLINK_ROUTE` socket (rtnetlink(7)).

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType};

use super::PathError;

/// A routing socket of the namespace in which it was opened, whichever thread uses it later.
pub(super) struct Rtnetlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Rtnetlink {
    /// Opens one in the calling thread's network namespace.
    pub(super) fn open() -> Result<Rtnetlink, PathError> {
        let family = rustix::net::AddressFamily::NETLINK;
        let socket = rustix::net::socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, None) // None is protocol 0, NETLINK_ROUTE
            .map_err(|errno| PathError::Netlink { what: "socket".into(), source: errno.into() })?;
        Ok(Rtnetlink { socket, sequence: 0 })
    }

    /// Makes a pair of interfaces: `name` in this socket's namespace, `peer` in the namespace `peer_in`.
    ///
    /// An aggregate (UDP GSO) is taken apart before it enters either interface (`gso_max_segs` 1): what crosses the pair
    /// are the datagrams a cable would carry, and a figure never counts a 64 KiB aggregate as datagrams.
    pub(super) fn add_veth(&mut self, name: &str, peer: &str, peer_in: &File) -> Result<(), PathError> {
        let single = LinkAttribute::GsoMaxSegs(1);
        let mut other = LinkMessage::default();
        other.attributes =
            vec![LinkAttribute::IfName(peer.into()), LinkAttribute::NetNsFd(peer_in.as_raw_fd()), single.clone()];
        let pair = vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other)))];
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::IfName(name.into()), single, LinkAttribute::LinkInfo(pair)];
        self.create(&format!("veth pair {name}, {peer}"), RouteNetlinkMessage::NewLink(link))
    }

    /// Brings an interface up.
    pub(super) fn set_up(&mut self, name: &str) -> Result<(), PathError> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(name)?;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.request(&format!("{name} up"), RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Gives an interface an address with its network.
    pub(super) fn add_address(&mut self, name: &str, address: Ipv4Addr, prefix_len: u8) -> Result<(), PathError> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix_len;
        message.header.index = self.index(name)?;
        let broadcast = Ipv4Addr::from_bits(address.to_bits() | u32::MAX.checked_shr(prefix_len.into()).unwrap_or(0));
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
            AddressAttribute::Broadcast(broadcast),
        ];
        self.create(&format!("address {address}/{prefix_len} on {name}"), RouteNetlinkMessage::NewAddress(message))
    }

    fn index(&self, name: &str) -> Result<u32, PathError> {
        rustix::net::netdevice::name_to_index(&self.socket, name)
            .map_err(|errno| PathError::Netlink { what: format!("interface {name}"), source: errno.into() })
    }

    fn create(&mut self, what: &str, message: RouteNetlinkMessage) -> Result<(), PathError> {
        self.request(what, message, NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sends a request and waits for its acknowledgement.
    fn request(&mut self, what: &str, message: RouteNetlinkMessage, flags: u16) -> Result<(), PathError> {
        self.exchange(message, flags).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => PathError::NotPermitted,
            _ => PathError::Netlink { what: what.into(), source },
        })
    }

    fn exchange(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        let kernel = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(&self.socket, &bytes, SendFlags::empty(), &kernel)?;
        self.acknowledged()
    }

    /// The kernel answers a request with an error message, code 0 for success (netlink(7)).
    fn acknowledged(&self) -> io::Result<()> {
        let mut buffer = vec![0; 8192];
        loop {
            let (got, _) = rustix::net::recv(&self.socket, &mut buffer, RecvFlags::empty())?;
            let bytes = buffer.get(..got).unwrap_or_default();
            let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes).map_err(io::Error::other)?;
            if reply.header.sequence_number != self.sequence {
                continue; // the answer to a request this socket gave up on
            }
            return match reply.payload {
                NetlinkPayload::Error(error) => match error.code {
                    None => Ok(()),
                    Some(code) => Err(io::Error::from_raw_os_error(-code.get())),
                },
                other => Err(io::Error::other(format!("unexpected answer {other:?}"))),
            };
        }
    }
}
