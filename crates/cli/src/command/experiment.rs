//! `takt experiment`: run experiment files, look at their records.

mod compare;
mod env;
mod export;
pub mod progress;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use miette::{IntoDiagnostic, Result};
use serde::Serialize;
use takt_base::nearest;
use takt_lab::experiment::settings;
use takt_lab::experiment::{Depth, Experiment, NoSuchPoint, named, names, plain};
use takt_lab::nodes::{NodeFigures, WayFigures};
use takt_lab::store::{Store, StoreError};
use takt_lab::summary::{RoundCounts, Summary};
use takt_lab::{ExecuteError, Order, execute};
use takt_load::Kind;

use self::progress::ProgressBar;
use crate::{Answer, Output, Problem, stop_on_signal};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt experiment run my-sweep.toml --quick
  takt experiment run my-sweep.toml --resume
  takt experiment run my-sweep.toml --env-only vm --env-cpus 2 --env-memory 512MiB
  takt experiment run routers --only path=router --only payload_bytes=512
  takt experiment compare 100412 112233        what changed from one run to another
  takt experiment show last
  takt experiment export last --out rounds.csv
  takt experiment export last --format json --out run.json")]
pub struct Args {
    #[command(subcommand)]
    command: Action,

    /// Where the records are kept.
    #[arg(long, global = true, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run an experiment: a file, or the name of one that comes with takt.
    Run {
        /// The file or name.
        what: String,
        /// Only the levels and rounds that the file names for a quick look.
        #[arg(long)]
        quick: bool,
        /// Every level and round (the default).
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// Continue where an earlier run of the same file stopped.
        #[arg(long)]
        resume: bool,
        /// Only the points that have this: part=NAME, or a factor and its level as they are shown.
        #[arg(long, value_name = "WHAT=WHICH")]
        only: Vec<String>,
        /// A radio that is there already, instead of a software one on this machine.
        #[arg(long, value_name = "A")]
        addr: Option<std::net::Ipv4Addr>,
        /// Transmit, even with a radio that is not takt's own software radio.
        #[arg(long, requires = "addr")]
        transmit: bool,
        #[command(flatten)]
        env: env::Flags,
    },
    /// List the runs in the store.
    List,
    /// Show what a run measured, point by point.
    Show {
        /// Its name, a part of it, or `last`.
        run: String,
    },
    /// Write the rounds of a run for other programs: CSV, Parquet or JSON.
    Export(export::Args),
    /// What changed from one run to another, with intervals that hold together; exit 1 if something did.
    Compare {
        /// The first run: its name, a part of it, or `last`.
        a: String,
        /// The second.
        b: String,
    },
    /// List the words of experiment files.
    Factors,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    match args.command {
        Action::Run { what, quick, full: _, resume, only, addr, transmit, env } => {
            let mut experiment = read(&what)?;
            if let Some(spec) = env.spec() {
                return env::look(&spec, output);
            }
            for points in &only {
                experiment.only(points).map_err(no_such_point)?;
            }
            let depth = if quick { Depth::Quick } else { Depth::Full };
            let order = Order {
                runs: args.runs,
                experiment,
                depth,
                addr,
                transmit,
                resume,
                options: if only.is_empty() { serde_json::Value::Null } else { serde_json::json!({ "only": only }) },
                seen: serde_json::Value::Null,
                program: std::env::current_exe().into_diagnostic()?,
                takt_version: version(),
            };
            run_experiment(&order, output)
        }
        Action::List => list(&args.runs, output),
        Action::Show { run } => show(&args.runs, &run, output),
        Action::Export(export) => export::run(&export, &args.runs, output),
        Action::Compare { a, b } => compare::run(&args.runs, &a, &b, output),
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
    let fix = format!("one of: {}", error.there.join(", "));
    Problem::new(error.to_string()).why("the experiment has no such part, factor or level").fix(fix)
}

fn run_experiment(order: &Order, output: &Output) -> Result<Answer> {
    let stop = stop_on_signal()?;
    let expected = order.expected();
    if !output.wants_json() {
        let (points, rounds, time) = (expected.points, expected.rounds, progress::span(expected.time));
        output.note(format!("{points} points, {rounds} rounds: about {time}, and what has to be run again."));
    }
    let ran = ProgressBar::during(output, |progress| execute(order, progress, &stop));
    let what = format!("experiment {} can't go on", order.experiment.name);
    let ran = ran.map_err(|error| Problem::caused(what, error, ExecuteError::fix))?;
    if !ran.complete {
        output.note(format!("Stopped. What was measured is kept; --resume goes on where this stopped ({}).", ran.run));
    }
    let summary = summary(&order.runs, &ran.run)?;
    output.answer(&summary, || text(&summary), Answer::of(summary.good()))
}

fn text(summary: &Summary) -> String {
    let mut text = String::new();
    for point in &summary.points {
        let level = |(name, level): (&String, &serde_json::Value)| format!("{name}={}", plain(level));
        let factors: Vec<String> = point.factors.iter().map(level).collect();
        let _ = writeln!(text, "{}  {}  {} rounds count", point.part, factors.join(" "), point.rounds);
        for figure in &point.figures {
            let _ = match (&figure.mean, figure.rounds.first()) {
                (Some(mean), _) => writeln!(text, "    {:<18} {mean}", figure.name),
                (None, Some(one)) => writeln!(text, "    {:<18} {one} (one round has no interval)", figure.name),
                (None, None) => Ok(()),
            };
            if let Some(warning) = &figure.warning {
                let _ = writeln!(text, "    {:<18} warning: {warning}", "");
            }
        }
        for node in &point.nodes {
            let _ = writeln!(text, "    {}", on_the_way(node));
        }
        for why in &point.not_counted {
            let _ = writeln!(text, "    not counted: {why}");
        }
    }
    for noise in &summary.noise {
        let ratio = noise.ratio.map_or_else(|| "too few rounds to tell".to_owned(), |ratio| format!("x {ratio}"));
        let _ = writeln!(text, "The same twice: {} of {}: {ratio}", noise.quantity, noise.point);
    }
    for warning in &summary.warnings {
        let _ = writeln!(text, "Warning: {warning}");
    }
    let RoundCounts { valid, disturbed, emulator_late, failed, skipped } = summary.rounds;
    let _ = write!(
        text,
        "{}: {valid} rounds count, {disturbed} disturbed, {emulator_late} with a late emulator, {failed} failed, \
         {skipped} skipped",
        summary.run
    );
    text
}

/// `hardware           lost 45.5 % of 13641 to the radio (ring 6204), 9.4 % of 481 to the host (ring 45); 0.31 cores`
fn on_the_way(node: &NodeFigures) -> String {
    let way = |way: &WayFigures, to: &str| {
        let places: Vec<String> = way.lost.iter().map(|(place, frames)| format!("{place} {frames}")).collect();
        let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        format!("{:.1} % of {} to the {to}{places}", way.lost_share() * 100.0, way.in_frames)
    };
    let cores = node.cpu_cores.map(|cores| format!("; {cores:.2} cores")).unwrap_or_default();
    let limit = node.limit_used.map(|share| format!(", {:.0} % of its limit", share * 100.0));
    let (forth, back) = (way(&node.to_radio, "radio"), way(&node.to_host, "host"));
    format!("{:<18} lost {forth}, {back}{cores}{}", node.node, limit.unwrap_or_default())
}

fn list(runs: &Path, output: &Output) -> Result<Answer> {
    let runs = Store::open(runs).and_then(|store| store.runs()).map_err(store_problem)?;
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

fn show(runs: &Path, run: &str, output: &Output) -> Result<Answer> {
    let summary = summary(runs, run)?;
    output.answer(&summary, || text(&summary), Answer::Yes)
}

fn summary(runs: &Path, run: &str) -> Result<Summary> {
    Ok(Store::open(runs).and_then(|store| Summary::of(&store, run)).map_err(store_problem)?)
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
        workloads: settings::kinds(setting).map(Kind::name).collect(),
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
    Problem::caused("the records can't be used", error, StoreError::fix)
}

/// What goes into a run's record: the version, with the commit where the build knows it.
pub fn version() -> String {
    let commit = option_env!("TAKT_COMMIT").map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}
