//! Why radios could not be run.

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use takt_host::affinity::AffinityError;
use takt_host::policy::PolicyError;
use takt_packet::{EngineError, UnknownEngine};

use crate::fault::FaultError;
use crate::n200::OptionsError;
use crate::policy::CidrError;
use crate::signals::{SignalError, SpecError};

/// Why radios could not be run. What was started is stopped again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// An option that belongs to a device has more values than there are devices.
    #[error("{got} values for {what}, {devices} radios")]
    TooMany {
        /// Which option.
        what: &'static str,
        /// Values given.
        got: usize,
        /// Addresses given.
        devices: usize,
    },
    /// Two radios at one address, or none at all.
    #[error("{addrs} addresses, of which {distinct} differ")]
    Addresses {
        /// Addresses given.
        addrs: usize,
        /// How many differ.
        distinct: usize,
    },
    /// A name or a serial that the radio can't hold.
    #[error("radio at {addr}")]
    Identity {
        /// Which radio.
        addr: Ipv4Addr,
        /// What is wrong.
        #[source]
        source: OptionsError,
    },
    /// Not a network.
    #[error("networks to send to")]
    Allow(#[from] CidrError),
    /// Not a fault.
    #[error("faults")]
    Fault(#[from] FaultError),
    /// Not a source or a sink.
    #[error("signals")]
    Signal(#[from] SpecError),
    /// A source or a sink can't be opened.
    #[error("signals of the radio at {addr}")]
    Signals {
        /// Which radio.
        addr: Ipv4Addr,
        /// Why not.
        #[source]
        source: SignalError,
    },
    /// Several radios would write one file.
    #[error("{devices} radios and one sink {sink}")]
    SharedSink {
        /// The sink.
        sink: String,
        /// How many radios.
        devices: usize,
    },
    /// Not an engine.
    #[error("packet engine")]
    Engine(#[from] UnknownEngine),
    /// The ports of a radio can't be had.
    #[error("ports of the radio at {addr}")]
    Ports {
        /// Which radio.
        addr: Ipv4Addr,
        /// Why not.
        #[source]
        source: EngineError,
    },
    /// An EEPROM file can't be read or written.
    #[error("EEPROM file {}", .path.display())]
    Eeprom {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file is there but is not what this program wrote.
    #[error("{} is not an EEPROM file: it has {bytes} bytes, not {want}", .path.display())]
    ForeignEeprom {
        /// Which file.
        path: PathBuf,
        /// Its length.
        bytes: usize,
        /// The length of an EEPROM file.
        want: usize,
    },
    /// The wished priority was refused.
    #[error("real-time priority of the radio at {addr}")]
    Priority {
        /// Which radio.
        addr: Ipv4Addr,
        /// Why.
        #[source]
        source: PolicyError,
    },
    /// The wished CPU was refused.
    #[error("CPU of the radio at {addr}")]
    Core {
        /// Which radio.
        addr: Ipv4Addr,
        /// Why.
        #[source]
        source: AffinityError,
    },
    /// A thread could not be started.
    #[error("thread of the radio at {addr}")]
    Thread {
        /// Which radio.
        addr: Ipv4Addr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A radio ended by itself.
    #[error("the radio at {addr} ended by a fault of its own")]
    Ended {
        /// Which radio.
        addr: Ipv4Addr,
    },
}
