//! What `takt emulate` is told.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use takt_packet::EngineKind;

use crate::n200::{Board, OverflowPolicy};

/// Which radios to run, and how. Everything has a default but the addresses, of which there is at least one.
///
/// Lists that belong to devices (`serials`, `names`, `sources`, `sinks`, `eeproms`) are read by position: the n-th belongs
/// to the n-th address. A list of one source or sink counts for all devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    pub addrs: Vec<Ipv4Addr>,
    /// Serial numbers; EMU001, EMU002, ... where none is given.
    pub serials: Vec<String>,
    /// Names; `n200-emu` where none is given.
    pub names: Vec<String>,
    /// What the receivers hear; see [`crate::source`]. A tone where none is given.
    pub sources: Vec<String>,
    /// Where the transmitters' signal goes; see [`crate::sink`]. Nowhere where none is given.
    pub sinks: Vec<String>,
    pub eeproms: Vec<PathBuf>,
    /// Faults, for every device; see [`crate::fault`].
    pub faults: Vec<String>,
    pub board: Board,
    pub gpsdo: bool,
    pub overflow: OverflowPolicy,
    /// Networks the radios may send to, besides loopback.
    pub allow: Vec<String>,
    pub engine: String,
    /// Let the kernel carry runs of datagrams as one aggregate (UDP GSO and GRO). Off: single datagrams, as a radio sends.
    pub aggregate: bool,
    /// CPUs for the radios' threads, one each, round robin; empty: wherever.
    pub cores: Vec<usize>,
    /// `SCHED_FIFO` priority of the radios' threads; `None`: normal priority.
    pub priority: Option<u8>,
    /// While samples flow datagrams are handled once in this span, microseconds; `None`: 200. Shorter is more punctual and
    /// costs more system calls.
    pub beat_us: Option<u32>,
    /// Firmware protocol version and FPGA compatibility number, instead of the right ones.
    pub firmware: Option<u32>,
    pub fpga: Option<u32>,
    /// Hardware word of the EEPROM, instead of that of an N200r4.
    pub hardware: Option<u16>,
    /// Leave out the mark by which takt knows its own radios, so that it takes them for hardware.
    pub as_hardware: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            addrs: vec![Ipv4Addr::LOCALHOST],
            serials: Vec::new(),
            names: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            eeproms: Vec::new(),
            faults: Vec::new(),
            board: Board::default(),
            gpsdo: false,
            overflow: OverflowPolicy::default(),
            allow: Vec::new(),
            engine: EngineKind::Mmsg.name().to_owned(),
            aggregate: false,
            cores: Vec::new(),
            priority: None,
            beat_us: None,
            firmware: None,
            fpga: None,
            hardware: None,
            as_hardware: false,
        }
    }
}
