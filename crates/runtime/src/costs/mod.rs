//! Costs of components on this machine: a waveform is tried, a run is read, and what a component executes is looked up.
//! The mapper plans with it.

mod counted;
mod tried;

use std::time::Instant;

use takt_graph::{Graph, Params};
use takt_host::affinity::{self, AffinityError};
use takt_host::fingerprint::Fingerprint;
use takt_mapper::{CalibrationError, Capacities, Costs, MeasuredCore, Prices};
use takt_stats::{Histogram, Ns};

use crate::{OpenError, Registry, StartError};

pub use counted::profile;
pub use tried::of_report;

/// Why costs are not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum CostsError {
    /// The waveform was not opened for its trial.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The trial was not started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// This core can't be calibrated.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error("costs from `{reference}` lack `{missing}`, and this is another machine")]
    Elsewhere {
        /// The class of the other processor.
        reference: String,
        /// The component.
        missing: String,
    },
    #[error("the run executed no slot")]
    NoSlot,
}

impl CostsError {
    /// The fix, if there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            CostsError::Open(error) => Some(error.fix()),
            CostsError::Start(error) => Some(error.fix()),
            CostsError::Calibration(_) => None,
            CostsError::Elsewhere { .. } => Some("run takt map WAVEFORM --save-costs FILE on that machine".to_owned()),
            CostsError::NoSlot => Some("give an input that is not empty".to_owned()),
        }
    }
}

/// The class of this machine's cores: what their maker calls them, as a name.
#[must_use]
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
pub fn capacities() -> Result<Capacities, CalibrationError> {
    takt_mapper::calibrate(clock)
}

/// Time of an instruction of each kind on the core this thread is on.
///
/// # Errors
/// The clock of this machine stands.
pub fn prices() -> Result<Prices, CalibrationError> {
    takt_mapper::calibrate_prices(clock)
}

/// Why a core was not measured.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum MeasureError {
    #[error("takt can't move this process to core {core}")]
    Core {
        core: usize,
        #[source]
        source: AffinityError,
    },
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

/// Measures each of these cores, one after another. The calling thread stays on the last.
///
/// # Errors
/// This process may not use one of them; the clock of this machine stands.
pub fn measured_cores(cores: &[usize]) -> Result<Vec<MeasuredCore>, MeasureError> {
    let measured = |&core: &usize| -> Result<MeasuredCore, MeasureError> {
        affinity::pin_self(&[core]).map_err(|source| MeasureError::Core { core, source })?;
        Ok(MeasuredCore { core, capacities: capacities()?, prices: prices()? })
    };
    cores.iter().map(measured).collect()
}

fn clock(work: &mut dyn FnMut()) -> u64 {
    let start = Instant::now();
    work();
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Costs of a waveform's components: those in `kept`, and the others tried.
///
/// # Errors
/// The waveform can't be tried; what was kept is of another kind of processor, and does not know all components.
pub fn known(graph: &Graph, registry: &Registry, kept: Option<Costs>) -> Result<Costs, CostsError> {
    let kept = kept.unwrap_or_else(|| Costs::of(&class(), None));
    let missing = graph.components().iter().find(|component| !kept.components.contains_key(&component.name));
    match missing {
        None => Ok(kept),
        Some(_) if kept.reference == class() => Ok(kept.or(tried::tried(graph, registry)?)),
        Some(missing) => Err(CostsError::Elsewhere { reference: kept.reference, missing: missing.name.clone() }),
    }
}

/// Adds what predicts other kinds of processors: what each component executes, and what this processor can do. Figures
/// measured elsewhere are left as they are: nothing here tells about them.
///
/// # Errors
/// The clock of this machine stands.
pub fn for_elsewhere(mut costs: Costs, graph: &Graph, registry: &Registry) -> Result<Costs, CostsError> {
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

/// Cost of one component, executed by itself, and what predicts it elsewhere. `name`: in the waveform that they are
/// for; `items`: of the packet of each input.
///
/// # Errors
/// It executed no slot; the clock of this machine stands.
pub fn of_component(
    name: &str,
    (kind, params, items): (&str, &Params, &[u64]),
    times: &Histogram<Ns>,
    registry: &Registry,
) -> Result<Costs, CostsError> {
    let cost = tried::of_times(times).ok_or(CostsError::NoSlot)?;
    let mut costs = Costs::of(&class(), Some(capacities()?)).with(name, cost);
    counted::insert(&mut costs, name, counted::profile(kind, params, items, registry));
    Ok(costs)
}
