//! `takt top`: watch what runs.

use serde::Serialize;
use takt_base::Stop;
use takt_live::{Hello, Running, Snapshot, running};
use takt_top::{Listed, TopError, View, follow_once, frame_text, list_text, listed, show};

use crate::{Answer, Output, Problem, stop_on_signal};

/// Size of a frame where there is no terminal.
const FRAME: (u16, u16) = (80, 24);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt top                 watch the process that runs; a list if there are several
  takt top 4711            watch process 4711
  takt top --once          print the list
  takt top 4711 --once     print one frame as text
  takt top 4711 --json     print its newest counts

Exit status: 0 done, 2 the command failed.")]
pub struct Args {
    /// Process to watch.
    #[arg(value_name = "PID")]
    process: Option<u32>,
    /// Print one frame as text and exit. Without PID, print the list.
    #[arg(long)]
    once: bool,
}

/// Lines that the program prints of a process.
#[derive(Serialize)]
struct Followed<'a> {
    hello: &'a Hello,
    snapshot: Option<&'a Snapshot>,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if args.once || output.wants_json() {
        return print(args.process, output);
    }
    let stop = stop_on_signal()?;
    let view = match (args.process, &listed().map_err(unwatched)?[..]) {
        (Some(pid), _) => View::Process(found(pid)?),
        (None, [only]) => View::Process(only.process.clone()),
        (None, _) => View::List,
    };
    watch(view, &stop)
}

fn watch(view: View, stop: &Stop) -> miette::Result<Answer> {
    show(view, stop).map_err(failed)?;
    Ok(Answer::Yes)
}

fn print(process: Option<u32>, output: &Output) -> miette::Result<Answer> {
    let width = u16::try_from(output.style().width).unwrap_or(FRAME.0);
    let Some(pid) = process else {
        let all = listed().map_err(unwatched)?;
        let hellos: Vec<&Hello> = all.iter().map(|Listed { hello, .. }| hello).collect();
        return output.answer(&hellos, || list_text(&all, width), Answer::Yes);
    };
    let followed = follow_once(&found(pid)?).map_err(failed)?;
    let document = Followed { hello: followed.hello(), snapshot: followed.newest() };
    output.answer(&document, || frame_text(&followed, width, FRAME.1), Answer::Yes)
}

/// The socket of a process. One process has one, as a rule.
fn found(pid: u32) -> Result<Running, Problem> {
    let all = running().map_err(unwatched)?;
    let absent = || unwatched(takt_live::LiveError::Absent { pid });
    all.into_iter().find(|one| one.pid == pid).ok_or_else(absent)
}

fn unwatched(error: takt_live::LiveError) -> Problem {
    failed(error.into())
}

fn failed(error: TopError) -> Problem {
    Problem::caused("can't watch a run", error, TopError::fix)
}
