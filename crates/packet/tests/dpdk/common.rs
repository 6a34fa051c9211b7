//! Parts that these tests share: configurations, what an engine lacks, datagrams in turn.

use std::net::{SocketAddr, UdpSocket};

use takt_packet::{Config, DpdkDevice, EngineKind, Missing, PortSpec};

use crate::support::interface;

pub const KIND: EngineKind = EngineKind::Dpdk(DpdkDevice::AfPacket);

/// Requirement of a configuration that the engine does not meet.
pub fn missing(config: &Config) -> Missing {
    interface::missing(KIND, config)
}

pub fn spec(bind: &str) -> Config {
    Config::new(vec![PortSpec { bind: bind.parse().unwrap(), peer: None }])
}

pub fn huge_pages_free() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("HugePages_Free:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Has the stranger send numbered datagrams to each of these in turn.
pub fn send_in_turn(from: &UdpSocket, ports: &[SocketAddr], range: std::ops::Range<u32>) {
    for n in range {
        for port in ports {
            from.send_to(&n.to_be_bytes(), port).unwrap();
        }
    }
}
