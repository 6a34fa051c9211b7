//! `takt paper`: a published study, run again on this host and set beside the paper's figures.

use std::path::PathBuf;

use clap::Subcommand;
use miette::{IntoDiagnostic, Result};
use takt_host::affinity::own_cpus;
use takt_host::with_causes;
use takt_lab::bench::{Lacking, lacking};
use takt_lab::experiment::Depth;
use takt_questions::{Answered, Asked, QuestionError, ask, named};

use super::experiment::progress::ProgressBar;
use super::experiment::{read, version};
use super::report::show;
use crate::{Answer, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt paper aloe --quick              about five minutes: overhead, interfaces, longest packets
  takt paper virtual-sdr --quick       about seven minutes: native, container, virtual machine
  takt paper virtual-sdr --share --quick  about seven minutes: programs behind one front end
  takt paper routers --quick           about three minutes: switch, software and hardware routers
  takt paper linux-rt --quick          about a quarter of an hour: policies, caps, timers, isolation
  takt paper uhd-dpdk --quick          about 40 minutes: every engine at LTE's rates, an LTE link
  takt paper uhd-dpdk                  a week: all rates, and 3 hours for each link case
  takt paper routers                   every point and round; Ctrl-C stops it, --resume continues
  takt report last                     the report of an earlier run

takt judges each claim in parts: one per environment (native, container, guest), path or rate.

Exit status:
  0  every part that can be judged here holds, and at least one can
  1  a part fails
  2  not known: no part could be judged, one is left open, or the run was interrupted
The report names each part that can't be judged here (a guest without KVM, a path that is not
there), and does not count it.")]
pub struct Args {
    #[command(subcommand)]
    study: StudyName,
}

#[derive(Debug, Subcommand)]
enum StudyName {
    /// Costs and benefits of a time-slotted software-radio environment (Gomez, Marojevic, Bracke, Gelonch).
    #[command(after_help = "\
Example:
  takt paper aloe --quick              about five minutes: overhead, interfaces, longest packets")]
    Aloe(Study),
    /// Costs of a container and of a virtual machine for an Ethernet-attached radio (Bezerra, Ferreira, Mattos).
    #[command(after_help = "\
Examples:
  takt paper virtual-sdr --quick          about seven minutes: native, container, virtual machine
  takt paper virtual-sdr --share --quick  about seven minutes: programs behind one shared front end")]
    VirtualSdr(VirtualSdr),
    /// Can a software router keep up with a hardware one? (Schulz).
    #[command(after_help = "\
Examples:
  takt paper routers --quick           about three minutes: switch, software and hardware routers
  takt paper routers                   every point and round; Ctrl-C stops it, --resume continues")]
    Routers(Study),
    /// Can a loaded Linux host answer the air interface in time? (Wang, Xiao, Su, Qi, Xu).
    #[command(after_help = "\
Example:
  takt paper linux-rt --quick          about a quarter of an hour: policies, caps, timers, isolation")]
    LinuxRt(Study),
    /// How much do a radio and a link gain without the kernel's sockets? (Brennan, Marojevic).
    #[command(after_help = "\
Examples:
  takt paper uhd-dpdk --quick          about 40 minutes: every engine at LTE's rates, an LTE link
  takt paper uhd-dpdk                  a week: all rates, and 3 hours for each link case")]
    UhdDpdk(Study),
}

/// The study, or its own part.
#[derive(Debug, clap::Args)]
struct VirtualSdr {
    /// Run the part that no paper has: programs behind one shared front end.
    #[arg(long)]
    share: bool,
    #[command(flatten)]
    study: Study,
}

/// How a study is run.
#[derive(Debug, clap::Args)]
struct Study {
    /// Run few points and few rounds. The report says what it excludes.
    #[arg(long)]
    quick: bool,
    /// Run every point and round (the default).
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Continue the newest interrupted run of the same kind.
    #[arg(long)]
    resume: bool,
    /// Directory of the records and reports.
    #[arg(long, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
    /// Use a changed copy of the study's file.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let (name, study) = match args.study {
        StudyName::Aloe(study) => ("aloe", study),
        StudyName::VirtualSdr(VirtualSdr { share: false, study }) => ("virtual-sdr", study),
        StudyName::VirtualSdr(VirtualSdr { share: true, study }) => ("virtual-sdr/share", study),
        StudyName::Routers(study) => ("routers", study),
        StudyName::LinuxRt(study) => ("linux-rt", study),
        StudyName::UhdDpdk(study) => ("uhd-dpdk", study),
    };
    show(measure(name, &study, output)?, &study.runs, output)
}

fn measure(name: &str, study: &Study, output: &Output) -> Result<Answered> {
    let question = named(name).ok_or_else(|| miette::miette!("there is no study {name}"))?;
    let asked = Asked {
        runs: study.runs.clone(),
        experiment: read(study.file.as_deref().unwrap_or(name))?,
        depth: if study.quick { Depth::Quick } else { Depth::Full },
        resume: study.resume,
        cores: own_cpus().len(),
        program: std::env::current_exe().into_diagnostic()?,
        takt_version: version(),
    };
    // Before a guest is booted to see whether one can be: what a signal ends by itself takes nothing away.
    let stop = stop_on_signal()?;
    say_what_is_lacking(&asked, output)?;
    let answered = ProgressBar::during(output, |progress| ask(question, &asked, progress, &stop));
    Ok(answered.map_err(problem)?)
}

/// Before the first round: what will be left out, and what would bring it.
fn say_what_is_lacking(asked: &Asked, output: &Output) -> Result<()> {
    let points = asked.experiment.points(asked.depth);
    for Lacking { environment, error } in lacking(&points, &asked.program).into_diagnostic()? {
        let fix = error.fix().map_or(String::new(), |fix| format!("\n  fix   {}", fix.replace('\n', "\n  or    ")));
        output.note(format!("{environment} can't be had here, and will be left out: {}{fix}", with_causes(&error)));
    }
    Ok(())
}

fn problem(error: QuestionError) -> Problem {
    Problem::caused("the study can't continue", error, QuestionError::fix)
}
