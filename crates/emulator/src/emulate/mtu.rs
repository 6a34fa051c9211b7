//! The longest datagram that passes an interface in one frame.
//!
//! A kernel splits longer ones without a word, so that a host which probes would find what no radio could do (x310.md 5).

use std::fs;
use std::net::Ipv4Addr;

const IP_AND_UDP_BYTES: usize = 28;

/// For the interface in whose network `addr` lies, as far as the kernel says; else no limit.
pub(super) fn largest_datagram(addr: Ipv4Addr) -> usize {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let interface = if addr.is_loopback() { Some("lo") } else { interface_of(addr, &routes) };
    interface
        .and_then(|name| fs::read_to_string(format!("/sys/class/net/{name}/mtu")).ok())
        .and_then(|text| text.trim().parse::<usize>().ok())
        .map_or(usize::MAX, |mtu| mtu.saturating_sub(IP_AND_UDP_BYTES))
}

/// The interface of the smallest network that holds `addr`. Addresses in the table are words of the machine.
fn interface_of(addr: Ipv4Addr, routes: &str) -> Option<&str> {
    let addr = u32::from_ne_bytes(addr.octets());
    let network = |line: &'_ str| {
        let mut fields = line.split_whitespace().skip(1);
        let word = |field: Option<&str>| u32::from_str_radix(field?, 16).ok();
        Some((word(fields.next())?, word(fields.nth(5))?))
    };
    let routes = routes.lines().skip(1).filter_map(|line| Some((line.split_whitespace().next()?, network(line)?)));
    let holding = routes.filter(|(_, (network, mask))| addr & mask == *network);
    holding.max_by_key(|(_, (_, mask))| mask.count_ones()).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_network_says_which_interface() {
        let word = |a, b, c, d| format!("{:08X}", u32::from_ne_bytes([a, b, c, d]));
        let row =
            |name: &str, network: String, mask: String| format!("{name}\t{network}\t0\t1\t0\t0\t0\t{mask}\t0\t0\t0");
        let table = [
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT".to_owned(),
            row("up0", word(0, 0, 0, 0), word(0, 0, 0, 0)),
            row("radio0", word(10, 29, 0, 0), word(255, 255, 255, 0)),
            row("lab0", word(10, 0, 0, 0), word(255, 0, 0, 0)),
        ];
        let table = table.join("\n");
        assert_eq!(interface_of(Ipv4Addr::new(10, 29, 0, 2), &table), Some("radio0"));
        assert_eq!(interface_of(Ipv4Addr::new(10, 30, 0, 2), &table), Some("lab0"));
        assert_eq!(interface_of(Ipv4Addr::new(192, 168, 0, 2), &table), Some("up0"));
        assert_eq!(interface_of(Ipv4Addr::new(10, 29, 0, 2), ""), None);
    }

    #[test]
    fn loopback_passes_more_than_a_radio_sends() {
        assert!(largest_datagram(Ipv4Addr::LOCALHOST) > 9000);
    }
}
