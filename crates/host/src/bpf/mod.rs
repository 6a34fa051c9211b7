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
    #[error("this kernel can't load XDP programs: it lacks CONFIG_BPF_SYSCALL")]
    NotThere,
    #[error("the kernel refused a table of {entries} entries for XDP programs")]
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
    #[error("interface {interface} refused the XDP program")]
    Attach {
        interface: u32,
        #[source]
        source: io::Error,
    },
    #[error("the kernel's verifier refused the program: {log}")]
    Refused {
        /// The end of its log.
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

/// One 64-bit number that programs read and write, zero at first. It lives as a [`Table`] does.
#[derive(Debug)]
pub struct Number(OwnedFd);

impl Number {
    /// A new one.
    pub fn new() -> Result<Number, BpfError> {
        let table = crate::sys::bpf::create_array(8, 1);
        table.map(Number).map_err(|source| refusal(&source).unwrap_or(BpfError::Table { entries: 1, source }))
    }

    /// Its value.
    pub fn get(&self) -> io::Result<u64> {
        crate::sys::bpf::read_number(self.0.as_fd())
    }

    /// Makes it another.
    pub fn set(&self, value: u64) -> io::Result<()> {
        crate::sys::bpf::set_number(self.0.as_fd(), value)
    }

    /// As instructions name it: an array whose entry 0 is the number.
    #[must_use]
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// Frames of a call to [`run_live`] that the kernel handles together, at most.
pub const MAX_LIVE_BATCH: u32 = 256;

/// Runs a loaded program on `count` copies of a frame as if they came by `interface` (its index in the calling thread's
/// namespace), and has the kernel do with each what the program says (Linux 5.18, `BPF_F_TEST_XDP_LIVE_FRAMES`). `XDP_TX`
/// sends it by that interface. Copies are made in memory that is used again: what the program writes into a frame may be
/// there in a later one.
///
/// # Errors
/// Refused, or ended early by a signal (`EINTR`): the program may have run for some.
pub fn run_live(program: BorrowedFd<'_>, frame: &[u8], interface: u32, count: u32, batch: u32) -> io::Result<()> {
    // The kernel rounds up to whole batches.
    let batch = batch.clamp(1, MAX_LIVE_BATCH);
    for (repeat, batch) in [(count - count % batch, batch), (count % batch, count % batch)] {
        if repeat > 0 {
            crate::sys::bpf::run_live(program, frame, interface, repeat, batch)?;
        }
    }
    Ok(())
}

/// Error for which every command is refused.
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
            let text = log.split(|&byte| byte == 0).next().unwrap_or_default();
            let end = text.get(text.len().saturating_sub(300)..).unwrap_or_default();
            BpfError::Refused { log: String::from_utf8_lossy(end).trim().replace('\n', "; "), source }
        }
    })
}

/// Place of a program in the receive path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdpMode {
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
pub fn attach_xdp(program: BorrowedFd<'_>, interface: u32, place: XdpMode) -> Result<Attached, BpfError> {
    // XDP_FLAGS_SKB_MODE and XDP_FLAGS_DRV_MODE of linux/if_link.h.
    let flags = match place {
        XdpMode::Generic => 1 << 1,
        XdpMode::Native => 1 << 2,
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
    fn a_number_is_what_it_was_set_to() {
        match Number::new() {
            Ok(number) => {
                assert_eq!(number.get().unwrap(), 0);
                number.set(u64::MAX - 7).unwrap();
                assert_eq!(number.get().unwrap(), u64::MAX - 7);
            }
            Err(error) => assert!(matches!(error, BpfError::NotPermitted | BpfError::NotThere), "{error}"),
        }
    }

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
