//! Why an environment could not be had.

use std::io;
use std::path::PathBuf;

use takt_agent::AgentError;
use takt_host::dirs::DirError;
use takt_host::leftovers::LeftoversError;

use crate::net::PathError;

/// Why an environment could not be had. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A limit that no environment of that kind can keep.
    #[error("{limit} {value} is not possible: {allowed}")]
    Limit {
        /// `cpus` or `memory`.
        limit: &'static str,
        /// What was asked for.
        value: String,
        /// What can be asked for.
        allowed: &'static str,
    },
    /// The program that makes it is not installed.
    #[error("no {what} on this machine: looked for {names} in PATH")]
    Missing {
        /// `container runtime`, `QEMU`.
        what: &'static str,
        /// Programs that would do.
        names: String,
        /// What installs one.
        fix: String,
    },
    /// A program is there but can't do it here.
    #[error("{program} does not work on this machine: {why}")]
    Unusable {
        /// The program.
        program: PathBuf,
        /// In its words, or ours.
        why: String,
        /// What mends it.
        fix: String,
    },
    /// There is no kernel for a guest.
    #[error("no kernel for a virtual machine: looked at {looked}")]
    NoKernel {
        /// Files and folders.
        looked: String,
        /// What gets one.
        fix: String,
    },
    /// Making namespaces, control groups and the like is not permitted.
    #[error("{what} needs {capability}, which this process lacks")]
    NotPermitted {
        /// What was to be made.
        what: &'static str,
        /// The capability.
        capability: &'static str,
    },
    /// There is no path into it without a namespace of one's own.
    #[error("a path without namespaces does not lead into a {environment}")]
    NoPathEnd {
        /// `container` or `vm`.
        environment: &'static str,
        /// Whether such a path was asked for; else it is all that is permitted.
        asked: bool,
    },
    /// A file of it.
    #[error("{doing} {path}")]
    File {
        /// What was being done: `writing`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// A program can't be taken into a guest.
    #[error("{path}: {why}")]
    Program {
        /// The program, library or kernel module.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Its folder.
    #[error(transparent)]
    Dir(#[from] DirError),
    /// It could not be registered for clean-up, so it was not made.
    #[error("registering the environment for later clean-up")]
    Leftovers(#[from] LeftoversError),
    /// Its bridge and interfaces.
    #[error("bridge of the environment")]
    Path(#[from] PathError),
    /// The agent in `native`.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The agent inside does not answer; what the environment said last.
    #[error("{program} brought up no agent; it said last:\n{said}")]
    Inside {
        /// The program that was to bring it up.
        program: PathBuf,
        /// Its last lines, or those of the guest's console.
        said: String,
        /// What became of the agent.
        #[source]
        source: AgentError,
    },
}

impl EnvironmentError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            EnvironmentError::Missing { fix, .. }
            | EnvironmentError::Unusable { fix, .. }
            | EnvironmentError::NoKernel { fix, .. } => Some(fix.clone()),
            EnvironmentError::NoPathEnd { asked: true, .. } => Some("any path but loopback".into()),
            EnvironmentError::NotPermitted { .. } | EnvironmentError::NoPathEnd { .. } => PathError::NotPermitted.fix(),
            EnvironmentError::Path(error) => error.fix(),
            _ => None,
        }
    }

    /// Whether it is this machine that lacks something, rather than something having gone wrong: an experiment leaves
    /// such a level out and says so.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        use EnvironmentError::{Missing, NoKernel, NoPathEnd, NotPermitted, Path, Unusable};
        matches!(self, Missing { .. } | Unusable { .. } | NoKernel { .. } | NotPermitted { .. } | NoPathEnd { .. })
            || matches!(self, Path(error) if error.is_unavailable())
    }
}
