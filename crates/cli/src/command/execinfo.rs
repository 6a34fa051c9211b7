//! `takt execinfo`: execution times as a table, of a waveform that runs, of one that has run, or of one to be tried.

use std::path::{Path, PathBuf};

use miette::Result;
use serde_json::Value as Json;
use takt_base::shown::{count, percent, significant, time_ns};
use takt_page::{Screen, screen};
use takt_runtime::control::Request;
use takt_runtime::execinfo::{self, ComponentTimes, ExecutionTimes, ExecutionTimesError};

use super::variable;
use crate::{Answer, Output, Problem, costs, waveform};

/// Slots a waveform is tried for.
const TRIED: u64 = 1000;

/// Longest result file, bytes.
const LONGEST: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt execinfo                                the waveform that runs now
  takt execinfo waveforms/bpsk.toml            run for 1000 slots on one core
  takt run waveforms/bpsk.toml --slots 10000 --json > run.json; takt execinfo run.json

Times are those of this machine. The table also has them in multiply-accumulates (MACs): a loop on
the core that runs this command makes that number of them in that time. The ALOE paper compares
machines by MACs; `takt calibrate` compares them better.

Exit status: 0 the table is shown, 2 the command failed.")]
pub struct Args {
    /// Waveform (.toml) or result of `takt run --json` (.json) [default: the waveform that runs now].
    what: Option<PathBuf>,
    /// Process that runs the waveform, if there are several.
    #[arg(long, value_name = "PID", conflicts_with = "what")]
    process: Option<u32>,
    /// Number of slots to run a waveform (.toml) for.
    #[arg(long, value_name = "N", default_value_t = TRIED, value_parser = clap::value_parser!(u64).range(1..))]
    slots: u64,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let measured = match &args.what {
        None => variable::ask(variable::process(args.process, output)?, &Request::Execinfo)?,
        Some(path) if path.extension().is_some_and(|end| end == "json") => read(path)?,
        Some(path) => tried(path, args.slots)?,
    };
    let table = ExecutionTimes::of(&measured).map_err(refused)?;
    output.screen(&table, || shown(&table), true, Answer::Yes)
}

fn read(path: &Path) -> Result<Json> {
    let unreadable = |error: std::io::Error| Problem::new(format!("can't read {}", path.display())).why(error);
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    let fix = "give a file written by `takt run WAVEFORM --json > FILE`";
    if size > LONGEST {
        let why = format!("it has {size} bytes; at most {LONGEST} are allowed");
        return Err(Problem::new(format!("can't read {}", path.display())).why(why).fix(fix).into());
    }
    let text = std::fs::read(path).map_err(unreadable)?;
    let no_result =
        |error| Problem::new(format!("{} is not a result of `takt run`", path.display())).why(error).fix(fix);
    Ok(serde_json::from_slice(&text).map_err(no_result)?)
}

fn tried(path: &Path, slots: u64) -> Result<Json> {
    let registry = waveform::registry()?;
    let graph = waveform::open(path, None, &[], &registry)?;
    let report = execinfo::tried(&graph, &registry, slots).map_err(costs::problem)?;
    serde_json::to_value(&report).map_err(|error| miette::miette!("JSON: {error}"))
}

fn refused(error: ExecutionTimesError) -> Problem {
    match error {
        ExecutionTimesError::Calibration(error) => costs::uncalibrated(error),
        error => Problem::new("the file has no execution times")
            .why(error)
            .fix("give a file written by `takt run WAVEFORM --json > FILE`"),
    }
}

fn shown(table: &ExecutionTimes) -> Screen {
    let row = |name: &str, kind: &str, executions: String, ns: [Option<u64>; 3]| {
        let [p50, p99, most] = ns.map(|ns| ns.map(time_ns).unwrap_or_default());
        let mac = ns[0].map(|ns| significant(ns as f64 * table.mac_per_s / 1e12, 3)).unwrap_or_default();
        let share = percent(ns[0].unwrap_or(0) as f64 / table.slot_ns as f64);
        vec![name.to_owned(), executions, p50, p99, most, mac, share, kind.to_owned()]
    };
    let of =
        |one: &ComponentTimes| row(&one.name, &one.kind, count(one.executions), [one.p50_ns, one.p99_ns, one.max_ns]);
    let total = table.components.iter().filter_map(|one| one.p50_ns).sum();
    let rows = table.components.iter().map(of).chain([row("total", "", String::new(), [Some(total), None, None])]);
    let heads = ["executions", "p50", "p99", "most", "p50 kMAC", "of slot"];
    let share = percent(total as f64 / table.slot_ns as f64);
    Screen {
        headline: format!("{}: half of the slots take at most {}, {share} of a slot.", table.waveform, time_ns(total)),
        facts: vec![
            format!("slots of {}", time_ns(table.slot_ns)),
            format!("1 µs is {} kMAC on this core", significant(table.mac_per_s / 1e9, 3)),
        ],
        tables: vec![screen::table("component", &heads, &["type"], rows)],
        ..Screen::default()
    }
}
