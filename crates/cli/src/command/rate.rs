//! `takt rate`: stream at a rate and count everything that goes wrong.

use std::convert::Infallible;

use takt_load::rate::{self, Notice, Options, RateError};
use takt_report::screen;

use crate::policy::{cpus_is_cores, priority_is_policy};
use crate::radio_problem;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt rate --addr 192.168.10.2 --rx 25M --duration 10s\n  \
    takt rate --addr 192.168.10.2 --rx 25M --tx 25M --transmit\n\n\
    Exit status: 0 nothing went wrong and the reader kept up, 1 not, 2 it could not be tried.")]
pub struct Args {
    #[command(flatten)]
    options: Options,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
    #[arg(long = "cpus", hide = true, value_parser = cpus_is_cores)]
    _cpus: Option<Infallible>,
    /// Say where samples were lost, what the buffer holds, and what each thread used.
    #[arg(long)]
    explain: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let notice = |bar: &Bar, notice| match notice {
        Notice::OnAir(emission) => output.note(radio_problem::on_air(&emission)),
        Notice::At(at) => bar.show(at.elapsed, at.planned),
    };
    let outcome = Bar::during(output, |bar| rate::run(&args.options, &mut |now| notice(bar, now), &stop));
    let outcome = outcome.map_err(|error| problem(error, &args.options))?;
    output.screen(&outcome, || screen::rate::screen(&outcome), args.explain, Answer::of(outcome.clean))
}

fn problem(error: RateError, options: &Options) -> Problem {
    match error {
        RateError::NoRate => Problem::new("there is nothing to stream").why(error).fix("--rx 25M, --tx 25M or both"),
        RateError::Radio(error) => {
            let flag = match &error {
                takt_radio::RadioError::Rate { requested_sps, .. } if options.rx_sps != Some(*requested_sps) => "--tx",
                _ => "--rx",
            };
            radio_problem::problem("stream", error, flag)
        }
        RateError::Buffer { requested_bytes, granted_bytes } => Problem::new(
            "the requested receive buffer is not to be had",
        )
        .why(RateError::Buffer { requested_bytes, granted_bytes })
        .fix(format!(
            "sudo sysctl -w net.core.rmem_max={requested_bytes}\nor leave --recv-buffer away, for what an ordinary \
                     program gets"
        )),
        RateError::Priority(error) => {
            let fix = error.fix().unwrap_or_else(|| "leave --policy away".to_owned());
            Problem::new("a streaming thread can't have that policy").why(error).fix(fix)
        }
        RateError::Affinity(error) => {
            Problem::new("a streaming thread can't have that CPU").why(error).fix("--cores with CPUs of this host")
        }
        error => Problem::new("can't stream").why(error),
    }
}
