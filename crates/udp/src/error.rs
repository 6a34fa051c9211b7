//! Why a load could not be run or served.

use std::net::SocketAddr;

use takt_host::ReadError;
use takt_host::affinity::AffinityError;
use takt_packet::EngineError;

use super::plan::PlanError;

/// Why a load could not be run or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UdpError {
    /// An option is out of range.
    #[error("{what}: {got} (want {want})")]
    Option {
        /// The option.
        what: &'static str,
        /// Its value.
        got: String,
        /// The range.
        want: &'static str,
    },
    /// The packet engine can't be opened, or has ended.
    #[error("packet engine")]
    Engine(#[from] EngineError),
    /// The thread can't run where it was told to.
    #[error("CPUs of the load's thread")]
    Cpus(#[from] AffinityError),
    /// CPU time can't be read.
    #[error("CPU accounting")]
    Accounting(#[from] ReadError),
    /// The server's host says that nobody listens on that port.
    #[error("nobody listens on UDP port {port} of {ip}", port = .server.port(), ip = .server.ip())]
    NobodyThere {
        /// Where a server was expected.
        server: SocketAddr,
    },
    /// Nothing came back.
    #[error("no answer from {server} within 3 s")]
    NoAnswer {
        /// Where a server was expected.
        server: SocketAddr,
    },
    /// The server was there and has fallen silent.
    #[error("{server} has fallen silent {during}")]
    Silent {
        /// The server.
        server: SocketAddr,
        /// At what point.
        during: &'static str,
    },
    /// The server serves somebody else.
    #[error("{server} is serving another client")]
    Busy {
        /// The server.
        server: SocketAddr,
    },
    /// The server is another version of takt.
    #[error("{server} speaks another version of the protocol (this is version {ours})")]
    Version {
        /// The server.
        server: SocketAddr,
        /// Our version.
        ours: u8,
    },
    /// The server does not permit the plan.
    #[error("{server} refuses the plan")]
    Refused {
        /// The server.
        server: SocketAddr,
    },
    /// The client's plan is none, or out of range.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The server's result is none.
    #[error("the result from {server} can't be read")]
    Result {
        /// The server.
        server: SocketAddr,
        /// Where it goes wrong.
        #[source]
        source: serde_json::Error,
    },
    /// The server's result says nothing about the load it was sent or sent itself.
    #[error("the result from {server} lacks its half of the round")]
    Half {
        /// The server.
        server: SocketAddr,
    },
    /// The kernel gives us no thread.
    #[error("a thread for the load")]
    Thread {
        /// What it answered.
        #[source]
        source: std::io::Error,
    },
    /// The load was stopped before it began.
    #[error("stopped before the load began")]
    Stopped,
}

impl UdpError {
    pub(super) fn option(what: &'static str, got: String, want: &'static str) -> UdpError {
        UdpError::Option { what, got, want }
    }
}
