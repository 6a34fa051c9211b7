//! `takt wakeup`: how late is a thread that should wake up once a period?

use std::time::Duration;

use takt_base::parse_duration;
use takt_host::idle::Idle;
use takt_host::policy::{PolicyError, PolicySpec};
use takt_host::timer::Method;
use takt_load::wakeup::{self, Options, WakeupError};
use takt_report::screen;

use crate::{Answer, Bar, Output, Problem, stop_on_signal};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt wakeup                                         as an ordinary thread, on every CPU
  sudo takt wakeup --policy fifo:80 --load 8 --limit 100us
  takt wakeup --timer hybrid --slack 1ns --cores 0,1 --histogram

Exit status: 0 measured, and no tick was later than --limit; 1 one was, or it was ended early; 2 it could not \
be measured.")]
pub struct Args {
    /// How long it is measured.
    #[arg(long, short = 'D', value_name = "T", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// How long the threads beat before that.
    #[arg(long, value_name = "T", default_value = "200ms", value_parser = parse_duration)]
    warm_up: Duration,
    /// From one tick to the next.
    #[arg(long, short = 'i', value_name = "T", default_value = "1ms", value_parser = parse_duration)]
    interval: Duration,
    /// Scheduling of the threads: other, other:NICE, fifo:50, rr:50, or deadline:RUNTIME.
    #[arg(long, value_name = "P", default_value = "other")]
    policy: PolicySpec,
    /// How they wait: nanosleep, timerfd, hybrid (sleeps, then spins; hybrid:50us says how long) or spin.
    #[arg(long, value_name = "M", default_value = "nanosleep")]
    timer: Method,
    /// Let their sleeps end at the ticks of a clock of N Hz, as on a kernel with that CONFIG_HZ.
    #[arg(long, value_name = "N")]
    tick_hz: Option<u32>,
    /// Timer slack of the threads; those of a real-time policy have none.
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    slack: Option<Duration>,
    /// What CPUs do between two ticks: sleep, or poll (holds /dev/cpu_dma_latency at 0 meanwhile).
    #[arg(long, value_name = "HOW", default_value = "sleep")]
    idle: Idle,
    /// One thread on each of these CPUs, tied to it; without it one on every CPU.
    #[arg(long, short = 'a', value_name = "N,N", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Busy loops of ordinary policy beside them, on the same CPUs; at most 256.
    #[arg(long, value_name = "N", default_value = "0")]
    load: u32,
    /// The latest that a tick may be; the answer is no if one was later.
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    limit: Option<Duration>,
    /// Say how many ticks were how late.
    #[arg(long)]
    histogram: bool,
    /// Say all that there is to know about the figures.
    #[arg(long)]
    explain: bool,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            duration: self.duration,
            warm_up: self.warm_up,
            interval: self.interval,
            policy: self.policy,
            timer: self.timer,
            tick_hz: self.tick_hz,
            slack: self.slack,
            idle: self.idle,
            cores: self.cores.clone(),
            load: self.load,
            limit: self.limit,
        }
    }
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let measure = |bar: &Bar| wakeup::run(&args.options(), &mut |at| bar.show(at.elapsed, at.planned), &stop);
    let outcome = Bar::during(output, measure).map_err(problem)?;
    let answer = Answer::of(outcome.within_limit.unwrap_or(outcome.complete));
    output.screen(&outcome, || screen::wakeup::screen(&outcome, args.histogram), args.explain, answer)
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
        WakeupError::Policy(PolicyError::Pinned { .. }) => Some("leave --cores away, or --policy fifo:50".to_owned()),
        error => error.fix(),
    })
}
