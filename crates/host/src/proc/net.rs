//! `/proc/net/dev` and `/proc/net/snmp`: what a network namespace counted since it began.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Frames of one interface. Counts that older records lack are 0 in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceCounts {
    /// Frames received. An aggregate that crosses whole counts as one.
    pub rx_frames: u64,
    #[serde(default)]
    pub rx_bytes: u64,
    /// Frames it had no room for, or the stack above it.
    pub rx_dropped: u64,
    /// Frames it received damaged, or lost before it could say more.
    #[serde(default)]
    pub rx_errors: u64,
    pub tx_frames: u64,
    #[serde(default)]
    pub tx_bytes: u64,
    pub tx_dropped: u64,
    #[serde(default)]
    pub tx_errors: u64,
}

/// The interfaces in `/proc/net/dev`: two lines of headings, then `name: ` and sixteen numbers a line. A line that is
/// another is left out.
pub fn interfaces(text: &str) -> BTreeMap<String, InterfaceCounts> {
    text.lines().filter_map(interface).collect()
}

/// The line has eight numbers received and eight sent: the first five of each are bytes, frames, errors, dropped,
/// overruns.
fn interface(line: &str) -> Option<(String, InterfaceCounts)> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> = numbers.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let &[
        rx_bytes,
        rx_frames,
        rx_errs,
        rx_dropped,
        rx_fifo,
        _,
        _,
        _,
        tx_bytes,
        tx_frames,
        tx_errs,
        tx_dropped,
        tx_fifo,
        ..,
    ] = numbers.as_slice()
    else {
        return None;
    };
    let (rx_errors, tx_errors) = (rx_errs.saturating_add(rx_fifo), tx_errs.saturating_add(tx_fifo));
    let counts =
        InterfaceCounts { rx_frames, rx_bytes, rx_dropped, rx_errors, tx_frames, tx_bytes, tx_dropped, tx_errors };
    Some((name.trim().to_owned(), counts))
}

impl InterfaceCounts {
    #[must_use]
    pub fn since(self, earlier: InterfaceCounts) -> InterfaceCounts {
        let gain = |of: fn(&InterfaceCounts) -> u64| of(&self).saturating_sub(of(&earlier));
        InterfaceCounts {
            rx_frames: gain(|c| c.rx_frames),
            rx_bytes: gain(|c| c.rx_bytes),
            rx_dropped: gain(|c| c.rx_dropped),
            rx_errors: gain(|c| c.rx_errors),
            tx_frames: gain(|c| c.tx_frames),
            tx_bytes: gain(|c| c.tx_bytes),
            tx_dropped: gain(|c| c.tx_dropped),
            tx_errors: gain(|c| c.tx_errors),
        }
    }
}

/// UDP datagrams and IP packets of all sockets of a namespace (RFC 4113, RFC 4293 and Linux' own).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpCounts {
    pub in_datagrams: u64,
    /// For a port where nobody listens.
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

/// Reads `/proc/net/snmp`: pairs of lines, names and then numbers.
pub fn udp(text: &str) -> Option<UdpCounts> {
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

impl UdpCounts {
    #[must_use]
    pub fn since(self, earlier: UdpCounts) -> UdpCounts {
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

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0
  eth0: 100 20 3 4 5 0 0 0 200 30 6 7 8 0 0 0
 eth01:9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
  eth2: 1 2 3
";

    const SNMP: &str = "\
Ip: Forwarding DefaultTTL InReceives InDiscards OutDiscards OutNoRoutes
Ip: 2 64 100 3 4 5
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
UdpLite: 9 9 9 9 9 9 9 9 9
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 10 11 12 13 14 15 16 17 18
";

    #[test]
    fn an_interface_is_a_name_and_sixteen_numbers() {
        let found = interfaces(DEV);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["eth0", "eth01", "lo"]);
        let eth0 = found["eth0"];
        assert_eq!((eth0.rx_bytes, eth0.rx_frames, eth0.rx_errors, eth0.rx_dropped), (100, 20, 8, 4));
        assert_eq!((eth0.tx_bytes, eth0.tx_frames, eth0.tx_errors, eth0.tx_dropped), (200, 30, 14, 7));
        assert_eq!(found["eth01"].rx_frames, 9);
        assert_eq!(eth0.since(eth0), InterfaceCounts::default());
    }

    #[test]
    fn numbers_are_found_by_name_whatever_their_place() {
        let counts = udp(SNMP).unwrap();
        assert_eq!((counts.in_datagrams, counts.no_ports, counts.in_errors, counts.out_datagrams), (10, 11, 12, 13));
        assert_eq!((counts.rcvbuf_errors, counts.sndbuf_errors, counts.csum_errors), (14, 15, 16));
        assert_eq!((counts.ip_in_discards, counts.ip_out_discards, counts.ip_out_no_routes), (3, 4, 5));
        assert_eq!(counts.since(counts), UdpCounts::default());
        assert_eq!(udp(&SNMP.replace("RcvbufErrors", "Other")), None);
        assert_eq!(udp("Tcp: x\nTcp: 1\n"), None);
        assert_eq!(udp(""), None);
    }
}
