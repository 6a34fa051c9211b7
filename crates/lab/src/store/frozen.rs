//! A store that this user may not write, as it is at one moment.
//!
//! `SQLite` locks a store in WAL mode by writing beside it. If takt may not do that, it tells `SQLite` that the file
//! never changes, and looks itself whether it did.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use takt_host::trusted::TrustedDir;

use super::StoreError;
use super::open::{FILE, SHM, WAL, connect};

#[derive(Debug)]
pub(super) struct Frozen {
    runs: TrustedDir,
    /// Size and time of the last change; `None` of a store with a log, which has locks.
    seen: Option<Seen>,
}

type Seen = (u64, std::time::SystemTime);

impl Frozen {
    /// # Errors
    /// Its last rounds are in the log alone, without the index by which others read it.
    pub(super) fn of(runs: TrustedDir, path: &Path) -> Result<Frozen, StoreError> {
        if !has_log(&runs, path)? {
            let seen = Some(seen(&runs, path)?);
            return Ok(Frozen { runs, seen });
        }
        let failed = |error| StoreError::untrusted(path, error);
        let is_believed = TrustedDir::open(runs.path(), takt_host::trusted::Trust::Operator).is_ok();
        if is_believed && runs.file_bytes(SHM).map_err(failed)?.is_some() {
            return Ok(Frozen { runs, seen: None });
        }
        Err(StoreError::Unmerged { path: path.to_owned() })
    }

    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        if self.seen.is_none() {
            return connect(&self.runs, OpenFlags::SQLITE_OPEN_READ_ONLY);
        }
        // The path is of digits and takt's own names: nothing in it means anything in a URI.
        let uri = format!("file:{}?immutable=1", self.runs.by_descriptor().join(FILE).display());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(uri, flags)
    }

    pub(super) fn expect_unchanged(&self, path: &Path) -> Result<(), StoreError> {
        match self.seen {
            Some(before) if has_log(&self.runs, path)? || seen(&self.runs, path)? != before => {
                Err(StoreError::Busy { what: path.display().to_string() })
            }
            _ => Ok(()),
        }
    }
}

fn has_log(runs: &TrustedDir, path: &Path) -> Result<bool, StoreError> {
    let bytes = runs.file_bytes(WAL).map_err(|error| StoreError::untrusted(path, error))?;
    Ok(bytes.is_some_and(|bytes| bytes > 0))
}

fn seen(runs: &TrustedDir, path: &Path) -> Result<Seen, StoreError> {
    let file = runs.file(FILE).map_err(|error| StoreError::untrusted(path, error))?;
    let about = file.ok_or_else(|| StoreError::Exchanged { path: path.to_owned() })?.metadata();
    let seen = about.and_then(|about| Ok((about.len(), about.modified()?)));
    seen.map_err(|source| StoreError::directory(path, path, source))
}
