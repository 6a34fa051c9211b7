//! Leftovers of a killed run, and how they are found and removed.
//!
//! A run writes into a record of its own what it is about to create, *before* it creates it. The record stays locked
//! (`flock`) while the run lives; the kernel drops the lock when the process ends, however it ends, so neither a reused
//! process number nor another process namespace can make a dead run look alive. [`Registry::clean`] ([`cleaning`](crate::cleaning)) takes records that
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

mod card;
mod program;
mod record;

use std::path::PathBuf;

pub use card::{Change, Channels};
pub(crate) use program::{Program, executable};
pub(crate) use record::{Contents, MARK, lock_folder, parse};
pub use record::{Registration, Run};

use serde::{Deserialize, Serialize};

use crate::call::{self, WITH_SUDO};
use crate::dirs;
use crate::namespace::{self, NamespaceError};
use crate::trusted::{Trust, TrustError, TrustedDir};

/// Something that outlives the process that made it. Names are of takt's own: they start with `takt-`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Leftover {
    /// A network namespace with a name under `/run/netns`, and the interfaces in it.
    NetworkNamespace { name: String },
    /// A folder of files that only a run needs, below [`dirs::scratch_dir`].
    Scratch { name: String },
    /// A control group at the top of each hierarchy, as a container runtime makes it.
    ControlGroup { name: String },
    /// A control group of takt's own that holds others' processes: they are moved back, not ended.
    Borrowed {
        name: String,
        /// The group below it that holds them; `None`: itself.
        room: Option<u32>,
        controller: String,
        from: String,
    },
    /// The load balancer of the root cpuset (version 1), which was on.
    LoadBalancer,
    /// A socket on which nobody listens, in the folder of running processes. It needs no record: a connection is refused.
    Socket { name: String },
    /// A process that cannot carry a mark. To be recorded right after it was started, so prefer [`Run::mark`].
    Process {
        pid: u32,
        /// When it began, from `/proc/PID/stat`: the number alone may have been given to another since.
        start_ticks: u64,
    },
    /// A network card that was changed so that datagrams come to a program's queues: it is changed back, not removed.
    Steering {
        interface: String,
        /// The network namespace that has it: [`namespace::own_network`].
        namespace: u64,
        change: Change,
    },
}

impl Leftover {
    /// The name by which a thing is found that others could have made as well.
    fn name(&self) -> Option<&str> {
        match self {
            Leftover::NetworkNamespace { name }
            | Leftover::Scratch { name }
            | Leftover::ControlGroup { name }
            | Leftover::Borrowed { name, .. } => Some(name),
            Leftover::Process { .. } | Leftover::LoadBalancer | Leftover::Socket { .. } | Leftover::Steering { .. } => {
                None
            }
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
            Leftover::Socket { name } => write!(f, "socket {name}"),
            Leftover::Process { pid, .. } => write!(f, "process {pid}"),
            Leftover::Steering { interface, change, .. } => match change {
                Change::Rule { port, queue } => {
                    write!(f, "rule of {interface} that steers UDP port {port} to queue {queue}")
                }
                Change::Table { .. } => write!(f, "change of the indirection table of {interface}"),
                Change::Channels { .. } => write!(f, "change of the number of queues of {interface}"),
            },
        }
    }
}

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
    pub fn begin(&self, what: &str) -> Result<Run, LeftoversError> {
        record::begin(TrustedDir::make(&self.dir, Trust::Own)?, what)
    }

    /// The folder, if there is one. One that is not this user's alone is refused: processes are ended on its word.
    pub(crate) fn found(&self) -> Result<Option<TrustedDir>, LeftoversError> {
        Ok(TrustedDir::find(&self.dir, Trust::Own)?)
    }
}

/// Why leftovers could not be recorded or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeftoversError {
    /// The folder or a record in it is not this user's own.
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    #[error("{doing} run record {path} failed")]
    Record {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A record says what no takt wrote. It is left as it is, and so is what it names.
    #[error("{path} line {line} is not a line of a takt run record")]
    Corrupt {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A name that others may use as well, which `clean` must therefore never remove.
    #[error(
        "`{name}` is not a name that takt makes; those start with takt- and have only letters, digits, `-`, `_` and `.`"
    )]
    Name { name: String },
    #[error("takt can't record program {path} of the run")]
    Program {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error("takt can't remove {what} {path}")]
    Remove {
        /// `folder`, `control group`.
        what: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("takt can't restore the settings of {interface}")]
    Steering {
        interface: String,
        #[source]
        source: std::io::Error,
    },
    #[error("takt can't release the processes that control groups hold")]
    Group(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Processes of dead runs were still being started when `clean` had looked long enough.
    #[error("processes of dead runs still start other processes")]
    Unsettled,
    #[error("takt can't end process {pid}")]
    Process {
        pid: u32,
        #[source]
        source: std::io::Error,
    },
}

impl LeftoversError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> String {
        let again = call::takt("clean");
        match self {
            LeftoversError::Corrupt { path, .. } => {
                format!("look at what it names, remove that by hand, then: rm {}", path.display())
            }
            LeftoversError::Name { .. } => "remove it by hand if it is yours".to_owned(),
            LeftoversError::Unsettled => format!("{again}   (once more: their record is kept)"),
            LeftoversError::Process { pid, source } if source.kind() == std::io::ErrorKind::TimedOut => format!(
                "wait until the kernel lets go of it, as after I/O to a disk that hangs: ps -o stat,wchan= -p {pid}; then: {again}"
            ),
            LeftoversError::Untrusted(error) => {
                error.fix().unwrap_or_else(|| format!("fix what the reason names, then: {again}"))
            }
            _ if call::sudo_again().is_some() => WITH_SUDO.to_owned(),
            _ => format!("fix what the reason names, then: {again}"),
        }
    }
}

/// Refuses a name that is not takt's own.
pub(crate) fn own(name: &str) -> Result<(), LeftoversError> {
    if namespace::is_own_name(name) { Ok(()) } else { Err(LeftoversError::Name { name: name.to_owned() }) }
}
