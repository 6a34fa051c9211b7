//! Environments on other machines: nodes of a cluster. Only the feature `cluster` brings some.

use std::fmt;

use serde::{Deserialize, Serialize};
use takt_graph::limits::is_name;
use takt_host::fingerprint::Fingerprint;

use super::{Environment, EnvironmentError, Native};

/// Speaks with nodes of a cluster.
pub trait Nodes: fmt::Debug + Send + Sync {
    /// The environment on a node; nothing is started yet. `cores`: how many cores it is to ask for; `None`: all that are free.
    ///
    /// # Errors
    /// The node is not there, or is no place for an agent of this takt.
    fn environment(
        &self,
        node: &str,
        cores: Option<u32>,
        native: Native,
    ) -> Result<Box<dyn Environment>, EnvironmentError>;
}

/// The machine that a node is, in its own words: the one on which a figure was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub node: String,
    /// The cores that were granted there.
    pub cores: Vec<usize>,
    pub fingerprint: Fingerprint,
}

/// The node that an environment's name names: `a` of `node:a`.
#[must_use]
pub fn node_of(environment: &str) -> Option<&str> {
    environment.strip_prefix("node:").filter(|node| is_name(node))
}
