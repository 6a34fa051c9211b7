//! Options of `takt emulate`, and of each radio in the file of an air.

mod board;
mod speed;

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
#[cfg(feature = "clap")]
use takt_base::{parse_duration, parse_ipv4};
#[cfg(feature = "clap")]
use takt_host::policy::PolicySpec;
use takt_packet::EngineKind;

pub use self::board::{Board, BoardError};
pub use self::speed::{SpeedChoice, SpeedChoiceError};
use crate::n200::OverflowPolicy;
use crate::x310::Uhd;

/// Which radios to run, and how. Everything has a default but the addresses, of which there is at least one.
///
/// Lists that belong to devices (`serials`, `names`, `sources`, `sinks`, `eeproms`) are read by position: the n-th belongs
/// to the n-th address. A list of one source or sink counts for all devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct EmulatorOptions {
    /// Address to listen on. Repeat for several radios.
    #[cfg_attr(
        feature = "clap",
        arg(long = "addr", value_name = "ADDR", default_value = "127.0.0.1", value_parser = parse_ipv4)
    )]
    pub addrs: Vec<Ipv4Addr>,
    /// Signal that the radio receives: silence, tone, noise, counter, file, sigmf or loopback [default: a tone].
    // See [`crate::source`].
    #[cfg_attr(feature = "clap", arg(long = "source", value_name = "SOURCE"))]
    pub sources: Vec<String>,
    /// Destination of the transmitted signal: null, file or sigmf [default: null].
    // See [`crate::sink`].
    #[cfg_attr(feature = "clap", arg(long = "sink", value_name = "SINK"))]
    pub sinks: Vec<String>,
    /// Fault to inject, such as lose:rx,every=1000: lose, delay, reorder, duplicate, corrupt, overflow, stall, ring or
    /// reboot. See docs/reference/emulator.md. Repeat for several.
    // Every device has it; see [`crate::fault`].
    #[cfg_attr(feature = "clap", arg(long = "fault", value_name = "FAULT"))]
    pub faults: Vec<String>,
    /// Serial number, at most 9 characters [default: EMU001, EMU002, ...].
    #[cfg_attr(feature = "clap", arg(long = "serial", value_name = "TEXT"))]
    pub serials: Vec<String>,
    /// Name, at most 23 characters.
    // `n200-emu` or `x310-emu` where none is given.
    #[cfg_attr(feature = "clap", arg(long = "name", value_name = "TEXT"))]
    pub names: Vec<String>,
    /// Daughterboards: sbx, wbx, basic, lf or none (X310: ubx, basic, lf or none) [default: sbx; X310: ubx].
    #[cfg_attr(feature = "clap", arg(long, value_name = "BOARD"))]
    pub board: Option<Board>,
    /// Fit a GPSDO (N200 only).
    #[cfg_attr(feature = "clap", arg(long))]
    pub gpsdo: bool,
    /// Give the boards a DC offset, an I/Q imbalance and leakage to antenna CAL, drawn from this seed [default: perfect boards].
    /// See docs/reference/emulator.md.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED"))]
    pub imperfect: Option<u64>,
    /// Reaction to a blocked output: hardware stops the stream, as an N200 does; continue resumes after a gap (N200 only).
    #[cfg_attr(feature = "clap", arg(long, value_name = "ACTION", default_value = "hardware"))]
    pub overflow: OverflowPolicy,
    /// Network that the emulator may send to, besides loopback, such as 192.168.10.0/24. Repeat for several.
    #[cfg_attr(feature = "clap", arg(long, value_name = "CIDR"))]
    pub allow: Vec<String>,
    /// Let a host direct its samples to another address within the --allow networks (N200 only).
    #[cfg_attr(feature = "clap", arg(long))]
    pub redirect: bool,
    /// Keep EEPROM contents in this file between runs.
    #[cfg_attr(feature = "clap", arg(long = "eeprom", value_name = "FILE"))]
    pub eeproms: Vec<PathBuf>,
    /// Packet engine.
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            help = format!("Packet engine: {}", EngineKind::FORMS),
            value_name = "ENGINE",
            default_value = "mmsg"
        )
    )]
    pub engine: String,
    /// Let the kernel split and join aggregates of datagrams (UDP GSO and GRO), unlike a radio.
    #[cfg_attr(feature = "clap", arg(long))]
    pub aggregate: bool,
    /// Cores for the radios' threads, one each.
    // Round robin; without any, wherever.
    #[cfg_attr(feature = "clap", arg(long, value_name = "CORES", value_delimiter = ','))]
    pub cores: Vec<usize>,
    /// Scheduling policy of the radios' threads: other, or fifo:PRIORITY.
    // The type is written out so that `other` is a value, and not the lack of one.
    #[cfg_attr(feature = "clap", arg(long = "policy", value_name = "POLICY", default_value = "other", value_parser = PolicySpec::fifo_priority))]
    pub priority: std::option::Option<u8>,
    /// How often the emulator handles datagrams while samples flow: 1us to 10ms [default: 200us]. A shorter time makes it more
    /// punctual, and takes more CPU time.
    #[cfg_attr(feature = "clap", arg(long = "beat", value_name = "TIME", value_parser = beat_us))]
    pub beat_us: Option<u32>,
    /// Seconds that pass for the radio in a second of this host, 0.001 to 100. With auto, takt begins at 0.1 and goes as fast as
    /// the hosts keep up, at most 1. See docs/reference/emulator.md.
    // The speed is that of all radios alike.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEED", default_value = "1"))]
    pub speed: SpeedChoice,
    /// UHD release of the hosts: 4.3 to 4.11, or auto for 4.3 to 4.9 and 4.11 [default: 4.3, which serves 4.3 to 4.9] (X310 only).
    // See [`crate::x310::Uhd`].
    #[cfg_attr(feature = "clap", arg(long, value_name = "VERSION"))]
    pub uhd: Option<Uhd>,
    /// Report a different firmware version to the host (the right one is 12; X310: 6).
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub firmware: Option<u32>,
    /// Report a different FPGA version MAJOR.MINOR to the host (the right one is 11.1; X310: 39.0).
    #[cfg_attr(feature = "clap", arg(long, value_name = "N.N", value_parser = fpga_version))]
    pub fpga: Option<u32>,
    /// Report a different hardware revision to the host, such as 0x0a01 for an N210 (N200 only).
    #[cfg_attr(feature = "clap", arg(long, value_name = "HEX", value_parser = hardware_word))]
    pub hardware: Option<u16>,
    /// Hide that this is an emulator. takt then treats it as hardware, and transmits to it only with --transmit (N200 only).
    #[cfg_attr(feature = "clap", arg(long))]
    pub as_hardware: bool,
    /// Keep what each transmitter sends in memory, beside its sink, at most so many samples: for programs that run radios in their
    /// own process and ask [`Radios::memories`](crate::emulate::Radios::memories).
    #[cfg_attr(feature = "clap", arg(skip))]
    pub keep_samples: Option<u64>,
}

#[cfg(feature = "clap")]
fn beat_us(text: &str) -> Result<u32, String> {
    let beat = parse_duration(text).map_err(|error| error.to_string())?;
    let us = u32::try_from(beat.as_micros()).ok().filter(|us| (1..=10_000).contains(us));
    us.ok_or_else(|| format!("\"{text}\" is not 1us to 10ms"))
}

/// A version MAJOR.MINOR as the register has it: `11.1` is 0x000b0001.
///
/// # Errors
/// Says what a version looks like.
pub fn fpga_version(text: &str) -> Result<u32, String> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let parts = major.parse::<u16>().ok().zip(minor.parse::<u16>().ok());
    let (major, minor) = parts.ok_or("want MAJOR.MINOR, such as 11.1")?;
    Ok(u32::from(major) << 16 | u32::from(minor))
}

pub(crate) fn hardware_word(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u16::from_str_radix(digits, 16).map_err(|_| "want four hexadecimal digits, such as 0x0a10".to_owned())
}

impl Default for EmulatorOptions {
    fn default() -> EmulatorOptions {
        EmulatorOptions {
            addrs: vec![Ipv4Addr::LOCALHOST],
            serials: Vec::new(),
            names: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            eeproms: Vec::new(),
            faults: Vec::new(),
            board: None,
            gpsdo: false,
            imperfect: None,
            overflow: OverflowPolicy::default(),
            allow: Vec::new(),
            redirect: false,
            engine: EngineKind::Mmsg.name().to_owned(),
            aggregate: false,
            cores: Vec::new(),
            priority: None,
            beat_us: None,
            speed: SpeedChoice::default(),
            uhd: None,
            firmware: None,
            fpga: None,
            hardware: None,
            as_hardware: false,
            keep_samples: None,
        }
    }
}
