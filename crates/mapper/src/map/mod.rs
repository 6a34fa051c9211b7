//! [`map`]: the entry.

mod infeasible;
mod mapping;
mod next;
mod predicted;

use std::collections::BTreeMap;

use takt_base::nearest;
use takt_graph::{Graph, Latency, Plan, PlanError};

pub use infeasible::{Binding, Infeasible, Remedy};
pub use mapping::{CoreLoad, LinkLoad, Mapping};
pub use next::{Change, Next};
pub use predicted::{Predicted, predicted};

use crate::cost::costs::{Costs, Quantile};
use crate::place::bounds::bounds;
use crate::place::problem::Problem;
use crate::place::solve::{Effort, solve};
use crate::platform::Platform;

/// Purpose of the placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// Length of a slot, ns; the waveform's own if `None`.
    pub slot_ns: Option<u64>,
    pub quantile: Quantile,
    /// Share of the slot that work may take, above 0 to 1. The rest is for late releases and for executions longer than
    /// the quantile.
    pub use_at_most: f64,
    pub latency: Latency,
    /// Components that must be on a machine, by name: a source on the node that has the radio.
    pub pins: BTreeMap<String, String>,
    pub effort: Effort,
}

impl Default for Objective {
    /// The waveform's slot, p99, 70 % of the slot, fixed latency, no pins.
    fn default() -> Objective {
        Objective {
            slot_ns: None,
            quantile: Quantile::P99,
            use_at_most: 0.7,
            latency: Latency::Fixed,
            pins: BTreeMap::new(),
            effort: Effort::default(),
        }
    }
}

impl Objective {
    /// Objective of a run that takes the best placement there is for the median, whether or not that fits the slot. A
    /// run that does not fit says who missed it.
    #[must_use]
    pub fn best_effort(latency: Latency) -> Objective {
        // A slot that anything fits.
        let endless = 1 << 60;
        Objective { slot_ns: Some(endless), use_at_most: 1.0, quantile: Quantile::P50, latency, ..Objective::default() }
    }
}

/// Why there is no mapping.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// Nothing fits; says what binds.
    #[error(transparent)]
    Infeasible(Box<Infeasible>),
    #[error("takt does not know the cost of `{component}`")]
    NoCost { component: String },
    #[error("the costs come from `{reference}`, and the platform does not say how `{class}` compares")]
    NoCapacities { reference: String, class: String },
    #[error("a pin names {what} `{name}`, which does not exist")]
    Pin { what: &'static str, name: String, nearest: Option<String> },
    #[error("the placement is not a valid plan")]
    Plan(#[source] PlanError),
    #[error("the share of a slot can't be {share}")]
    Share { share: f64 },
}

impl MapError {
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            MapError::Infeasible(why) => why.fix(),
            MapError::NoCost { component } => {
                format!("measure it by running the waveform, or declare `budget` in [component.{component}]")
            }
            MapError::NoCapacities { reference, class } => {
                format!("calibrate both `{reference}` and `{class}`, or measure the costs on `{class}`")
            }
            MapError::Pin { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            MapError::Pin { what, .. } => {
                format!("pin a component of the waveform to a node of the platform: there is no such {what}")
            }
            MapError::Plan(why) => why.fix(),
            MapError::Share { .. } => "give a share above 0 and up to 1".to_owned(),
        }
    }
}

/// Places the components of a waveform on the cores of a platform so that the shortest slot it keeps up with is as short as
/// can be found; among those placements, one with few slots of latency, then few bytes between cores. Pure: equal
/// arguments, equal mapping; no clock decides how long is searched.
///
/// # Errors
/// [`MapError::Infeasible`] if the slot is too short for whatever was found, with what binds and what would mend it; the
/// other errors if something is not known.
///
/// ```
/// # use takt_graph::*;
/// # struct Types(Vec<Kind>);
/// # impl Catalogue for Types {
/// #     fn kinds(&self) -> Vec<&Kind> { self.0.iter().collect() }
/// #     fn shape(&self, kind: &Kind, _: &Params) -> Result<Shape, ParamError> {
/// #         Ok(if kind.name == "source" { Shape::new().output("out", Item::Bit, Length::Fixed(8)) }
/// #            else { Shape::new().input("in", Item::Bit) })
/// #     }
/// # }
/// # let types = Types(vec![Kind::new("source", ""), Kind::new("sink", "")]);
/// use std::time::Duration;
/// use takt_mapper::{ClassSpec, Cost, Costs, Objective, Platform, map};
///
/// let waveform = Waveform::new("short", Duration::from_micros(100))
///     .with(ComponentSpec::new("source", "source"))
///     .with(ComponentSpec::new("sink", "sink"))
///     .chain(["source", "sink"]);
/// let graph = Graph::check(&waveform, &types).unwrap();
/// let costs = Costs::of("zen5", None).with("source", Cost::exactly(50_000)).with("sink", Cost::exactly(40_000));
/// let platform = Platform::host("zen5", ClassSpec::default(), &[0, 1]).unwrap();
///
/// let mapping = map(&graph, &costs, &platform, &Objective::default()).unwrap();
/// assert_eq!((mapping.period_ns, mapping.gap()), (50_000, 0.0));
/// assert_ne!(mapping.plan.worker_of(0), mapping.plan.worker_of(1));
///
/// let one = Platform::host("zen5", ClassSpec::default(), &[0]).unwrap();
/// let error = map(&graph, &costs, &one, &Objective::default()).unwrap_err();
/// assert_eq!(error.to_string(), "all components together take 90 µs of a slot, and 1 core has 70 µs");
/// ```
pub fn map(graph: &Graph, costs: &Costs, platform: &Platform, objective: &Objective) -> Result<Mapping, MapError> {
    let slot_ns = objective.slot_ns.unwrap_or_else(|| graph.slot_ns());
    let share = objective.use_at_most;
    if !(share > 0.0 && share <= 1.0) {
        return Err(MapError::Share { share });
    }
    let allowed_ns = share_of(slot_ns, share);
    let times = predicted::times(graph, costs, platform, objective.quantile)?;
    let pinned = pins(graph, platform, &objective.pins)?;
    let on = |component: usize, class: usize| times[class][component];
    let problem = Problem::new(graph, platform, objective.latency, on, |component| pinned[component]);
    let bounds = bounds(&problem, graph, platform);
    let solution = solve(&problem, objective.effort);
    let what = mapping::MapTask { graph, platform, problem: &problem, slot_ns, allowed_ns, use_at_most: share, bounds };
    let solution = match solution {
        Some(solution) if solution.period_ns <= allowed_ns => solution,
        other => return Err(MapError::Infeasible(Box::new(infeasible::explain(what, other)))),
    };
    let core_of = problem.core_of(&solution.placed);
    let (worker_of, cores) = mapping::workers(&core_of);
    // The rule here and there is the same, and property tests hold the two beside each other.
    let plan = Plan::assign(graph, &worker_of, objective.latency).map_err(MapError::Plan)?;
    Ok(mapping::mapping(what, &solution, plan, cores, objective.effort != Effort::Greedy))
}

/// To the nearest nanosecond, so that 0.7 of 115 µs is 80.5 µs though no float is 0.7.
fn share_of(slot_ns: u64, share: f64) -> u64 {
    (slot_ns as f64 * share).round() as u64
}

/// The machine each component must be on.
fn pins(graph: &Graph, platform: &Platform, pins: &BTreeMap<String, String>) -> Result<Vec<Option<usize>>, MapError> {
    let mut pinned = vec![None; graph.components().len()];
    for (component, node) in pins {
        let missing = |what, name: &String, known: Vec<&str>| MapError::Pin {
            what,
            name: name.clone(),
            nearest: nearest(name, known).map(str::to_owned),
        };
        let names = || graph.components().iter().map(|component| component.name.as_str()).collect();
        let nodes = || platform.nodes().iter().map(|node| node.name.as_str()).collect();
        let at = graph.find(component).ok_or_else(|| missing("component", component, names()))?;
        let on = platform.nodes().iter().position(|known| known.name == *node);
        pinned[at] = Some(on.ok_or_else(|| missing("node", node, nodes()))?);
    }
    Ok(pinned)
}
