//! The host side's place on a path.

use std::net::Ipv4Addr;

use crate::net::Namespace;

/// Where the host side sits: an interface that is up in a namespace, with its address and default route.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
    /// The namespace.
    pub namespace: &'a Namespace,
    /// The interface in it: `host0`.
    pub interface: &'a str,
    /// The host side's address.
    pub address: Ipv4Addr,
    /// Bits of the network in it.
    pub prefix_len: u8,
    /// Where everything goes that is not in that network; `None` where the other side is.
    pub gateway: Option<Ipv4Addr>,
}
