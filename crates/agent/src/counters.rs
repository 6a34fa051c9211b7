//! What the kernel counts in a network namespace: where datagrams went.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

/// Counters of one namespace since it began (in the first one: since boot).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub udp: UdpCounters,
    pub interfaces: BTreeMap<String, InterfaceCounters>,
}

/// `/proc/net/snmp`, lines `Udp:`; RFC 4113 and the kernel's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpCounters {
    pub in_datagrams: u64,
    /// For a port where nobody listens.
    pub no_ports: u64,
    /// Not handed over for any reason, full buffers included.
    pub in_errors: u64,
    pub out_datagrams: u64,
    pub rcvbuf_errors: u64,
    pub sndbuf_errors: u64,
    pub in_csum_errors: u64,
}

/// A line of `/proc/net/dev`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceCounters {
    pub rx_frames: u64,
    pub rx_bytes: u64,
    pub rx_dropped: u64,
    pub tx_frames: u64,
    pub tx_bytes: u64,
    pub tx_dropped: u64,
}

impl Counters {
    /// Of the namespace this process was in when it began or that its first thread entered since.
    ///
    /// # Errors
    /// `/proc` is not there.
    pub fn read() -> io::Result<Counters> {
        let snmp = fs::read_to_string("/proc/self/net/snmp")?;
        let dev = fs::read_to_string("/proc/self/net/dev")?;
        Ok(Counters { udp: udp(&snmp).unwrap_or_default(), interfaces: dev.lines().filter_map(interface).collect() })
    }
}

/// The kernel names the columns in one line and gives the numbers in the next.
fn udp(snmp: &str) -> Option<UdpCounters> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let names = lines.next()?.split_whitespace();
    let values = lines.next()?.split_whitespace();
    let mut udp = UdpCounters::default();
    for (name, value) in names.zip(values) {
        let place = match name {
            "InDatagrams" => &mut udp.in_datagrams,
            "NoPorts" => &mut udp.no_ports,
            "InErrors" => &mut udp.in_errors,
            "OutDatagrams" => &mut udp.out_datagrams,
            "RcvbufErrors" => &mut udp.rcvbuf_errors,
            "SndbufErrors" => &mut udp.sndbuf_errors,
            "InCsumErrors" => &mut udp.in_csum_errors,
            _ => continue,
        };
        *place = value.parse().ok()?;
    }
    Some(udp)
}

/// Eight numbers received, eight sent; of both the first four are bytes, frames, errors, dropped.
fn interface(line: &str) -> Option<(String, InterfaceCounters)> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> = numbers.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [rx_bytes, rx_frames, _, rx_dropped, _, _, _, _, tx_bytes, tx_frames, _, tx_dropped, ..] = numbers[..] else {
        return None;
    };
    let counters = InterfaceCounters { rx_frames, rx_bytes, rx_dropped, tx_frames, tx_bytes, tx_dropped };
    Some((name.trim().to_owned(), counters))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let snmp = "Ip: Forwarding\nIp: 1\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors \
                    InCsumErrors IgnoredMulti MemErrors\nUdp: 11 2 7 13 5 3 1 0 0\nUdpLite: InDatagrams\nUdpLite: 99\n";
        let expected = UdpCounters {
            in_datagrams: 11,
            no_ports: 2,
            in_errors: 7,
            out_datagrams: 13,
            rcvbuf_errors: 5,
            sndbuf_errors: 3,
            in_csum_errors: 1,
        };
        assert_eq!(udp(snmp), Some(expected));
        assert_eq!(udp("Tcp: x\nTcp: 1\n"), None);
    }

    #[test]
    fn an_interface_is_a_line_with_sixteen_numbers() {
        let line = "host0: 1446 11 0 2 0 0 0 0 1516 12 0 3 0 0 0 0";
        let expected = InterfaceCounters {
            rx_bytes: 1446,
            rx_frames: 11,
            rx_dropped: 2,
            tx_bytes: 1516,
            tx_frames: 12,
            tx_dropped: 3,
        };
        assert_eq!(interface(line), Some(("host0".into(), expected)));
        assert_eq!(interface(" face |bytes    packets errs"), None);
    }

    #[test]
    fn a_datagram_that_was_sent_is_counted() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = Counters::read().unwrap();
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        assert!(Counters::read().unwrap().udp.out_datagrams > before.udp.out_datagrams);
        assert!(before.interfaces.contains_key("lo"));
    }
}
