//! Errors of a store.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;
use takt_host::Host;
use takt_host::call::{self, quoted};
use takt_host::trusted::TrustError;
use takt_host::user::{self, User};

/// Why the store could not be read or written. Carries what is needed to say how to go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory can't be made or entered.
    #[error("takt can't use the runs directory {path}")]
    Directory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file is no `SQLite` file at all, or another program's.
    #[error("{path} is not a store of takt")]
    Foreign { path: PathBuf },
    #[error("{path} is damaged: {detail}")]
    Damaged {
        path: PathBuf,
        /// The first fault that `SQLite`'s check found.
        detail: String,
    },
    /// A later takt wrote it.
    #[error("{path} has schema {found}; this takt knows schemas up to {known}")]
    Newer { path: PathBuf, found: i32, known: i32 },
    /// No room. Everything finished before is safe.
    #[error("the disk is full at {path}: {free_bytes} bytes are free, {needed_bytes} are needed")]
    Full {
        path: PathBuf,
        free_bytes: u64,
        /// Space that a round may need.
        needed_bytes: u64,
    },
    #[error("takt can't write {path}")]
    ReadOnly { path: PathBuf },
    /// A folder or file that may belong to others, or lead to them.
    #[error(transparent)]
    Untrusted(TrustError),
    /// Its name leads to another file than when it was opened.
    #[error("another file replaced {path} while takt opened it")]
    Exchanged { path: PathBuf },
    /// Only a user who may write the store can read rounds that are in its log alone.
    #[error("the last rounds of {path} are still in its log, {path}-wal")]
    Unmerged { path: PathBuf },
    /// Another program wrote the store, or somebody forged it.
    #[error(
        "the store has a run `{id}`, which is not the name of a run; expected: a time and a name, as in 2026-11-21T100412-check"
    )]
    RunName { id: String },
    #[error("{path} belongs to {owner}, but takt runs as {user}")]
    OtherOwner {
        path: PathBuf,
        owner: String,
        user: String,
        /// Command that gives the whole directory to that user.
        fix: String,
    },
    #[error("another takt is using {what}")]
    Busy { what: String },
    #[error("{}", no_run(.requested, .runs, *.like, .there))]
    NoRun {
        requested: String,
        /// The directory of the store.
        runs: PathBuf,
        /// How many runs have the requested text in their names: none, or several.
        like: usize,
        /// These, or the newest ones; at most five.
        there: Vec<String>,
    },
    #[error("takt can't read {what} of round {round}")]
    Document {
        what: &'static str,
        /// The round, 0 for a run's own document.
        round: i64,
        #[source]
        source: serde_json::Error,
    },
    /// Anything else `SQLite` says.
    #[error("takt can't read or write the store {path}")]
    Sqlite {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            StoreError::Directory { path, .. } => {
                format!("choose a directory that can be written: --runs DIR (now {})", path.display())
            }
            StoreError::Foreign { path } => {
                format!(
                    "give --runs DIR, to keep the store elsewhere\nmove {} away if it is not needed",
                    path.display()
                )
            }
            StoreError::Damaged { path, .. } => format!(
                "move it away and continue with a new one: mv {p} {p}.damaged\nrecover what can be read: sqlite3 \
                 {p}.damaged .recover",
                p = path.display()
            ),
            StoreError::Newer { .. } => {
                "use the newer takt that wrote it\ngive --runs DIR, to keep a store of this version elsewhere".into()
            }
            StoreError::Full { path, needed_bytes, .. } => format!(
                "free {} MiB at {} and continue with --resume; all finished rounds are kept",
                needed_bytes.div_ceil(1 << 20),
                path.display()
            ),
            StoreError::ReadOnly { path } => {
                format!("make {} writable, or choose another place with --runs DIR", path.display())
            }
            StoreError::Untrusted(error) => {
                let elsewhere = "give --runs DIR, to keep the store elsewhere".to_owned();
                error.fix().into_iter().chain([elsewhere]).collect::<Vec<_>>().join("\n")
            }
            StoreError::Exchanged { .. } => "give --runs DIR, a directory in which nobody else replaces files".into(),
            StoreError::Unmerged { .. } => format!(
                "read it once as its owner: {}\ncopy all of its directory, and read the copy with --runs DIR",
                call::takt("experiment list")
            ),
            StoreError::RunName { .. } => {
                "do not trust the rest of this store: takt did not write that name\ngive --runs DIR, to read another \
                 store"
                    .into()
            }
            StoreError::OtherOwner { fix, .. } => {
                format!("{fix}   (a run as root made it)\ngive --runs DIR, to keep a store of your own elsewhere")
            }
            StoreError::Busy { .. } => {
                "wait until the other one has ended\ngive --runs DIR, to keep a second store elsewhere".into()
            }
            StoreError::NoRun { runs, there, .. } if there.is_empty() => {
                format!("{}   (makes the first)", call::takt(format_args!("check{}", flag(runs))))
            }
            StoreError::NoRun { runs, there, .. } => format!(
                "give one of: {}\n{}   (lists the runs)",
                there.join(", "),
                call::takt(format_args!("experiment list{}", flag(runs)))
            ),
            StoreError::Document { .. } => "use the version of takt that wrote it".into(),
            StoreError::Sqlite { .. } => return None,
        })
    }

    /// Sorts an answer of `SQLite`.
    pub(super) fn of(path: &Path, source: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode as Code;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(Code::NotADatabase) => StoreError::Foreign { path },
            Some(Code::DatabaseCorrupt) => StoreError::Damaged { path, detail: source.to_string() },
            Some(Code::DiskFull) => StoreError::full(path),
            Some(Code::ReadOnly | Code::PermissionDenied) => StoreError::read_only(path),
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => StoreError::Busy { what: path.display().to_string() },
            // A full disk shows as an I/O error where `SQLite` extends its shared-memory file.
            Some(Code::SystemIoFailure | Code::CannotOpen)
                if free_bytes(&path).is_some_and(|free| free < LOW_BYTES) =>
            {
                StoreError::full(path)
            }
            Some(Code::CannotOpen) => StoreError::read_only(path),
            _ => StoreError::Sqlite { path, source },
        }
    }

    /// Something of the runs directory can't be made or entered.
    pub(super) fn directory(directory: &Path, path: &Path, source: io::Error) -> StoreError {
        let denied = source.kind() == io::ErrorKind::PermissionDenied;
        let other_owner = if denied { other_owner(directory, path) } else { None };
        other_owner.unwrap_or_else(|| StoreError::Directory { path: path.to_owned(), source })
    }

    /// Whether what failed is writing where this user may only read.
    #[must_use]
    pub fn is_only_readable(&self) -> bool {
        match self {
            StoreError::ReadOnly { .. } | StoreError::OtherOwner { .. } => true,
            StoreError::Untrusted(error) => matches!(error, TrustError::Owner { .. } | TrustError::Writable { .. }),
            StoreError::Directory { source, .. } => {
                matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
            }
            _ => false,
        }
    }

    /// As [`directory`](StoreError::directory), where what can't be opened may also be nobody's to open.
    pub(super) fn untrusted(directory: &Path, error: TrustError) -> StoreError {
        match error {
            TrustError::Io { path, source, .. } => StoreError::directory(directory, &path, source),
            other => StoreError::Untrusted(other),
        }
    }

    /// The file can't be opened to be written, or made.
    pub fn unwritable(path: &Path, error: TrustError) -> StoreError {
        match error.kind() {
            Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
                StoreError::read_only(path.to_owned())
            }
            Some(io::ErrorKind::StorageFull) => StoreError::full(path.to_owned()),
            _ => StoreError::untrusted(path.parent().unwrap_or(path), error),
        }
    }

    fn read_only(path: PathBuf) -> StoreError {
        let other_owner = path.parent().and_then(|directory| other_owner(directory, &path));
        other_owner.unwrap_or(StoreError::ReadOnly { path })
    }

    pub(super) fn full(path: PathBuf) -> StoreError {
        let free_bytes = free_bytes(&path).unwrap_or(0);
        StoreError::Full { path, free_bytes, needed_bytes: ROUND_BYTES }
    }
}

fn no_run(requested: &str, runs: &Path, like: usize, there: &[String]) -> String {
    let runs = runs.display();
    match (there, like) {
        ([], _) => format!("there is no run named `{requested}`: {runs} has no run yet"),
        (_, 0) => format!("there is no run named `{requested}` in {runs}"),
        (_, like) => format!("the names of {like} runs in {runs} contain `{requested}`"),
    }
}

/// The flag that names this directory, where it is not the usual one.
fn flag(runs: &Path) -> String {
    if runs == Path::new("takt-runs") {
        return String::new();
    }
    format!(" --runs {}", quoted(&runs.to_string_lossy()))
}

/// That the directory, or what lies in it at `path`, may not be written because it is another user's.
fn other_owner(directory: &Path, path: &Path) -> Option<StoreError> {
    let (host, own) = (Host::this(), User::own());
    let owner = |path: &Path| {
        let denied = rustix::fs::access(path, Access::WRITE_OK) == Err(Errno::ACCESS);
        let uid = fs::metadata(path).ok().filter(|_| denied)?.uid();
        (uid != own.uid).then(|| (path.to_owned(), user::name(&host, uid)))
    };
    let (path, owner) = [directory, path].into_iter().find_map(owner)?;
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let fix = format!("sudo chown -R {} {}", own.as_owner(&host), quoted(&whole.to_string_lossy()));
    Some(StoreError::OtherOwner { path, owner, user: user::name(&host, own.uid), fix })
}

/// Space of one round's record in the file and its log, generously. Histograms of a few thousand buckets and counters
/// are some 100 KiB, and the log holds each page once more.
pub(super) const ROUND_BYTES: u64 = 4 << 20;

/// Below this an I/O error is put down to the disk being full.
const LOW_BYTES: u64 = 64 << 10;

/// Bytes a process without privilege may still write beside `path`.
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let dir = path.parent()?;
    let stat = rustix::fs::statvfs(dir).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
