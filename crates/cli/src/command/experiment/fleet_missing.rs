//! `takt experiment run --cluster` in a program that was built without clusters.

use std::path::PathBuf;
use std::sync::Arc;

use miette::Result;
use takt_lab::experiment::Point;
use takt_testbed::environment::Nodes;

use crate::command::node;

/// Sections of the help.
pub const EXAMPLES: &str = "\nThis takt lacks the feature `cluster`, which --cluster and node:NAME need.\n";

#[derive(Debug, clap::Args)]
pub struct OnNodes {
    #[arg(long = "cluster", value_name = "DIR", hide = true)]
    folder: Option<PathBuf>,
}

/// There are no nodes here.
///
/// # Errors
/// The points or the flags name some.
pub fn open(flags: &OnNodes, points: &[Point]) -> Result<Option<Arc<dyn Nodes>>> {
    if flags.folder.is_some() || points.iter().any(|point| point.place.environment.node.is_some()) {
        return Err(node::missing().into());
    }
    Ok(None)
}
