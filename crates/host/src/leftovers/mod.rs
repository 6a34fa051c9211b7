//! What a killed run leaves behind, and how it is found and removed.
//!
//! A run writes into a record of its own what it is about to create, *before* it creates it. The record stays locked
//! (`flock`) while the run lives; the kernel drops the lock when the process ends, however it ends, so neither a reused
//! process number nor another process namespace can make a dead run look alive. [`Registry::clean`] takes records that
//! nobody holds, removes what they name, and then the record.
//!
//! Child processes need no record each: [`Run::mark`] gives a variable for their environment, which their children inherit, and
//! [`Run::starts`] records the programs that they execute. `clean` ends every process that has both of a dead run.
//!
//! ```
//! use takt_host::leftovers::{Leftover, Registry};
//! # let dir = tempfile::tempdir()?;
//! # let registry = Registry::at(dir.path());
//! // let registry = Registry::system();
//! let run = registry.begin("check")?;
//! let namespace = run.will_create(Leftover::NetworkNamespace { name: run.name("host") })?;
//! // ... create it, use it, remove it ...
//! namespace.released()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Never touched: anything that no dead run's record names, whatever it is called, and processes of other programs, whatever
//! they have inherited. Records live in memory-backed `/run`, as do the things they name: a reboot ends both, so nothing is
//! synced to a disk.

mod clean;
mod process;
mod record;
mod remove;

use std::path::PathBuf;

pub use clean::{Cleaned, Removed};
pub use record::{Registration, Run};
pub use remove::{remove_control_group, remove_scratch};

use serde::{Deserialize, Serialize};

use crate::cgroup::GroupError;
use crate::dirs::{self, DirError};
use crate::namespace::NamespaceError;

/// Something that outlives the process that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Leftover {
    /// A named network namespace, with the interfaces in it.
    NetworkNamespace {
        /// As under `/run/netns`; starts with `takt-`.
        name: String,
    },
    /// A folder of files that only a run needs, below [`dirs::scratch_dir`].
    Scratch {
        /// Its name there; starts with `takt-`.
        name: String,
    },
    /// A control group of that name at the top of each hierarchy, as a container runtime makes it.
    ControlGroup {
        /// Its name; starts with `takt-`.
        name: String,
    },
    /// A control group of takt's own that holds others' processes: they are moved back, not ended.
    Borrowed {
        /// Its name; starts with `takt-`.
        name: String,
        /// The group below it that holds them; `None`: itself.
        room: Option<u32>,
        /// The controller whose tree it is in.
        controller: String,
        /// The group they came from.
        from: String,
    },
    /// The load balancer of the root cpuset (version 1), which was on.
    LoadBalancer,
    /// A process that cannot carry a mark. To be recorded right after it was started, so prefer [`Run::mark`].
    Process {
        /// Its number.
        pid: u32,
        /// When it began, from `/proc/PID/stat`: the number alone may have been given to another since.
        start_ticks: u64,
    },
}

impl Leftover {
    /// What things are found by that others could have named as well.
    fn name(&self) -> Option<&str> {
        match self {
            Leftover::NetworkNamespace { name }
            | Leftover::Scratch { name }
            | Leftover::ControlGroup { name }
            | Leftover::Borrowed { name, .. } => Some(name),
            Leftover::Process { .. } | Leftover::LoadBalancer => None,
        }
    }
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Leftover::NetworkNamespace { name } => write!(f, "network namespace {name}"),
            Leftover::Scratch { name } => write!(f, "folder {name}"),
            Leftover::ControlGroup { name } => write!(f, "control group {name}"),
            Leftover::Borrowed { name, from, .. } => write!(f, "hold of control group {name} on processes of {from}"),
            Leftover::LoadBalancer => write!(f, "halt of the root cpuset's load balancer"),
            Leftover::Process { pid, .. } => write!(f, "process {pid}"),
        }
    }
}

/// Where runs are recorded.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
}

impl Registry {
    /// The registry of this user on this machine: [`dirs::run_dir`].
    #[must_use]
    pub fn system() -> Registry {
        Registry::at(dirs::run_dir())
    }

    /// A registry in a folder of one's own, for tests.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Registry {
        Registry { dir: dir.into() }
    }

    /// Starts a run; `what` is the command, for people.
    ///
    /// # Errors
    /// The folder or the record cannot be made.
    pub fn begin(&self, what: &str) -> Result<Run, LeftoversError> {
        dirs::make(&self.dir)?;
        record::begin(&self.dir, what)
    }

    /// Removes what runs left that are no more; says what was removed, what could not be, and which runs live.
    /// Doing it again finds nothing.
    ///
    /// # Errors
    /// The folder cannot be read. What cannot be removed is in the answer, not an error: the rest is removed.
    pub fn clean(&self) -> Result<Cleaned, LeftoversError> {
        clean::clean(&self.dir)
    }
}

/// Why leftovers could not be recorded or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeftoversError {
    /// The folder of records.
    #[error(transparent)]
    Dir(#[from] DirError),
    /// A record.
    #[error("{doing} run record {path}")]
    Record {
        /// `writing`, `reading`, ...
        doing: &'static str,
        /// The record.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: std::io::Error,
    },
    /// A record says what no takt wrote. It is left as it is, and so is what it names.
    #[error("{path} line {line} is no line of a takt run record")]
    Corrupt {
        /// The record.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A name that others may use as well, which `clean` must therefore never remove.
    #[error(
        "`{name}` is no name of takt's own; those start with takt- and hold letters, digits, `-`, `_` and `.` only"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A program that was about to be started.
    #[error("recording program {path} of the run")]
    Program {
        /// Its file.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: std::io::Error,
    },
    /// A namespace could not be removed.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A folder could not be removed.
    #[error("removing folder {path}")]
    Scratch {
        /// The folder.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: std::io::Error,
    },
    /// A control group could not be removed: something in it lives.
    #[error("removing control group {path}")]
    ControlGroup {
        /// Its folder.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: std::io::Error,
    },
    /// What is held in a control group could not be given back.
    #[error("giving back what control groups hold")]
    Group(#[from] Box<GroupError>),
    /// Processes of dead runs were still being started when `clean` had looked long enough.
    #[error("processes of dead runs still start others")]
    Unsettled,
    /// A process could not be ended.
    #[error("ending process {pid}")]
    Process {
        /// Its number.
        pid: u32,
        /// What the kernel answered.
        #[source]
        source: std::io::Error,
    },
}
