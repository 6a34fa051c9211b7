//! From an order to this node's share of it: the same steps on every node, so that all of them have the same plan.

use std::collections::BTreeSet;
use std::str::FromStr;

use takt_graph::{Graph, Override, Plan, Share, Waveform};
use takt_runtime::Registry;

use crate::counts::Reason;
use crate::gate::Refused;
use crate::message::{Order, RequestAnswer, WorkerOrder};
use crate::tenant::OverQuota;

/// Why a node refuses what a manager wants, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) why: String,
    pub(crate) fix: String,
    /// Reason by which it is counted.
    pub(crate) reason: Reason,
}

impl Refusal {
    /// Refuses a thing that the node can't do as it is.
    pub(super) fn new(why: impl ToString, fix: impl Into<String>) -> Refusal {
        Refusal { why: why.to_string(), fix: fix.into(), reason: Reason::Unable }
    }

    /// The same for another reason.
    pub(super) fn because(self, reason: Reason) -> Refusal {
        Refusal { reason, ..self }
    }
}

impl From<Refusal> for RequestAnswer {
    fn from(Refusal { why, fix, .. }: Refusal) -> RequestAnswer {
        RequestAnswer::Refused { why, fix }
    }
}

impl From<OverQuota> for Refusal {
    fn from(over: OverQuota) -> Refusal {
        Refusal::new(&over, over.fix()).because(Reason::Quota)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        Refusal::new(&refused, refused.fix()).because(refused.reason())
    }
}

/// Part of an order that one node executes.
pub(super) struct Placed {
    pub(super) graph: Graph,
    pub(super) share: Share,
    /// The core of each worker of the share.
    pub(super) cores: Vec<usize>,
}

/// The waveform of an order.
pub(crate) fn graph(order: &Order, registry: &Registry) -> Result<Graph, Refusal> {
    let mut waveform = Waveform::parse(&order.file, &order.text).map_err(|error| Refusal::new(&error, error.fix()))?;
    if let Some(slot_ns) = order.slot_ns {
        waveform.slot_ns = slot_ns;
    }
    for text in &order.set {
        let change = Override::from_str(text).map_err(|why| Refusal::new(why, "give COMPONENT.VARIABLE=VALUE"))?;
        change.apply(&mut waveform, registry).map_err(|error| Refusal::new(&error, error.fix()))?;
    }
    Graph::check(&waveform, registry).map_err(|error| Refusal::new(&error, error.fix()))
}

/// The graph and the plan of an order, on any machine.
fn whole(order: &Order, registry: &Registry) -> Result<(Graph, Plan), Refusal> {
    let graph = graph(order, registry)?;
    let find = |name: &String| {
        let fix = "use the same waveform on all nodes";
        graph.find(name).ok_or_else(|| Refusal::new(format!("no component is called `{name}`"), fix))
    };
    let of_worker = |worker: &WorkerOrder| worker.components.iter().map(find).collect::<Result<Vec<_>, _>>();
    let workers = order.workers.iter().map(of_worker).collect::<Result<Vec<_>, _>>()?;
    let node = |worker: usize| order.workers.get(worker).map(|worker| worker.node.as_str());
    let hop = |from, to| if node(from) == node(to) { 1 } else { order.hop_slots };
    let plan = Plan::across(&graph, workers, order.latency, hop).map_err(|error| Refusal::new(&error, error.fix()))?;
    Ok((graph, plan))
}

/// The part of `node`; `free` are the cores on which it lets workers run.
pub(super) fn place(order: &Order, node: &str, free: &[u32], registry: &Registry) -> Result<Placed, Refusal> {
    let (graph, plan) = whole(order, registry)?;
    let own: Vec<u32> = order.workers.iter().filter(|worker| worker.node == node).map(|worker| worker.cpu).collect();
    if own.is_empty() {
        return Err(Refusal::new(
            format!("no worker of the order is on `{node}`"),
            "give an order that has a worker for this node",
        ));
    }
    let distinct: BTreeSet<u32> = own.iter().copied().collect();
    if let Some(core) = own.iter().find(|core| !free.contains(core)) {
        let free: Vec<String> = free.iter().map(ToString::to_string).collect();
        let fix = if free.is_empty() {
            "stop a run on this node".to_owned()
        } else {
            format!("use cores {}", free.join(", "))
        };
        return Err(Refusal::new(format!("core {core} is not free"), fix));
    }
    if distinct.len() != own.len() {
        return Err(Refusal::new("two workers would share a core", "use one core for each worker"));
    }
    let share = share(&graph, &plan, order, node)?;
    Ok(Placed { graph, share, cores: own.iter().map(|&core| core as usize).collect() })
}

fn share(graph: &Graph, plan: &Plan, order: &Order, node: &str) -> Result<Share, Refusal> {
    let mut names: Vec<&str> = order.workers.iter().map(|worker| worker.node.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let index = |name: &str| names.iter().position(|&other| other == name).unwrap_or(0);
    let node_of: Vec<usize> = order.workers.iter().map(|worker| index(&worker.node)).collect();
    let first = order.first_stream as usize;
    Share::of(graph, plan, &node_of, index(node), first).map_err(|error| Refusal::new(&error, error.fix()))
}
