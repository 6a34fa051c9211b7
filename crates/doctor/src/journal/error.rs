//! Errors of the journal.

use std::io;
use std::path::PathBuf;

use takt_host::call::WITH_SUDO;
use takt_host::trusted::TrustError;

/// Why the journal cannot be used. Nothing is lost and nothing was changed when one of these is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The folder or the journal belongs to another user.
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    #[error("{doing} journal {path} failed")]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("another takt is changing settings: it holds {path}")]
    Busy { path: PathBuf },
    #[error("{path} line 1 is not the header of a takt journal")]
    Foreign { path: PathBuf },
    #[error("{path} is a journal of version {version}; this takt reads version 1")]
    Version { path: PathBuf, version: u32 },
    #[error("{path} line {line} is damaged: `{got}`")]
    Corrupt {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        got: String,
    },
}

impl JournalError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            JournalError::Untrusted(error) => error.fix(),
            JournalError::Busy { .. } => Some("wait for it to end, then try again".to_owned()),
            JournalError::Foreign { path } | JournalError::Corrupt { path, .. } => Some(format!(
                "look at it, undo its changes by hand (`was` is the old value), then: mv {0} {0}.old",
                path.display()
            )),
            JournalError::Version { .. } => Some("use the takt that wrote it".to_owned()),
            JournalError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some(WITH_SUDO.to_owned())
            }
            _ => None,
        }
    }
}
