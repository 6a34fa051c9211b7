//! Counts of an emulated X310: the facts of its summary.

use serde::{Deserialize, Serialize};

pub use crate::shared::{HostReport, RxReport, TxReport};

/// Counts since it was switched on; a reboot does not reset them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct X310Report {
    /// Slot A, channels 0 and 1; slot B, channels 0 and 1.
    pub rx: [RxReport; 4],
    /// Slots A and B.
    pub tx: [TxReport; 2],
    pub control: ControlReport,
    /// Hosts that were refused or lost.
    pub hosts: HostReport,
    /// The master clock that the host chose, Hz.
    pub master_clock_hz: f64,
}

/// Everything that is no sample stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlReport {
    /// Requests to the board's processor.
    pub requests: u64,
    /// Accesses to registers of blocks.
    pub commands: u64,
    /// Commands among these with a time.
    pub timed_commands: u64,
    /// Commands among these that were dropped because a queue was full or nothing is behind the port.
    pub dropped_commands: u64,
    pub management: u64,
    /// Datagrams on any port that made no sense, or were for an endpoint that there is not.
    pub malformed_datagrams: u64,
    /// Frame size probes longer than what passes, not answered.
    pub refused_probes: u64,
    pub spi_writes: u64,
    pub eeprom_writes: u64,
    /// Hosts that read a version and left before they used what it is of.
    #[serde(default)] // summaries older than this key
    pub unserved_hosts: u64,
}
