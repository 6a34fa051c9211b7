//! `takt run --cluster`: a waveform on the nodes of a cluster.

use std::path::PathBuf;

use miette::Result;
use takt_cluster::manager::{RunOptions, Watch, platform};
use takt_cluster::message::{NodeFacts, Order, WorkerOrder};
use takt_graph::Graph;
use takt_mapper::{Objective, Platform, PlatformError, map};
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
    let nodes = manager.nodes().map_err(|error| node::problem("run on the cluster", error))?;
    let order = order(args, &graph, &registry, &nodes)?;
    if !output.wants_json() {
        output.line(screen::cluster::opening(&order, graph.name(), graph.slot_ns()));
    }
    let stop = stop_on_signal()?;
    let mut watch = |_: Watch<'_>| {};
    let ended = manager
        .run(&order, &nodes, RunOptions { stop: &stop, watch: &mut watch })
        .map_err(|error| node::problem("run on the cluster", error))?;
    output.screen(&ended, || screen::cluster::ended(&ended), false, Answer::of(ended.is_clean()))
}

/// What the nodes are to do: the waveform, placed by the mapper.
fn order(args: &super::Args, graph: &Graph, registry: &Registry, nodes: &[NodeFacts]) -> Result<Order> {
    let hop_slots = args.cluster.hop_slots;
    let unfit = |error| Problem::caused("can't map onto these nodes", error, PlatformError::fix);
    let platform = platform("cluster", nodes, hop_slots).map_err(unfit)?;
    let latency = mapping::latency(&args.latency);
    let kept = args.costs.as_deref().map(costs::read).transpose()?;
    let mut costs = known(graph, registry, kept).map_err(costs::problem)?.with_capacities_of(&platform);
    if platform.classes().iter().any(|class| class.name != costs.reference) {
        costs = for_elsewhere(costs, graph, registry).map_err(costs::problem)?;
    }
    let objective = Objective { pins: mapping::pins(&args.cluster.pin)?, ..Objective::best_effort(latency) };
    let found = map(graph, &costs, &platform, &objective).map_err(mapping::unmapped)?;
    let name = args.waveform.display().to_string();
    let text = waveform::text_of(&args.waveform, takt_graph::limits::FILE_BYTES);
    let text = text.map_err(|error| waveform::unreadable(&name, error))?;
    let fifo_priority = match args.policy {
        None => DEFAULT_PRIORITY,
        Some(Policy::Other) => 0,
        Some(Policy::Fifo(priority)) => priority,
    };
    let run = format!("{}-{}", graph.name(), std::process::id());
    Ok(Order {
        run,
        file: name,
        text,
        slot_ns: args.slot.map(|_| graph.slot_ns()),
        set: args.set.iter().map(|set| format!("{}.{}={}", set.component, set.param, set.value)).collect(),
        latency,
        hop_slots,
        slots: args.slots,
        fifo_priority,
        first_stream: std::process::id() << 8,
        workers: workers(graph, &platform, &found),
    })
}

fn workers(graph: &Graph, platform: &Platform, found: &takt_mapper::Mapping) -> Vec<WorkerOrder> {
    let worker = |(components, &core): (&Vec<usize>, &usize)| {
        let core = &platform.cores()[core];
        WorkerOrder {
            node: platform.nodes()[core.node].name.clone(),
            cpu: core.cpu,
            components: components.iter().map(|&component| graph.components()[component].name.clone()).collect(),
        }
    };
    found.plan.workers().iter().zip(&found.cores).map(worker).collect()
}
