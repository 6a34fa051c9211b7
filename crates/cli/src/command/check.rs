//! `takt check`: will this host keep up with a radio?

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result};
use takt_host::call;
use takt_lab::check::self_test::{self, SelfTest};
use takt_lab::check::{self, CheckError, CheckOptions, DoctorFinding, Need, Outcome, RadioSetup};
use takt_lab::experiment::Depth;
use takt_radio::n200::{ALLOW_TRANSMIT, ClockSource};

use super::experiment::progress::ProgressBar;
use super::experiment::{read, version};
use super::report::show;
use crate::{Answer, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt check --quick                        about two minutes, a software N200 on this machine
  takt check                                every rate and round; Ctrl-C stops it, --resume goes on
  takt check --addr 192.168.10.2            a real radio, or `takt emulate` on a second machine
  takt check --addr 192.168.10.2 --transmit   a real radio both ways, not only received from
  takt check --need n200:10M --need n200:25M:rx
  takt check --need x310:100M --quick       a software X310, frames of 8000 bytes
  takt check --self-test                    would it have said no? Hosts made bad by a known amount

Exit status: 0 every needed rate was clean in all rounds that count, and the buffers hold every stop of
this machine; 1 not so; 2 not known: samples were lost only while the emulator was late, too few
rounds count, or the run was interrupted. With --self-test: 0 the verdict errs no more often than it may, 1 it does, 2 not
known.")]
pub struct Args {
    /// A few rates, three rounds; says what it leaves out.
    #[arg(long)]
    quick: bool,
    /// Every rate and round: the default, but for --self-test, where it takes half an hour.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// A radio that is there already, instead of a software one on this machine.
    #[arg(long, value_name = "A")]
    addr: Option<Ipv4Addr>,
    /// Transmit, even with a radio that is not takt's own software radio; without, such a radio is only received from.
    #[arg(long, requires = "addr")]
    transmit: bool,
    /// What that radio's clock follows while it streams: internal, external or mimo; another than its own must lock.
    #[arg(long, value_name = "R", requires = "addr")]
    reference: Option<ClockSource>,
    /// A rate that must hold: MODEL:RATE[:rx|tx|duplex[:sc16|sc8]]; repeat for several [default: n200:25M, of an X310 at --addr
    /// x310:100M].
    #[arg(long = "need", value_name = "MODEL:RATE")]
    needs: Vec<Need>,
    /// Continue the newest check of the same kind that was interrupted.
    #[arg(long)]
    resume: bool,
    /// Where the records and the report are kept.
    #[arg(long, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
    /// Try the verdict itself, on hosts that are made bad by a known amount: how often does it err?
    #[arg(long, conflicts_with_all = ["addr", "needs"])]
    self_test: bool,
    /// A changed copy of the check, or of the self-test.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let usual = if args.self_test { self_test::NAME } else { "check" };
    let options = CheckOptions {
        runs: args.runs,
        experiment: read(args.file.as_deref().unwrap_or(usual))?,
        // A self-test goes with a check, so it is short unless --full says otherwise.
        depth: if args.quick || args.self_test && !args.full { Depth::Quick } else { Depth::Full },
        addr: args.addr,
        transmit: args.transmit,
        reference: args.reference,
        needs: args.needs,
        resume: args.resume,
        doctor: DoctorFinding::of_this_host(),
        program: std::env::current_exe().into_diagnostic()?,
        takt_version: version(),
    };
    let stop = stop_on_signal()?;
    if args.self_test {
        let outcome = ProgressBar::during(output, |progress| check::run_self_test(&options, progress, &stop));
        return show_self_test(&outcome.map_err(cannot_go_on)?, &options.runs, output);
    }
    let outcome = ProgressBar::during(output, |progress| check::run(&options, progress, &stop));
    let outcome = outcome.map_err(cannot_go_on)?;
    show(takt_report::check::report(&outcome), &outcome, &options.runs, output)?;
    if let Some(note) = how_to_go_on(&outcome) {
        output.note(note);
    }
    Ok(status(outcome.verdict.answer))
}

fn cannot_go_on(error: CheckError) -> Problem {
    Problem::caused("the check can't go on", error, CheckError::fix)
}

pub fn status(answer: check::Answer) -> Answer {
    match answer {
        check::Answer::Holds => Answer::Yes,
        check::Answer::Fails => Answer::No,
        check::Answer::Unknown => Answer::Unknown,
    }
}

pub fn show_self_test(outcome: &SelfTest, runs: &Path, output: &Output) -> Result<Answer> {
    show(takt_report::check::self_test(outcome), outcome, runs, output)?;
    Ok(status(outcome.answer))
}

/// What to do after a run that was interrupted, or could not tell.
fn how_to_go_on(outcome: &Outcome) -> Option<String> {
    let rounds = &outcome.rounds;
    if !outcome.about.complete {
        let settled = rounds.valid + rounds.skipped;
        let planned = rounds.planned;
        return Some(format!(
            "Stopped after {settled} of {planned} rounds; they are kept. The same command with --resume runs the rest."
        ));
    }
    if outcome.verdict.answer == check::Answer::Unknown && outcome.setup.receive_only.is_some() {
        return Some(format!("Nothing was sent to the radio, since it is not takt's own. {ALLOW_TRANSMIT}."));
    }
    (outcome.verdict.answer == check::Answer::Unknown).then(|| match &outcome.setup.radio {
        RadioSetup::Given { addr, emulator: true, .. } => format!(
            "The rounds that count do not tell. Where the emulator at {addr} was late, start it with --policy fifo:60, as \
             root, and check again."
        ),
        _ => {
            let as_root = call::sudo_again().map_or_else(String::new, |command| format!(", as root: {command}"));
            format!(
                "The rounds that count do not tell. End what else runs on this machine and check again{as_root}\nOr run \
                 `takt emulate` on a second machine and check with --addr."
            )
        }
    })
}
