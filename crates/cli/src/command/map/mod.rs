//! `takt map`: which component runs on which core, how far that is from what is possible, and what to do next.

mod apply;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::screen;
use miette::Result;
use serde::Serialize;
use takt_base::parse_duration;
use takt_graph::{Graph, Latency, Override};
use takt_mapper::{
    ClassSpec, Costs, Infeasible, MapError, Mapping, Objective, Platform, PlatformError, PlatformSpec, Predicted,
    Quantile, map, platform::limits, predicted,
};
use takt_runtime::costs::{class, for_elsewhere, known};

use self::apply::InForce;
use crate::command::variable::process;
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
    let running = args.apply.then(|| InForce::of(process(args.process, output)?)).transpose()?;
    let registry = waveform::registry()?;
    let graph = waveform::open(&args.waveform, args.slot, &args.set, &registry)?;
    let (platform, latency) = match &running {
        Some(running) => (this_host(&running.cores)?, running.latency),
        None => (platform(&args)?, latency(&args.latency)),
    };
    let objective = args.objective(latency)?;
    let kept = args.costs.as_deref().map(costs::read).transpose()?;
    let mut costs = known(&graph, &registry, kept).map_err(costs::problem)?.with_capacities_of(&platform);
    if args.save_costs.is_some() || platform.classes().iter().any(|class| class.name != costs.reference) {
        costs = for_elsewhere(costs, &graph, &registry).map_err(costs::problem)?;
    }
    if let Some(path) = &args.save_costs {
        costs::keep(path, costs.clone())?;
    }
    let predicted = predicted(&graph, &costs, &platform, objective.quantile).map_err(unmapped)?;
    let found = match map(&graph, &costs, &platform, &objective) {
        Ok(mapping) => Ok(mapping),
        Err(MapError::Infeasible(why)) => Err(why),
        Err(error) => return Err(unmapped(error).into()),
    };
    if let (Some(running), Ok(mapping)) = (&running, &found) {
        running.go_over(&graph, mapping)?;
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
        pair.ok_or_else(|| Problem::new(format!("can't take --pin {text}")).fix("--pin COMPONENT=NODE"))
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
        None if args.cores.is_empty() => {
            let own = takt_host::affinity::own_cpus();
            this_host(&own.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect::<Vec<_>>())
        }
        None => this_host(&args.cores),
    }
}

fn this_host(cores: &[u32]) -> Result<Platform> {
    let own = takt_host::affinity::own_cpus();
    if let Some(core) = cores.iter().find(|core| !own.contains(&(**core as usize))) {
        let why = format!("core {core} is not online, or not allowed to this process");
        let list: Vec<String> = own.iter().map(ToString::to_string).collect();
        return Err(Problem::new("can't map onto that core")
            .why(why)
            .fix(format!("--cores of {}", list.join(",")))
            .into());
    }
    let refused = |error| Problem::caused("can't map onto these cores", error, PlatformError::fix);
    Ok(PlatformSpec::host(&class(), ClassSpec::default(), cores).check().map_err(refused)?)
}

fn read(path: &Path) -> Result<Platform> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        let fix = "a platform file: docs/reference/platform.md, or `takt calibrate --out FILE`";
        Problem::new(format!("can't read the platform {name}")).why(error).fix(fix)
    };
    let text = waveform::text_of(path, limits::FILE_BYTES).map_err(unreadable)?;
    Ok(Platform::parse(&name, &text).map_err(FileDiagnostic::from)?)
}

pub fn unmapped(error: MapError) -> Problem {
    Problem::caused("the waveform can't be mapped", error, MapError::fix)
}

/// The placement `takt run` takes: the best there is for the median, whether or not it fits the slot; the second is
/// whether it does.
/// Errors: nothing is known about a component's cost.
pub fn best_effort(graph: &Graph, costs: &Costs, cores: &[usize], latency: Latency) -> Result<(Mapping, bool)> {
    let platform = this_host(&cores.iter().filter_map(|&core| u32::try_from(core).ok()).collect::<Vec<_>>())?;
    let mapping = map(graph, costs, &platform, &Objective::best_effort(latency)).map_err(unmapped)?;
    let fits = mapping.period_ns <= graph.slot_ns();
    Ok((mapping, fits))
}
