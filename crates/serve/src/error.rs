//! Why the page can't be served.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the page can't be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another program listens there.
    #[error("another program listens on {at}")]
    InUse {
        /// The address that was asked for.
        at: SocketAddr,
    },
    /// Ports below 1024 need a privilege.
    #[error("takt may not listen on port {}", at.port())]
    NoPermission {
        /// The address that was asked for.
        at: SocketAddr,
    },
    /// No interface of this machine has that address.
    #[error("this machine has no address {}", at.ip())]
    NotHere {
        /// The address that was asked for.
        at: SocketAddr,
    },
    /// The file of the token can't be used.
    #[error("takt can't use the token in {path}: {why}", path = path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Fault in it.
        why: String,
    },
    /// Anything else that the system refuses.
    #[error("{doing} failed")]
    System {
        /// Action that takt tried.
        doing: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl ServeError {
    /// Fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            ServeError::InUse { at } => format!(
                "choose another port: --listen {}\nstop the other program (ss -tlnp 'sport = :{}' names it)",
                SocketAddr::new(at.ip(), at.port().checked_add(1).unwrap_or(8258)),
                at.port()
            ),
            ServeError::NoPermission { at } => {
                format!("choose a port from 1024 up: --listen {}", SocketAddr::new(at.ip(), 8258))
            }
            ServeError::NotHere { at } => format!(
                "listen on this machine alone: --listen 127.0.0.1:{}\nlist the addresses of this machine: ip -brief addr",
                at.port()
            ),
            ServeError::TokenFile { path, .. } => format!(
                "make one: (umask 077; openssl rand -hex 16 > {0})\nlet takt make a token: leave out --token-file",
                takt_host::call::quoted(&path.to_string_lossy())
            ),
            ServeError::System { .. } => return None,
        })
    }

    pub(crate) fn listening(at: SocketAddr, error: io::Error) -> ServeError {
        match error.kind() {
            io::ErrorKind::AddrInUse => ServeError::InUse { at },
            io::ErrorKind::PermissionDenied => ServeError::NoPermission { at },
            io::ErrorKind::AddrNotAvailable => ServeError::NotHere { at },
            _ => ServeError::System { doing: "listening for browsers", source: error },
        }
    }
}

/// Wraps an error of the system with what takt did.
pub(crate) fn doing(doing: &'static str) -> impl Fn(io::Error) -> ServeError {
    move |source| ServeError::System { doing, source }
}
