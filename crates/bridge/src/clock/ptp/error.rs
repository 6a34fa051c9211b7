//! Why PTP does not say what time it is.

use std::io;
use std::path::PathBuf;

use takt_wire::WireError;

/// Why a clock is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PtpError {
    #[error("no ptp4l answers here: {} is no socket of one", list(.tried))]
    Absent { tried: Vec<PathBuf> },
    #[error("ptp4l can't be reached at {}", .path.display())]
    Socket {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("ptp4l at {} does not answer {what} for domain {domain}", .path.display())]
    Silent { path: PathBuf, what: &'static str, domain: u8 },
    #[error("what ptp4l at {} answers can't be read", .path.display())]
    Unread {
        path: PathBuf,
        #[source]
        source: WireError,
    },
    #[error("ptp4l refuses {what}, with managementErrorId {error:#x}")]
    Refused { what: &'static str, error: u16 },
    #[error("the clock is not synchronised: {ports}")]
    Unsynchronised { ports: String },
    #[error("the clock is a slave whose grandmaster is gone")]
    NoGrandmaster,
    #[error(
        "PTP's time is TAI, and ptp4l says that it is {utc_offset_s} s ahead of UTC, which it never was since 1972"
    )]
    UtcOffset { utc_offset_s: i16 },
    #[error("ptp4l stamps {interface} in hardware, and the kernel names no clock of it")]
    NoCard { interface: String },
    #[error("the clock of a card, {}", .path.display())]
    Card {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the clock of {interface}'s card is {apart_ns} ns from the system clock, and slots are timed by that one")]
    Apart { interface: String, apart_ns: i64 },
    #[error("the grandmaster is {}, and {} when slot 0 was agreed", identity(*.now), identity(*.agreed))]
    OtherGrandmaster { agreed: u64, now: u64 },
    #[error("the system clock was set by {by_ns} ns")]
    Set { by_ns: i64 },
    #[error("a thread for the clock")]
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
                "ptp4l -i INTERFACE on this node, or `socket` in [ptp] of its cluster.toml; or --slot-clock own"
            }
            PtpError::Socket { .. } => {
                "takt node as a user who may write to that socket; linuxptp 4 has one for all, /var/run/ptp4lro"
            }
            PtpError::Silent { .. } => {
                "`domain` and `transport_specific` in [ptp] of cluster.toml as in ptp4l's settings; takt node in ptp4l's \
                 network namespace"
            }
            PtpError::Unread { .. } | PtpError::Refused { .. } => "linuxptp's ptp4l, version 3.1 or later",
            PtpError::Unsynchronised { .. } => {
                "wait until ptp4l is SLAVE, or MASTER as grandmaster: pmc -u -b 0 'GET PORT_DATA_SET' says what it is. \
                 With free_running it never is"
            }
            PtpError::NoGrandmaster => "a way for PTP to the grandmaster: pmc -u -b 0 'GET TIME_STATUS_NP'",
            PtpError::UtcOffset { .. } => "utc_offset in the settings of the grandmaster",
            PtpError::NoCard { .. } => "ptp4l with stamps in software: -S",
            PtpError::Card { .. } => "takt node as a user who may read it, or ptp4l with stamps in software: -S",
            PtpError::Apart { .. } => "phc2sys -a -r on this node, and a moment's patience",
            PtpError::OtherGrandmaster { .. } => {
                "one grandmaster for all nodes, in one domain: pmc -u -b 0 'GET PARENT_DATA_SET'"
            }
            PtpError::Thread { .. } => "fewer threads on this node",
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
