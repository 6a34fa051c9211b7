//! Network namespaces, for the calling thread. The lab makes and removes them; a thread enters one here.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Why a namespace could not be entered or left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// There is no file of that name, or it may not be opened.
    #[error("opening network namespace {path}")]
    Open {
        /// The file, `/run/netns/NAME` for a named one.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// The file is no network namespace.
    #[error("{path} is no network namespace")]
    NotANamespace {
        /// The file.
        path: PathBuf,
    },
    /// `CAP_SYS_ADMIN` is missing.
    #[error("network namespaces need CAP_SYS_ADMIN, which this process lacks")]
    NotPermitted,
    /// Anything else.
    #[error("changing the network namespace")]
    Io(#[source] io::Error),
}

/// Moves the calling thread into the network namespace at `path`. Sockets opened before stay where they were; threads
/// started later inherit it. Other threads of this process stay where they are.
///
/// # Errors
/// The file is absent or no network namespace, or `CAP_SYS_ADMIN` is missing.
pub fn enter_network(path: impl AsRef<Path>) -> Result<(), NamespaceError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| NamespaceError::Open { path: path.to_owned(), source })?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|errno| match errno {
        rustix::io::Errno::INVAL => NamespaceError::NotANamespace { path: path.to_owned() },
        rustix::io::Errno::PERM => NamespaceError::NotPermitted,
        other => NamespaceError::Io(other.into()),
    })
}

/// Moves the calling thread into a new network namespace that ends with its last user. It has a loopback interface,
/// which is down, and nothing else.
///
/// # Errors
/// `CAP_SYS_ADMIN` is missing, or the kernel has no network namespaces.
pub fn unshare_network() -> Result<(), NamespaceError> {
    crate::sys::namespace::unshare_network().map_err(|errno| match errno {
        rustix::io::Errno::PERM => NamespaceError::NotPermitted,
        other => NamespaceError::Io(other.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{Capabilities, Capability};

    #[test]
    fn a_file_that_is_no_namespace_is_named() {
        let error = enter_network("/dev/null").unwrap_err();
        assert!(matches!(error, NamespaceError::NotANamespace { .. }), "{error}");
        assert!(matches!(enter_network("/run/netns/takt-none"), Err(NamespaceError::Open { .. })));
    }

    #[test]
    fn only_the_calling_thread_moves() {
        let own = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let before = own();
        let moved = std::thread::spawn(move || unshare_network().map(|()| own())).join().unwrap();
        match moved {
            Ok(inside) => assert_ne!(inside, before),
            Err(error) => {
                assert!(matches!(error, NamespaceError::NotPermitted), "{error}");
                assert!(!Capabilities::own().has(Capability::CapSysAdmin));
            }
        }
        assert_eq!(own(), before);
    }
}
