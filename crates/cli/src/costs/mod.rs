//! What components cost on this machine: tried, counted, kept in a file, read again.

mod counted;
mod tried;

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use miette::Result;
use takt_graph::Graph;
use takt_host::fingerprint::Fingerprint;
use takt_mapper::{Capacities, Costs, Platform, Prices};
use takt_runtime::Registry;

pub use counted::profile;
pub use tried::{of_report, of_times};

use crate::Problem;
use crate::output::write;

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
/// Errors: the clock of this machine stands.
pub fn capacities() -> Result<Capacities, Problem> {
    takt_mapper::calibrate(clock).map_err(|error| Problem::new("this core can't be calibrated").why(error))
}

/// What an instruction of each kind takes on the core this thread is on.
/// Errors: the clock of this machine stands.
pub fn prices() -> Result<Prices, Problem> {
    takt_mapper::calibrate_prices(clock).map_err(|error| Problem::new("this core can't be calibrated").why(error))
}

fn clock(work: &mut dyn FnMut()) -> u64 {
    let start = Instant::now();
    work();
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What the components of a waveform cost: as `kept` says, and of those it does not know, tried.
/// Errors: the waveform can't be tried; what was kept is of another kind of processor, and does not know all components.
pub fn known(graph: &Graph, registry: &Registry, kept: Option<Costs>) -> Result<Costs> {
    let kept = kept.unwrap_or_else(|| Costs::of(&class(), None));
    let missing = graph.components().iter().find(|component| !kept.components.contains_key(&component.name));
    match missing {
        None => Ok(kept),
        Some(_) if kept.reference == class() => Ok(kept.or(tried::tried(graph, registry)?)),
        Some(missing) => {
            let why =
                format!("they were measured on `{}`, which this is not, without `{}`", kept.reference, missing.name);
            let fix = "takt map WAVEFORM --save-costs FILE, on that machine";
            Err(Problem::new("the costs are not those of this waveform").why(why).fix(fix).into())
        }
    }
}

/// Adds what predicts other kinds of processors: what each component executes, and what this processor can do. What was
/// measured elsewhere is left as it is: nothing here tells about it.
/// Errors: the clock of this machine stands.
pub fn for_elsewhere(mut costs: Costs, graph: &Graph, registry: &Registry) -> Result<Costs> {
    if costs.reference != class() {
        return Ok(costs);
    }
    for (index, component) in graph.components().iter().enumerate() {
        if !costs.profiles.contains_key(&component.name) {
            counted::add(&mut costs, graph, index, registry);
        }
    }
    if costs.capacities.is_none() {
        costs.capacities = Some(capacities()?);
    }
    Ok(costs)
}

/// The capacities of what was measured elsewhere, where the platform has that kind of core.
pub fn with_capacities_of(mut costs: Costs, platform: &Platform) -> Costs {
    let class = platform.classes().iter().find(|class| class.name == costs.reference);
    costs.capacities = costs.capacities.or(class.and_then(|class| class.spec.capacities));
    costs
}

/// Reads costs that were kept.
/// Errors: the file can't be read, or holds no costs.
pub fn read(path: &Path) -> Result<Costs, Problem> {
    let what = || Problem::new(format!("can't use the costs in {}", path.display()));
    let fix = "a file written by `takt map WAVEFORM --save-costs FILE`";
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| what().why(error).fix(fix))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| what().why(error).fix(fix))?;
    serde_json::from_str(&text).map_err(|error| what().why(error).fix(fix))
}

/// Keeps them, beside what the file knows of other components.
/// Errors: the file holds something else, or costs of another kind of processor; it can't be written.
pub fn keep(path: &Path, costs: Costs) -> Result<(), Problem> {
    let costs = if path.exists() {
        let old = read(path)?;
        if old.reference != costs.reference {
            let why = format!("it has costs of `{}`, and these are of `{}`", old.reference, costs.reference);
            let what = Problem::new(format!("can't add costs to {}", path.display())).why(why);
            return Err(what.fix("another file for each kind of processor"));
        }
        costs.or(old)
    } else {
        costs
    };
    let refused = |error| Problem::new(format!("{} can't be written", path.display())).why(error);
    write(path, &(serde_json::to_string_pretty(&costs).map_err(refused)? + "\n"))
}
