//! `takt component run`: one component on files, packet by packet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use takt_graph::{Catalogue, Kind, ParamError, Params, Value};
use takt_runtime::costs::CostsError;
use takt_runtime::job::{Job, JobError, Outcome};

use super::list::find;
use super::ports::{sinks, sources};
use crate::costs;
use crate::waveform::Libraries;
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt component run bpsk-modulate --in bits.u8 --out samples.i16
  head -c 1000 /dev/zero | takt component run bpsk-modulate > samples.i16
  takt component run bit-source --param items=100 --slots 3 --out bits.u8
  takt component run awgn --param ebn0_db=3 --in samples.i16 --out noisy.i16 --json

Items stand in a file in their native little-endian form, one after another: bit (a byte, 0 or 1), byte, i16, c16, f32, \
c32 (complex: I first), llr (i8, positive = bit 0). A file is one packet unless the component or --items says otherwise.")]
pub struct Args {
    /// The component: `takt component list` lists all.
    name: String,
    /// Set a parameter; repeat for several.
    #[arg(long, value_name = "P=VALUE")]
    param: Vec<String>,
    /// Where an input comes from; `-` is standard input, the default of a single input. PORT= where there are several.
    #[arg(long = "in", value_name = "[PORT=]FILE")]
    pub inputs: Vec<String>,
    /// Where an output goes; `-` is standard output, the default of a single output. PORT= where there are several.
    #[arg(long = "out", value_name = "[PORT=]FILE")]
    pub outputs: Vec<String>,
    /// Items a packet; by default as many as the component takes, or else the whole file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    items: Option<u32>,
    /// Slots to execute; by default 1 without inputs, and until they end with.
    #[arg(long, value_name = "N")]
    slots: Option<u64>,
    /// Eight bits a byte, the first in the highest place.
    #[arg(long)]
    pub packed: bool,
    /// Keep what a slot of it took, beside what the file knows already; `takt map --costs` reads it.
    #[arg(long, value_name = "FILE")]
    save_costs: Option<PathBuf>,
    /// What the component is called in the waveform that the costs are for; its type by default.
    #[arg(long = "as", value_name = "COMPONENT", requires = "save_costs")]
    called: Option<String>,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let registry = args.libraries.registry()?;
    let kind = find(&args.name, &registry)?;
    let params = params(kind, &args.param)?;
    let what = format!("`{}` can't have these parameters", kind.name);
    let unfit = |error| Problem::caused(what.as_str(), error, ParamError::fix);
    let complete = kind.resolve(&params).map_err(unfit)?;
    let shape = registry.shape(kind, &complete).map_err(unfit)?;
    let sources = sources(args, &shape)?;
    let sinks = sinks(args, &shape, output)?;
    let refused = |error| problem(&kind.name, error);
    let mut job = Job::open(&registry, (kind, complete, shape), sources, sinks, args.items).map_err(refused)?;
    while job.slot(args.slots).map_err(refused)? {}
    if let Some(path) = &args.save_costs {
        let unknown = |error| match error {
            CostsError::NoSlot => {
                let what = format!("nothing is known about what `{}` costs", kind.name);
                Problem::caused(what, error, CostsError::fix)
            }
            error => costs::problem(error),
        };
        costs::keep(path, job.costs(args.called.as_deref(), &registry).map_err(unknown)?)?;
    }
    let outcome = job.finish().map_err(refused)?;
    if output.wants_json() {
        output.result(&outcome, String::new)?;
    } else {
        output.note(text(&outcome));
    }
    Ok(Answer::Yes)
}

fn problem(component: &str, error: JobError) -> Problem {
    let what = match &error {
        JobError::Bench(_) => format!("`{component}` was not made"),
        JobError::Tick { .. } => format!("`{component}` did not survive its input"),
        JobError::Items(_) => "can't use a file".to_owned(),
        JobError::Lengths { .. } => "the inputs are of different lengths".to_owned(),
        JobError::TooLong { .. } => "can't take the file as one packet".to_owned(),
        JobError::Unfilled { .. } => "the input does not fill a packet".to_owned(),
        _ => format!("`{component}` can't be run"),
    };
    Problem::caused(what, error, JobError::fix)
}

fn params(kind: &Kind, given: &[String]) -> Result<Params, Problem> {
    let mut params = Params::new();
    for one in given {
        let what = || format!("can't take --param {one}");
        let Some((name, text)) = one.split_once('=') else {
            return Err(Problem::new(what()).fix("--param NAME=VALUE"));
        };
        match kind.find(name) {
            // The complaint about an unknown one knows the nearest.
            None => params.set(name, Value::Text(text.to_owned())),
            Some(param) => {
                let refused = |error| Problem::caused(what(), error, ParamError::fix);
                params.set(name, param.parse(text).map_err(refused)?);
            }
        }
    }
    Ok(params)
}

fn text(outcome: &Outcome) -> String {
    let sum = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
    let (items_in, items_out) = (sum(&outcome.items_in), sum(&outcome.items_out));
    let items = if items_in > 0 { items_in } else { items_out };
    let each = if items > 0 {
        format!(", {:.2} ns an item", outcome.execution_ns as f64 / items as f64)
    } else {
        String::new()
    };
    let mut text =
        format!("{}: {} slots, {items_in} items in, {items_out} out{each}", outcome.component, outcome.slots);
    for (name, value) in &outcome.results {
        text.push_str(&format!("\n  {name} {value}"));
    }
    text
}
