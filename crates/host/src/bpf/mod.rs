//! Programs for the kernel's receive path (XDP), tables that they share, and where they run.

pub mod code;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Why a program was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BpfError {
    /// `CAP_BPF` and `CAP_NET_ADMIN`, or `CAP_SYS_ADMIN`, are missing.
    #[error("loading an XDP program needs CAP_BPF and CAP_NET_ADMIN, which this process lacks")]
    NotPermitted,
    /// The kernel is built without it, or a filter keeps it away.
    #[error("this kernel loads no XDP programs (CONFIG_BPF_SYSCALL)")]
    NotThere,
    #[error("the kernel made no table of {entries} entries for XDP programs")]
    Table {
        entries: u32,
        #[source]
        source: io::Error,
    },
    #[error("interface {interface} runs another XDP program already, or one in another mode")]
    Taken { interface: u32 },
    #[error("the driver of interface {interface} runs no XDP programs, or none at the interface's present settings")]
    NoDriver {
        interface: u32,
        #[source]
        source: io::Error,
    },
    #[error("interface {interface} took no XDP program")]
    Attach {
        interface: u32,
        #[source]
        source: io::Error,
    },
    #[error("the kernel's verifier refused the program: {log}")]
    Refused {
        /// The end of what it said.
        log: String,
        #[source]
        source: io::Error,
    },
}

/// An array of bytes, all zero at first, that programs read and write. It lives as long as this, or as long as a program
/// that names it.
#[derive(Debug)]
pub struct Table(OwnedFd);

impl Table {
    /// One byte for each index below `entries`.
    pub fn of_bytes(entries: u32) -> Result<Table, BpfError> {
        let table = crate::sys::bpf::create_array(1, entries);
        table.map(Table).map_err(|source| refusal(&source).unwrap_or(BpfError::Table { entries, source }))
    }

    /// AF_XDP sockets, one for each index below `entries`, none at first: where a program may send frames.
    pub fn of_sockets(entries: u32) -> Result<Table, BpfError> {
        let table = crate::sys::bpf::create_sockets(entries);
        table.map(Table).map_err(|source| refusal(&source).unwrap_or(BpfError::Table { entries, source }))
    }

    /// Puts a socket into a table of sockets. It stays there while it lives.
    pub fn put(&self, index: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        crate::sys::bpf::update(self.0.as_fd(), index, socket.as_raw_fd().cast_unsigned())
    }

    /// As instructions name it.
    #[must_use]
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// What every command is refused for.
fn refusal(source: &io::Error) -> Option<BpfError> {
    match source.raw_os_error() {
        Some(libc::EPERM) => Some(BpfError::NotPermitted),
        Some(libc::ENOSYS) => Some(BpfError::NotThere),
        _ => None,
    }
}

/// Loads a program of 64-bit instructions that takes an XDP context. It lives as long as its descriptor, or as long as
/// an interface runs it. With `fragments` it takes frames larger than a page, of which it sees the front (Linux 5.18).
pub fn load_xdp(code: &[u64], fragments: bool) -> Result<OwnedFd, BpfError> {
    let mut log = vec![0; 64 * 1024];
    crate::sys::bpf::load_xdp(code, fragments, &mut log).map_err(|source| match refusal(&source) {
        Some(refusal) => refusal,
        None => {
            let said = log.split(|&byte| byte == 0).next().unwrap_or_default();
            let end = said.get(said.len().saturating_sub(300)..).unwrap_or_default();
            BpfError::Refused { log: String::from_utf8_lossy(end).trim().replace('\n', "; "), source }
        }
    })
}

/// Where in the receive path a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the driver, before the kernel makes anything of a frame.
    Native,
    /// Above the driver, in every one.
    Generic,
}

/// A program that an interface runs. It ends with this value, or with the process, however that ends.
#[derive(Debug)]
pub struct Attached {
    _link: OwnedFd,
}

/// Has `interface` (its index) run a loaded program.
///
/// # Errors
/// Another one runs there, or the driver has no such place.
pub fn attach_xdp(program: BorrowedFd<'_>, interface: u32, place: Place) -> Result<Attached, BpfError> {
    // XDP_FLAGS_SKB_MODE and XDP_FLAGS_DRV_MODE of linux/if_link.h.
    let flags = match place {
        Place::Generic => 1 << 1,
        Place::Native => 1 << 2,
    };
    let link = crate::sys::bpf::create_link(program, interface, flags);
    link.map(|link| Attached { _link: link }).map_err(|source| match source.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => BpfError::Taken { interface },
        Some(libc::EOPNOTSUPP | libc::EINVAL | libc::ERANGE | libc::ENOSPC) => BpfError::NoDriver { interface, source },
        _ => refusal(&source).unwrap_or(BpfError::Attach { interface, source }),
    })
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    /// `r0 = 2; exit`, and `exit` without a result.
    const PASS: [u64; 2] = [0x0000_0002_0000_00b7, 0x95];
    const WITHOUT_RESULT: [u64; 1] = [0x95];

    #[test]
    fn the_verifier_has_the_last_word() {
        match load_xdp(&PASS, false) {
            Ok(_) => {
                let error = load_xdp(&WITHOUT_RESULT, false).unwrap_err();
                assert!(matches!(&error, BpfError::Refused { log, .. } if log.contains("R0")), "{error}");
            }
            Err(error) => assert!(matches!(error, BpfError::NotPermitted | BpfError::NotThere), "{error}"),
        }
    }
}
