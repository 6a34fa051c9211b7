//! `takt radio`: work on a radio's front end.

mod calibrate;

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
    /// Measure I/Q imbalance and DC offset of an N200's front end, and write UHD's calibration files.
    Calibrate(calibrate::Args),
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    match args.what {
        What::Calibrate(args) => calibrate::run(&args, output),
    }
}
