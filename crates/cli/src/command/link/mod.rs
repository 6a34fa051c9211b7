//! `takt link`: a base station and a terminal of LTE that carry IP.

mod carrier;
mod demo;
mod end;

use clap::Subcommand;
use miette::Result;

use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run both ends and the air between them: attach, ping, send a load each way.
    Demo(demo::Args),
    /// Run a base station on a radio, with an interface of this host.
    Enb(end::StationArgs),
    /// Run a terminal on a radio, with an interface of this host.
    Ue(end::TerminalArgs),
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    match args.what {
        What::Demo(args) => demo::run(&args, output),
        What::Enb(args) => end::run_station(args, output),
        What::Ue(args) => end::run_terminal(args, output),
    }
}
