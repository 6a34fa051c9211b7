//! The broadcast address that belongs to a local address.
//!
//! A socket bound to a unicast address does not receive broadcasts, by which hosts search; so a radio also listens on its
//! network's broadcast address. The kernel tells it in its table of local routes.

use std::fs;
use std::net::Ipv4Addr;

/// The broadcast address of the network `addr` lies in; `None` on loopback, and where the kernel knows none.
pub(super) fn broadcast_of(addr: Ipv4Addr) -> Option<Ipv4Addr> {
    if addr.is_loopback() {
        return None;
    }
    find(addr, &fs::read_to_string("/proc/net/fib_trie").ok()?)
}

/// The broadcast address in the table of the smallest network that could hold `addr`: all ones after the bits they
/// share.
fn find(addr: Ipv4Addr, table: &str) -> Option<Ipv4Addr> {
    let lines = table.lines().map(str::trim).collect::<Vec<_>>();
    let broadcasts = lines.windows(2).filter(|pair| pair[1].contains("BROADCAST"));
    let candidates = broadcasts.filter_map(|pair| pair[0].strip_prefix("|-- ")?.parse::<Ipv4Addr>().ok());
    let host_bits = |broadcast: &Ipv4Addr| 32 - (broadcast.to_bits() ^ addr.to_bits()).leading_zeros();
    candidates
        .filter(|broadcast| {
            let ones = (1u64 << host_bits(broadcast)) - 1;
            u64::from(broadcast.to_bits()) & ones == ones && *broadcast != addr
        })
        .min_by_key(host_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 10.0.0.0/8 2 0 2
        +-- 10.42.7.0/24 2 0 2
           |-- 10.42.7.2
              /32 host LOCAL
           |-- 10.42.7.255
              /32 link BROADCAST
        |-- 10.255.255.255
           /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
";

    #[test]
    fn the_smallest_network_that_holds_the_address_wins() {
        assert_eq!(find(Ipv4Addr::new(10, 42, 7, 2), TABLE), Some(Ipv4Addr::new(10, 42, 7, 255)));
        assert_eq!(find(Ipv4Addr::new(10, 9, 0, 1), TABLE), Some(Ipv4Addr::new(10, 255, 255, 255)));
        assert_eq!(find(Ipv4Addr::new(192, 168, 0, 1), TABLE), None);
    }

    #[test]
    fn loopback_is_not_searched() {
        assert_eq!(broadcast_of(Ipv4Addr::LOCALHOST), None);
    }
}
