//! `takt map`: which component runs on which core, how far that is from what is possible, and what to do next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::screen;
use miette::Result;
use serde::Serialize;
use takt_base::parse_duration;
use takt_graph::{Latency, Override};
use takt_host::call;
use takt_mapper::{
    Costs, Infeasible, MapError, Mapping, Objective, Platform, PlatformError, Predicted, Quantile, platform::limits,
};
use takt_runtime::control::InForce;
use takt_runtime::planning::{CostsChoice, Planned, PlanningError, plan, this_host, whole_host};

use crate::command::variable::{process, unanswered};
use crate::costs;
use crate::waveform::{self, FileDiagnostic};
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt map waveforms/bpsk.toml                                   on all cores of this machine
  takt map waveforms/bpsk.toml --cores 0,1 --slot 100us
  takt calibrate --out here.toml; takt map waveforms/bpsk.toml --platform here.toml
  takt map waveforms/bpsk.toml --save-costs bpsk.json            and later --costs bpsk.json
  takt map waveforms/bpsk.toml --platform board.toml             written by takt calibrate there
  takt map waveforms/bpsk.toml --apply                           to the waveform that runs now

takt measures the costs that --costs lacks, for half a second on one core.

Exit status:
  0  the waveform fits
  1  it does not fit; takt names what limits it, and the fix
  2  the command failed")]
pub struct Args {
    /// Waveform file.
    waveform: PathBuf,
    /// Cores of this machine [default: all that this process may use].
    #[arg(long, value_name = "CORES", value_delimiter = ',', conflicts_with = "platform")]
    cores: Vec<u32>,
    /// Platform file: machines, kinds of cores, links between them.
    #[arg(long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Costs of the components, from --save-costs. Without it, takt measures them.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Add the costs of the components to this file, which --costs reads.
    #[arg(long, value_name = "FILE")]
    save_costs: Option<PathBuf>,
    /// Length of a slot, instead of the file's.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    slot: Option<Duration>,
    /// Slots that a hop takes: fixed (one, as in ALOE) or compact (one, only between workers).
    #[arg(long, default_value = "compact", value_parser = ["fixed", "compact"])]
    latency: String,
    /// Execution time to plan with.
    #[arg(long, default_value = "p99", value_parser = ["p50", "p99", "max"])]
    quantile: String,
    /// Share of the slot that work may take. The rest is a reserve for late work.
    #[arg(long, value_name = "SHARE", default_value_t = 0.7)]
    use_at_most: f64,
    /// Put a component on this node of the platform. Repeat for several.
    #[arg(long, value_name = "COMPONENT=NODE")]
    pin: Vec<String>,
    /// Change a parameter of the waveform. Repeat for several.
    #[arg(long, value_name = "COMPONENT.PARAM=VALUE")]
    set: Vec<Override>,
    /// Apply the mapping to the waveform that runs now, on its cores and with its latency.
    #[arg(long, conflicts_with_all = ["cores", "platform", "latency"])]
    apply: bool,
    /// Process that runs the waveform, if there are several.
    #[arg(long, value_name = "PID", requires = "apply")]
    process: Option<u32>,
}

#[derive(Serialize)]
struct Document<'a> {
    waveform: &'a str,
    platform: &'a str,
    fits: bool,
    costs: &'a Costs,
    /// Expected times of the components on each class of core, by what that is known, and how far off such figures
    /// were.
    predicted: &'a [Predicted],
    mapping: Option<&'a Mapping>,
    infeasible: Option<&'a Infeasible>,
    /// Whether a waveform that runs goes over to it.
    applied: bool,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let running = args.apply.then(|| in_force(process(args.process, output)?)).transpose()?;
    let registry = waveform::registry()?;
    let graph = waveform::open(&args.waveform, args.slot, &args.set, &registry)?;
    let (platform, latency) = match &running {
        Some(running) => (this_host(&running.cores).map_err(unplanned)?, running.latency),
        None => (platform(&args)?, latency(&args.latency)),
    };
    let objective = args.objective(latency)?;
    let kept = args.costs.as_deref().map(costs::read).transpose()?;
    let choice = CostsChoice { kept, for_elsewhere: args.save_costs.is_some() };
    let planned = plan(&graph, &registry, &platform, &objective, choice).map_err(unplanned)?;
    let Planned { costs, predicted, mapping: found } = planned;
    if let Some(path) = &args.save_costs {
        costs::keep(path, costs.clone())?;
    }
    if let (Some(running), Ok(mapping)) = (&running, &found) {
        running.go_over(&graph, mapping).map_err(unanswered)?;
    }
    let document = Document {
        waveform: graph.name(),
        platform: platform.name(),
        fits: found.is_ok(),
        costs: &costs,
        predicted: &predicted,
        mapping: found.as_ref().ok(),
        infeasible: found.as_ref().err().map(|why| &**why),
        applied: running.is_some() && found.is_ok(),
    };
    let shown = || {
        let mut shown = match &found {
            Ok(mapping) => screen::map::mapping(graph.name(), &platform, mapping),
            Err(why) => screen::map::infeasible(graph.name(), why),
        };
        shown.tables.push(screen::map::predicted(&costs, &predicted));
        shown.lines.extend(screen::map::expected(&costs, &predicted));
        if document.applied {
            shown.lines.push(("applied", "the waveform goes over to it at its next slot edge".to_owned()));
        }
        shown
    };
    output.screen(&document, shown, true, Answer::of(found.is_ok()))
}

impl Args {
    fn objective(&self, latency: Latency) -> Result<Objective> {
        Ok(Objective {
            quantile: match self.quantile.as_str() {
                "p50" => Quantile::P50,
                "max" => Quantile::Max,
                _ => Quantile::P99,
            },
            use_at_most: self.use_at_most,
            latency,
            pins: pins(&self.pin)?,
            ..Objective::default()
        })
    }
}

/// Components that must be on a node, as the command line has them.
pub fn pins(texts: &[String]) -> Result<BTreeMap<String, String>> {
    let pin = |text: &String| {
        let pair = text.split_once('=').map(|(component, node)| (component.to_owned(), node.to_owned()));
        pair.ok_or_else(|| Problem::new(format!("can't take --pin {text}")).fix("give --pin COMPONENT=NODE"))
    };
    Ok(texts.iter().map(pin).collect::<Result<_, _>>()?)
}

/// A mode of latency by its name, which clap has checked.
pub fn latency(name: &str) -> Latency {
    if name == "fixed" { Latency::Fixed } else { Latency::Compact }
}

fn platform(args: &Args) -> Result<Platform> {
    match &args.platform {
        Some(path) => read(path),
        None if args.cores.is_empty() => Ok(whole_host().map_err(unplanned)?),
        None => Ok(this_host(&args.cores).map_err(unplanned)?),
    }
}

fn read(path: &Path) -> Result<Platform> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        let fix =
            "give a platform file, as docs/reference/platform.md describes it or `takt calibrate --out FILE` writes it";
        Problem::new(format!("can't read the platform {name}")).why(error).fix(fix)
    };
    let text = waveform::text_of(path, limits::FILE_BYTES).map_err(unreadable)?;
    Ok(Platform::parse(&name, &text).map_err(FileDiagnostic::from)?)
}

/// The waveform that runs, as it is mapped now.
fn in_force(process: u32) -> Result<InForce> {
    let running = InForce::of(process).map_err(unanswered)?;
    if running.cores.is_empty() {
        return Err(Problem::new("no mapping suits the waveform that runs")
            .why("its workers are not tied to cores")
            .fix(call::takt("run WAVEFORM --cores 0,1"))
            .into());
    }
    Ok(running)
}

pub fn unplanned(error: PlanningError) -> Problem {
    match error {
        PlanningError::Core { ref own, .. } => {
            let list: Vec<String> = own.iter().map(ToString::to_string).collect();
            let fix = format!("give --cores with some of {}", list.join(","));
            Problem::new("can't map onto that core").why(error).fix(fix)
        }
        PlanningError::Platform(error) => Problem::caused("can't map onto these cores", error, PlatformError::fix),
        PlanningError::Costs(error) => costs::problem(error),
        PlanningError::Map(error) => Problem::caused("the waveform can't be mapped", error, MapError::fix),
        error => Problem::new("the waveform can't be mapped").why(error),
    }
}
