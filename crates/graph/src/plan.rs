//! [`Plan`]: which component runs on which worker in which order, and what delay each link has for it.

use serde::Serialize;

use crate::depth::{self, Demand};
use crate::error::arrows;
use crate::graph::{Graph, Link};
use crate::limits;

/// How many slots a hop takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Latency {
    /// Every link outside cycles takes at least one slot, as ALOE: latency does not change when components move.
    #[default]
    Fixed,
    /// None inside a worker when the producer comes first, one between workers.
    Compact,
}

/// A placement of a graph's components, with the physical times that follow from it.
///
/// Component c executes its logical slot j in physical slot j + `depth(c)`. A link of functional delay f has the physical
/// delay D = depth(consumer) - depth(producer) + f: its packets lie as many slots between being made and being read.
/// D >= 1 between workers and wherever the consumer comes first, and in [`Latency::Fixed`] for all links outside cycles;
/// one more behind an isolated component, which works while the slot passes; depths are the least that allow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    latency: Latency,
    workers: Vec<Vec<usize>>,
    worker_of: Vec<usize>,
    depth: Vec<u32>,
    delay: Vec<u32>,
    latency_slots: u32,
}

/// Why components can't be placed so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum PlanError {
    #[error("the plan has {workers} workers; 1 to {max} are allowed")]
    Workers { workers: usize, max: usize },
    #[error("no worker executes component `{component}`")]
    Unplaced { component: String },
    #[error("worker {worker} has component {component}, but no such component exists or another worker has it")]
    Misplaced {
        worker: usize,
        /// Index of the component.
        component: usize,
    },
    #[error("the cycle {} has {has} slots of delay, but needs {needs} when placed like this", arrows(path))]
    Cycle {
        path: Vec<String>,
        /// Functional delay, slots.
        has: u32,
        /// Hops that take a slot.
        needs: u32,
    },
}

impl PlanError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            PlanError::Workers { max, .. } => format!("use 1 to {max} workers"),
            PlanError::Unplaced { component } => format!("place `{component}` on a worker"),
            PlanError::Misplaced { .. } => "place each component once".to_owned(),
            PlanError::Cycle { needs, .. } => format!(
                "keep components linked without delay on one worker, in order; or give the cycle a delay of {needs} slots"
            ),
        }
    }
}

impl Plan {
    /// Places components: for each worker their indices, in the order in which it runs them.
    ///
    /// # Errors
    /// A component is not placed exactly once, or a cycle is spread over more workers than its delay allows.
    pub fn new(graph: &Graph, workers: Vec<Vec<usize>>, latency: Latency) -> Result<Plan, PlanError> {
        Plan::across(graph, workers, latency, |_, _| 1)
    }

    /// The same over several machines: `hop` says how many slots a packet takes from one worker to another, at least 1.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn across(
        graph: &Graph,
        workers: Vec<Vec<usize>>,
        latency: Latency,
        hop: impl Fn(usize, usize) -> u32,
    ) -> Result<Plan, PlanError> {
        let (worker_of, position) = places(graph, &workers)?;
        let need = |link: &Link| {
            let (from, to) = (link.from.component, link.to.component);
            // The output of an isolated component in a slot comes back in the next.
            let lag = u32::from(graph.components[from].isolated);
            if worker_of[from] != worker_of[to] {
                return hop(worker_of[from], worker_of[to]).clamp(1, limits::DELAY_SLOTS) + lag;
            }
            // A component that receives from itself comes before itself: the packet of this slot is not made yet.
            let later = position[from] >= position[to];
            u32::from(later || (latency == Latency::Fixed && !link.in_cycle)) + lag
        };
        let demands: Vec<Demand> = graph
            .links
            .iter()
            .map(|link| Demand {
                from: link.from.component,
                to: link.to.component,
                weight: i64::from(need(link)) - i64::from(link.delay),
            })
            .collect();
        let depth = depth::least(graph.components.len(), &demands).map_err(|cycle| {
            let links = || cycle.iter().map(|&index| &graph.links[index]);
            PlanError::Cycle {
                path: links().map(|link| graph.components[link.from.component].name.clone()).collect(),
                has: links().map(|link| link.delay).sum(),
                needs: links().map(need).sum(),
            }
        })?;
        Ok(Plan::of_depths(graph, workers, worker_of, depth, latency))
    }

    /// Plan that follows from the depths, which are legal.
    pub(crate) fn of_depths(
        graph: &Graph,
        workers: Vec<Vec<usize>>,
        worker_of: Vec<usize>,
        depth: Vec<u32>,
        latency: Latency,
    ) -> Plan {
        // Not negative: the demand of the link says so.
        let delay = |link: &Link| (depth[link.to.component] + link.delay).saturating_sub(depth[link.from.component]);
        let delay = graph.links.iter().map(delay).collect();
        let lagged = depth.iter().zip(&graph.components).map(|(depth, node)| depth + u32::from(node.isolated));
        let latency_slots = lagged.max().unwrap_or(0);
        Plan { latency, workers, worker_of, depth, delay, latency_slots }
    }

    /// Places each component on the worker given for it; each worker runs its own in topological order.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn assign(graph: &Graph, worker_of: &[usize], latency: Latency) -> Result<Plan, PlanError> {
        let count = worker_of.iter().max().map_or(0, |&last| last.saturating_add(1));
        if !(1..=limits::WORKERS).contains(&count) {
            return Err(PlanError::Workers { workers: count, max: limits::WORKERS });
        }
        let mut workers = vec![Vec::new(); count];
        for component in graph.topological_order() {
            if let Some(&worker) = worker_of.get(component) {
                workers[worker].push(component);
            }
        }
        Plan::new(graph, workers, latency)
    }

    /// Places all components on one worker. Always possible.
    #[must_use]
    pub fn single(graph: &Graph, latency: Latency) -> Plan {
        // A checked graph has no cycle without delay, so topological order needs no slot on any cycle.
        Plan::new(graph, vec![graph.topological_order()], latency).expect("one worker in topological order")
    }

    /// How many slots a hop takes.
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.latency
    }

    /// Components of each worker, in the order in which it runs them.
    #[must_use]
    pub fn workers(&self) -> &[Vec<usize>] {
        &self.workers
    }

    /// The worker of a component.
    #[must_use]
    pub fn worker_of(&self, component: usize) -> usize {
        self.worker_of[component]
    }

    /// Physical slot in which a component executes its logical slot 0.
    #[must_use]
    pub fn depth(&self, component: usize) -> u32 {
        self.depth[component]
    }

    /// Physical delay of a link, slots.
    #[must_use]
    pub fn delay(&self, link: usize) -> u32 {
        self.delay[link]
    }

    /// Slots between what a source makes and the last component that it reaches.
    #[must_use]
    pub fn latency_slots(&self) -> u32 {
        self.latency_slots
    }

    /// Whether a link crosses workers.
    #[must_use]
    pub fn crosses(&self, link: &Link) -> bool {
        self.worker_of[link.from.component] != self.worker_of[link.to.component]
    }
}

/// Worker and position of each component.
fn places(graph: &Graph, workers: &[Vec<usize>]) -> Result<(Vec<usize>, Vec<usize>), PlanError> {
    if !(1..=limits::WORKERS).contains(&workers.len()) {
        return Err(PlanError::Workers { workers: workers.len(), max: limits::WORKERS });
    }
    let mut placed: Vec<Option<(usize, usize)>> = vec![None; graph.components.len()];
    for (worker, order) in workers.iter().enumerate() {
        for (position, &component) in order.iter().enumerate() {
            match placed.get_mut(component) {
                Some(place @ None) => *place = Some((worker, position)),
                _ => return Err(PlanError::Misplaced { worker, component }),
            }
        }
    }
    let missing = placed.iter().position(Option::is_none);
    if let Some(component) = missing {
        return Err(PlanError::Unplaced { component: graph.components[component].name.clone() });
    }
    Ok(placed.into_iter().flatten().unzip())
}
