//! UDP and IP counters of a network namespace (`/proc/net/snmp`; RFC 4113, RFC 4293 and Linux' own).

use serde::{Deserialize, Serialize};

/// Datagrams, as the kernel counted them for all sockets of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpCounts {
    pub in_datagrams: u64,
    pub no_ports: u64,
    /// Not handed over for any other reason, those of the next two lines included.
    pub in_errors: u64,
    /// The socket's buffer was full.
    pub rcvbuf_errors: u64,
    pub csum_errors: u64,
    pub out_datagrams: u64,
    /// The sending socket's buffer was full, or a queue below it.
    pub sndbuf_errors: u64,
    /// IP packets thrown away on the way in, for want of memory.
    pub ip_in_discards: u64,
    pub ip_out_discards: u64,
    pub ip_out_no_routes: u64,
}

impl UdpCounts {
    /// Reads the file's text: pairs of lines, names and then numbers.
    pub(super) fn parse(text: &str) -> Option<UdpCounts> {
        let number = |protocol: &str, name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(": "));
            let (names, numbers) = (lines.next()?, lines.next()?);
            let found = names.split(' ').zip(numbers.split(' ')).find(|&(n, _)| n == name);
            found?.1.parse::<u64>().ok()
        };
        Some(UdpCounts {
            in_datagrams: number("Udp", "InDatagrams")?,
            no_ports: number("Udp", "NoPorts")?,
            in_errors: number("Udp", "InErrors")?,
            rcvbuf_errors: number("Udp", "RcvbufErrors")?,
            csum_errors: number("Udp", "InCsumErrors")?,
            out_datagrams: number("Udp", "OutDatagrams")?,
            sndbuf_errors: number("Udp", "SndbufErrors")?,
            ip_in_discards: number("Ip", "InDiscards")?,
            ip_out_discards: number("Ip", "OutDiscards")?,
            ip_out_no_routes: number("Ip", "OutNoRoutes")?,
        })
    }

    pub(super) fn since(self, earlier: UdpCounts) -> UdpCounts {
        let gain = |of: fn(&UdpCounts) -> u64| of(&self).saturating_sub(of(&earlier));
        UdpCounts {
            in_datagrams: gain(|c| c.in_datagrams),
            no_ports: gain(|c| c.no_ports),
            in_errors: gain(|c| c.in_errors),
            rcvbuf_errors: gain(|c| c.rcvbuf_errors),
            csum_errors: gain(|c| c.csum_errors),
            out_datagrams: gain(|c| c.out_datagrams),
            sndbuf_errors: gain(|c| c.sndbuf_errors),
            ip_in_discards: gain(|c| c.ip_in_discards),
            ip_out_discards: gain(|c| c.ip_out_discards),
            ip_out_no_routes: gain(|c| c.ip_out_no_routes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Ip: Forwarding DefaultTTL InReceives InDiscards OutDiscards OutNoRoutes
Ip: 2 64 100 3 4 5
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
UdpLite: 9 9 9 9 9 9 9 9 9
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 10 11 12 13 14 15 16 17 18
";

    #[test]
    fn numbers_are_found_by_name_whatever_their_place() {
        let counts = UdpCounts::parse(TEXT).unwrap();
        assert_eq!((counts.in_datagrams, counts.rcvbuf_errors, counts.csum_errors), (10, 14, 16));
        assert_eq!((counts.ip_in_discards, counts.ip_out_discards, counts.ip_out_no_routes), (3, 4, 5));
        assert_eq!(counts.since(counts), UdpCounts::default());
        assert_eq!(UdpCounts::parse(&TEXT.replace("RcvbufErrors", "Other")), None);
        assert_eq!(UdpCounts::parse(""), None);
    }
}
