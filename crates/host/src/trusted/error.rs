//! Why a folder or a file is not trusted.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use crate::call::{self, WITH_SUDO, quoted};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    #[error("{doing} {path} failed")]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Its owner decides what it says, or where it leads.
    #[error("{path} belongs to {owner}; expected: {expected}")]
    Owner { path: PathBuf, owner: String, expected: String },
    #[error("{path} has mode {mode:04o}: {who} may write there; expected: {expected} alone")]
    Writable {
        path: PathBuf,
        /// The permission bits.
        mode: u32,
        /// `everybody`, or the group.
        who: String,
        expected: String,
    },
    #[error("{path} is {found}; expected: {expected}")]
    Kind { path: PathBuf, found: &'static str, expected: &'static str },
    /// More than one name, or none: it would lead elsewhere.
    #[error("`{name}` is not a file name; expected: one name without `/`")]
    Name { name: String },
}

impl TrustError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        let shown = |path: &Path| quoted(&path.to_string_lossy());
        match self {
            TrustError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                call::sudo_again().map(|_| WITH_SUDO.to_owned())
            }
            TrustError::Io { .. } | TrustError::Name { .. } => None,
            TrustError::Owner { path, .. } => Some(format!(
                "name a folder of your own\nrun takt as the owner of {0}, without root's rights\nsudo chown -h \"$(id -un)\" {0}   (if you trust what is in it)",
                shown(path)
            )),
            TrustError::Writable { path, .. } => Some(format!(
                "name a folder that is yours alone\nsudo chmod go-w {}   (if you trust what is in it)",
                shown(path)
            )),
            TrustError::Kind { path, .. } => {
                Some(format!("see what it is: ls -ld {0}\nmove it away: mv {0} {0}.old", shown(path)))
            }
        }
    }

    /// Kind of an error of the system.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            TrustError::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}

/// As what reads settings says it: the system's own error, where there is one.
impl From<TrustError> for io::Error {
    fn from(error: TrustError) -> io::Error {
        match error {
            TrustError::Io { source, .. } => source,
            other => io::Error::new(io::ErrorKind::InvalidInput, other),
        }
    }
}

pub(super) fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> TrustError {
    move |source| TrustError::Io { doing, path: path.to_owned(), source }
}

pub(super) fn expect_kind(about: &Stat, expected: FileType, path: &Path) -> Result<(), TrustError> {
    let found = FileType::from_raw_mode(about.st_mode);
    if found == expected {
        return Ok(());
    }
    Err(TrustError::Kind { path: path.to_owned(), found: word(found), expected: word(expected) })
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "neither a file nor a folder",
    }
}
