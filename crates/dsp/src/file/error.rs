//! Faults of a file of samples, and their remedies.
#![allow(missing_docs, reason = "names and messages say it")]

use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be used: which, where in it, what was expected. [`FileError::fix`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("{action} {} failed", path.display())]
    Io {
        /// The operation: "opening", "reading".
        action: &'static str,
        /// To which file.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{} has {bytes} bytes and ends within a sample; samples of this format have {sample_bytes} bytes",
        path.display()
    )]
    PartialSample {
        path: PathBuf,
        bytes: u64,
        /// Bytes of a sample.
        sample_bytes: u64,
    },
    #[error("{} is not valid JSON at line {line}, column {column}", path.display())]
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
        /// Place in it: a JSON pointer such as `/captures/2/core:sample_start`, or words.
        place: String,
        found: String,
        /// The right contents.
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
                io::ErrorKind::NotFound => format!("check the name{}; {}", both_files(path), nearest_existing(path)),
                io::ErrorKind::PermissionDenied => "change the permissions of the file, or of its directory".to_owned(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free space there, or name a file on another disk; what was written is complete and readable"
                        .to_owned()
                }
                _ => "check the file and its disk".to_owned(),
            },
            FileError::PartialSample { path, bytes, sample_bytes } => format!(
                "name the right format, or cut the piece off: truncate -s {} {}",
                bytes / sample_bytes * sample_bytes,
                path.display()
            ),
            FileError::NotJson { .. } => {
                "restore the metadata file; takt never leaves it like this, even while it records".to_owned()
            }
            FileError::Unexpected { fix, .. } => fix.clone(),
            FileError::Exists { .. } => "name another file, or remove this one".to_owned(),
        }
    }

    /// Whether a file that should be read does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, FileError::Io { action: "opening", source, .. } if source.kind() == io::ErrorKind::NotFound)
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

/// The two files of a recording, if the path is one of them.
fn both_files(path: &Path) -> String {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sigmf-meta" | "sigmf-data") => {
            let [meta, data] = ["sigmf-meta", "sigmf-data"].map(|extension| path.with_extension(extension));
            format!(" (a recording is the files {} and {})", meta.display(), data.display())
        }
        _ => String::new(),
    }
}

/// A note on where a path begins if it is relative, else on how much of it exists.
fn nearest_existing(path: &Path) -> String {
    match std::env::current_dir() {
        Ok(here) if path.is_relative() => format!("the working directory is {}", here.display()),
        _ => match path.ancestors().skip(1).find(|part| part.is_dir()) {
            Some(there) => format!("the directory {} exists", there.display()),
            None => "none of its directories exists".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_with_where_takt_looked() {
        let here = std::env::current_dir().expect("a directory");
        let missing = |name: &str| FileError::io("opening", Path::new(name))(io::ErrorKind::NotFound.into());
        for (name, files) in [
            ("none.sc16", ""),
            ("run.1.sigmf-meta", " (a recording is the files run.1.sigmf-meta and run.1.sigmf-data)"),
            ("run.1.sigmf-data", " (a recording is the files run.1.sigmf-meta and run.1.sigmf-data)"),
        ] {
            let fix = format!("check the name{files}; the working directory is {}", here.display());
            assert!(missing(name).is_missing());
            assert_eq!(missing(name).fix(), fix, "{name}");
        }
        assert_eq!(missing("/no/where.sc16").fix(), "check the name; the directory / exists");
        assert!(!FileError::io("creating", Path::new("x"))(io::ErrorKind::NotFound.into()).is_missing());
    }
}
