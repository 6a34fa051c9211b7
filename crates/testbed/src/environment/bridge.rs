//! The bridge between the path and the inside of a container or a virtual machine.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use crate::net::{PathEnd, PathError, Rtnetlink};

/// Name of the bridge; it is alone in its namespace.
const BRIDGE: &str = "br0";
/// Hardware address of the end's interface while it is a port: its own is the inside end's then, as routes on the path
/// may know it, and a bridge keeps what is for one of its ports.
const OUTER: [u8; 6] = [0x02, 0x74, 0x6b, 0xff, 0x00, 0x01];

/// One of several inside ends on one bridge. The first has the address of the path's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    number: u8,
    pub(super) address: Ipv4Addr,
    pub(super) hardware: [u8; 6],
}

impl Seat {
    /// The only one, or the first.
    pub(super) fn first(end: &PathEnd) -> Seat {
        Seat { number: 0, address: end.address, hardware: end.hardware }
    }

    /// The one of this number, from 0.
    pub(super) fn nth(end: &PathEnd, number: u8) -> Seat {
        match number {
            0 => Seat::first(end),
            _ => Seat { number, address: beside(end.address, number), hardware: [0x02, 0x74, 0x6b, 0xfe, 0, number] },
        }
    }

    /// A name for an interface in the namespace of the end, different for each seat.
    pub(super) fn name(self, first: &str) -> String {
        match self.number {
            0 => first.to_owned(),
            number => format!("{first}-{number}"),
        }
    }
}

/// An address of the same network that neither the end nor a radio has.
fn beside(end: Ipv4Addr, number: u8) -> Ipv4Addr {
    let [a, b, c, _] = end.octets();
    Ipv4Addr::new(a, b, c, BESIDE.saturating_add(number))
}

/// The ends of the pair of interfaces, named as in the study.
const OUTSIDE: &str = "veth0";
pub(super) const INSIDE: &str = "veth1";

/// A pair of interfaces from the bridge into the namespace of a seat (Figure 2 of the study).
pub(super) fn connect(end: &PathEnd, seat: Seat, network: &Path) -> Result<Bridge, PathError> {
    let mut bridge = Bridge::over(end, seat)?;
    let outside = seat.name(OUTSIDE);
    let file = fs::File::open(network).map_err(PathError::file("opening namespace", network.display()))?;
    end.namespace.netlink()?.add_veth(&outside, INSIDE, &file)?;
    bridge.connect(&outside)?;
    bridge.settle(&mut Rtnetlink::of(network)?, INSIDE)?;
    Ok(bridge)
}

/// Above the radios of a network.
const BESIDE: u8 = 200;

/// The end's interface as a port of a bridge, its addresses taken away for the inside end. Dropping it gives the end
/// back as it was.
#[derive(Debug)]
pub(super) struct Bridge {
    netlink: Rtnetlink,
    /// `None`: another seat has made the bridge.
    made: Option<Made>,
    seat: Seat,
    prefix_len: u8,
    gateway: Option<Ipv4Addr>,
    mtu_bytes: u32,
    port: Option<String>,
}

/// Interface and addresses of the end, as they were made.
#[derive(Debug)]
struct Made {
    interface: String,
    address: Ipv4Addr,
    hardware: [u8; 6],
}

impl Bridge {
    /// For a seat of the end. The first makes the bridge, and outlives the others.
    pub(super) fn over(end: &PathEnd, seat: Seat) -> Result<Bridge, PathError> {
        let mut bridge = Bridge {
            netlink: end.namespace.netlink()?,
            made: None,
            seat,
            prefix_len: end.prefix_len,
            gateway: end.gateway,
            mtu_bytes: end.mtu_bytes,
            port: None,
        };
        if seat.number > 0 {
            return Ok(bridge);
        }
        // From here on dropping gives the end back.
        bridge.made = Some(Made { interface: end.interface.to_owned(), address: end.address, hardware: end.hardware });
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
        inside.set_hardware_address(interface, self.seat.hardware)?;
        inside.set_mtu(interface, self.mtu_bytes)?;
        inside.add_address(interface, self.seat.address, self.prefix_len)?;
        inside.set_up(interface)?;
        self.gateway.map_or(Ok(()), |gateway| inside.set_default_route(gateway))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // If the namespace is going as well, none of this matters.
        let Bridge { netlink, made, prefix_len, gateway, port, .. } = self;
        let _ = port.take().map_or(Ok(()), |port| netlink.delete(&port));
        let Some(Made { interface, address, hardware }) = made else { return };
        let _ = netlink.delete(BRIDGE);
        let _ = netlink.set_hardware_address(interface, *hardware);
        let _ = netlink.add_address(interface, *address, *prefix_len);
        let _ = gateway.map_or(Ok(()), |gateway| netlink.set_default_route(gateway));
    }
}
