//! What the components of a waveform cost on this machine: tried, kept in a file, read again.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use miette::Result;
use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_host::fingerprint::Fingerprint;
use takt_mapper::{Capacities, Cost, Costs};
use takt_runtime::{ComponentReport, Options, Registry, Session};

use crate::command::run::{unopened, unstarted};
use crate::story::Story;

/// Slots of the first trial, which only says how many the second may have.
const FIRST: u64 = 20;
/// Slots of the second at most, and what it may take.
const MOST: u64 = 1000;
const TRIAL_S: f64 = 0.5;
/// Longest file of costs, bytes.
const LONGEST: u64 = 16 << 20;

/// The class of this machine's cores: what their maker calls them, as a name.
pub fn class() -> String {
    let model = Fingerprint::read().cpu_model.unwrap_or_default().to_lowercase();
    let words: Vec<&str> = model.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    name.truncate(takt_graph::limits::NAME_CHARS);
    if name.is_empty() { "host".to_owned() } else { name }
}

/// Multiply-accumulates and other work a second of the core this thread is on.
///
/// # Errors
/// The clock of this machine stands.
pub fn capacities() -> Result<Capacities, Story> {
    let clock = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    takt_mapper::calibrate(clock).map_err(|error| Story::new("this core can't be calibrated").why(error))
}

/// Runs the waveform for a short while on one core, each slot following the last, and keeps what its components took.
///
/// # Errors
/// The waveform can't be opened.
pub fn tried(graph: &Graph, registry: &Registry) -> Result<Costs> {
    let run = |slots: u64| -> Result<_> {
        let options = Options { slots: Some(slots), hash: false, ..Options::default() };
        let plan = Plan::single(graph, Latency::Compact);
        let session = Session::open(graph, &plan, registry, options).map_err(unopened)?;
        Ok(session.run(&Stop::new()).map_err(unstarted)?)
    };
    let start = Instant::now();
    let first = run(FIRST)?;
    let slot_s = start.elapsed().as_secs_f64() / FIRST as f64;
    let more = ((TRIAL_S / slot_s.max(1e-9)) as u64).min(MOST);
    let report = if more > FIRST { run(more)? } else { first };
    let mut costs = Costs::of(&class(), None);
    for component in &report.components {
        costs = costs.with(&component.name, cost(component));
    }
    Ok(costs)
}

/// Quantiles beyond the histogram's bound are the longest execution, which is always known.
fn cost(component: &ComponentReport) -> Cost {
    let Some(times) = component.execution else { return Cost::exactly(0) };
    Cost {
        p50_ns: times.p50_ns.unwrap_or(times.max_ns),
        p99_ns: times.p99_ns.unwrap_or(times.max_ns),
        max_ns: times.max_ns,
        n: component.executions,
        mix: None,
    }
}

/// Reads costs that were kept.
///
/// # Errors
/// The file can't be read, or holds no costs.
pub fn read(path: &Path) -> Result<Costs, Story> {
    let what = || Story::new(format!("can't use the costs in {}", path.display()));
    let fix = "a file written by `takt map WAVEFORM --save-costs FILE`";
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| what().why(error).fix(fix))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| what().why(error).fix(fix))?;
    serde_json::from_str(&text).map_err(|error| what().why(error).fix(fix))
}

/// Keeps them.
///
/// # Errors
/// The file can't be written.
pub fn write(path: &Path, costs: &Costs) -> Result<(), Story> {
    let refused = |error: std::io::Error| Story::new(format!("{} can't be written", path.display())).why(error);
    let text = serde_json::to_string_pretty(costs).map_err(|error| refused(error.into()))?;
    std::fs::write(path, text + "\n").map_err(refused)
}
