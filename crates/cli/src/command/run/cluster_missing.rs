//! `takt run --cluster` in a program that was built without clusters.

use std::path::PathBuf;

use miette::Result;

use crate::command::node;
use crate::{Answer, Output};

/// Sections of the help.
pub const EXAMPLES: &str = "\nThis takt lacks the feature `cluster`, which --cluster needs.\n";

#[derive(Debug, clap::Args)]
pub struct OnCluster {
    #[arg(long = "cluster", value_name = "DIR", hide = true)]
    folder: Option<PathBuf>,
}

impl OnCluster {
    pub fn is_wanted(&self) -> bool {
        self.folder.is_some()
    }
}

pub fn run(_: &super::Args, _: &Output) -> Result<Answer> {
    Err(node::missing().into())
}
