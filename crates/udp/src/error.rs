//! Why a load could not be run or served.

use std::net::SocketAddr;

use takt_host::ReadError;
use takt_host::placement::PlacementError;
use takt_packet::{EngineError, GeneratorError};

use super::plan::PlanError;

/// Why a load could not be run or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UdpError {
    #[error("{what} can't be {got}; expected: {want}")]
    Option { what: &'static str, got: String, want: &'static str },
    #[error("the packet engine failed")]
    Engine(#[from] EngineError),
    #[error("the generator of datagrams failed")]
    Generator(#[from] GeneratorError),
    #[error("takt can't place the load's thread")]
    Placement(#[from] PlacementError),
    #[error("takt can't read CPU times")]
    Accounting(#[from] ReadError),
    #[error("nobody listens on UDP port {port} of {ip}", port = .server.port(), ip = .server.ip())]
    NobodyThere { server: SocketAddr },
    #[error("{server} did not answer within 3 s")]
    NoAnswer { server: SocketAddr },
    #[error("{server} stopped answering {during}")]
    Silent { server: SocketAddr, during: &'static str },
    #[error("{server} is serving another client")]
    Busy { server: SocketAddr },
    #[error("{server} speaks another version of the protocol than this takt, which speaks version {ours}")]
    Version { server: SocketAddr, ours: u8 },
    #[error("{server} refuses the plan")]
    Refused { server: SocketAddr },
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("takt can't read the result from {server}")]
    Result { server: SocketAddr, source: serde_json::Error },
    #[error("the result from {server} lacks its half of the round")]
    Half { server: SocketAddr },
    #[error("takt can't start a thread for the load")]
    Thread { source: std::io::Error },
    #[error("takt stopped before the load began")]
    Stopped,
}

/// Whether an option is within its range; else an error with the option, its value and the range.
pub(super) fn within(
    what: &'static str,
    holds: bool,
    got: impl FnOnce() -> String,
    want: &'static str,
) -> Result<(), UdpError> {
    if holds { Ok(()) } else { Err(UdpError::Option { what, got: got(), want }) }
}
