//! `takt wakeup`: how late is a thread that should wake up once a period?

use std::time::Duration;

use takt_host::policy::PolicyError;
use takt_wakeup::screen;
use takt_wakeup::{WakeupError, WakeupOptions};

use crate::{Answer, Bar, HdrLogArgs, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt wakeup                                         an ordinary thread on every core
  sudo takt wakeup --policy fifo:80 --load 8 --limit 100us
  takt wakeup --timer hybrid --slack 1ns --cores 0,1 --histogram
  takt wakeup --hdr-log wakeup.hlog

Exit status:
  0  measured, and no wake-up was later than --limit
  1  a wake-up was later, or the measurement ended early
  2  the command failed")]
pub struct Args {
    #[command(flatten)]
    options: WakeupOptions,
    /// Show the distribution of the wake-ups' lateness.
    #[arg(long)]
    histogram: bool,
    #[command(flatten)]
    log: HdrLogArgs,
    /// Show all details of the figures.
    #[arg(long)]
    explain: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let measure = |bar: &Bar| takt_wakeup::run(&args.options, &mut |at| bar.show(at.elapsed, at.planned), &stop);
    let outcome = Bar::during(output, measure).map_err(problem)?;
    let lateness = [("lateness", &outcome.lateness_ns)];
    args.log.write("takt wakeup", Duration::from_nanos(outcome.wall_ns), &lateness, output)?;
    let answer = Answer::of(outcome.within_limit.unwrap_or(outcome.complete));
    output.screen(&outcome, || screen::screen(&outcome, args.histogram), args.explain, answer)
}

fn problem(error: WakeupError) -> Problem {
    let what = match &error {
        WakeupError::Policy(PolicyError::Pinned { .. }) => "a thread can't be tied to a CPU and have DEADLINE",
        WakeupError::Policy(_) => "the threads can't have that policy",
        WakeupError::Affinity(_) => "a thread can't have that CPU",
        WakeupError::Idle(_) => "can't keep idle CPUs awake",
        _ => "can't measure wake-ups",
    };
    Problem::caused(what, error, |error| match error {
        WakeupError::Policy(PolicyError::Pinned { .. }) => Some("omit --cores, or --policy fifo:50".to_owned()),
        error => error.fix(),
    })
}
