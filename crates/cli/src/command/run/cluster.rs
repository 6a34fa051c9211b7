//! `takt run --cluster`: a waveform on the nodes of a cluster.

use std::path::PathBuf;

use crate::screen;
use clap::ValueEnum;
use miette::Result;
use takt_base::shown::time_ns;
use takt_cluster::Manager;
use takt_cluster::clock;
use takt_cluster::manager::{NoSpare, OnLoss, Placed, Placer};
use takt_cluster::message::{Order, WorkerOrder};
use takt_graph::Graph;
use takt_mapper::Objective;

use super::DEFAULT_PRIORITY;
use crate::command::node::watch::{follow, show, trace, unplaced};
use crate::command::{map as mapping, node};
use crate::policy::Policy;
use crate::{Answer, Output, Problem, costs, stop_on_signal, waveform};

/// Sections of the help.
pub const EXAMPLES: &str = "  takt run waveforms/utran.toml --cluster cluster/a --slots 1000\n";

#[derive(Debug, clap::Args)]
pub struct OnCluster {
    /// Run on the nodes of a cluster. DIR is a folder from `takt node certificates`.
    #[arg(
        long = "cluster",
        value_name = "DIR",
        conflicts_with_all = ["cores", "addr", "device", "transmit", "save_costs", "trace", "log", "explain"]
    )]
    folder: Option<PathBuf>,
    /// Put a component on this node of the cluster. Repeat for several.
    #[arg(long, value_name = "COMPONENT=NODE", requires = "folder")]
    pin: Vec<String>,
    /// Node that executes nothing until another one is lost or too slow. All its free cores wait. Repeat for several.
    #[arg(long, value_name = "NODE", requires = "folder")]
    spare: Vec<String>,
    /// Run the waveform even if the mapper predicts that it does not fit the cluster. It will then miss slots.
    #[arg(long, requires = "folder")]
    overload: bool,
    /// Slots that a packet takes from one node to another: one in which it is made, the others to travel.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "folder", value_parser = clap::value_parser!(u32).range(1..=64))]
    hop_slots: u32,
    /// Action when a node is lost or too slow. With move, the others take over its components, which start afresh. With
    /// stop, a lost node ends the run, and a slow one changes nothing.
    #[arg(long, value_name = "ACTION", value_enum, default_value = "move", requires = "folder")]
    on_loss: OnLoss,
    /// Clock by which all nodes time slots: own (one node's, which the others ask) or ptp (PTP's time, from each node's own
    /// ptp4l).
    #[arg(long, value_name = "CLOCK", value_enum, default_value = "own", requires = "folder")]
    slot_clock: SlotClock,
    /// Write the manager's actions as OpenTelemetry spans: lines of OTLP in JSON, for a collector.
    #[arg(long, value_name = "FILE", requires = "folder")]
    otlp: Option<PathBuf>,
}

/// The clock by which all nodes time slots.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SlotClock {
    /// The clock of one node, which the others ask for the time.
    Own,
    /// PTP's time. takt still asks for the time itself, and the answer must not contradict PTP.
    Ptp,
}

impl From<SlotClock> for clock::SlotClock {
    fn from(clock: SlotClock) -> clock::SlotClock {
        match clock {
            SlotClock::Own => clock::SlotClock::Own,
            SlotClock::Ptp => clock::SlotClock::Ptp,
        }
    }
}

impl OnCluster {
    pub fn is_wanted(&self) -> bool {
        self.folder.is_some()
    }
}

pub fn run(args: &super::Args, output: &Output) -> Result<Answer> {
    let Some(folder) = &args.cluster.folder else { return Ok(Answer::No) };
    if args.clock != "wall" {
        return Err(Problem::new(format!("can't run on a cluster with --clock {}", args.clock))
            .why("all nodes begin each slot at the same time of one node's clock")
            .fix("give --clock wall, the default")
            .into());
    }
    let registry = waveform::registry()?;
    let graph = waveform::open(&args.waveform, args.slot, &args.set, &registry)?;
    let manager = node::manager(folder)?;
    let pins = mapping::pins(&args.cluster.pin)?;
    let named: Vec<&str> = pins.values().chain(&args.cluster.spare).map(String::as_str).collect();
    let nodes = manager.nodes_with(&named).and_then(|present| manager.own_share(node::usable(present, output)));
    let nodes = nodes.map_err(|error| node::problem("run on the cluster", error))?;
    let kept = args.costs.as_deref().map(costs::read).transpose()?;
    let objective = Objective { pins, ..Objective::best_effort(mapping::latency(&args.latency)) };
    let placer = Placer::new(&graph, &registry, &nodes, kept, objective, args.cluster.hop_slots).map_err(unplaced)?;
    let placer = placer.with_spares(&args.cluster.spare).map_err(no_spare)?;
    let placed = admitted(placer.place().map_err(unplaced)?, &graph, args.cluster.overload)?;
    let order = order(args, &graph, placed, &manager)?;
    if !output.wants_json() {
        output.line(screen::cluster::opening(&order, graph.name(), graph.slot_ns()));
    }
    let stop = stop_on_signal()?;
    let trace = trace(args.cluster.otlp.as_deref())?;
    let watched = (args.cluster.on_loss, &stop, None, &trace);
    let ended = follow(output, &graph, watched, |options| manager.run(&order, &placer, options));
    show(output, &ended.map_err(|error| node::problem("run on the cluster", error))?, &graph)
}

/// A cluster has more users than this one: what does not fit is not begun.
fn admitted(placed: Placed, graph: &Graph, overload: bool) -> Result<Vec<WorkerOrder>> {
    let Placed { workers, needs_ns } = placed;
    if needs_ns <= graph.slot_ns() || overload {
        return Ok(workers);
    }
    let (needs, slot) = (time_ns(needs_ns), time_ns(graph.slot_ns()));
    Err(Problem::new("the waveform does not fit the cluster")
        .why(format!("even the best placement needs {needs} of each slot of {slot} on its busiest core or link"))
        .fix(
            "add nodes or cores (`takt node list` shows what is free and allowed)\ngive a longer --slot\ngive \
              --overload, which misses slots",
        )
        .into())
}

fn no_spare(error: NoSpare) -> Problem {
    let fix = format!("give --spare one of: {}", error.have.join(", "));
    Problem::new(format!("`{}` can't be a spare node", error.node)).why(error).fix(fix)
}

/// Order for the nodes.
fn order(args: &super::Args, graph: &Graph, workers: Vec<WorkerOrder>, manager: &Manager) -> Result<Order> {
    let name = args.waveform.display().to_string();
    let text = waveform::text_of(&args.waveform, takt_graph::limits::FILE_BYTES);
    let text = text.map_err(|error| waveform::unreadable(&name, error))?;
    let fifo_priority = match args.policy {
        None => DEFAULT_PRIORITY,
        Some(Policy::Other) => 0,
        Some(Policy::Fifo(priority)) => priority,
    };
    Ok(Order {
        run: manager.run_name(graph.name()),
        placing: 1,
        file: name,
        text,
        slot_ns: args.slot.map(|_| graph.slot_ns()),
        set: args.set.iter().map(|set| format!("{}.{}={}", set.component, set.param, set.value)).collect(),
        latency: mapping::latency(&args.latency),
        hop_slots: args.cluster.hop_slots,
        slots: args.slots,
        fifo_priority,
        manager: manager.member(),
        first_stream: std::process::id() << 4,
        slot_clock: args.cluster.slot_clock.into(),
        workers,
    })
}
