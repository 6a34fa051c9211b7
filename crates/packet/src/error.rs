//! Why an engine could not be opened, or has ended.
#![allow(missing_docs, reason = "names and messages say it")]

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;

use crate::{EngineKind, Missing};

/// Why an engine could not be opened or has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A call on one of its ports.
    #[error("{call} on {addr} failed")]
    Port {
        /// The system call, by name.
        call: &'static str,
        /// The local address of the port.
        addr: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("UDP port {port} of {ip} is taken by another program", port = .addr.port(), ip = .addr.ip())]
    PortInUse { addr: SocketAddr },
    #[error("{ip} is not an address of this host", ip = .addr.ip())]
    NotLocal { addr: SocketAddr },
    /// The kernel wants a privilege for this port: usually one below 1024.
    #[error("this process may not use UDP port {port} of {ip}", port = .addr.port(), ip = .addr.ip())]
    NotPermitted { addr: SocketAddr },
    /// The engine needs something that this host does not have.
    #[error("engine {engine} can't run here: {missing}")]
    Missing { engine: EngineKind, missing: Missing },
    /// A step of opening that no port is to blame for.
    #[error("{call} failed")]
    Kernel {
        /// The system call, by name.
        call: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("interface {interface} is gone")]
    InterfaceGone {
        interface: String,
        #[source]
        source: io::Error,
    },
    /// The configuration is not one this engine can open.
    #[error("{what} can't be {got}; expected: {want}")]
    Config {
        what: &'static str,
        got: u64,
        /// The range it must be in.
        want: &'static str,
    },
}

impl EngineError {
    /// Error of `call` on `addr`, told apart where there is something to do about it.
    pub(crate) fn of(call: &'static str, addr: SocketAddr, source: io::Error) -> EngineError {
        match Errno::from_io_error(&source) {
            Some(Errno::ADDRINUSE) => EngineError::PortInUse { addr },
            Some(Errno::ADDRNOTAVAIL) if call == "bind" => EngineError::NotLocal { addr },
            Some(Errno::ACCESS | Errno::PERM) => EngineError::NotPermitted { addr },
            _ => EngineError::Port { call, addr, source },
        }
    }
}
