//! `takt node list`: who is there.

use crate::screen;
use miette::Result;
use takt_cluster::ClusterError;

use super::{Place, manager, problem, usable};
use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  takt node list --folder cluster/a

Exit status:
  0  a node answers
  1  no node answers
  2  the cluster could not be reached")]
pub struct Args {
    #[command(flatten)]
    place: Place,
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let nodes = match manager(&args.place.folder)?.nodes() {
        Ok(present) => usable(present, output),
        Err(ClusterError::Alone { .. }) => Vec::new(),
        Err(error) => return Err(problem("list the nodes", error).into()),
    };
    output.screen(&nodes, || screen::cluster::nodes(&nodes), false, Answer::of(!nodes.is_empty()))
}
