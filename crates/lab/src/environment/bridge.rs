//! The bridge between the path and the inside of a container or a virtual machine.

use std::net::Ipv4Addr;

use super::Seat;
use crate::net::{PathError, Rtnetlink};

/// Name of the bridge; it is alone in its namespace.
const BRIDGE: &str = "br0";

/// The seat's interface as a port of a bridge, its address taken away for the inside end. Dropping it gives the seat
/// back as it was.
pub(super) struct Bridge {
    netlink: Rtnetlink,
    interface: String,
    address: Ipv4Addr,
    prefix_len: u8,
    gateway: Option<Ipv4Addr>,
    port: Option<String>,
}

impl Bridge {
    pub(super) fn over(seat: &Seat<'_>) -> Result<Bridge, PathError> {
        let mut bridge = Bridge {
            netlink: seat.namespace.netlink()?,
            interface: seat.interface.to_owned(),
            address: seat.address,
            prefix_len: seat.prefix_len,
            gateway: seat.gateway,
            port: None,
        };
        bridge.netlink.add_bridge(BRIDGE)?;
        bridge.netlink.delete_address(seat.interface, seat.address, seat.prefix_len)?;
        bridge.netlink.enslave(seat.interface, BRIDGE)?;
        bridge.netlink.set_up(BRIDGE)?;
        Ok(bridge)
    }

    /// Makes `port`, the outer end of what leads inside, a port as well; it goes with the bridge.
    pub(super) fn connect(&mut self, port: &str) -> Result<(), PathError> {
        self.port = Some(port.to_owned());
        self.netlink.enslave(port, BRIDGE)?;
        self.netlink.set_up(port)
    }

    /// Gives the inside end the seat's address and route.
    pub(super) fn settle(&self, inside: &mut Rtnetlink, interface: &str) -> Result<(), PathError> {
        inside.add_address(interface, self.address, self.prefix_len)?;
        inside.set_up(interface)?;
        self.gateway.map_or(Ok(()), |gateway| inside.set_default_route(gateway))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // If the namespace is going as well, none of this matters.
        let Bridge { netlink, interface, address, prefix_len, gateway, port } = self;
        let _ = port.take().map_or(Ok(()), |port| netlink.delete(&port));
        let _ = netlink.delete(BRIDGE);
        let _ = netlink.add_address(interface, *address, *prefix_len);
        let _ = gateway.map_or(Ok(()), |gateway| netlink.set_default_route(gateway));
    }
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("interface", &self.interface).finish_non_exhaustive()
    }
}
