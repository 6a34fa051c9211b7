//! Source addresses that no datagram from a network may have. The kernel drops such a datagram before a socket sees it (a "martian":
//! RFC 1812, section 5.3.7; Linux, net/ipv4/route.c, `ip_route_input_slow`). Engines below the kernel have to do it themselves,
//! since programs trust 127.0.0.0/8 to be this host. They are stricter in two things: they drop all of 0.0.0.0/8 (RFC 6890), of
//! which Linux takes all but one since 5.3, and the interface's broadcast address also without `rp_filter`.
//!
//! Destinations need no such check: a port has an address of its interface, and gets what is for that address only.

use std::net::Ipv4Addr;

use rustix::io::Errno;

use super::netlink::{Interface, Routing};
#[cfg(feature = "dpdk")]
use crate::OwnAddress;

/// Which sources are martians to an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Martians {
    /// On loopback this host is the sender.
    loopback: bool,
    /// The interface's own addresses and those of its broadcasts, in order: others send from neither. As they were when the engine
    /// was opened.
    own: Vec<Ipv4Addr>,
}

impl Martians {
    fn new(loopback: bool, mut own: Vec<Ipv4Addr>) -> Martians {
        own.sort_unstable();
        own.dedup();
        Martians { loopback, own }
    }

    /// On an interface of the kernel's.
    ///
    /// # Errors
    /// The kernel does not list its addresses.
    pub(crate) fn on(interface: &Interface, routing: &mut Routing) -> Result<Martians, Errno> {
        let mut own = Vec::new();
        routing.addresses(&mut |local| {
            if local.interface == interface.index {
                let broadcast = broadcast(local.address, local.prefix);
                own.extend([Some(local.address), local.broadcast, broadcast].into_iter().flatten());
            }
        })?;
        Ok(Martians::new(interface.loopback, own))
    }

    /// On a device that has one address, which the kernel does not know.
    #[cfg(feature = "dpdk")]
    pub(crate) fn at(own: OwnAddress) -> Martians {
        let broadcast = broadcast(own.address, own.prefix);
        Martians::new(false, [Some(own.address), broadcast].into_iter().flatten().collect())
    }

    pub(crate) fn has(&self, source: Ipv4Addr) -> bool {
        let nobodys = source.octets()[0] == 0 || source.is_multicast() || source.is_broadcast();
        nobodys || !self.loopback && (source.is_loopback() || self.own.binary_search(&source).is_ok())
    }
}

/// Broadcast address that the kernel assumes also where none was set; a network of one or two addresses has none (RFC
/// 3021).
fn broadcast(address: Ipv4Addr, prefix: u8) -> Option<Ipv4Addr> {
    let hosts = u32::MAX.checked_shr(prefix.into()).unwrap_or(0);
    (prefix < 31).then(|| Ipv4Addr::from_bits(address.to_bits() | hosts))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 98, 0, 255), Ipv4Addr::new(10, 98, 0, 1)];

    #[test]
    fn a_source_that_no_other_host_has_is_a_martian() {
        let (wire, loopback) = (Martians::new(false, OWN.to_vec()), Martians::new(true, vec![Ipv4Addr::LOCALHOST]));
        for (source, on_wire, on_loopback) in [
            ("10.98.0.2", false, false),
            ("192.0.2.1", false, false),
            ("126.255.255.255", false, false),
            ("128.0.0.0", false, false),
            ("127.0.0.1", true, false),
            ("127.255.255.254", true, false),
            ("10.98.0.1", true, false),
            ("10.98.0.255", true, false),
            ("0.0.0.0", true, true),
            ("0.255.255.255", true, true),
            ("224.0.0.1", true, true),
            ("239.255.255.255", true, true),
            ("240.0.0.1", false, false), // class E: Linux takes them
            ("255.255.255.255", true, true),
        ] {
            let source_address = source.parse().unwrap();
            assert_eq!((wire.has(source_address), loopback.has(source_address)), (on_wire, on_loopback), "{source}");
        }
    }

    #[test]
    fn a_network_has_a_broadcast_address_by_its_prefix() {
        for (prefix, want) in [
            (24, Some([10, 98, 0, 255])),
            (30, Some([10, 98, 0, 3])),
            (31, None),
            (32, None),
            (1, Some([127, 255, 255, 255])),
            (0, Some([255; 4])),
        ] {
            assert_eq!(broadcast(OWN[1], prefix), want.map(Ipv4Addr::from), "/{prefix}");
        }
    }
}
