//! The bridge between the path and the inside of a container or a virtual machine.

use std::net::Ipv4Addr;

use crate::net::{PathEnd, PathError, Rtnetlink};

/// Name of the bridge; it is alone in its namespace.
const BRIDGE: &str = "br0";
/// Hardware address of the end's interface while it is a port: its own is the inside end's then, as routes on the path
/// may know it, and a bridge keeps what is for one of its ports.
const OUTER: [u8; 6] = [0x02, 0x74, 0x6b, 0xff, 0x00, 0x01];

/// The end's interface as a port of a bridge, its addresses taken away for the inside end. Dropping it gives the end
/// back as it was.
#[derive(Debug)]
pub(super) struct Bridge {
    netlink: Rtnetlink,
    interface: String,
    address: Ipv4Addr,
    prefix_len: u8,
    gateway: Option<Ipv4Addr>,
    mtu_bytes: u32,
    hardware: [u8; 6],
    port: Option<String>,
}

impl Bridge {
    pub(super) fn over(end: &PathEnd) -> Result<Bridge, PathError> {
        let mut bridge = Bridge {
            netlink: end.namespace.netlink()?,
            interface: end.interface.to_owned(),
            address: end.address,
            prefix_len: end.prefix_len,
            gateway: end.gateway,
            mtu_bytes: end.mtu_bytes,
            hardware: end.hardware,
            port: None,
        };
        bridge.netlink.add_bridge(BRIDGE)?;
        bridge.netlink.delete_address(end.interface, end.address, end.prefix_len)?;
        bridge.netlink.set_hardware_address(end.interface, OUTER)?;
        bridge.netlink.enslave(end.interface, BRIDGE)?;
        bridge.netlink.set_up(BRIDGE)?;
        Ok(bridge)
    }

    /// Makes `port`, the outer end of what leads inside, a port as well; it goes with the bridge.
    pub(super) fn connect(&mut self, port: &str) -> Result<(), PathError> {
        self.port = Some(port.to_owned());
        self.netlink.set_mtu(port, self.mtu_bytes)?;
        self.netlink.enslave(port, BRIDGE)?;
        self.netlink.set_up(port)
    }

    pub(super) fn settle(&self, inside: &mut Rtnetlink, interface: &str) -> Result<(), PathError> {
        inside.set_hardware_address(interface, self.hardware)?;
        inside.set_mtu(interface, self.mtu_bytes)?;
        inside.add_address(interface, self.address, self.prefix_len)?;
        inside.set_up(interface)?;
        self.gateway.map_or(Ok(()), |gateway| inside.set_default_route(gateway))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // If the namespace is going as well, none of this matters.
        let Bridge { netlink, interface, address, prefix_len, gateway, hardware, port, .. } = self;
        let _ = port.take().map_or(Ok(()), |port| netlink.delete(&port));
        let _ = netlink.delete(BRIDGE);
        let _ = netlink.set_hardware_address(interface, *hardware);
        let _ = netlink.add_address(interface, *address, *prefix_len);
        let _ = gateway.map_or(Ok(()), |gateway| netlink.set_default_route(gateway));
    }
}
