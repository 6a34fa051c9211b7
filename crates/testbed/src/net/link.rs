//! Requests about interfaces: bridges, pairs, their place, their size.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgeStpState, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, LinkXdp,
};

use super::PathError;
use super::rtnetlink::Rtnetlink;

impl Rtnetlink {
    /// Makes a pair of interfaces: `name` in this socket's namespace, `peer` in the namespace `peer_in`.
    ///
    /// An aggregate (UDP GSO) is taken apart before it enters either interface (`gso_max_segs` 1): what crosses the pair
    /// are the datagrams a cable would carry, and a figure never counts a 64 KiB aggregate as datagrams.
    pub fn add_veth(&mut self, name: &str, peer: &str, peer_in: &File) -> Result<(), PathError> {
        let single = LinkAttribute::GsoMaxSegs(1);
        let mut other = LinkMessage::default();
        other.attributes =
            vec![LinkAttribute::IfName(peer.into()), LinkAttribute::NetNsFd(peer_in.as_raw_fd()), single.clone()];
        let pair = vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other)))];
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::IfName(name.into()), single, LinkAttribute::LinkInfo(pair)];
        self.create(&format!("veth pair {name}, {peer}"), RouteNetlinkMessage::NewLink(link))
    }

    /// Makes a bridge that forwards at once: no spanning tree, which would keep a new port silent for 30 s, and no
    /// snooping of multicast, which would send queries of its own.
    pub fn add_bridge(&mut self, name: &str) -> Result<(), PathError> {
        let settings = vec![
            InfoBridge::StpState(BridgeStpState::Disabled),
            InfoBridge::ForwardDelay(0),
            InfoBridge::MulticastSnooping(false),
        ];
        let info = vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(settings))];
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::IfName(name.into()), LinkAttribute::LinkInfo(info)];
        self.create(&format!("bridge {name}"), RouteNetlinkMessage::NewLink(link))
    }

    pub fn enslave(&mut self, name: &str, bridge: &str) -> Result<(), PathError> {
        let bridge_index = self.index(bridge)?;
        self.change(name, &format!("{name} into bridge {bridge}"), LinkAttribute::Controller(bridge_index))
    }

    /// Moves an interface into another namespace. It comes up there without addresses, and down.
    pub fn move_to(&mut self, name: &str, namespace: &File) -> Result<(), PathError> {
        let to = LinkAttribute::NetNsFd(namespace.as_raw_fd());
        self.change(name, &format!("{name} into another namespace"), to)
    }

    /// The largest packet, without the Ethernet header, bytes.
    pub fn set_mtu(&mut self, name: &str, mtu_bytes: u32) -> Result<(), PathError> {
        self.change(name, &format!("MTU {mtu_bytes} on {name}"), LinkAttribute::Mtu(mtu_bytes))
    }

    /// Takes aggregates (UDP GSO) apart before they enter this interface, as [`Rtnetlink::add_veth`] does for pairs.
    pub fn set_single(&mut self, name: &str) -> Result<(), PathError> {
        self.change(name, &format!("single datagrams on {name}"), LinkAttribute::GsoMaxSegs(1))
    }

    /// The hardware address of an interface, which must be down for it.
    pub fn set_hardware_address(&mut self, name: &str, address: [u8; 6]) -> Result<(), PathError> {
        self.change(name, &format!("hardware address of {name}"), LinkAttribute::Address(address.to_vec()))
    }

    /// Runs an XDP program on what an interface receives, in its driver, before the kernel has made a packet of a frame.
    pub fn attach_xdp(&mut self, name: &str, program: &OwnedFd) -> Result<(), PathError> {
        // linux/if_link.h: XDP_FLAGS_UPDATE_IF_NOEXIST, XDP_FLAGS_DRV_MODE
        const NATIVE_IF_NONE: u32 = 1 | 4;
        let program = LinkAttribute::Xdp(vec![LinkXdp::Fd(program.as_raw_fd()), LinkXdp::Flags(NATIVE_IF_NONE)]);
        self.change(name, &format!("XDP program on {name}"), program)
    }

    pub fn set_up(&mut self, name: &str) -> Result<(), PathError> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(name)?;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.request(&format!("{name} up"), RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Removes an interface; of a pair, both.
    pub fn delete(&mut self, name: &str) -> Result<(), PathError> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(name)?;
        self.request(&format!("removing {name}"), RouteNetlinkMessage::DelLink(link), 0)
    }

    fn change(&mut self, name: &str, what: &str, attribute: LinkAttribute) -> Result<(), PathError> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(name)?;
        link.attributes = vec![attribute];
        self.request(what, RouteNetlinkMessage::SetLink(link), 0)
    }
}
