//! `takt experiment run --cluster`: environments on the nodes of a cluster.

use std::path::PathBuf;
use std::sync::Arc;

use miette::Result;
use takt_lab::experiment::Point;
use takt_testbed::environment::{Fleet, Nodes};

use crate::command::node;

/// Sections of the help.
pub const EXAMPLES: &str =
    "  takt experiment run fleet.toml --cluster cluster/a   in the environments native and node:a\n";

#[derive(Debug, clap::Args)]
pub struct OnNodes {
    /// Cluster with the environments node:NAME. DIR is a folder from `takt node certificates`.
    #[arg(long = "cluster", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Connection to the nodes that these points name; `None`: they name none, or there is no cluster, which is for the lab
/// to refuse.
///
/// # Errors
/// The folder is none; a node is not there, or has another takt.
pub fn open(flags: &OnNodes, points: &[Point]) -> Result<Option<Arc<dyn Nodes>>> {
    let mut names: Vec<&str> = points.iter().filter_map(|point| point.place.environment.node.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    let Some(folder) = flags.folder.as_deref().filter(|_| !names.is_empty()) else { return Ok(None) };
    let fleet = Fleet::find(node::manager(folder)?, &names);
    Ok(Some(Arc::new(fleet.map_err(|error| node::problem("measure on the cluster", error))?)))
}
