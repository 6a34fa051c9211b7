//! Counts of any radio.

use serde::{Deserialize, Serialize};

use super::command::Event;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RxReport {
    pub packets: u64,
    pub samples: u64,
    pub commands: u64,
    /// Stream commands that found the queue full or requested no samples.
    pub refused_commands: u64,
    pub overflows: u64,
    /// Samples lost to overflows that did not stop the stream (departure from hardware).
    pub overflow_lost_samples: u64,
    pub late: u64,
    /// "And more" without more.
    pub broken_chains: u64,
    pub idle_stops: u64,
    /// Packets for which no host had named a destination.
    pub undirected_packets: u64,
}

impl RxReport {
    pub(crate) fn note(&mut self, event: Event) {
        match event {
            Event::Late => self.late += 1,
            Event::BrokenChain => self.broken_chains += 1,
            Event::StopWhileIdle => self.idle_stops += 1,
            // An overflow counts when it happens: its message may be lost.
            Event::Overflow => {}
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxReport {
    pub packets: u64,
    pub samples: u64,
    pub bursts: u64,
    /// Bursts that ended in good order.
    pub burst_acks: u64,
    /// Bursts that ran out of packets.
    pub underflows: u64,
    /// Underflows among these within a burst's first 32 packets: begun at once, without a start time, before the host
    /// was ahead.
    #[serde(default)]
    pub underflows_at_start: u64,
    pub late: u64,
    pub sequence_errors: u64,
    /// Packets dropped after an error, as the policy says, the offending ones included.
    pub dropped_packets: u64,
    /// Packets that found the 1 MiB buffer full: the host ignored the flow control.
    pub overrun_packets: u64,
    pub flushed_packets: u64,
    pub updates: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReport {
    /// Datagrams from where it may not send, which it ignores, and requests to send there.
    pub refused_destinations: u64,
    /// The first of these addresses.
    pub refused_addresses: Vec<std::net::IpAddr>,
    /// Streams stopped because their host was gone.
    pub lost: u64,
}
