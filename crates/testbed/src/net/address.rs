//! Requests about addresses and routes.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_core::NLM_F_REPLACE;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::PathError;
use super::rtnetlink::Rtnetlink;

impl Rtnetlink {
    pub fn add_address(&mut self, name: &str, address: Ipv4Addr, prefix_len: u8) -> Result<(), PathError> {
        let mut message = self.address(name, address, prefix_len)?;
        let broadcast = Ipv4Addr::from_bits(address.to_bits() | u32::MAX.checked_shr(prefix_len.into()).unwrap_or(0));
        message.attributes.push(AddressAttribute::Broadcast(broadcast));
        self.create(&format!("address {address}/{prefix_len} on {name}"), RouteNetlinkMessage::NewAddress(message))
    }

    /// Takes an address from an interface; one that is not there is gone already.
    pub fn delete_address(&mut self, name: &str, address: Ipv4Addr, prefix_len: u8) -> Result<(), PathError> {
        let message = self.address(name, address, prefix_len)?;
        match self.request(
            &format!("taking {address}/{prefix_len} from {name}"),
            RouteNetlinkMessage::DelAddress(message),
            0,
        ) {
            Err(PathError::Netlink { source, .. }) if source.kind() == io::ErrorKind::AddrNotAvailable => Ok(()),
            done => done,
        }
    }

    pub fn set_default_route(&mut self, gateway: Ipv4Addr) -> Result<(), PathError> {
        let via = vec![RouteAttribute::Gateway(RouteAddress::Inet(gateway))];
        self.route(&format!("default route by {gateway}"), 0, RouteScope::Universe, via)
    }

    /// Broadcasts of a host that has no address yet leave by this interface.
    pub fn route_broadcasts(&mut self, name: &str) -> Result<(), PathError> {
        let to = RouteAttribute::Destination(RouteAddress::Inet(Ipv4Addr::BROADCAST));
        let by = RouteAttribute::Oif(self.index(name)?);
        self.route(&format!("route of broadcasts by {name}"), 32, RouteScope::Link, vec![to, by])
    }

    fn address(&self, name: &str, address: Ipv4Addr, prefix_len: u8) -> Result<AddressMessage, PathError> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix_len;
        message.header.index = self.index(name)?;
        let address = IpAddr::V4(address);
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        Ok(message)
    }

    fn route(
        &mut self,
        what: &str,
        prefix_len: u8,
        scope: RouteScope,
        attributes: Vec<RouteAttribute>,
    ) -> Result<(), PathError> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = prefix_len;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = scope;
        message.header.kind = RouteType::Unicast;
        message.attributes = attributes;
        let flags = netlink_packet_core::NLM_F_CREATE | NLM_F_REPLACE;
        self.request(what, RouteNetlinkMessage::NewRoute(message), flags)
    }
}
