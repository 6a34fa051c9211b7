//! `takt agent`: the lab's hands inside an environment.

use std::io::{BufReader, stdin, stdout};
use std::path::PathBuf;

use miette::{IntoDiagnostic, Result};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::{Answer, Output};

/// Speaks JSON lines over standard input and output. Ends when its input ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Network namespace to work in, as a file: /run/netns/NAME.
    #[arg(long, value_name = "FILE")]
    netns: Option<PathBuf>,

    /// Cores to stay on.
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<usize>,

    /// End only when the input ends, not with the program that started it: that was a container runtime.
    #[arg(long)]
    outlive_parent: bool,

    /// Do only what a lab on another machine may order here. A node of a cluster has lent this agent.
    #[arg(long)]
    lent: bool,

    /// Memory limit in MiB. A request that needs more is refused, or ends the agent.
    #[arg(long, value_name = "MIB")]
    memory: Option<u32>,

    /// Run as the first process of a guest, as this file says.
    #[arg(long, value_name = "FILE", hide = true)]
    guest: Option<PathBuf>,
}

pub fn run(args: Args, _output: &Output) -> Result<Answer> {
    if let Some(file) = &args.guest {
        takt_testbed::environment::serve_guest(file, takt_testbed::serve).into_diagnostic()?;
        return Ok(Answer::Yes);
    }
    // The end of the input ends it as well, but a thread that spins at real-time priority could keep that from being
    // noticed. A parent that has died before this line has closed the input.
    if !args.outlive_parent {
        set_parent_process_death_signal(Some(Signal::KILL)).into_diagnostic()?;
    }
    // Before any thread exists, so that all of them are born there.
    if let Some(namespace) = &args.netns {
        takt_host::namespace::enter_network(namespace).into_diagnostic()?;
    }
    if !args.cores.is_empty() {
        takt_host::affinity::pin_self(&args.cores).into_diagnostic()?;
    }
    if let Some(mib) = args.memory {
        takt_host::memory::limit_own(u64::from(mib) << 20).into_diagnostic()?;
    }
    let abandon = || std::process::exit(2);
    let input = BufReader::new(stdin());
    match args.lent {
        true => takt_testbed::serve_lent(input, stdout(), abandon),
        false => takt_testbed::serve(input, stdout(), abandon),
    }
    .into_diagnostic()?;
    Ok(Answer::Yes)
}
