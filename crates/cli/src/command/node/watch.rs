//! `takt node watch`: another manager for a waveform whose own is gone; and what all managers of a cluster show.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::screen;
use miette::Result;
use takt_base::Stop;
use takt_cluster::manager::{Ended, Loss, OnLoss, RunOptions, Watch};
use takt_cluster::{ClusterError, Manager, Trace};
use takt_graph::Graph;
use takt_mapper::PlatformError;
use takt_runtime::Registry;
use takt_runtime::planning::PlanningError;

use super::{Place, problem, usable};
use crate::command::map as mapping;
use crate::{Answer, Output, Problem, stop_on_signal, waveform};

/// How often a standby looks whether the manager is gone.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt node list --folder cluster/a                 names the runs without a manager
  takt node watch utran-a-k3f9a --folder cluster/a
  takt node watch utran-a-k3f9a --folder cluster/a --standby

Ctrl-C ends the run. The result at the end is that of `takt run --cluster`.

Exit status:
  0  no slot was missed
  1  a slot was missed, or a node was lost
  2  the command failed")]
pub struct Args {
    /// Name of the run, from `takt node list`.
    run: String,
    #[command(flatten)]
    place: Place,
    /// Wait while the run has another manager.
    #[arg(long)]
    standby: bool,
    /// Action when a node is lost or too slow, as in `takt run`.
    #[arg(long, value_name = "ACTION", value_enum, default_value = "move")]
    on_loss: OnLoss,
    /// Write the manager's actions as OpenTelemetry spans: lines of OTLP in JSON, for a collector.
    #[arg(long, value_name = "FILE")]
    otlp: Option<PathBuf>,
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let manager = super::manager(&args.place.folder)?;
    let registry = waveform::registry()?;
    let stop = stop_on_signal()?;
    let (mut waits, mut named, trace) = (false, false, trace(args.otlp.as_deref())?);
    while !stop.requested() {
        match watch(args, (&manager, &trace), &registry, &stop, (output, &mut named)) {
            // It was gone for a moment, or another standby was faster.
            Ok(Err(ClusterError::Watched { manager, .. })) if args.standby => {
                if !std::mem::replace(&mut waits, true) {
                    output.note(format!("standby   {manager} watches over {}", args.run));
                }
                std::thread::sleep(LOOK);
            }
            Ok(Err(error)) => return Err(problem("watch over the run", error).into()),
            Ok(Ok(answer)) => return Ok(answer),
            Err(problem) => return Err(problem),
        }
    }
    Ok(Answer::Yes)
}

/// Adopts the run and watches over it to its end. The outer error: it can't be placed on its nodes, or shown. `named`: nodes that
/// can't be used are known by now.
fn watch(
    args: &Args,
    (manager, trace): (&Manager, &Trace),
    registry: &Registry,
    stop: &Stop,
    (output, named): (&Output, &mut bool),
) -> Result<Result<Answer, ClusterError>> {
    let found = manager.nodes().and_then(|present| {
        let nodes = if std::mem::replace(named, true) { present.nodes } else { usable(present, output) };
        let orphan = manager.recall(&args.run, &nodes)?;
        let graph = orphan.graph(registry)?;
        Ok((nodes, orphan, graph))
    });
    let (nodes, orphan, graph) = match found {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    let own = orphan.own_nodes(nodes);
    let placer = orphan.placer(&graph, registry, &own).map_err(unplaced)?;
    let opening = format!("watching  {}, which {} left", args.run, orphan.manager);
    match follow(output, &graph, (args.on_loss, stop, Some(opening), trace), |options| {
        manager.adopt(&orphan, &placer, options)
    }) {
        Ok(ended) => show(output, &ended, &graph).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// Trace of the manager's actions.
pub fn trace(file: Option<&Path>) -> Result<Trace> {
    let Some(file) = file else { return Ok(Trace::off()) };
    let unwritten = |error: std::io::Error| {
        Problem::new(format!("can't write spans to {}", file.display()))
            .why(error.to_string())
            .fix("give --otlp a file in a folder that exists and that you may write")
    };
    Ok(Trace::create(file).map_err(unwritten)?)
}

/// Prints what happens to a run while it is watched. `opening` is printed once it is.
///
/// # Errors
/// Those of `watched`.
pub fn follow(
    output: &Output,
    graph: &Graph,
    (on_loss, stop, mut opening, trace): (OnLoss, &Stop, Option<String>, &Trace),
    watched: impl FnOnce(RunOptions<'_>) -> Result<Ended, ClusterError>,
) -> Result<Ended, ClusterError> {
    let mut known = 0;
    let mut watch = |watch: Watch<'_>| {
        opening.take().into_iter().for_each(|opening| output.note(opening));
        watch.losses.iter().skip(known).for_each(|loss: &Loss| {
            output.note(format!("lost      {}", screen::cluster::loss(loss, graph.slot_ns())));
        });
        known = watch.losses.len();
    };
    let ended = watched(RunOptions { stop, watch: &mut watch, on_loss, trace });
    if let Some(error) = trace.problem() {
        output.note(format!("spans     not all were written: {error}"));
    }
    ended
}

/// Shows how it ended.
pub fn show(output: &Output, ended: &Ended, graph: &Graph) -> Result<Answer> {
    output.screen(ended, || screen::cluster::ended(ended, graph.slot_ns()), false, Answer::of(ended.is_clean()))
}

/// Components find no place on the nodes.
pub fn unplaced(error: PlanningError) -> Problem {
    match error {
        PlanningError::Platform(error) => Problem::caused("can't map onto these nodes", error, PlatformError::fix),
        error => mapping::unplanned(error),
    }
}
