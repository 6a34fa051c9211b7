//! `takt component`: what components there are, and one of them on files.

mod list;
mod ports;
mod run;

use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt component list
  takt component list awgn
  takt component run bpsk-modulate --in bits.u8 --out samples.i16")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the components, or describe one: ports, parameters, units, ranges, defaults.
    List(list::Args),
    /// Run one component on files or on standard input.
    Run(run::Args),
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    match args.command {
        Command::List(args) => list::run(&args, output),
        Command::Run(args) => run::run(&args, output),
    }
}
