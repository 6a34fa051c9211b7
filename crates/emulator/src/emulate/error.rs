//! Why radios could not be run.

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use takt_host::affinity::AffinityError;
use takt_host::policy::PolicyError;
use takt_packet::{EngineError, UnknownEngine};

use super::{Board, SpeedChoice};
use crate::policy::CidrError;
use crate::shared::OptionsError;
use crate::signals::SignalError;
use crate::text::SpecError;

/// Why radios could not be run. The radios that were started are stopped again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// An option that belongs to a device has more values than there are devices.
    #[error("{got} values were given for {what}, but there are {devices} radios")]
    TooMany { what: &'static str, got: usize, devices: usize },
    /// An option, or its value, belongs to another model of radio.
    #[error("an {model} has no {option}")]
    Unfit { model: &'static str, option: String },
    /// An option of the command line that belongs to a radio of the file.
    #[error("{option} describes a radio, but the file describes the radios")]
    NotWithFile { option: &'static str },
    /// A radio that is to pass for hardware, at another speed than hardware has.
    #[error("--as-hardware does not go with --speed {speed}: hardware runs at speed 1")]
    HardwareSpeed { speed: SpeedChoice },
    #[error("{addrs} addresses were given, but only {distinct} of them are different")]
    Addresses { addrs: usize, distinct: usize },
    /// A name or a serial that the radio can't hold.
    #[error("the radio at {addr} can't have this identity")]
    Identity {
        addr: Ipv4Addr,
        #[source]
        source: OptionsError,
    },
    #[error("a network that the radios may send to is not valid")]
    Allow(#[from] CidrError),
    #[error(transparent)]
    Fault(SpecError),
    #[error(transparent)]
    Signal(#[from] SpecError),
    #[error("takt can't set up the signals of the radio at {addr}")]
    Signals {
        addr: Ipv4Addr,
        #[source]
        source: SignalError,
    },
    #[error("{devices} radios can't write to one sink, {sink}")]
    SharedSink { sink: String, devices: usize },
    #[error("takt can't choose a packet engine")]
    Engine(#[from] UnknownEngine),
    #[error("takt can't open the ports of the radio at {addr}")]
    Ports {
        addr: Ipv4Addr,
        #[source]
        source: EngineError,
    },
    #[error("takt can't read or write EEPROM file {}", .path.display())]
    Eeprom {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not an EEPROM file: it has {bytes} bytes, not {want}", .path.display())]
    ForeignEeprom { path: PathBuf, bytes: usize, want: usize },
    /// An EEPROM file of a radio with other daughterboards than those that were named.
    #[error("{} holds the EEPROM of a radio with board {kept}, and --board is {named}", .path.display())]
    OtherBoard {
        path: PathBuf,
        /// Its name, or the ids of its halves, receive and transmit.
        kept: String,
        named: Board,
    },
    #[error("takt can't set the real-time priority of the radio at {addr}")]
    Priority {
        addr: Ipv4Addr,
        #[source]
        source: PolicyError,
    },
    #[error("takt can't set the CPU of the radio at {addr}")]
    Core {
        addr: Ipv4Addr,
        #[source]
        source: AffinityError,
    },
    #[error("takt can't start the thread of the radio at {addr}")]
    Thread {
        addr: Ipv4Addr,
        #[source]
        source: io::Error,
    },
    #[error("the thread of the radio at {addr} ended unexpectedly: this is a bug in takt")]
    Ended { addr: Ipv4Addr },
}
