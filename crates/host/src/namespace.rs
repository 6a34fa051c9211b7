//! Network namespaces, for the calling thread. The lab makes and removes them; a thread enters one here.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::mount::UnmountFlags;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    #[error("takt can't open network namespace {path}")]
    Open {
        /// The file, `/run/netns/NAME` for a named one.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not a network namespace")]
    NotANamespace { path: PathBuf },
    /// `CAP_SYS_ADMIN` is missing.
    #[error("network namespaces need CAP_SYS_ADMIN, which this process lacks")]
    NotPermitted,
    #[error("takt can't change the network namespace")]
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

/// The number of the calling thread's network namespace: that of its file in `/proc`. 0: `/proc` is not there.
#[must_use]
pub fn own_network() -> u64 {
    number(Path::new("/proc/thread-self/ns/net")).unwrap_or(0)
}

/// Runs `act` in the network namespace of a number: on this thread if that is its own, on a thread of its own else. `None`:
/// it has ended, or nothing names it that this process may see.
///
/// # Errors
/// `CAP_SYS_ADMIN` is missing.
pub fn in_network<R: Send>(wanted: u64, act: impl FnOnce() -> R + Send) -> Result<Option<R>, NamespaceError> {
    if own_network() == wanted {
        return Ok(Some(act()));
    }
    let named = named().into_iter().map(|name| Path::new(NAMED_DIR).join(name));
    let of = |folder: &'static str| {
        let tasks = crate::host::Host::this().list(folder);
        tasks.into_iter().map(move |task| Path::new(folder).join(task).join("ns/net"))
    };
    let Some(path) = named.chain(of("/proc")).chain(of("/proc/self/task")).find(|path| number(path) == Some(wanted))
    else {
        return Ok(None);
    };
    let inside = || enter_network(path).map(|()| act());
    let thread = std::thread::scope(|scope| scope.spawn(inside).join());
    thread.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(Some)
}

fn number(path: &Path) -> Option<u64> {
    std::fs::metadata(path).map(|meta| meta.st_ino()).ok()
}

/// Makes a tap interface in the calling thread's network namespace: what is written to the interface, a virtual machine
/// reads. It stays until it is deleted or its namespace ends, and whoever opens it by its name next is its other end.
///
/// # Errors
/// The kernel has no tun device, the name is longer than 15 bytes or taken, or `CAP_NET_ADMIN` is missing.
pub fn add_tap(name: &str) -> io::Result<()> {
    if name.is_empty() || name.len() > 15 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let tun = File::options().read(true).write(true).open("/dev/net/tun")?;
    crate::sys::tap::make_persistent(&tun, name)
}

/// Whether the calling thread's network namespace passes on what is not for itself (`net.ipv4.ip_forward`). The setting
/// belongs to the namespace, not to the machine.
///
/// # Errors
/// `/proc/sys` is read-only, as in most containers.
pub fn set_forwarding(on: bool) -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ip_forward", if on { "1" } else { "0" })
}

/// Folder in which `ip netns` keeps named namespaces; takt's lie there too, so that `ip netns exec` works on them.
pub const NAMED_DIR: &str = "/run/netns";

/// Whether `name` is one that takt gives: `takt-`, then letters, digits, `-`, `_`, `.`; no path can hide in it.
#[must_use]
pub fn is_own_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.strip_prefix("takt-").is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
}

#[must_use]
pub fn named() -> Vec<String> {
    crate::host::Host::this().list(NAMED_DIR)
}

/// Removes the name of a namespace; the namespace itself, with its interfaces, ends when its last process has left.
/// `false` if there is no such name.
///
/// # Errors
/// `CAP_SYS_ADMIN` is missing.
pub fn remove_named(name: &str) -> Result<bool, NamespaceError> {
    let path = Path::new(NAMED_DIR).join(name);
    match rustix::mount::unmount(&path, UnmountFlags::DETACH) {
        // Not a mount point: the namespace was being made when its maker was killed. The name goes all the same.
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(rustix::io::Errno::NOENT) => return Ok(false),
        Err(rustix::io::Errno::PERM) => return Err(NamespaceError::NotPermitted),
        Err(other) => return Err(NamespaceError::Io(other.into())),
    }
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(NamespaceError::Io(error)),
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{self, CapabilitySet};

    fn only_root_may(error: &NamespaceError) {
        assert!(matches!(error, NamespaceError::NotPermitted), "{error}");
        assert!(!capability::own().contains(CapabilitySet::SYS_ADMIN));
        takt_testing::skip(format_args!("{error}   (run as root)"));
    }

    #[test]
    fn a_file_that_is_no_namespace_is_named() {
        let error = enter_network("/dev/null").unwrap_err();
        assert!(matches!(error, NamespaceError::NotANamespace { .. }), "{error}");
        assert!(matches!(enter_network("/run/netns/takt-none"), Err(NamespaceError::Open { .. })));
    }

    #[test]
    fn own_names_hold_no_path_and_no_blank() {
        for name in ["takt-12-host", "takt-a_b.c"] {
            assert!(is_own_name(name), "{name}");
        }
        for name in ["takt-", "takt", "host", "takt-a/../b", "takt-a b", "takt-\n"] {
            assert!(!is_own_name(name), "{name}");
        }
        assert!(matches!(remove_named("takt-none"), Ok(false) | Err(NamespaceError::NotPermitted)));
    }

    #[test]
    fn a_tap_and_forwarding_belong_to_the_namespace() {
        let forwarding = || std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap();
        let before = forwarding();
        let inside = std::thread::spawn(move || {
            unshare_network()?;
            set_forwarding(true).map_err(NamespaceError::Io)?;
            let tap = add_tap("tap-of-test");
            let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            Ok::<_, NamespaceError>((forwarding(), tap, devices))
        });
        match inside.join().unwrap() {
            Ok((forwards, tap, devices)) => {
                assert_eq!(forwards.trim(), "1");
                match tap {
                    Ok(()) => assert!(devices.contains("tap-of-test:"), "{devices}"),
                    Err(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
                        takt_testing::skip("there is no /dev/net/tun   (modprobe tun)");
                    }
                }
            }
            Err(error) => only_root_may(&error),
        }
        assert_eq!(forwarding(), before);
        assert_eq!(add_tap("a-name-of-more-than-15").unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_namespace_is_entered_by_its_number_while_a_process_is_in_it() {
        let before = own_network();
        assert_eq!(in_network(before, own_network).unwrap(), Some(before));
        let (tell, number) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let inside = std::thread::spawn(move || {
            unshare_network()?;
            tell.send(own_network()).unwrap();
            // Until the other end is dropped.
            let _ = ended.recv();
            Ok::<_, NamespaceError>(())
        });
        if let Ok(wanted) = number.recv() {
            assert_ne!(wanted, before);
            assert_eq!(in_network(wanted, own_network).unwrap(), Some(wanted));
        }
        drop(end);
        if let Err(error) = inside.join().unwrap() {
            only_root_may(&error);
        }
        assert_eq!(in_network(1, own_network).unwrap(), None);
    }

    #[test]
    fn only_the_calling_thread_moves() {
        let own = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let before = own();
        let moved = std::thread::spawn(move || unshare_network().map(|()| own())).join().unwrap();
        match moved {
            Ok(inside) => assert_ne!(inside, before),
            Err(error) => only_root_may(&error),
        }
        assert_eq!(own(), before);
    }
}
