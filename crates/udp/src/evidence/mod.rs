//! The kernel's counts at one end during a round: read before the first datagram and after the last had arrived.
//!
//! | counter | of whom | from |
//! | --- | --- | --- |
//! | UDP and IP errors | the network namespace | `/proc/thread-self/net/snmp` |
//! | frames and drops | the device of the route to the other end | `/proc/thread-self/net/dev` |
//! | drops of its queueing discipline | the same device | netlink |
//! | frames the receive path had no room for | the machine | `/proc/net/softnet_stat`, through [`takt_host`] |
//!
//! The packet engine counts what the socket itself dropped.

mod netlink;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use takt_host::proc::net::{self, InterfaceCounts, UdpCounts};

pub use netlink::queue_drops;

/// Frames of one network device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounts {
    pub name: String,
    #[serde(flatten)]
    pub counts: InterfaceCounts,
}

/// Counters of one end at one instant, or what they gained between two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetCounts {
    /// Counts of the namespace, all sockets together. `None`: can't be read.
    pub udp: Option<UdpCounts>,
    /// The device that the route to the other end uses. `None`: not known.
    pub device: Option<DeviceCounts>,
    /// Frames its queueing discipline dropped. `None`: can't be read.
    pub queue_drops: Option<u64>,
    /// The longest packet the device carries in one frame, bytes; no counter. `None`: can't be read.
    #[serde(default)]
    pub mtu_bytes: Option<u32>,
}

impl NetCounts {
    /// Reads them, on the calling thread's side of any namespace.
    #[must_use]
    pub fn read(to: IpAddr) -> NetCounts {
        let text = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).ok();
        let route = netlink::route(to).ok();
        NetCounts {
            udp: text("snmp").and_then(|text| net::udp(&text)),
            device: route.as_ref().and_then(|route| {
                let counts = net::interfaces(&text("dev")?).remove(&route.device)?;
                Some(DeviceCounts { name: route.device.clone(), counts })
            }),
            queue_drops: route.as_ref().and_then(|route| {
                let drops = netlink::queue_drops().ok()?;
                Some(drops.get(&route.device).copied().unwrap_or(0))
            }),
            mtu_bytes: route.and_then(|route| netlink::mtu(route.index).ok()),
        }
    }

    /// Gain since `earlier`; nothing is known of a device that was another one then.
    #[must_use]
    pub fn since(&self, earlier: &NetCounts) -> NetCounts {
        let pair = self.device.as_ref().zip(earlier.device.as_ref());
        NetCounts {
            udp: self.udp.zip(earlier.udp).map(|(now, then)| now.since(then)),
            device: pair
                .filter(|(now, then)| now.name == then.name)
                .map(|(now, then)| DeviceCounts { name: now.name.clone(), counts: now.counts.since(then.counts) }),
            queue_drops: self.queue_drops.zip(earlier.queue_drops).map(|(now, then)| now.saturating_sub(then)),
            mtu_bytes: self.mtu_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_is_found_and_counts_what_crosses_it() {
        let here: IpAddr = [127, 0, 2, 77].into();
        let before = NetCounts::read(here);
        let socket = std::net::UdpSocket::bind((here, 0)).unwrap();
        for _ in 0..10 {
            socket.send_to(b"counted", socket.local_addr().unwrap()).unwrap();
        }
        let gained = NetCounts::read(here).since(&before);
        let device = gained.device.as_ref().expect("a route to ourselves exists");
        assert_eq!(device.name, "lo");
        assert!(device.counts.tx_frames >= 10 && device.counts.rx_frames >= 10, "{device:?}");
        assert!(gained.udp.is_some_and(|udp| udp.out_datagrams >= 10), "{gained:?}");
        assert!(gained.queue_drops.is_some());
        assert!(gained.mtu_bytes.is_some_and(|mtu| mtu >= 576), "{gained:?}");
    }
}
