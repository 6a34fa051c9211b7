//! `takt experiment`: run experiment files, look at their records.

mod env;
mod export;
#[cfg(feature = "cluster")]
mod fleet;
#[cfg(not(feature = "cluster"))]
#[path = "experiment/fleet_missing.rs"]
mod fleet;
pub mod progress;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use miette::{IntoDiagnostic, Result};
use serde::Serialize;
use takt_base::nearest;
use takt_base::shown::duration;
use takt_lab::bench::OnAirError;
use takt_lab::compare::Compared;
use takt_lab::experiment::settings;
use takt_lab::experiment::{Depth, Experiment, NoSuchPoint, named, names};
use takt_lab::screen;
use takt_lab::store::{Store, StoreError};
use takt_lab::summary::Summary;
use takt_lab::{ExecuteError, Order, execute};
use takt_load::WorkloadKind;

use self::progress::ProgressBar;
use crate::radio_problem;
use crate::{Answer, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Examples:
  takt experiment run my-sweep.toml --quick
  takt experiment run my-sweep.toml --resume
  takt experiment run my-sweep.toml --env-only vm --env-cpus 2 --env-memory 512MiB
  takt experiment run routers --only path=router --only payload_bytes=512
  takt experiment compare 100412 112233        what changed from one run to another
  takt experiment show last
  takt experiment export last --out rounds.csv
  takt experiment export last --format json --out run.json
{}", fleet::EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    command: Action,

    /// Directory of the records and reports.
    #[arg(long, global = true, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run an experiment: a file, or the name of one that comes with takt.
    #[command(after_help = format!("\
Examples:
  takt experiment run my-sweep.toml --quick
  takt experiment run routers --only path=router --only payload_bytes=512
  takt experiment run my-sweep.toml --env-only vm --env-cpus 2 --env-memory 512MiB
{}
Exit status:
  0  the run is complete, no round failed, and at least one counts
  1  the run was stopped, a round failed, or no round counts
  2  the command failed", fleet::EXAMPLES))]
    Run {
        /// Experiment file, or name of an experiment that comes with takt.
        what: String,
        /// Run only the levels and rounds that the file names for a quick run.
        #[arg(long)]
        quick: bool,
        /// Run every level and round (the default).
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// Continue the interrupted run of the same file.
        #[arg(long)]
        resume: bool,
        /// Run only the points with this level, written as takt shows it, or only part=NAME. Repeat to narrow further.
        #[arg(long, value_name = "FACTOR=LEVEL")]
        only: Vec<String>,
        /// Address of the radio [default: takt emulates a radio on this machine].
        #[arg(long, value_name = "ADDR", value_parser = takt_base::parse_ipv4)]
        addr: Option<std::net::Ipv4Addr>,
        /// Transmit even if the radio is not takt's emulator.
        #[arg(long, requires = "addr")]
        transmit: bool,
        /// Show every warning, and why rounds do not count.
        #[arg(long)]
        explain: bool,
        #[command(flatten)]
        fleet: fleet::OnNodes,
        #[command(flatten)]
        env: env::Flags,
    },
    /// List the runs in the store.
    #[command(after_help = "\
Examples:
  takt experiment list
  takt experiment list --json")]
    List,
    /// Show what a run measured, point by point.
    #[command(after_help = "\
Examples:
  takt experiment show last
  takt experiment show last --explain")]
    Show {
        /// The run: its name, a part of it, or `last`.
        run: String,
        /// Show every warning, and why rounds do not count.
        #[arg(long)]
        explain: bool,
    },
    /// Write the rounds of a run for other programs: CSV, Parquet or JSON.
    Export(export::Args),
    /// Show what changed from one run to another, with simultaneous confidence intervals.
    #[command(after_help = "\
Example:
  takt experiment compare 100412 112233

Exit status:
  0  nothing changed
  1  something changed
  2  not known: the runs have no figure in common; or the command failed")]
    Compare {
        /// First run: its name, a part of it, or `last`.
        #[arg(value_name = "FIRST")]
        a: String,
        /// Second run: its name, a part of it, or `last`.
        #[arg(value_name = "SECOND")]
        b: String,
    },
    /// List the settings of experiment files, and their values.
    #[command(after_help = "\
Examples:
  takt experiment factors
  takt experiment factors --json")]
    Factors,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    match args.command {
        Action::Run { what, quick, full: _, resume, only, addr, transmit, explain, fleet, env } => {
            let mut experiment = read(&what)?;
            if let Some(spec) = env.spec() {
                return env::look(&spec, output);
            }
            for points in &only {
                experiment.only(points).map_err(no_such_point)?;
            }
            let depth = if quick { Depth::Quick } else { Depth::Full };
            let nodes = fleet::open(&fleet, &experiment.points(depth))?;
            let order = Order {
                runs: args.runs,
                experiment,
                depth,
                addr,
                transmit,
                device: None,
                resume,
                options: if only.is_empty() { serde_json::Value::Null } else { serde_json::json!({ "only": only }) },
                observed: serde_json::Value::Null,
                program: std::env::current_exe().into_diagnostic()?,
                takt_version: version(),
                nodes,
                watch_stops: false,
            };
            run_experiment(&order, explain, output)
        }
        Action::List => list(&args.runs, output),
        Action::Show { run, explain } => show(&args.runs, &run, explain, output),
        Action::Export(export) => export::run(&export, &args.runs, output),
        Action::Compare { a, b } => compare(&args.runs, &a, &b, output),
        Action::Factors => factors(output),
    }
}

/// A file if there is one, else one of the library.
pub fn read(what: &str) -> Result<Experiment> {
    let path = Path::new(what);
    if !path.exists()
        && let Some(text) = named(what)
    {
        // A name with a folder in it would make one of the run's directory.
        return Ok(Experiment::parse(&what.replace('/', "-"), &text)?);
    }
    let text = fs::read_to_string(path).map_err(|error| {
        let near = nearest(what, names()).map(|near| format!("did you mean {near}?\n")).unwrap_or_default();
        let known = names().collect::<Vec<_>>().join(", ");
        Problem::new(format!("no experiment {what}"))
            .why(error)
            .fix(format!("{near}name a file, or one of those that come with takt: {known}"))
    })?;
    let name = path.file_stem().map_or_else(|| what.into(), |stem| stem.to_string_lossy());
    Ok(Experiment::parse(&name, &text)?)
}

fn no_such_point(error: NoSuchPoint) -> Problem {
    let fix = format!("give one of: {}", error.there.join(", "));
    Problem::new(error.to_string()).why("the experiment has no such part, factor or level").fix(fix)
}

fn run_experiment(order: &Order, explain: bool, output: &Output) -> Result<Answer> {
    let stop = stop_on_signal()?;
    let expected = order.expected();
    if !output.wants_json() {
        let (points, rounds, time) = (expected.points, expected.rounds, duration(expected.time.as_secs_f64().round()));
        output.note(format!("{points} points, {rounds} rounds: about {time}, and what has to be run again."));
    }
    let ran = ProgressBar::during(output, |progress| execute(order, progress, &stop));
    let what = format!("experiment {} can't continue", order.experiment.name);
    let ran = ran.map_err(|error| match error {
        ExecuteError::OnAir(OnAirError::Radio(error)) => radio_problem::problem("reach the radio", *error, "use"),
        error => Problem::caused(what, error, ExecuteError::fix),
    })?;
    if !ran.complete {
        output.note(format!("Stopped. takt keeps the results so far; --resume goes on from here ({}).", ran.run));
    }
    let summary = summary(&order.runs, &ran.run)?;
    output.screen(&summary, || screen::screen(&summary), explain, Answer::of(summary.good()))
}

fn list(runs: &Path, output: &Output) -> Result<Answer> {
    let runs = Store::read(runs).and_then(|store| store.runs()).map_err(store_problem)?;
    let line = |run: &takt_lab::store::RunRow| {
        let state = if run.finished.is_some() { "finished" } else { "unfinished" };
        format!("{}  {}  {} rounds  {state}", run.id, run.depth, run.rounds)
    };
    let text = || match runs.as_slice() {
        [] => "No runs yet.".to_owned(),
        runs => runs.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    output.answer(&runs, text, Answer::Yes)
}

fn show(runs: &Path, run: &str, explain: bool, output: &Output) -> Result<Answer> {
    let summary = summary(runs, run)?;
    output.screen(&summary, || screen::screen(&summary), explain, Answer::Yes)
}

/// Prints what changed from `a` to `b`; yes if nothing did, not known if they have no figure in common.
fn compare(runs: &Path, a: &str, b: &str, output: &Output) -> Result<Answer> {
    let compared = Store::read(runs).and_then(|store| Compared::of(&store, a, b)).map_err(store_problem)?;
    let changed = compared.points.iter().flat_map(|point| &point.figures).any(|figure| figure.changed);
    let answer = if compared.figures == 0 { Answer::Unknown } else { Answer::of(!changed) };
    output.screen(&compared, || screen::compared(&compared), true, answer)
}

fn summary(runs: &Path, run: &str) -> Result<Summary> {
    Ok(Store::read(runs).and_then(|store| Summary::of(&store, run)).map_err(store_problem)?)
}

#[derive(Serialize)]
struct Word {
    name: &'static str,
    takes: String,
    default: Option<&'static str>,
    workloads: Vec<&'static str>,
    about: &'static str,
}

fn factors(output: &Output) -> Result<Answer> {
    let word = |setting: &'static settings::Setting| Word {
        name: setting.name,
        takes: setting.takes.to_string(),
        default: setting.default,
        workloads: settings::kinds(setting).map(WorkloadKind::name).collect(),
        about: setting.about,
    };
    let words: Vec<Word> = settings::all().map(word).collect();
    let line = |word: &Word| {
        let default = word.default.map_or_else(|| "must be set".into(), |default| format!("default {default}"));
        let first = format!("{:<14} {} ({default}; {})", word.name, word.takes, word.workloads.join(", "));
        format!("{first}\n{:<14} {}", "", word.about)
    };
    output.answer(&words, || words.iter().map(line).collect::<Vec<_>>().join("\n"), Answer::Yes)
}

pub fn store_problem(error: StoreError) -> Problem {
    match error {
        StoreError::NoRun { .. } => Problem::new(error.to_string()).fix(error.fix().unwrap_or_default()),
        error => Problem::caused("the records can't be used", error, StoreError::fix),
    }
}

/// Version for a run's record, with the commit where the build knows it.
pub fn version() -> String {
    let commit = option_env!("TAKT_COMMIT").map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}
