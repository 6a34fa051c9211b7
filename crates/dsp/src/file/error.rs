//! What can be wrong with a file of samples, and what mends it.
#![allow(missing_docs, reason = "names and messages say it")]

use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be used: which, where in it, what was expected. [`FileError::fix`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("{action} {}", path.display())]
    Io {
        /// What was being done: "opening", "reading".
        action: &'static str,
        /// To which file.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}: {bytes} bytes end within a sample; samples of this format have {sample_bytes} bytes", path.display())]
    PartialSample {
        path: PathBuf,
        bytes: u64,
        /// What a sample takes.
        sample_bytes: u64,
    },
    #[error("{}: not valid JSON at line {line}, column {column}", path.display())]
    NotJson {
        path: PathBuf,
        line: usize,
        column: usize,
        #[source]
        source: serde_json::Error,
    },
    /// Something in a file, or about it, is not as it must be.
    #[error("{}: {place} is {found}, not {expected}", path.display())]
    Unexpected {
        path: PathBuf,
        /// Where in it: a JSON pointer such as `/captures/2/core:sample_start`, or words.
        place: String,
        found: String,
        /// What ought to.
        expected: String,
        fix: String,
    },
    /// A file would have been overwritten.
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
}

impl FileError {
    /// One thing to do about it.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            FileError::Io { source, path, .. } => match source.kind() {
                io::ErrorKind::NotFound => format!("check the name; {}", nearest_existing(path)),
                io::ErrorKind::PermissionDenied => "change the permissions of the file, or of its directory".to_owned(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free space there, or name a file on another disk; what was written is complete and readable"
                        .to_owned()
                }
                _ => "see what the system says about the file".to_owned(),
            },
            FileError::PartialSample { path, bytes, sample_bytes } => format!(
                "name the right format, or cut the piece off: truncate -s {} {}",
                bytes / sample_bytes * sample_bytes,
                path.display()
            ),
            FileError::NotJson { .. } => {
                "restore the metadata file; a recording still going on is never in that state".to_owned()
            }
            FileError::Unexpected { fix, .. } => fix.clone(),
            FileError::Exists { .. } => "name another file, or remove this one".to_owned(),
        }
    }

    pub(crate) fn unexpected(
        path: &Path,
        place: impl Into<String>,
        found: &str,
        expected: &str,
        fix: &str,
    ) -> FileError {
        let [found, expected, fix] = [found, expected, fix].map(str::to_owned);
        FileError::Unexpected { path: path.to_owned(), place: place.into(), found, expected, fix }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |source| FileError::Io { action, path, source }
    }
}

/// How much of a path is there.
fn nearest_existing(path: &Path) -> String {
    let there = path.ancestors().skip(1).find(|part| part.is_dir() && !part.as_os_str().is_empty());
    match there {
        Some(there) => format!("the directory {} exists", there.display()),
        None => "it is taken relative to the working directory".to_owned(),
    }
}
