//! `takt run --cluster`: a waveform on the nodes of a cluster.

use std::path::PathBuf;

use miette::Result;
use takt_cluster::manager::{Loss, Replace, RunOptions, Watch, platform};
use takt_cluster::message::{NodeFacts, Order, WorkerOrder};
use takt_graph::Graph;
use takt_mapper::{Costs, Mapping, Objective, Platform, PlatformError, map};
use takt_report::screen;
use takt_runtime::Registry;
use takt_runtime::costs::{for_elsewhere, known};

use super::DEFAULT_PRIORITY;
use crate::command::{map as mapping, node};
use crate::policy::Policy;
use crate::{Answer, Output, Problem, costs, stop_on_signal, waveform};

#[derive(Debug, clap::Args)]
pub struct OnCluster {
    /// Run on the nodes of a cluster: the folder of one of them, as `takt node certificates` made it.
    #[arg(
        long = "cluster",
        value_name = "DIR",
        conflicts_with_all = ["cores", "addr", "transmit", "save_costs", "trace", "log", "explain"]
    )]
    folder: Option<PathBuf>,
    /// A component that must be on a node; repeat for several.
    #[arg(long, value_name = "COMPONENT=NODE", requires = "folder")]
    pin: Vec<String>,
    /// Slots that a packet takes from one node to another: one in which it is made, the others to travel.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "folder", value_parser = clap::value_parser!(u32).range(1..=64))]
    hop_slots: u32,
    /// What happens when a node is lost: the others take over its components, which begin afresh, or the run ends.
    #[arg(long, value_name = "WHAT", default_value = "move", requires = "folder", value_parser = ["move", "stop"])]
    on_loss: String,
}

impl OnCluster {
    pub fn is_wanted(&self) -> bool {
        self.folder.is_some()
    }
}

pub fn run(args: &super::Args, output: &Output) -> Result<Answer> {
    let Some(folder) = &args.cluster.folder else { return Ok(Answer::No) };
    if args.clock != "wall" {
        return Err(Problem::new(format!("can't run on a cluster by the {} clock", args.clock))
            .why("all nodes begin a slot at one instant of one node's clock")
            .fix("--clock wall, which is the default")
            .into());
    }
    let registry = args.libraries.registry()?;
    let graph = waveform::open(&args.waveform, args.slot, &args.set, &registry)?;
    let manager = node::manager(folder)?;
    let nodes = manager.nodes().and_then(|nodes| manager.own_share(nodes));
    let nodes = nodes.map_err(|error| node::problem("run on the cluster", error))?;
    let placing = Placing::of(args, &graph, &registry, &nodes)?;
    let order = placing.order(args)?;
    if !output.wants_json() {
        output.line(screen::cluster::opening(&order, graph.name(), graph.slot_ns()));
    }
    let stop = stop_on_signal()?;
    let mut known = 0;
    let mut watch = |watch: Watch<'_>| {
        watch.losses.iter().skip(known).for_each(|loss: &Loss| {
            output.note(format!("lost      {}", screen::cluster::loss(loss, graph.slot_ns())));
        });
        known = watch.losses.len();
    };
    let replace = |order: &Order, left: &[String]| placing.replace(order, left);
    let replace: Option<&Replace<'_>> = if args.cluster.on_loss == "move" { Some(&replace) } else { None };
    let ended = manager
        .run(&order, &nodes, RunOptions { stop: &stop, watch: &mut watch, replace })
        .map_err(|error| node::problem("run on the cluster", error))?;
    output.screen(&ended, || screen::cluster::ended(&ended, graph.slot_ns()), false, Answer::of(ended.is_clean()))
}

/// What the mapper needs to place a waveform on nodes, and to place it again when one is lost.
struct Placing<'a> {
    graph: &'a Graph,
    nodes: &'a [NodeFacts],
    costs: Costs,
    objective: Objective,
    hop_slots: u32,
}

impl<'a> Placing<'a> {
    fn of(args: &super::Args, graph: &'a Graph, registry: &Registry, nodes: &'a [NodeFacts]) -> Result<Placing<'a>> {
        let hop_slots = args.cluster.hop_slots;
        let platform = platform("cluster", nodes, hop_slots).map_err(unfit)?;
        let kept = args.costs.as_deref().map(costs::read).transpose()?;
        let mut costs = known(graph, registry, kept).map_err(costs::problem)?.with_capacities_of(&platform);
        if platform.classes().iter().any(|class| class.name != costs.reference) {
            costs = for_elsewhere(costs, graph, registry).map_err(costs::problem)?;
        }
        let latency = mapping::latency(&args.latency);
        let objective = Objective { pins: mapping::pins(&args.cluster.pin)?, ..Objective::best_effort(latency) };
        Ok(Placing { graph, nodes, costs, objective, hop_slots })
    }

    /// What the nodes are to do.
    fn order(&self, args: &super::Args) -> Result<Order> {
        let platform = platform("cluster", self.nodes, self.hop_slots).map_err(unfit)?;
        let found = map(self.graph, &self.costs, &platform, &self.objective).map_err(mapping::unmapped)?;
        let name = args.waveform.display().to_string();
        let text = waveform::text_of(&args.waveform, takt_graph::limits::FILE_BYTES);
        let text = text.map_err(|error| waveform::unreadable(&name, error))?;
        let fifo_priority = match args.policy {
            None => DEFAULT_PRIORITY,
            Some(Policy::Other) => 0,
            Some(Policy::Fifo(priority)) => priority,
        };
        let process = std::process::id();
        Ok(Order {
            run: format!("{}-{process}", self.graph.name()),
            placing: 1,
            file: name,
            text,
            slot_ns: args.slot.map(|_| self.graph.slot_ns()),
            set: args.set.iter().map(|set| format!("{}.{}={}", set.component, set.param, set.value)).collect(),
            latency: self.objective.latency,
            hop_slots: self.hop_slots,
            slots: args.slots,
            fifo_priority,
            manager: format!("manager-{process}"),
            first_stream: process << 4,
            workers: self.workers(&platform, &found),
        })
    }

    /// The workers of an order that are left, with all components on them. Those that were there stay on their node.
    fn replace(&self, order: &Order, left: &[String]) -> Result<Vec<WorkerOrder>, String> {
        let workers: Vec<&WorkerOrder> = order.workers.iter().filter(|worker| left.contains(&worker.node)).collect();
        let cores = |node: &NodeFacts| {
            workers.iter().filter(|worker| worker.node == node.node).map(|worker| worker.cpu).collect::<Vec<u32>>()
        };
        let nodes: Vec<NodeFacts> = self
            .nodes
            .iter()
            .filter(|node| left.contains(&node.node))
            .map(|node| NodeFacts { cores: cores(node), busy: Vec::new(), ..node.clone() })
            .collect();
        let platform = platform("cluster", &nodes, self.hop_slots).map_err(|error| error.to_string())?;
        let stays = |worker: &&WorkerOrder| {
            worker.components.iter().map(|name| (name.clone(), worker.node.clone())).collect::<Vec<_>>()
        };
        let pins = workers.iter().flat_map(stays).collect();
        let objective = Objective { pins, ..self.objective.clone() };
        let found = map(self.graph, &self.costs, &platform, &objective).map_err(|error| error.to_string())?;
        let placed = self.workers(&platform, &found);
        let same = |worker: &&WorkerOrder| {
            let own = placed.iter().find(|other| (&other.node, other.cpu) == (&worker.node, worker.cpu));
            let components = own.map(|own| own.components.clone()).unwrap_or_default();
            WorkerOrder { components, ..(*worker).clone() }
        };
        Ok(workers.iter().map(same).collect())
    }

    fn workers(&self, platform: &Platform, found: &Mapping) -> Vec<WorkerOrder> {
        let worker = |(components, &core): (&Vec<usize>, &usize)| {
            let core = &platform.cores()[core];
            let name = |&component: &usize| self.graph.components()[component].name.clone();
            WorkerOrder {
                node: platform.nodes()[core.node].name.clone(),
                cpu: core.cpu,
                components: components.iter().map(name).collect(),
            }
        };
        found.plan.workers().iter().zip(&found.cores).map(worker).collect()
    }
}

fn unfit(error: PlatformError) -> Problem {
    Problem::caused("can't map onto these nodes", error, PlatformError::fix)
}
