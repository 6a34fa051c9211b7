//! `takt rate`: stream at a rate and count everything that goes wrong.

use std::convert::Infallible;

use takt_live::Kind;
use takt_load::rate::screen;
use takt_load::rate::{self, Notice, RateError, RateOptions, RateView};
use takt_soapy::DeviceSpec;

use crate::policy::{cores_refused, cpus_is_cores, policy_refused, priority_is_policy};
use crate::{Answer, Bar, LiveArgs, Output, Problem, radio_problem, soapy, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt rate --addr 192.168.10.2 --rx 25M --duration 10s\n  \
    takt rate --addr 192.168.10.2 --rx 25M --tx 25M --transmit\n  \
    takt rate --addr 192.168.10.2 --rx 25M --freq 900M --gain 20 --duration 1h --interval 10s\n\n\
    Exit status:\n  0  nothing went wrong, and the reader kept up\n  \
    1  samples were lost, late or unsent, or the reader fell behind\n  \
    2  the command failed, the radio ran faster than real time, or slower without a fault")]
pub struct Args {
    #[command(flatten)]
    options: RateOptions,
    /// SoapySDR device instead of a radio at --addr, such as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the feature
    /// soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["addr", "explain"])]
    device: Option<DeviceSpec>,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
    #[arg(long = "cpus", hide = true, value_parser = cpus_is_cores)]
    _cpus: Option<Infallible>,
    /// Show where samples were lost, what the buffer holds, and what each thread used.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    live: LiveArgs,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(device) = &args.device {
        return soapy::rate(device, &args.options, &args.live, output);
    }
    let stop = stop_on_signal()?;
    let notice = |bar: &Bar, notice| match notice {
        Notice::OnAir(emission) => output.note(radio_problem::on_air(&emission)),
        Notice::At(at) => bar.show(at.elapsed, at.planned),
        // The document has them all.
        Notice::Interval(_) if output.wants_json() => {}
        Notice::Interval(interval) => bar.apart(|| output.note(screen::interval(&interval))),
    };
    let mut publisher = None;
    let mut show = |view: RateView| {
        let title = view.title().to_owned();
        publisher = args.live.publish(Kind::Rate, &title, view, output);
    };
    let show: Option<&mut dyn FnMut(RateView)> = if args.live.wanted() { Some(&mut show) } else { None };
    let outcome = Bar::during(output, |bar| rate::run_shown(&args.options, &mut |now| notice(bar, now), show, &stop));
    drop(publisher);
    let outcome = outcome.map_err(|error| problem(error, &args.options))?;
    let answer = outcome.held().map_or(Answer::Unknown, Answer::of);
    output.screen(&outcome, || screen::screen(&outcome), args.explain, answer)
}

fn problem(error: RateError, options: &RateOptions) -> Problem {
    match error {
        RateError::Interval { .. } => Problem::new("the round can't be cut into such intervals")
            .why(error)
            .fix("give a longer --interval, or a shorter --duration"),
        RateError::NoRate => {
            Problem::new("there is nothing to stream").why(error).fix("give --rx 25M, --tx 25M or both")
        }
        RateError::Radio(error) => {
            let flag = match &error {
                takt_radio::RadioError::Rate { requested_sps, .. } if options.rx_sps != Some(*requested_sps) => {
                    "give --tx"
                }
                _ => "give --rx",
            };
            radio_problem::problem("stream", error, flag)
        }
        RateError::Buffer { requested_bytes, granted_bytes } => Problem::new("can't get the requested receive buffer")
            .why(RateError::Buffer { requested_bytes, granted_bytes })
            .fix(format!(
                "sudo sysctl -w net.core.rmem_max={requested_bytes}\nomit --recv-buffer, for what an ordinary \
                     program gets"
            )),
        RateError::Priority(error) => policy_refused(error),
        RateError::Affinity(error) => cores_refused(error),
        error => Problem::new("can't stream").why(error),
    }
}
