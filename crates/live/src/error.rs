//! Why a process can't show itself, or can't be watched.

use std::io;

use takt_host::call;
use takt_host::trusted::TrustError;

/// Why a process can't show itself, or can't be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The folder or the socket is not this user's alone, or the system refuses it.
    #[error(transparent)]
    Place(#[from] TrustError),
    /// The thread that would answer readers did not start.
    #[error("takt can't start thread takt-live")]
    Thread(#[source] io::Error),
    /// A connection broke.
    #[error("{doing} process {pid} failed")]
    Connection {
        /// Action that failed: `reading from`.
        doing: &'static str,
        /// The process at the other end.
        pid: u32,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The other end sends what no takt of this version sends.
    #[error("process {pid} sends {found}; expected: {expected}")]
    Line {
        /// The process at the other end.
        pid: u32,
        /// Its message, in words.
        found: String,
        /// Expected message.
        expected: String,
    },
    /// No such process shows itself.
    #[error("process {pid} does not show itself")]
    Absent {
        /// The process that was asked for.
        pid: u32,
    },
    /// The process does not take this reader.
    #[error("process {pid} refuses: {why}")]
    Refused {
        /// The process at the other end.
        pid: u32,
        /// Its reason.
        why: String,
    },
}

impl LiveError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            LiveError::Place(error) => error.fix().unwrap_or_else(|| "fix what the reason names".to_owned()),
            LiveError::Thread(_) => "leave more threads to this user: ulimit -u".to_owned(),
            LiveError::Line { .. } => "use the same version of takt on both sides".to_owned(),
            LiveError::Connection { .. } | LiveError::Absent { .. } => {
                format!("{}   (lists the processes that can be watched)", call::takt("top --once"))
            }
            LiveError::Refused { .. } => "close another view of this process".to_owned(),
        }
    }
}
