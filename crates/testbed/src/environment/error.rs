//! Why an environment could not be had.

use std::io;
use std::path::{self, PathBuf};

use takt_agent::AgentError;
use takt_host::leftovers::LeftoversError;
use takt_host::trusted::TrustError;

use crate::net::PathError;

/// Why an environment could not be had. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// `limit` is `cpus` or `memory`.
    #[error("{limit} {value} is not possible: {allowed}")]
    Limit { limit: &'static str, value: String, allowed: &'static str },
    #[error("this machine has no {what}; takt looked for {names} in PATH")]
    Missing { what: &'static str, names: String, fix: String },
    #[error("{program} does not work on this machine: {why}")]
    Unusable { program: PathBuf, why: String, fix: String },
    #[error("takt finds no kernel for a virtual machine; it looked at {looked}")]
    NoKernel { looked: String, fix: String },
    #[error("this machine has no takt for {processor} CPUs; takt looked for {looked}")]
    NoTakt { processor: &'static str, looked: String, fix: String },
    #[error("{what} needs {capability}, which this process lacks")]
    NotPermitted { what: &'static str, capability: &'static str },
    /// `requested`: such a path was requested; else it is all that is permitted.
    #[error("a path without namespaces can't reach a {environment}")]
    NoPathEnd { environment: String, requested: bool },
    #[error("no path of this machine can reach {environment}")]
    Elsewhere { environment: String },
    #[error("{environment} can't hold a second node: there is only one of it at a time")]
    NoSecond { environment: String },
    #[error("{environment} can't hold several programs: there is only one of it at a time")]
    OneProgram { environment: String },
    #[error("node {node} belongs to a cluster, but no cluster is named")]
    NoCluster { node: String },
    /// The connection to the nodes says why.
    #[error("{why}")]
    Node { why: String, fix: Option<String> },
    #[error("{doing} {path} failed")]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the virtual machine can't use {path}: {why}")]
    Program { path: PathBuf, why: String },
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    /// It could not be registered for clean-up, so it was not made.
    #[error("takt can't register the environment for later clean-up")]
    Leftovers(#[from] LeftoversError),
    #[error("takt can't make the bridge of the environment")]
    Path(#[from] PathError),
    /// The agent in `native`.
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("{program} brought up no agent; its last output:\n{output}")]
    Inside { program: PathBuf, output: String, source: AgentError },
}

impl EnvironmentError {
    /// For `map_err`: what was being done (`writing`), and to which file.
    pub(super) fn file(doing: &'static str, path: &path::Path) -> impl Fn(io::Error) -> EnvironmentError {
        move |source| EnvironmentError::File { doing, path: path.to_owned(), source }
    }

    /// `path`: a program, library or kernel module.
    pub(super) fn program(path: &path::Path, why: impl Into<String>) -> EnvironmentError {
        EnvironmentError::Program { path: path.to_owned(), why: why.into() }
    }

    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            EnvironmentError::Missing { fix, .. }
            | EnvironmentError::Unusable { fix, .. }
            | EnvironmentError::NoKernel { fix, .. }
            | EnvironmentError::NoTakt { fix, .. } => Some(fix.clone()),
            EnvironmentError::Node { fix, .. } => fix.clone(),
            EnvironmentError::Elsewhere { .. } => {
                Some("give --addr with the address of a radio that the node reaches\nset path = \"loopback\"".into())
            }
            EnvironmentError::NoSecond { .. } => Some("set second_node = \"native\"".into()),
            EnvironmentError::OneProgram { .. } => Some("set environment = \"native\", \"container\" or \"vm\"".into()),
            EnvironmentError::NoCluster { .. } => Some("give --cluster with the folder of a member".into()),
            EnvironmentError::NoPathEnd { requested: true, .. } => Some("use any path except loopback".into()),
            EnvironmentError::NotPermitted { .. } | EnvironmentError::NoPathEnd { .. } => PathError::NotPermitted.fix(),
            EnvironmentError::Path(error) => error.fix(),
            EnvironmentError::Untrusted(error) => error.fix(),
            EnvironmentError::Leftovers(error) => Some(error.fix()),
            _ => None,
        }
    }

    /// Whether it is this machine that lacks something, rather than something having gone wrong: an experiment leaves
    /// such a level out and says so.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        use EnvironmentError::{Missing, NoKernel, NoPathEnd, NoTakt, NotPermitted, Path, Unusable};
        matches!(self, Missing { .. } | Unusable { .. } | NoKernel { .. } | NoTakt { .. })
            || matches!(self, NotPermitted { .. } | NoPathEnd { .. })
            || matches!(self, Path(error) if error.is_unavailable())
    }
}
