//! The kernel's counts in a network namespace: where datagrams went.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};
use takt_host::proc::net::{self, InterfaceCounts, UdpCounts};

/// Counters of one namespace since it began (in the first one: since boot).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// `None`: this kernel has others.
    pub udp: Option<UdpCounts>,
    pub interfaces: BTreeMap<String, InterfaceCounts>,
}

impl Counters {
    /// Counters of the namespace this process was in when it began or that its first thread entered since.
    ///
    /// # Errors
    /// `/proc` is not there.
    pub fn read() -> io::Result<Counters> {
        let snmp = fs::read_to_string("/proc/self/net/snmp")?;
        let dev = fs::read_to_string("/proc/self/net/dev")?;
        Ok(Counters { udp: net::udp(&snmp), interfaces: net::interfaces(&dev) })
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_datagram_that_was_sent_is_counted() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = Counters::read().unwrap();
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        let sent = |counters: &Counters| counters.udp.unwrap().out_datagrams;
        assert!(sent(&Counters::read().unwrap()) > sent(&before));
        assert!(before.interfaces.contains_key("lo"));
    }
}
