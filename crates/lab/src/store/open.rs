//! Opening: is it ours, is it sound, is it of our version.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::FromSql;

use super::StoreError;
use super::folder::{give, make_folder};

/// The records of all runs in one directory. Several processes may have it open; each run is written by one.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Store {
    /// Opens the store of `directory`, or makes it.
    ///
    /// # Errors
    /// The directory can't be made; the file is another program's or another user's, damaged, newer, locked by another process, or
    /// the disk is full. Nothing is changed in any of these cases.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        make_folder(directory).map_err(|source| StoreError::directory(directory, directory, source))?;
        let path = directory.join(FILE);
        let new = !path.exists();
        if !looks_like_sqlite(&path).map_err(|source| StoreError::directory(directory, &path, source))? {
            return Err(StoreError::Foreign { path });
        }
        let connection = connect(&path).map_err(|e| StoreError::of(&path, e))?;
        if new {
            // `SQLite` gives the files that it makes beside this one to the same owner.
            give(&path);
        }
        let store = Store { connection, path };
        store.identify()?;
        store.configure().map_err(|e| store.error(e))?;
        store.migrate()?;
        store.check()?;
        Ok(store)
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
        self.connection.pragma_update(None, "foreign_keys", true)
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

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

/// A missing or empty file is a store about to be; `SQLite` itself would overwrite a short foreign one.
fn looks_like_sqlite(path: &Path) -> std::io::Result<bool> {
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut head = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head.is_empty() || head == MAGIC)
}

fn known_version() -> i32 {
    MIGRATIONS.len() as i32
}

/// Name of the file in the runs directory.
const FILE: &str = "takt.db";

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
