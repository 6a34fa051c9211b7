//! Why PTP does not say what time it is.

use std::io;
use std::path::PathBuf;

use takt_wire::WireError;

/// Why a clock is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PtpError {
    #[error("no ptp4l answers here; takt looked for its socket at {}", list(.tried))]
    Absent { tried: Vec<PathBuf> },
    #[error("takt can't reach ptp4l at {}", .path.display())]
    Socket {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("ptp4l at {} does not answer {what} in domain {domain}", .path.display())]
    Silent { path: PathBuf, what: &'static str, domain: u8 },
    #[error("takt can't read the answer of ptp4l at {}", .path.display())]
    Unread {
        path: PathBuf,
        #[source]
        source: WireError,
    },
    #[error("ptp4l refuses {what}, with managementErrorId {error:#x}")]
    Refused { what: &'static str, error: u16 },
    #[error("the clock is not synchronised: {ports}")]
    Unsynchronised { ports: String },
    #[error("the clock is a slave, but its grandmaster is gone")]
    NoGrandmaster,
    #[error("ptp4l says that TAI is {utc_offset_s} s ahead of UTC, but since 1972 it is at least 10 s")]
    UtcOffset { utc_offset_s: i16 },
    #[error("ptp4l uses hardware time stamps of {interface}, but the kernel names no clock for it")]
    NoCard { interface: String },
    #[error("takt can't open the clock of a network card, {}", .path.display())]
    Card {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the clock of {interface}'s card is {apart_ns} ns away from the system clock, which times the slots")]
    Apart { interface: String, apart_ns: i64 },
    #[error("the grandmaster is {}, but it was {} when the nodes agreed on slot 0", identity(*.now), identity(*.agreed))]
    OtherGrandmaster { agreed: u64, now: u64 },
    #[error("the system clock jumped by {by_ns} ns, because something set it")]
    Set { by_ns: i64 },
    #[error("takt can't start a thread for the clock")]
    Thread {
        #[source]
        source: io::Error,
    },
}

impl PtpError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        match self {
            PtpError::Absent { .. } => {
                "run ptp4l -i INTERFACE on this node, name its `socket` in [ptp] of cluster.toml, or give --slot-clock own"
            }
            PtpError::Socket { .. } => {
                "run takt node as a user who may write to that socket, or use linuxptp 4, whose /var/run/ptp4lro is \
                 open to all users"
            }
            PtpError::Silent { .. } => {
                "set `domain` and `transport_specific` in [ptp] of cluster.toml as in ptp4l's settings, and run takt \
                 node in ptp4l's network namespace"
            }
            PtpError::Unread { .. } | PtpError::Refused { .. } => "use linuxptp's ptp4l, version 3.1 or later",
            PtpError::Unsynchronised { .. } => {
                "wait until ptp4l is SLAVE, or MASTER as grandmaster (pmc -u -b 0 'GET PORT_DATA_SET' shows the \
                 state); with free_running it never is"
            }
            PtpError::NoGrandmaster => {
                "restore PTP's path to the grandmaster (pmc -u -b 0 'GET TIME_STATUS_NP' shows gmPresent)"
            }
            PtpError::UtcOffset { .. } => "correct utc_offset in the settings of the grandmaster",
            PtpError::NoCard { .. } => "run ptp4l with software time stamps: -S",
            PtpError::Card { .. } => {
                "run takt node as a user who may read it, or run ptp4l with software time stamps: -S"
            }
            PtpError::Apart { .. } => "run phc2sys -a -r on this node, and wait until the clocks agree",
            PtpError::OtherGrandmaster { .. } => {
                "use one grandmaster for all nodes, in one domain (pmc -u -b 0 'GET PARENT_DATA_SET' shows it)"
            }
            PtpError::Thread { .. } => "end other threads on this node, or raise the limit: ulimit -u",
            PtpError::Set { .. } => "leave the system clock to ptp4l while a run goes on",
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A clock identity, as linuxptp writes it.
pub(super) fn identity(bytes: u64) -> String {
    format!("{:06x}.{:04x}.{:06x}", bytes >> 40, bytes >> 24 & 0xFFFF, bytes & 0xFF_FFFF)
}
