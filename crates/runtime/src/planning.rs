//! Places for the components of a waveform: what they cost here, the cores there are, and the mapper's answer.
//!
//! [`plan`] answers `takt map`, [`place`] finds the best places for `takt run` whether or not they fit the slot.

use takt_graph::{Graph, Latency, Plan};
use takt_host::affinity::own_cpus;
use takt_mapper::{
    ClassSpec, Costs, Infeasible, MapError, Mapping, Objective, Platform, PlatformError, PlatformSpec, Predicted, map,
    predicted,
};

use crate::Registry;
use crate::costs::{CostsError, class, for_elsewhere, known};

/// Why nobody knows a place for the components.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanningError {
    /// This process can't use the core.
    #[error("core {core} is not online, or not allowed to this process")]
    Core {
        /// The core.
        core: u32,
        /// Cores that this process may use.
        own: Vec<usize>,
    },
    /// No core is free, or the platform states what can't be.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// Times of components are not known, and can't be measured.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// The mapper can't map it: a pin that leads nowhere, a component without a cost; in [`place`] also that nothing fits.
    #[error(transparent)]
    Map(#[from] MapError),
}

/// Cores of this machine as a platform.
///
/// # Errors
/// This process may not use one of them, or there are none.
pub fn this_host(cores: &[u32]) -> Result<Platform, PlanningError> {
    let own = own_cpus();
    match cores.iter().find(|core| !own.contains(&(**core as usize))) {
        Some(&core) => Err(PlanningError::Core { core, own }),
        None => Ok(PlatformSpec::host(&class(), ClassSpec::default(), cores).check()?),
    }
}

/// All cores of this machine that this process may use, as a platform.
///
/// # Errors
/// None in practice: a process has a core.
pub fn whole_host() -> Result<Platform, PlanningError> {
    this_host(&own_cpus().into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect::<Vec<_>>())
}

/// Costs with which to plan.
#[derive(Clone, Debug, Default)]
pub struct CostsChoice {
    /// Costs that are known. The others are measured.
    pub kept: Option<Costs>,
    /// Whether they are to predict other processors, too, though the platform has none.
    pub for_elsewhere: bool,
}

/// Places of a waveform's components, and the reasons.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Costs of the components here.
    pub costs: Costs,
    /// Their times on each class of cores.
    pub predicted: Vec<Predicted>,
    /// Their places, or why they do not fit.
    pub mapping: Result<Mapping, Box<Infeasible>>,
}

/// Plans a waveform on a platform.
///
/// # Errors
/// A component can't be measured, or the mapper can't map it. That it does not fit is no error.
pub fn plan(
    graph: &Graph,
    registry: &Registry,
    platform: &Platform,
    objective: &Objective,
    choice: CostsChoice,
) -> Result<Planned, PlanningError> {
    let costs = costs(graph, registry, platform, choice)?;
    let predicted = predicted(graph, &costs, platform, objective.quantile)?;
    let mapping = match map(graph, &costs, platform, objective) {
        Ok(mapping) => Ok(mapping),
        Err(MapError::Infeasible(why)) => Err(why),
        Err(error) => return Err(error.into()),
    };
    Ok(Planned { costs, predicted, mapping })
}

/// Costs for a platform: those that are known, and the others measured.
///
/// # Errors
/// A component can't be measured.
pub fn costs(
    graph: &Graph,
    registry: &Registry,
    platform: &Platform,
    choice: CostsChoice,
) -> Result<Costs, PlanningError> {
    let costs = known(graph, registry, choice.kept)?.with_capacities_of(platform);
    let has_others = platform.classes().iter().any(|class| class.name != costs.reference);
    Ok(if choice.for_elsewhere || has_others { for_elsewhere(costs, graph, registry)? } else { costs })
}

/// Places for a run on cores of this machine.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Which components each worker executes.
    pub plan: Plan,
    /// Core of each worker; none: wherever the kernel likes.
    pub cores: Vec<usize>,
    /// For the processes of isolated components; none: likewise.
    pub process_cores: Vec<usize>,
    /// Time of a slot that the busiest core needs, ns, where a slot has less.
    pub overload_ns: Option<u64>,
}

/// One worker a core, the components where they are expected to take least of a slot.
///
/// # Errors
/// This process may not use a core, or a component can't be measured.
pub fn place(
    graph: &Graph,
    registry: &Registry,
    cores: &[usize],
    kept: Option<Costs>,
    latency: Latency,
) -> Result<Placement, PlanningError> {
    if cores.len() < 2 {
        let (plan, cores) = (Plan::single(graph, latency), cores.to_vec());
        return Ok(Placement { plan, cores, process_cores: Vec::new(), overload_ns: None });
    }
    let costs = known(graph, registry, kept)?;
    let platform = this_host(&cores.iter().filter_map(|&core| u32::try_from(core).ok()).collect::<Vec<_>>())?;
    let mapping = map(graph, &costs, &platform, &Objective::best_effort(latency))?;
    let overload_ns = (mapping.period_ns > graph.slot_ns()).then_some(mapping.period_ns);
    // The platform has the cores as they were named.
    let named = |core: &usize| cores.get(*core).copied();
    let process_cores = mapping.cores_apart().iter().filter_map(named).collect();
    let cores = mapping.cores.iter().filter_map(named).collect();
    Ok(Placement { plan: mapping.plan, cores, process_cores, overload_ns })
}
