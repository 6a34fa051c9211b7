//! `takt rate`: to be written by its owner.

use crate::answer::Answer;
use crate::output::Output;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Not built yet: this file is replaced as a whole.
pub fn run(_args: Args, _output: &Output) -> miette::Result<Answer> {
    Err(crate::story::Story::new("takt rate is not built yet").into())
}
