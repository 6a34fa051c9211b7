//! `takt check`: will this host keep up with a radio?

use std::net::Ipv4Addr;
use std::path::PathBuf;

use miette::{IntoDiagnostic, Result};
use takt_host::affinity::own_cpus;
use takt_lab::ExecuteError;
use takt_lab::bench::OnAirError;
use takt_lab::experiment::{Depth, NeedError};
use takt_questions::check::{Check, DoctorFinding, Need};
use takt_questions::self_test::{self, KnownBad};
use takt_questions::{Asked, Question, QuestionError, ask};
use takt_radio::n200::ClockSource;
use takt_soapy::DeviceSpec;

use super::experiment::progress::ProgressBar;
use super::experiment::{read, version};
use super::report::show;
use crate::{Answer, Output, Problem, stop_on_signal};
use crate::{radio_problem, soapy};

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("radio").args(["addr", "device"]).multiple(true), after_help = "\
Examples:
  takt check --quick                        about two minutes, a software N200 on this machine
  takt check                                every rate and round; Ctrl-C stops, --resume continues
  takt check --addr 192.168.10.2            a real radio, or `takt emulate` on a second machine
  takt check --addr 192.168.10.2 --transmit   both directions of a real radio
  takt check --device soapy:driver=uhd,addr=192.168.10.2   the same radio through SoapySDR and UHD
  takt check --need n200:10M --need n200:25M:rx
  takt check --need x310:100M --quick       a software X310, frames of 8000 bytes
  takt check --self-test                    degrade this host, and see whether the check says no

Exit status:
  0  yes: this host keeps up
  1  no
  2  not known, or the command failed

Yes means that every needed rate was clean in all rounds that count, and that the buffers hold this
machine's longest stop plus a margin. Not known means that samples were lost only while the
emulator was late, that too few rounds count, or that takt excluded more than half of the streaming.
It also means that a driver does not show losses, a needed rate transmits without --transmit, the
clock did not lock, or you interrupted the run.
With --self-test: 0 the verdict errs no more often than it may, 1 it errs more often, 2 not known,
or the command failed.")]
pub struct Args {
    /// Test fewer rates, in three rounds each: about two minutes.
    #[arg(long)]
    quick: bool,
    /// Test every rate, in ten rounds each: about 25 minutes (the default). --self-test is quick by default; with --full it takes
    /// an hour.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Address of the radio [default: takt emulates a radio on this machine].
    #[arg(long, value_name = "ADDR", value_parser = takt_base::parse_ipv4)]
    addr: Option<Ipv4Addr>,
    /// SoapySDR device instead of a radio at --addr, such as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the feature
    /// soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with = "addr")]
    device: Option<DeviceSpec>,
    /// Also transmit with a radio other than takt's emulator, not only receive.
    #[arg(long, requires = "radio")]
    transmit: bool,
    /// Clock reference of the radio: internal, external or mimo. External and mimo must lock.
    #[arg(long, value_name = "SOURCE", requires = "addr")]
    reference: Option<ClockSource>,
    /// Rate that must hold: MODEL:RATE[:rx|tx|duplex[:sc16|sc8]]. Repeat for several [default: n200:25M; for an X310 at
    /// --addr x310:100M].
    #[arg(long = "need", value_name = "MODEL:RATE")]
    needs: Vec<String>,
    /// Continue the newest interrupted check of the same kind.
    #[arg(long)]
    resume: bool,
    /// Directory of the records and reports.
    #[arg(long, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
    /// Test the verdict itself: degrade hosts by a known amount, and count how often the verdict errs.
    #[arg(long, conflicts_with_all = ["addr", "device", "needs"])]
    self_test: bool,
    /// Run your own copy of experiments/check.toml, or with --self-test of experiments/known-bad.toml.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    if args.device.is_some() {
        soapy::is_built()?;
    }
    let usual = if args.self_test { self_test::NAME } else { "check" };
    let asked = Asked {
        runs: args.runs,
        experiment: read(args.file.as_deref().unwrap_or(usual))?,
        // A self-test goes with a check, so it is short unless --full says otherwise.
        depth: if args.quick || args.self_test && !args.full { Depth::Quick } else { Depth::Full },
        resume: args.resume,
        cores: own_cpus().len(),
        program: std::env::current_exe().into_diagnostic()?,
        takt_version: version(),
    };
    let (needs, doctor) = (needed(&args.needs)?, DoctorFinding::of_this_host());
    let question: Box<dyn Question> = if args.self_test {
        Box::new(KnownBad { doctor })
    } else {
        let Args { addr, device, transmit, reference, .. } = args;
        Box::new(Check { addr, device, transmit, reference, needs, doctor })
    };
    let stop = stop_on_signal()?;
    let answered = ProgressBar::during(output, |progress| ask(question.as_ref(), &asked, progress, &stop));
    let mut answered = answered.map_err(cannot_go_on)?;
    let next = answered.next.take();
    let answer = show(answered, &asked.runs, output)?;
    if let Some(next) = next {
        output.note(next);
    }
    Ok(answer)
}

/// The needed rates that were typed.
pub fn needed(texts: &[String]) -> std::result::Result<Vec<Need>, Problem> {
    texts.iter().map(|text| text.parse::<Need>().map_err(no_such_rate)).collect()
}

fn no_such_rate(error: NeedError) -> Problem {
    let problem = Problem::new(error.what).fix(error.fix);
    match error.why {
        Some(why) => problem.why(why),
        None => problem,
    }
}

fn cannot_go_on(error: QuestionError) -> Problem {
    match error {
        QuestionError::OnAir(OnAirError::Radio(error))
        | QuestionError::Execute(ExecuteError::OnAir(OnAirError::Radio(error))) => {
            radio_problem::problem("reach the radio", *error, "use")
        }
        error => Problem::caused("the check can't continue", error, QuestionError::fix),
    }
}
