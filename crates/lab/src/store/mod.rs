//! The store of everything measured: one `SQLite` file, `takt.db`, in the runs directory (`./takt-runs`).
//!
//! **A finished round is never lost.** A round is written in one transaction, synced before `finish_round` returns;
//! killing the program, or the machine, leaves every round that had finished and nothing of the one that had not. A
//! round is not begun when the disk could not take its record. The file says what it is (application id, schema
//! version); a foreign, damaged or newer file is refused with the way out, never written to.
//!
//! Nothing derived is stored: factors, settings with their defaults, the workload's own result, raw histograms,
//! counters before and after, the host's fingerprint, the versions. Means and verdicts are computed when requested.
//!
//! ```
//! use takt_lab::store::{NewRun, Store};
//! # let dir = tempfile::tempdir().unwrap();
//! let store = Store::open(dir.path())?;
//! let run = store.begin_run(&NewRun { experiment: "check".into(), ..NewRun::default() })?;
//! assert_eq!(Store::open(dir.path())?.runs()?[0].id, run);
//! # Ok::<(), takt_lab::store::StoreError>(())
//! ```

mod csv;
mod document;
mod error;
mod frozen;
mod name;
mod open;
mod owner;
mod read;
mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod types;
mod write;

pub use document::{Document, EXPORT_SCHEMA};
pub use error::StoreError;
pub use open::Store;
pub use owner::{RunLock, run_folder};
pub use table::{Column, ColumnKind, Table};
pub use types::{NewRound, NewRun, PointRow, Record, RoundRow, RoundState, RunRow, merged};
