//! Counts of an emulated radio: the facts of its summary.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::shared::{HostReport, RxReport, TxReport};

/// Counts since it was switched on; a reboot does not reset them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct N200Report {
    pub rx: [RxReport; 2],
    pub tx: TxReport,
    /// Everything that is no sample stream.
    pub control: ControlReport,
    /// Hosts that were refused or lost.
    pub hosts: HostReport,
    pub tuning: Tuning,
}

/// Registers, EEPROMs, serial lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlReport {
    /// Requests on the control port.
    pub requests: u64,
    /// Requests among these that were not understood.
    pub not_understood: u64,
    /// Register commands on the FIFO port.
    pub commands: u64,
    /// Commands among these with a time.
    pub timed_commands: u64,
    /// Commands among these that were dropped because the queue was full.
    pub dropped_commands: u64,
    /// Datagrams on any port that made no sense.
    pub malformed_datagrams: u64,
    pub spi_writes: u64,
    pub eeprom_writes: u64,
    pub gps_sentences: u64,
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

/// Its present state and counts, without a byte of the heap: for a reader beside a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct N200Status {
    /// The host that was heard last, if the radio does not take it for gone; `None`: nobody uses it.
    pub host: Option<SocketAddr>,
    pub rx: [RxReport; 2],
    pub tx: TxReport,
    pub tuning: Tuning,
}
