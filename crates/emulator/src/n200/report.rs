//! What an emulated radio counted: the facts of its summary.

use serde::{Deserialize, Serialize};
use takt_wire::n200::RxEvent;

/// Counts since it was switched on; a reboot does not reset them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct N200Report {
    pub rx: [RxReport; 2],
    pub tx: TxReport,
    /// Everything that is no sample stream.
    pub control: ControlReport,
    /// Who was refused or lost.
    pub hosts: HostReport,
    pub tuning: Tuning,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RxReport {
    pub packets: u64,
    pub samples: u64,
    pub commands: u64,
    /// Stream commands that found the queue full or asked for no samples.
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
    pub(super) fn note(&mut self, event: RxEvent) {
        match event {
            RxEvent::LateCommand => self.late += 1,
            RxEvent::BrokenChain => self.broken_chains += 1,
            RxEvent::StopWhileIdle => self.idle_stops += 1,
            // An overflow counts when it happens: its message may be lost.
            RxEvent::Overflow | RxEvent::Other(_) => {}
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
    /// Of these, within a burst's first 32 packets: begun at once, without a start time, before the host was ahead.
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

/// Registers, EEPROMs, serial lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlReport {
    /// Requests on the control port.
    pub requests: u64,
    /// Of these, not understood.
    pub not_understood: u64,
    /// Register commands on the FIFO port.
    pub commands: u64,
    /// Of these, with a time.
    pub timed_commands: u64,
    /// Of these, dropped because the queue was full.
    pub dropped_commands: u64,
    /// Datagrams on any port that made no sense.
    pub malformed_datagrams: u64,
    pub spi_writes: u64,
    pub eeprom_writes: u64,
    pub gps_sentences: u64,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Radio frequency at 0 Hz of each receive DSP, Hz.
    pub rx_hz: [f64; 2],
    /// Radio frequency at 0 Hz of the transmit DSP, Hz.
    pub tx_hz: f64,
    /// Gain of the receive board, dB; known, not applied.
    pub rx_gain_db: Option<f64>,
    /// Gain of the transmit board, dB; known, not applied.
    pub tx_gain_db: Option<f64>,
}
