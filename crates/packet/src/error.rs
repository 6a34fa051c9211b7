//! Why an engine could not be opened, or has ended.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;

/// Why an engine could not be opened or has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A call on one of its ports.
    #[error("{call} on {addr}")]
    Port {
        /// The system call, by name.
        call: &'static str,
        /// The local address of the port.
        addr: SocketAddr,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// Somebody else has the port.
    #[error("UDP port {port} of {ip} is taken by another program", port = .addr.port(), ip = .addr.ip())]
    PortInUse {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// No interface of this host has the address.
    #[error("{ip} is not an address of this host", ip = .addr.ip())]
    NotLocal {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// The kernel wants a privilege for this port: usually one below 1024.
    #[error("this process may not use UDP port {port} of {ip}", port = .addr.port(), ip = .addr.ip())]
    NotPermitted {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// The configuration is not one this engine can open.
    #[error("{what}: {got} (want {want})")]
    Config {
        /// The field.
        what: &'static str,
        /// Its value.
        got: u64,
        /// The range it must be in.
        want: &'static str,
    },
}

impl EngineError {
    /// What `call` on `addr` answered, told apart where there is something to do about it.
    pub(crate) fn of(call: &'static str, addr: SocketAddr, source: io::Error) -> EngineError {
        match Errno::from_io_error(&source) {
            Some(Errno::ADDRINUSE) => EngineError::PortInUse { addr },
            Some(Errno::ADDRNOTAVAIL) if call == "bind" => EngineError::NotLocal { addr },
            Some(Errno::ACCESS | Errno::PERM) => EngineError::NotPermitted { addr },
            _ => EngineError::Port { call, addr, source },
        }
    }
}
