//! Addresses that a node sends datagrams to: those of single machines, in the networks that its operator names.

use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A network: `192.168.10.0/24`, `fd00::/8`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that names no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a network such as 192.168.10.0/24 or an address such as 192.168.10.1")]
pub struct NoNetwork {
    /// The text.
    pub got: String,
}

impl Network {
    /// Whether `ip` lies in it.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        // Counted from the top of 128 bits, for both versions.
        let differ = match (self.address, ip) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => u128::from(own.to_bits() ^ ip.to_bits()) << 96,
            (IpAddr::V6(own), IpAddr::V6(ip)) => own.to_bits() ^ ip.to_bits(),
            _ => return false,
        };
        differ.leading_zeros() >= u32::from(self.bits)
    }
}

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Network, NoNetwork> {
        let no_network = || NoNetwork { got: takt_graph::limits::shortened(text) };
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| no_network())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits: u8 = bits.map_or(Ok(most), str::parse).map_err(|_| no_network())?;
        if bits > most { Err(no_network()) } else { Ok(Network { address, bits }) }
    }
}

impl TryFrom<String> for Network {
    type Error = NoNetwork;

    fn try_from(text: String) -> Result<Network, NoNetwork> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> String {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.bits)
    }
}

/// Addresses to which a node sends.
pub(crate) struct Destinations {
    /// The address of its own samples.
    own: IpAddr,
    /// The networks of `samples_to`; none: all.
    networks: Vec<Network>,
}

/// An address that nothing is sent to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}` takes datagrams at {at}, {is}")]
pub(crate) struct Forbidden {
    pub(crate) node: String,
    pub(crate) at: SocketAddr,
    is: &'static str,
    fix: &'static str,
}

impl Forbidden {
    /// The fix.
    pub(crate) fn fix(&self) -> String {
        self.fix.replace("NODE", &self.node)
    }
}

const ONE_INTERFACE: &str = "give the address of one interface as `samples` in the cluster.toml of node `NODE`";

impl Destinations {
    pub(crate) fn new(own: IpAddr, networks: Vec<Network>) -> Destinations {
        Destinations { own, networks }
    }

    /// Whether datagrams may go there, which `node` has stated.
    ///
    /// # Errors
    /// No single other machine has that address, or the operator does not name its network.
    pub(crate) fn check(&self, node: &str, at: SocketAddr) -> Result<(), Forbidden> {
        let forbidden = |is, fix| Err(Forbidden { node: node.to_owned(), at, is, fix });
        // An IPv4 address within IPv6 is that IPv4 address.
        let ip = at.ip().to_canonical();
        if ip.is_multicast() {
            return forbidden("a multicast address", ONE_INTERFACE);
        }
        if ip.is_unspecified() || at.port() == 0 {
            return forbidden("which is no machine's address", ONE_INTERFACE);
        }
        if is_reserved(ip) {
            return forbidden("a broadcast or reserved address", ONE_INTERFACE);
        }
        if ip.is_loopback() && !self.own.is_loopback() {
            return forbidden("which is loopback, and this node's samples are not on loopback", ONE_INTERFACE);
        }
        if !self.networks.is_empty() && !self.networks.iter().any(|network| network.contains(ip)) {
            return forbidden(
                "outside the networks that `samples_to` of this node permits",
                "add the network of node `NODE` to `samples_to` in this node's cluster.toml, and restart this node",
            );
        }
        if is_broadcast(at) {
            return forbidden("the broadcast address of a network", ONE_INTERFACE);
        }
        Ok(())
    }
}

/// 0.0.0.0/8 ("this network") and 240.0.0.0/4 (reserved, with the limited broadcast): no machine has such an address.
fn is_reserved(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 0 || ip.octets()[0] >= 240)
}

/// Whether the kernel's routes say so: it refuses to connect a socket that has not asked for broadcasts. Nothing is sent.
fn is_broadcast(at: SocketAddr) -> bool {
    let any: SocketAddr = if at.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let connected = UdpSocket::bind(any).and_then(|socket| socket.connect(at));
    connected.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_shares_its_leading_bits() {
        let holds = |network: &str, ip: &str| network.parse::<Network>().unwrap().contains(ip.parse().unwrap());
        assert!(holds("192.168.10.7/24", "192.168.10.255") && !holds("192.168.10.7/24", "192.168.11.0"));
        assert!(holds("10.0.0.1", "10.0.0.1") && !holds("10.0.0.1", "10.0.0.2"));
        assert!(holds("0.0.0.0/0", "255.1.2.3") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fd12::1") && !holds("fd00::/8", "fe80::1"));
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "fe80::/129", "10.0.0.0/-1", "host"] {
            assert!(bad.parse::<Network>().unwrap_err().to_string().contains("is not a network such as"), "{bad}");
        }
        let network: Network = "10.1.0.0/16".parse().unwrap();
        assert_eq!(network.to_string().parse(), Ok(network));
    }

    #[test]
    fn nothing_is_sent_to_many_machines_to_none_or_to_the_loopback_of_this_one() {
        let everywhere = Destinations::new([10, 0, 0, 1].into(), Vec::new());
        let why = |at: &str| everywhere.check("b", at.parse().unwrap()).unwrap_err();
        for (at, is) in [
            ("224.0.0.1:7000", "a multicast address"),
            ("[ff02::1]:7000", "a multicast address"),
            ("[::ffff:239.1.2.3]:7000", "a multicast address"),
            ("0.0.0.0:7000", "no machine's address"),
            ("[::]:7000", "no machine's address"),
            ("10.0.0.2:0", "no machine's address"),
            ("255.255.255.255:7000", "a broadcast or reserved address"),
            ("0.1.2.3:7000", "a broadcast or reserved address"),
            ("127.0.0.1:22", "which is loopback"),
            ("[::1]:22", "which is loopback"),
            ("[::ffff:127.0.0.1]:22", "which is loopback"),
        ] {
            let why = why(at);
            assert!(why.to_string().contains(is), "{at}: {why}");
            assert!(why.fix().contains("cluster.toml of node `b`"), "{}", why.fix());
        }
        assert_eq!(everywhere.check("b", "10.0.0.2:7000".parse().unwrap()), Ok(()));
        let on_loopback = Destinations::new([127, 0, 0, 1].into(), Vec::new());
        assert_eq!(on_loopback.check("b", "127.0.0.2:7000".parse().unwrap()), Ok(()));
        // The kernel itself has this one on its loopback interface.
        let why = on_loopback.check("b", "127.255.255.255:7000".parse().unwrap()).unwrap_err();
        assert!(why.to_string().ends_with("the broadcast address of a network"), "{why}");
    }

    #[test]
    fn the_operator_names_the_networks_that_samples_go_to() {
        let networks = vec!["10.1.0.0/16".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let some = Destinations::new([10, 1, 0, 1].into(), networks);
        for good in ["10.1.2.3:7000", "[fd00::2]:7000", "[::ffff:10.1.2.3]:7000"] {
            assert_eq!(some.check("b", good.parse().unwrap()), Ok(()), "{good}");
        }
        let why = some.check("b", "10.2.0.1:7000".parse().unwrap()).unwrap_err();
        let says =
            "node `b` takes datagrams at 10.2.0.1:7000, outside the networks that `samples_to` of this node permits";
        assert_eq!(why.to_string(), says);
        assert!(why.fix().contains("add the network of node `b` to `samples_to`"), "{}", why.fix());
    }
}
