//! Opening: is it ours, is it sound, is it of our version.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags};
use takt_host::trusted::{Trust, TrustError, TrustedDir};

use super::StoreError;
use super::frozen::Frozen;

/// The records of all runs in one directory. Several processes may have it open; each run is written by one.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// `None` of a store that is only read.
    folder: Option<TrustedDir>,
    /// State of a file that is read without being locked.
    frozen: Option<Frozen>,
}

impl Store {
    /// Opens the store of `directory`, or makes it.
    ///
    /// `SQLite` knows files by their paths alone. So the directory is verified first, `takt.db` and what `SQLite` keeps beside it
    /// are found to be regular files or nothing, and `SQLite` gets the path to which the verified descriptor leads: it follows no
    /// link in its last name (`O_NOFOLLOW`) and makes no `takt.db` itself. Then that path must still lead to the same file.
    /// For root nobody but root and the user behind `sudo` may write a folder on that path, so only they could exchange one in
    /// between; they would gain a database beside others of theirs. Other users can lose only what they may write themselves.
    ///
    /// # Errors
    /// The directory can't be made; the file is another program's or another user's, damaged, newer, locked by another process, or
    /// the disk is full. For root: others may write the directory. Nothing is changed in any of these cases.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join(FILE);
        let untrusted = |error| StoreError::untrusted(directory, error);
        let runs = TrustedDir::make(directory, Trust::Operator).map_err(untrusted)?;
        let mut file = runs.kept(FILE).map_err(|error| StoreError::unwritable(&path, error))?;
        if !looks_like_sqlite(&mut file).map_err(|source| StoreError::directory(directory, &path, source))? {
            return Err(StoreError::Foreign { path });
        }
        expect_files_beside(&runs).map_err(untrusted)?;
        let about = file.metadata().map_err(|source| StoreError::directory(directory, &path, source))?;
        // Closing it later would end the locks that `SQLite` has on it: POSIX locks belong to the process.
        drop(file);
        // `SQLite` gives the files that it makes beside this one to the same owner.
        let connection = connect(&runs, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|e| StoreError::of(&path, e))?;
        let opened = fs::read_link(runs.by_descriptor()).and_then(|real| fs::symlink_metadata(real.join(FILE)));
        if !opened.is_ok_and(|opened| (opened.dev(), opened.ino()) == (about.dev(), about.ino())) {
            return Err(StoreError::Exchanged { path });
        }
        let store = Store { connection, path, folder: Some(runs), frozen: None };
        store.identify()?;
        store.configure().map_err(|e| store.error(e))?;
        store.migrate()?;
        store.check()?;
        Ok(store)
    }

    /// Opens the store of `directory` to read it, which takes no right to write there. Nothing is made where there is none: a store
    /// that is not there has no runs.
    ///
    /// # Errors
    /// As [`open`](Store::open). A store that this user may not write, and whose last rounds are still in `SQLite`'s log, can't be
    /// read: only who may write it can put them in their place.
    pub fn read(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join(FILE);
        let untrusted = |error| StoreError::untrusted(directory, error);
        let Some(runs) = TrustedDir::find(directory, Trust::Anyone).map_err(untrusted)? else {
            return Store::without_runs(path);
        };
        let Some(mut file) = runs.file(FILE).map_err(untrusted)? else { return Store::without_runs(path) };
        if !looks_like_sqlite(&mut file).map_err(|source| StoreError::directory(directory, &path, source))? {
            return Err(StoreError::Foreign { path });
        }
        expect_files_beside(&runs).map_err(untrusted)?;
        drop(file);
        if may_write(&runs) && TrustedDir::open(directory, Trust::Operator).is_ok() {
            return Store::open(directory);
        }
        let frozen = Frozen::of(runs, &path)?;
        let connection = frozen.connect().map_err(|e| StoreError::of(&path, e))?;
        let store = Store { connection, path, folder: None, frozen: Some(frozen) };
        store.identify()?;
        match store.pragma("user_version")? {
            0 => return Store::without_runs(store.path),
            version if version < known_version() => return Err(StoreError::ReadOnly { path: store.path }),
            _ => {}
        }
        store.distrust_schema().map_err(|e| store.error(e))?;
        store.check()?;
        Ok(store)
    }

    fn without_runs(path: PathBuf) -> Result<Store, StoreError> {
        let connection = Connection::open_in_memory().map_err(|e| StoreError::of(&path, e))?;
        let store = Store { connection, path, folder: None, frozen: None };
        store.migrate()?;
        Ok(store)
    }

    /// The directory, to write in it.
    pub(super) fn folder(&self) -> Result<&TrustedDir, StoreError> {
        self.folder.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })
    }

    /// After something was read: that nobody wrote meanwhile, where no lock says so.
    pub(super) fn expect_unchanged(&self) -> Result<(), StoreError> {
        self.frozen.as_ref().map_or(Ok(()), |frozen| frozen.expect_unchanged(&self.path))
    }

    /// The directory it was opened in, where a run's report goes: `DIR/RUN/report.html`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, source)
    }

    /// Ours or new, and not from the future; only reads.
    fn identify(&self) -> Result<(), StoreError> {
        let id = self.pragma("application_id")?;
        let version = self.pragma("user_version")?;
        let tables: i64 = self.query("SELECT count(*) FROM sqlite_schema")?;
        let new = id == 0 && version == 0 && tables == 0;
        if !new && id != APPLICATION_ID {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        if version > known_version() {
            return Err(StoreError::Newer { path: self.path.clone(), found: version, known: known_version() });
        }
        Ok(())
    }

    fn pragma(&self, name: &str) -> Result<i32, StoreError> {
        self.connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|e| self.error(e))
    }

    fn query<T: FromSql>(&self, sql: &str) -> Result<T, StoreError> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|e| self.error(e))
    }

    /// FULL in WAL mode syncs the log at each commit: a commit that returned survives a power cut. Rounds take seconds,
    /// a sync milliseconds.
    fn configure(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        self.distrust_schema()
    }

    /// Views and triggers of a store that came from somebody else do nothing but read and write its tables.
    fn distrust_schema(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "trusted_schema", false)
    }

    /// Brings an older file to this version, all steps or none.
    fn migrate(&self) -> Result<(), StoreError> {
        if self.pragma("user_version")? == known_version() {
            return Ok(());
        }
        self.in_transaction(|t| {
            // Read again inside: another process may have migrated while this one waited for the lock.
            let done: i32 = t.pragma_query_value(None, "user_version", |row| row.get(0))?;
            for step in MIGRATIONS.iter().skip(usize::try_from(done).unwrap_or(0)) {
                t.execute_batch(step)?;
            }
            t.pragma_update(None, "application_id", APPLICATION_ID)?;
            t.pragma_update(None, "user_version", known_version().max(done))
        })
    }

    fn check(&self) -> Result<(), StoreError> {
        let found: String = self.query("PRAGMA quick_check(1)")?;
        if found == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: self.path.clone(), detail: found }) }
    }
}

pub(super) fn connect(runs: &TrustedDir, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let path = runs.by_descriptor().join(FILE);
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

/// Fails if anything but regular files has the names that `SQLite` would open beside the file.
fn expect_files_beside(runs: &TrustedDir) -> Result<(), TrustError> {
    [WAL, SHM, "takt.db-journal"].into_iter().try_for_each(|name| runs.file_bytes(name).map(|_bytes| ()))
}

fn may_write(runs: &TrustedDir) -> bool {
    use rustix::fs::{Access, access};
    let may = |path: PathBuf| access(path, Access::WRITE_OK).is_ok();
    may(runs.by_descriptor()) && may(runs.by_descriptor().join(FILE))
}

/// An empty file is a store about to be; `SQLite` itself would overwrite a short foreign one.
fn looks_like_sqlite(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head.is_empty() || head == MAGIC)
}

fn known_version() -> i32 {
    MIGRATIONS.len() as i32
}

/// Name of the file in the runs directory.
pub(super) const FILE: &str = "takt.db";

/// `SQLite` keeps these beside it in WAL mode: the log of what is not in the file yet, and its index.
pub(super) const WAL: &str = "takt.db-wal";
pub(super) const SHM: &str = "takt.db-shm";

/// "takt" in ASCII, at offset 68 of the file; `file(1)` shows it.
const APPLICATION_ID: i32 = 0x7461_6b74;

/// First bytes of every `SQLite` file (its file format, section 1.3).
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Step n brings schema version n to n + 1. Steps that were released are never edited.
const MIGRATIONS: &[&str] = &["
CREATE TABLE runs (
    id            TEXT PRIMARY KEY,
    experiment    TEXT NOT NULL,
    file          TEXT NOT NULL,
    depth         TEXT NOT NULL,
    seed          INTEGER NOT NULL,
    options       TEXT NOT NULL,
    host          TEXT NOT NULL,
    takt_version  TEXT NOT NULL,
    started       TEXT NOT NULL,
    finished      TEXT
) STRICT;
CREATE TABLE points (
    run           TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    point         INTEGER NOT NULL,
    part          TEXT NOT NULL,
    factors       TEXT NOT NULL,
    PRIMARY KEY (run, point)
) STRICT;
CREATE TABLE rounds (
    id            INTEGER PRIMARY KEY,
    run           TEXT NOT NULL,
    point         INTEGER NOT NULL,
    block         INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    state         TEXT NOT NULL,
    why           TEXT,
    started       TEXT NOT NULL,
    took_s        REAL NOT NULL,
    FOREIGN KEY (run, point) REFERENCES points (run, point) ON DELETE CASCADE,
    UNIQUE (run, point, block, attempt)
) STRICT;
CREATE TABLE records (
    round         INTEGER PRIMARY KEY REFERENCES rounds (id) ON DELETE CASCADE,
    settings      TEXT NOT NULL,
    result        TEXT NOT NULL,
    before        TEXT NOT NULL,
    after         TEXT NOT NULL,
    in_force      TEXT NOT NULL,
    emulator      TEXT NOT NULL,
    machine       TEXT NOT NULL
) STRICT;
"];
