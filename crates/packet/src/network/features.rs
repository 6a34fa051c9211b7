//! Abilities of an interface's driver for XDP, as it states them (netlink family `netdev`, Linux 6.3).

use rustix::io::Errno;
use rustix::net::netlink;

use super::netlink::{Body, DUMP, REQUEST, Routing, attribute};

/// linux/genetlink.h, linux/netdev.h.
const CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NETDEV_CMD_DEV_GET: u8 = 1;
const NETDEV_A_DEV_IFINDEX: u16 = 1;
const NETDEV_A_DEV_XDP_FEATURES: u16 = 3;
/// `struct genlmsghdr`: command, version, padding.
const HEADER_BYTES: usize = 4;

/// `NETDEV_XDP_ACT_BASIC`: it runs programs.
pub(crate) const RUNS_PROGRAMS: u64 = 1 << 0;
/// `NETDEV_XDP_ACT_NDO_XMIT`: it sends frames that XDP hands it.
pub(crate) const SENDS_FRAMES: u64 = 1 << 2;

/// `enum netdev_xdp_act` of an interface, as bits.
///
/// # Errors
/// The kernel does not say: it is older, or there is no such interface.
pub(crate) fn xdp_features(interface: u32) -> Result<u64, Errno> {
    let mut kernel = Routing::towards(netlink::GENERIC)?;
    let mut family = None;
    let all = Body::of(&[CTRL_CMD_GETFAMILY, 1, 0, 0]);
    kernel.request(CTRL, REQUEST | DUMP, &all, &mut |_, body| {
        let attributes = body.get(HEADER_BYTES..).unwrap_or_default();
        if attribute(attributes, CTRL_ATTR_FAMILY_NAME) == Some(b"netdev\0") {
            let id = attribute(attributes, CTRL_ATTR_FAMILY_ID).and_then(|id| id.first_chunk());
            family = id.map(|&id| u16::from_ne_bytes(id));
        }
    })?;
    let mut of_one = Body::of(&[NETDEV_CMD_DEV_GET, 1, 0, 0]);
    of_one.attribute(NETDEV_A_DEV_IFINDEX, &interface.to_ne_bytes());
    let mut features = None;
    kernel.request(family.ok_or(Errno::NOENT)?, REQUEST, &of_one, &mut |_, body| {
        let value = attribute(body.get(HEADER_BYTES..).unwrap_or_default(), NETDEV_A_DEV_XDP_FEATURES);
        features = value.and_then(|value| value.first_chunk()).map(|&bits| u64::from_ne_bytes(bits));
    })?;
    features.ok_or(Errno::NODATA)
}
