//! `takt component run`: one component on files, packet by packet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use takt_graph::{Catalogue, Kind, ParamError, Params, Value};
use takt_runtime::costs::CostsError;
use takt_runtime::job::{Job, JobError, JobOutcome};

use super::list::find;
use super::ports::{sinks, sources};
use crate::costs;
use crate::{Answer, Output, Problem, waveform};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt component run bpsk-modulate --in bits.u8 --out samples.i16
  head -c 1000 /dev/zero | takt component run bpsk-modulate > samples.i16
  takt component run bit-source --param items=100 --slots 3 --out bits.u8
  takt component run awgn --param ebn0_db=3 --in samples.i16 --out noisy.i16 --json

A file has items in native little-endian form, one after another. Types of items:
  bit        a byte, 0 or 1
  byte
  i16, f32
  c16, c32   complex, I first
  llr        i8, positive means bit 0
A file is one packet, unless the component or --items says otherwise.

Exit status: 0 it ran, 2 the command failed.")]
pub struct Args {
    /// Name of the component, from `takt component list`.
    name: String,
    /// Set a parameter. Repeat for several.
    #[arg(long, value_name = "PARAM=VALUE")]
    param: Vec<String>,
    /// File of an input; `-` is standard input, the default for a single input. With several inputs, name the PORT.
    #[arg(long = "in", value_name = "[PORT=]FILE")]
    inputs: Vec<String>,
    /// File of an output; `-` is standard output, the default for a single output. With several outputs, name the PORT.
    #[arg(long = "out", value_name = "[PORT=]FILE")]
    outputs: Vec<String>,
    /// Items per packet [default: as many as the component takes, else the whole file].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    items: Option<u32>,
    /// Number of slots [default: 1 without inputs, else until the inputs end].
    #[arg(long, value_name = "N")]
    slots: Option<u64>,
    /// Pack eight bits into a byte, the first into the most significant bit.
    #[arg(long)]
    packed: bool,
    /// Add the cost of a slot of the component to this file, which `takt map --costs` reads.
    #[arg(long, value_name = "FILE")]
    save_costs: Option<PathBuf>,
    /// Name of the component in the waveform that the costs are for [default: its type].
    #[arg(long = "as", value_name = "COMPONENT", requires = "save_costs")]
    called: Option<String>,
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let registry = waveform::registry()?;
    let kind = find(&args.name, &registry)?;
    let params = params(kind, &args.param)?;
    let what = format!("`{}` can't have these parameters", kind.name);
    let unfit = |error| Problem::caused(what.as_str(), error, ParamError::fix);
    let complete = kind.resolve(&params).map_err(unfit)?;
    let shape = registry.shape(kind, &complete).map_err(unfit)?;
    let sources = sources(&args.inputs, args.packed, &shape)?;
    let sinks = sinks(&args.outputs, args.packed, &shape, output)?;
    let refused = |error| problem(&kind.name, error);
    let mut job = Job::open(&registry, (kind, complete, shape), sources, sinks, args.items).map_err(refused)?;
    while job.slot(args.slots).map_err(refused)? {}
    if let Some(path) = &args.save_costs {
        let unknown = |error| match error {
            CostsError::NoSlot => {
                let what = format!("takt does not know the cost of `{}`", kind.name);
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
            return Err(Problem::new(what()).fix("give --param NAME=VALUE"));
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

fn text(outcome: &JobOutcome) -> String {
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
