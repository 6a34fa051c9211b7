//! `takt clean`: whatever a killed run left behind is removed.

use std::path::PathBuf;

use serde::Serialize;
use takt_host::cleaning::{Cleaned, Removed};
use takt_host::leftovers::{LeftoversError, Registry};

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  sudo takt clean

Removes what killed runs left behind:
  - network namespaces with their interfaces
  - control groups
  - directories of containers and guests
  - processes
  - sockets by which they could be watched
It also frees the queues of network cards that engine xdp used. It touches neither live runs nor
anything that is not takt's own. `takt doctor --undo` undoes settings. Records of finished rounds
stay. You can run it twice without harm.

Exit status: 0 nothing is left, 2 something could not be removed.")]
pub struct Args {}

/// The result: the JSON document.
#[derive(Serialize)]
struct Report {
    removed: Vec<Removed>,
    alive: Vec<Alive>,
    unclaimed: Vec<String>,
    foreign_processes: Vec<ForeignProcess>,
}

#[derive(Serialize)]
struct Alive {
    what: String,
    pid: u32,
}

/// A process with the mark of a dead run that is none of its programs.
#[derive(Serialize)]
struct ForeignProcess {
    pid: u32,
    program: PathBuf,
}

pub fn run(_args: Args, output: &Output) -> miette::Result<Answer> {
    let Cleaned { removed, kept, alive, unclaimed, foreign_processes } = Registry::system().clean().map_err(refused)?;
    if let Some(error) = kept.into_iter().next() {
        return Err(refused(error).into());
    }
    let alive = alive.into_iter().map(|(what, pid)| Alive { what, pid }).collect();
    let foreign_processes =
        foreign_processes.into_iter().map(|(pid, program)| ForeignProcess { pid, program }).collect();
    let report = Report { removed, alive, unclaimed, foreign_processes };
    output.answer(&report, || text(&report), Answer::Yes)
}

fn refused(error: LeftoversError) -> Problem {
    Problem::caused("something could not be removed", error, LeftoversError::fix)
}

fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    for Removed { leftover, left_by } in &report.removed {
        let by = left_by.as_ref().map_or(String::new(), |what| format!(", left by takt {what}"));
        lines.push(format!("removed  {leftover}{by}"));
    }
    for Alive { what, pid } in &report.alive {
        lines.push(format!("alive    takt {what}, process {pid}: left alone"));
    }
    for name in &report.unclaimed {
        lines.push(format!("foreign  network namespace {name}: no record names it, left alone"));
        lines.push(format!("         if it is takt's after all: sudo ip netns delete {name}"));
    }
    for ForeignProcess { pid, program } in &report.foreign_processes {
        lines.push(format!(
            "foreign  process {pid} ({}): came out of a killed run, is no part of it, left alone",
            program.display()
        ));
    }
    lines.push(if report.removed.is_empty() {
        "Yes: nothing was left.".into()
    } else {
        "Yes: nothing is left.".into()
    });
    lines.join("\n")
}
