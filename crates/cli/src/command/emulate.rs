//! `takt emulate`: run software radios until stopped.

use std::net::Ipv4Addr;

use takt_emulator::emulate::{self, Options};

use crate::answer::Answer;
use crate::output::Output;
use crate::signals::stop_on_signal;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which radio.
    #[arg(value_parser = ["n200"])]
    model: String,
    /// Where it listens; repeat for several radios.
    #[arg(long = "addr", value_name = "A", default_value = "127.0.0.1")]
    addrs: Vec<Ipv4Addr>,
}

/// Runs radios until SIGINT or SIGTERM.
pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let options = Options { addrs: args.addrs, ..Options::default() };
    let summary = emulate::run(&options, &mut |addr| output.line(format!("ready {} {addr}", args.model)), &stop)
        .map_err(|e| crate::story::Story::new("emulate").why(e))?;
    output.result(&summary, || format!("{summary:#?}"))?;
    Ok(Answer::Yes)
}
