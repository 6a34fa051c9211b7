//! What `takt emulate` can be given.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
#[cfg(feature = "clap")]
use takt_host::policy::PolicySpec;
use takt_packet::EngineKind;

use super::Board;
use crate::n200::OverflowPolicy;

/// Which radios to run, and how. Everything has a default but the addresses, of which there is at least one.
///
/// Lists that belong to devices (`serials`, `names`, `sources`, `sinks`, `eeproms`) are read by position: the n-th belongs
/// to the n-th address. A list of one source or sink counts for all devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct Options {
    /// Where a radio listens; repeat for several.
    #[cfg_attr(feature = "clap", arg(long = "addr", value_name = "A", default_value = "127.0.0.1"))]
    pub addrs: Vec<Ipv4Addr>,
    /// What the receivers receive: silence, tone, noise, counter, file, sigmf or loopback [default: a tone].
    // See [`crate::source`].
    #[cfg_attr(feature = "clap", arg(long = "source", value_name = "S"))]
    pub sources: Vec<String>,
    /// Where the transmitted signal goes: null, file or sigmf [default: null].
    // See [`crate::sink`].
    #[cfg_attr(feature = "clap", arg(long = "sink", value_name = "S"))]
    pub sinks: Vec<String>,
    /// A fault to inject, such as lose:rx,every=1000; repeat for several.
    // Every device has it; see [`crate::fault`].
    #[cfg_attr(feature = "clap", arg(long = "fault", value_name = "F"))]
    pub faults: Vec<String>,
    /// Serial number, at most 9 characters [default: EMU001, EMU002, ...].
    #[cfg_attr(feature = "clap", arg(long = "serial", value_name = "TEXT"))]
    pub serials: Vec<String>,
    /// Name, at most 23 characters.
    // `n200-emu` or `x310-emu` where none is given.
    #[cfg_attr(feature = "clap", arg(long = "name", value_name = "TEXT"))]
    pub names: Vec<String>,
    /// Daughterboards: sbx, wbx, basic, lf or none; of an X310 ubx, basic, lf or none [default: sbx, ubx].
    #[cfg_attr(feature = "clap", arg(long, value_name = "B"))]
    pub board: Option<Board>,
    /// Fit a GPSDO (N200).
    #[cfg_attr(feature = "clap", arg(long))]
    pub gpsdo: bool,
    /// When the output is blocked: stop as the hardware does, or continue after a gap (N200).
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", default_value = "hardware"))]
    pub overflow: OverflowPolicy,
    /// A network it may send to, besides loopback, such as 192.168.10.0/24; repeat for several.
    #[cfg_attr(feature = "clap", arg(long, value_name = "CIDR"))]
    pub allow: Vec<String>,
    /// Let a host have samples sent to another address than its own, within these networks (N200).
    #[cfg_attr(feature = "clap", arg(long))]
    pub redirect: bool,
    /// Keep EEPROM contents in this file between runs (N200).
    #[cfg_attr(feature = "clap", arg(long = "eeprom", value_name = "FILE"))]
    pub eeproms: Vec<PathBuf>,
    /// Packet engine.
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            help = format!("Packet engine: {}", EngineKind::FORMS),
            value_name = "E",
            default_value = "mmsg"
        )
    )]
    pub engine: String,
    /// Let the kernel carry runs of datagrams as one (UDP GSO and GRO), unlike a radio.
    #[cfg_attr(feature = "clap", arg(long))]
    pub aggregate: bool,
    /// CPUs for the radios' threads, one each.
    // Round robin; without any, wherever.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N,N", value_delimiter = ','))]
    pub cores: Vec<usize>,
    /// Scheduling policy of the radios' threads: other, or fifo:PRIORITY.
    // The type is written out so that `other` is a value, and not the lack of one.
    #[cfg_attr(feature = "clap", arg(long = "policy", value_name = "P", default_value = "other", value_parser = PolicySpec::fifo_priority))]
    pub priority: std::option::Option<u8>,
    /// While samples flow, handle datagrams once in so many microseconds [default: 200]; fewer: more punctual, more CPU.
    #[cfg_attr(feature = "clap", arg(long = "beat", value_name = "US", value_parser = clap::value_parser!(u32).range(1..=10_000)))]
    pub beat_us: Option<u32>,
    /// Claim another firmware version (12 is right, of an X310 6), to see what hosts say.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub firmware: Option<u32>,
    /// Claim another FPGA version MAJOR.MINOR (11.1 is right, of an X310 39.0).
    #[cfg_attr(feature = "clap", arg(long, value_name = "N.N", value_parser = fpga_version))]
    pub fpga: Option<u32>,
    /// Claim another hardware word, such as 0x0a01 for an N210 (N200).
    #[cfg_attr(feature = "clap", arg(long, value_name = "HEX", value_parser = hardware_word))]
    pub hardware: Option<u16>,
    /// Don't say that it is software: takt then treats it as hardware, and sends it nothing without --transmit (N200).
    #[cfg_attr(feature = "clap", arg(long))]
    pub as_hardware: bool,
}

pub(crate) fn fpga_version(text: &str) -> Result<u32, String> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let parts = major.parse::<u16>().ok().zip(minor.parse::<u16>().ok());
    let (major, minor) = parts.ok_or("want MAJOR.MINOR, such as 11.1")?;
    Ok(u32::from(major) << 16 | u32::from(minor))
}

pub(crate) fn hardware_word(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u16::from_str_radix(digits, 16).map_err(|_| "want four hexadecimal digits, such as 0x0a10".to_owned())
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
            board: None,
            gpsdo: false,
            overflow: OverflowPolicy::default(),
            allow: Vec::new(),
            redirect: false,
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
