//! `takt node`: this machine as a member of a cluster.

mod certificates;
mod join;
mod list;
pub mod watch;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use miette::Result;
use takt_cluster::manager::Present;
use takt_cluster::message::NodeFacts;
use takt_cluster::{ClusterError, Folder, Manager};

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  takt node certificates --out cluster --listen quic/10.0.0.1:7447 a   a folder to copy there
  takt node --folder cluster/a --cores 0,1            on machine a, until Ctrl-C
  takt node list --folder cluster/a
  takt run waveforms/utran.toml --cluster cluster/a --slots 1000

Exit status: 0 done, 2 the command failed."
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    join: join::Join,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a folder for each node: its certificate, its key, its settings.
    Certificates(certificates::Args),
    /// List the nodes, what they offer, and what runs on them.
    List(list::Args),
    /// Manage a waveform whose `takt run` is gone.
    Watch(watch::Args),
}

/// Folder of this machine's part of a cluster.
#[derive(Debug, clap::Args)]
struct Place {
    /// Folder of this machine, from `takt node certificates`.
    #[arg(long, value_name = "DIR", default_value = "/etc/takt/cluster")]
    folder: PathBuf,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    match args.command {
        None => join::run(args.join, output),
        Some(Command::Certificates(args)) => certificates::run(args, output),
        Some(Command::List(args)) => list::run(&args, output),
        Some(Command::Watch(args)) => watch::run(&args, output),
    }
}

/// A manager of the cluster of a folder.
pub fn manager(folder: &Path) -> Result<Manager> {
    let folder = Folder::read(folder).map_err(|error| problem("join the cluster", error))?;
    Ok(Manager::open(&folder).map_err(|error| problem("join the cluster", error))?)
}

/// The nodes that can be used; the others are named on standard error.
pub fn usable(present: Present, output: &Output) -> Vec<NodeFacts> {
    present.left_out.iter().for_each(|why| output.note(format!("left out  {why}")));
    present.nodes
}

/// `what` could not be done between nodes.
pub fn problem(what: &str, error: ClusterError) -> Problem {
    let fix = error.fix();
    let problem = Problem::new(format!("can't {what}")).why(error);
    match fix {
        Some(fix) => problem.fix(fix),
        None => problem,
    }
}
