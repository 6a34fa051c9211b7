//! `takt node` in a program that was built without clusters.

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
This takt lacks the feature `cluster`, which this command needs. To build it in:
  cargo build --release --features cluster")]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

pub fn run(_: Args, _: &Output) -> miette::Result<Answer> {
    Err(missing().into())
}

/// This program has no clusters.
pub fn missing() -> Problem {
    Problem::new("this takt was built without clusters")
        .why("Zenoh and QUIC are some 300 crates, and off by default")
        .fix("cargo build --release --features cluster")
}
