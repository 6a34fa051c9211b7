//! `takt serve` in a program that was built without the live page.

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
This takt lacks the feature `serve`, which this command needs. To build it in:
  cargo build --release --features serve")]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

pub fn run(_: Args, _: &Output) -> miette::Result<Answer> {
    let problem = Problem::new("this takt was built without the live page");
    let problem = problem.why("a web server is some 40 crates, and off by default");
    Err(problem.fix("cargo build --release --features serve").into())
}
