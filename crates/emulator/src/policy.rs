//! Destinations to which an emulated radio may send: loopback, and what its owner named.
//!
//! A radio sends to whoever asks, at up to gigabits per second, and a datagram's source address is a claim. So an
//! emulator that anybody can reach must not be one that anybody can aim. Within the named networks a host has samples sent
//! to its own address only, unless the owner permits more.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// An IPv4 network: `192.168.10.0/24`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: Ipv4Addr,
    bits: u8,
}

/// Error in the text of a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a network such as 192.168.10.0/24 or an address such as 192.168.10.1")]
pub struct CidrError {
    pub got: String,
}

impl Cidr {
    /// The network of `bits` leading bits around `address`; `None` above 32.
    #[must_use]
    pub fn new(address: Ipv4Addr, bits: u8) -> Option<Cidr> {
        (bits <= 32).then_some(Cidr { address, bits })
    }

    /// Whether `ip` lies in it. No IPv6 address does.
    #[must_use]
    pub fn contains(self, ip: IpAddr) -> bool {
        let IpAddr::V4(ip) = ip else { return false };
        let differ = ip.to_bits() ^ self.address.to_bits();
        differ.checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
    }
}

impl FromStr for Cidr {
    type Err = CidrError;
    fn from_str(text: &str) -> Result<Cidr, CidrError> {
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let network = address.parse().ok().zip(bits.parse().ok()).and_then(|(address, bits)| Cidr::new(address, bits));
        network.ok_or_else(|| CidrError { got: text.to_owned() })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// The rule: loopback always, these networks too, nothing else; and what a host has set up goes to that host.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    allowed: Vec<Cidr>,
    redirects: bool,
}

impl Destinations {
    #[must_use]
    pub fn loopback() -> Destinations {
        Destinations::default()
    }

    #[must_use]
    pub fn allowing(networks: impl IntoIterator<Item = Cidr>) -> Destinations {
        Destinations { allowed: networks.into_iter().collect(), redirects: false }
    }

    /// Whether a host may have samples sent to another address than its own, as hardware does.
    #[must_use]
    pub fn with_redirects(self, redirects: bool) -> Destinations {
        Destinations { redirects, ..self }
    }

    #[must_use]
    pub fn permits(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || self.allowed.iter().any(|network| network.contains(ip))
    }

    /// Whether `host` may have something sent to `to`.
    #[must_use]
    pub fn permits_from(&self, host: IpAddr, to: IpAddr) -> bool {
        self.permits(to) && (self.redirects || host == to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_shares_its_leading_bits() {
        let network: Cidr = "192.168.10.7/24".parse().unwrap();
        assert!(network.contains("192.168.10.255".parse().unwrap()));
        assert!(!network.contains("192.168.11.0".parse().unwrap()));
        assert!(!network.contains("::1".parse().unwrap()));
        let one: Cidr = "10.0.0.1".parse().unwrap();
        assert!(one.contains("10.0.0.1".parse().unwrap()) && !one.contains("10.0.0.2".parse().unwrap()));
        let all: Cidr = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("255.1.2.3".parse().unwrap()));
    }

    #[test]
    fn what_is_no_network_is_named() {
        for text in ["", "10.0.0.0/33", "10.0.0/8", "fe80::/10", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Cidr>(), Err(CidrError { got: text.to_owned() }));
        }
    }

    #[test]
    fn loopback_needs_no_permission_and_everything_else_does() {
        let rule = Destinations::allowing(["10.1.0.0/16".parse().unwrap()]);
        assert!(rule.permits("127.9.9.9".parse().unwrap()));
        assert!(rule.permits("10.1.200.3".parse().unwrap()));
        assert!(!rule.permits("10.2.0.1".parse().unwrap()));
        assert!(!Destinations::loopback().permits("10.1.200.3".parse().unwrap()));
    }

    #[test]
    fn a_host_names_its_own_address_and_another_only_where_that_is_permitted() {
        let rule = Destinations::allowing(["10.1.0.0/16".parse().unwrap()]);
        let open = rule.clone().with_redirects(true);
        for (host, to, usual, redirected) in [
            ("10.1.0.2", "10.1.0.2", true, true),
            ("10.1.0.2", "10.1.0.3", false, true),
            ("10.1.0.2", "127.0.0.1", false, true),
            ("127.0.0.1", "127.0.0.9", false, true),
            ("10.1.0.2", "10.2.0.1", false, false),
            ("10.2.0.1", "10.2.0.1", false, false),
        ] {
            let (from, at) = (host.parse().unwrap(), to.parse().unwrap());
            assert_eq!((rule.permits_from(from, at), open.permits_from(from, at)), (usual, redirected), "{host} {to}");
        }
    }
}
