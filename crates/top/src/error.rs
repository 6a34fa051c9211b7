//! Why nothing can be shown.

use std::io;

use takt_live::LiveError;

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopError {
    /// The process can't be watched.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// Standard output is no terminal, or does not work as one.
    #[error("takt can't use the terminal")]
    Terminal(#[source] io::Error),
    /// The process ended before it said anything.
    #[error("process {pid} ended before it sent a snapshot")]
    Ended {
        /// Its number.
        pid: u32,
    },
}

impl TopError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            TopError::Live(error) => error.fix(),
            TopError::Terminal(_) => "print one frame as text: --once".to_owned(),
            TopError::Ended { .. } => "name a process that still runs".to_owned(),
        }
    }
}
