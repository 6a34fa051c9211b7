//! `takt component run`: one component on files, packet by packet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use takt_graph::{Accepts, Catalogue, Kind, Length, Params, Shape, Value, limits};
use takt_mapper::Costs;
use takt_runtime::{Bench, Registry};

use super::files::{FileError, Reader, Writer};
use super::list::find;
use crate::answer::Answer;
use crate::costs;
use crate::output::Output;
use crate::story::Story;
use crate::waveform::{Libraries, Said};

/// Items a packet from a pipe, where the component does not say.
const FROM_A_PIPE: u64 = 65_536;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt component run bpsk-modulate --in bits.u8 --out samples.i16
  head -c 1000 /dev/zero | takt component run bpsk-modulate > samples.i16
  takt component run bit-source --param items=100 --slots 3 --out bits.u8
  takt component run awgn --param ebn0_db=3 --in samples.i16 --out noisy.i16 --json

Items stand in a file in their native little-endian form, one after another: bit (a byte, 0 or 1), byte, i16, c16, f32,
c32 (complex: I first), llr (i8, positive = bit 0). A file is one packet unless the component or --items says otherwise.")]
pub struct Args {
    /// The component: `takt component list` lists all.
    name: String,
    /// Set a parameter; repeat for several.
    #[arg(long, value_name = "P=VALUE")]
    param: Vec<String>,
    /// Where an input comes from; `-` is standard input, the default of a single input. PORT= where there are several.
    #[arg(long = "in", value_name = "[PORT=]FILE")]
    inputs: Vec<String>,
    /// Where an output goes; `-` is standard output, the default of a single output. PORT= where there are several.
    #[arg(long = "out", value_name = "[PORT=]FILE")]
    outputs: Vec<String>,
    /// Items a packet; by default as many as the component takes, or else the whole file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    items: Option<u32>,
    /// Slots to execute; by default 1 without inputs, and until they end with.
    #[arg(long, value_name = "N")]
    slots: Option<u64>,
    /// Eight bits a byte, the first in the highest place.
    #[arg(long)]
    packed: bool,
    /// Keep what a slot of it took, beside what the file knows already; `takt map --costs` reads it.
    #[arg(long, value_name = "FILE")]
    save_costs: Option<PathBuf>,
    /// What the component is called in the waveform that the costs are for; its type by default.
    #[arg(long = "as", value_name = "COMPONENT", requires = "save_costs")]
    called: Option<String>,
    #[command(flatten)]
    libraries: Libraries,
}

/// What was done, for `--json`.
#[derive(Serialize)]
struct Outcome {
    component: String,
    params: Params,
    slots: u64,
    items_in: BTreeMap<String, u64>,
    items_out: BTreeMap<String, u64>,
    /// Execution time of all slots, ports and files not included.
    execution_ns: u64,
    results: BTreeMap<&'static str, Value>,
}

/// Runs it.
pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let registry = args.libraries.registry()?;
    let kind = find(&args.name, &registry)?;
    let params = params(kind, &args.param)?;
    let unfit = |error: takt_graph::ParamError| {
        let fix = error.fix();
        Story::new(format!("`{}` can't have these parameters", kind.name)).why(error).fix(fix)
    };
    let complete = kind.resolve(&params).map_err(unfit)?;
    let shape = registry.shape(kind, &complete).map_err(unfit)?;
    let sources = sources(args, &shape)?;
    let sinks = sinks(args, &shape, output)?;
    let mut job = Job::open(&registry, kind, complete, shape, sources, sinks, args)?;
    while job.slot(args.slots)? {}
    if let Some(path) = &args.save_costs {
        costs::keep(path, job.costs(args.called.as_deref(), &registry)?)?;
    }
    let outcome = job.finish()?;
    if output.wants_json() {
        output.result(&outcome, String::new)?;
    } else {
        output.note(text(&outcome));
    }
    Ok(Answer::Yes)
}

fn params(kind: &Kind, given: &[String]) -> Result<Params, Story> {
    let mut params = Params::new();
    for one in given {
        let refused = || Story::new(format!("can't take --param {one}"));
        let Some((name, text)) = one.split_once('=') else {
            return Err(refused().fix("--param NAME=VALUE"));
        };
        match kind.find(name) {
            // The complaint about an unknown one knows the nearest.
            None => params.set(name, Value::Text(text.to_owned())),
            Some(param) => {
                let value = param.parse(text).map_err(|error| {
                    let fix = error.fix();
                    refused().why(error).fix(fix)
                })?;
                params.set(name, value);
            }
        }
    }
    Ok(params)
}

fn told(error: FileError) -> Story {
    let fix = error.fix();
    Story::new("can't use a file").why(error).fix(fix)
}

/// A file for each port: named ones by name, one without a name for the only port.
fn assign(given: &[String], ports: &[&str], flag: &str) -> Result<Vec<String>, Story> {
    let mut files: Vec<Option<String>> = vec![None; ports.len()];
    for one in given {
        let named =
            one.split_once('=').and_then(|(name, file)| Some((ports.iter().position(|port| *port == name)?, file)));
        let (port, file) = match named {
            Some((port, file)) => (port, file),
            None if ports.len() == 1 => (0, one.as_str()),
            None if ports.is_empty() => {
                let what = Story::new(format!("can't take {flag} {one}"));
                return Err(what
                    .why(Said("the component has no such port".to_owned()))
                    .fix(format!("leave {flag} away")));
            }
            None => {
                let what = Story::new(format!("can't tell which port {flag} {one} is for"));
                let ways: Vec<String> = ports.iter().map(|port| format!("{flag} {port}=FILE")).collect();
                return Err(what.why(Said(format!("the component has {}", ports.len()))).fix(ways.join(" ")));
            }
        };
        if files[port].replace(file.to_owned()).is_some() {
            return Err(
                Story::new(format!("port `{}` was given two files", ports[port])).fix(format!("one {flag} a port"))
            );
        }
    }
    // A single port speaks through a pipe.
    if let [file] = &mut files[..] {
        file.get_or_insert_with(|| "-".to_owned());
    }
    let missing = files.iter().zip(ports).find_map(|(file, port)| file.is_none().then_some(port));
    if let Some(port) = missing {
        let what = Story::new(format!("port `{port}` was given no file"));
        return Err(what.fix(format!("{flag} {port}=FILE\n{flag} {port}=/dev/null")));
    }
    Ok(files.into_iter().flatten().collect())
}

fn sources(args: &Args, shape: &Shape) -> Result<Vec<Reader>, Story> {
    let names: Vec<&str> = shape.inputs.iter().map(|port| port.name.as_str()).collect();
    let files = assign(&args.inputs, &names, "--in")?;
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(Story::new("two inputs can't both come from standard input").fix("--in PORT=FILE for all but one"));
    }
    let open = |(file, port): (&String, &takt_graph::InputShape)| Reader::open(file, port.item, args.packed);
    files.iter().zip(&shape.inputs).map(open).collect::<Result<_, _>>().map_err(told)
}

fn sinks(args: &Args, shape: &Shape, output: &Output) -> Result<Vec<Writer>, Story> {
    let names: Vec<&str> = shape.outputs.iter().map(|port| port.name.as_str()).collect();
    let files = assign(&args.outputs, &names, "--out")?;
    let piped = files.iter().filter(|file| *file == "-").count();
    if piped > 1 || (piped == 1 && output.wants_json()) {
        let what = if piped > 1 { "two outputs" } else { "an output and the JSON document" };
        return Err(Story::new(format!("{what} can't both go to standard output")).fix("--out PORT=FILE"));
    }
    let create =
        |(file, port): (&String, &takt_graph::OutputShape)| Writer::create(file, &port.name, port.item, args.packed);
    files.iter().zip(&shape.outputs).map(create).collect::<Result<_, _>>().map_err(told)
}

/// A component between files.
struct Job {
    bench: Bench,
    name: String,
    params: Params,
    shape: Shape,
    readers: Vec<Reader>,
    writers: Vec<Writer>,
    /// Items a packet, of each input, and whether that was asked for.
    lengths: Vec<usize>,
    asked: bool,
    items_in: Vec<u64>,
    slots: u64,
    /// Of each slot.
    execution_ns: Vec<u64>,
    packet: Vec<u8>,
}

impl Job {
    fn open(
        registry: &Registry,
        kind: &Kind,
        params: Params,
        shape: Shape,
        readers: Vec<Reader>,
        writers: Vec<Writer>,
        args: &Args,
    ) -> Result<Job, Story> {
        let lengths = lengths(&shape, &readers, args.items)?;
        let longest = lengths.iter().copied().max().unwrap_or(1);
        let bench = Bench::sized(registry, &kind.name, &params, longest)
            .map_err(|error| Story::new(format!("`{}` was not made", kind.name)).why(error))?;
        let items_in = vec![0; readers.len()];
        let name = kind.name.clone();
        Ok(Job {
            bench,
            name,
            params,
            shape,
            readers,
            writers,
            lengths,
            asked: args.items.is_some(),
            items_in,
            slots: 0,
            execution_ns: Vec::new(),
            packet: Vec::new(),
        })
    }

    /// Executes the next slot; `false` when there is none.
    fn slot(&mut self, most: Option<u64>) -> Result<bool, Story> {
        let most = most.or_else(|| self.readers.is_empty().then_some(1));
        if most.is_some_and(|most| self.slots >= most) || !self.feed()? {
            return Ok(false);
        }
        self.bench.try_tick().map_err(|error| {
            let fix = "takt component list says which packets it takes; what it printed above says more";
            Story::new(format!("`{}` did not survive its input", self.name)).why(error).fix(fix)
        })?;
        self.slots += 1;
        self.execution_ns.push(self.bench.ns());
        for (index, (writer, port)) in self.writers.iter_mut().zip(&self.shape.outputs).enumerate() {
            writer.packet(self.bench.output_bytes(index), port.item).map_err(told)?;
        }
        Ok(true)
    }

    /// Feeds every input its next packet; `false` when all have ended.
    fn feed(&mut self) -> Result<bool, Story> {
        if self.readers.is_empty() {
            return Ok(true);
        }
        let mut ended = None;
        let mut goes_on = None;
        for (index, reader) in self.readers.iter_mut().enumerate() {
            let accepts = self.shape.inputs[index].accepts;
            reader.packet(self.lengths[index], &mut self.packet).map_err(told)?;
            let step = step(accepts).unwrap_or(if self.asked { self.lengths[index] } else { 1 });
            let whole_packets = self.packet.len() / step.max(1) * step;
            if reader.may_be_padding(&self.packet[whole_packets..]) {
                self.packet.truncate(whole_packets);
            }
            let items = self.packet.len() / self.shape.inputs[index].item.bytes();
            whole(items, accepts, reader)?;
            self.items_in[index] += items as u64;
            *(if items == 0 { &mut ended } else { &mut goes_on }) = Some(index);
            self.bench.feed_bytes(index, &self.packet);
        }
        match (ended, goes_on) {
            (Some(short), Some(long)) => {
                let (short, long) = (self.readers[short].name(), self.readers[long].name());
                let why = format!("{short} ends in slot {}, {long} goes on", self.slots);
                let what = Story::new("the inputs are of different lengths").why(Said(why));
                Err(what.fix("files with as many packets each, or --slots N"))
            }
            (None, Some(_)) => Ok(true),
            (_, None) => Ok(false),
        }
    }

    /// What it cost, and what predicts it elsewhere.
    fn costs(&self, called: Option<&str>, registry: &Registry) -> Result<Costs, Story> {
        let name = called.unwrap_or(&self.name);
        let Some(cost) = costs::of_times(self.execution_ns.clone()) else {
            let what = Story::new(format!("nothing is known about what `{}` costs", self.name));
            return Err(what.why(Said("it executed no slot".to_owned())).fix("an input that is not empty"));
        };
        let mut costs = Costs::of(&costs::class(), Some(costs::capacities()?)).with(name, cost);
        let items: Vec<u64> = self.lengths.iter().map(|&items| items as u64).collect();
        if let Some((profile, times)) = costs::profile(&self.name, &self.params, &items, registry) {
            costs.profiles.insert(name.to_owned(), profile);
            costs.scaled.extend(times.map(|times| (name.to_owned(), times)));
        }
        Ok(costs)
    }

    fn finish(self) -> Result<Outcome, Story> {
        let by_port = |names: Vec<String>, counts: Vec<u64>| names.into_iter().zip(counts).collect();
        let inputs = self.shape.inputs.iter().map(|port| port.name.clone()).collect();
        let outputs = self.shape.outputs.iter().map(|port| port.name.clone()).collect();
        let written: Vec<u64> = self.writers.into_iter().map(Writer::finish).collect::<Result<_, _>>().map_err(told)?;
        Ok(Outcome {
            results: self.bench.results(),
            component: self.name,
            params: self.params,
            slots: self.slots,
            items_in: by_port(inputs, self.items_in),
            items_out: by_port(outputs, written),
            execution_ns: self.execution_ns.iter().sum(),
        })
    }
}

/// Items a packet, of each input: what the component takes, what was asked for, or the whole file.
fn lengths(shape: &Shape, readers: &[Reader], asked: Option<u32>) -> Result<Vec<usize>, Story> {
    let mut lengths: Vec<u64> = Vec::new();
    for (port, reader) in shape.inputs.iter().zip(readers) {
        let step = if let Accepts::MultipleOf(n) = port.accepts { u64::from(n) } else { 1 };
        lengths.push(match port.accepts {
            Accepts::Exactly(n) => u64::from(n),
            _ => {
                asked.map_or_else(|| reader.items().unwrap_or((FROM_A_PIPE / step).max(1) * step).max(step), u64::from)
            }
        });
    }
    for (index, port) in shape.inputs.iter().enumerate() {
        if let Accepts::Ratio { num, den, of } = port.accepts {
            lengths[index] = lengths[of] * u64::from(num) / u64::from(den);
        }
    }
    let of_output = |port: &takt_graph::OutputShape| match port.length {
        Length::Fixed(n) | Length::UpTo(n) => u64::from(n),
        Length::Ratio { num, den, of } => lengths[of].saturating_mul(num.into()) / u64::from(den),
    };
    let longest = lengths.iter().copied().chain(shape.outputs.iter().map(of_output)).max().unwrap_or(1);
    if longest > limits::ITEMS {
        let why = Said(format!("a packet would have {longest} items, and at most {} are taken", limits::ITEMS));
        return Err(Story::new("can't take the file as one packet").why(why).fix("--items N, so many a packet"));
    }
    Ok(lengths.into_iter().map(|items| usize::try_from(items).unwrap_or(usize::MAX)).collect())
}

/// What the items of a packet are a multiple of, if the component says.
fn step(accepts: Accepts) -> Option<usize> {
    match accepts {
        Accepts::Exactly(n) | Accepts::MultipleOf(n) => Some(n as usize),
        Accepts::Any | Accepts::Ratio { .. } => None,
    }
}

/// Whether the component takes a packet of so many items; the last of a file may be shorter than the others.
fn whole(items: usize, accepts: Accepts, reader: &Reader) -> Result<(), Story> {
    let Some(step) = step(accepts).filter(|&step| !items.is_multiple_of(step)) else { return Ok(()) };
    let wants = match accepts {
        Accepts::Exactly(_) => format!("packets of exactly {step} items"),
        _ => format!("a multiple of {step} items"),
    };
    let why = Said(format!("the component takes {wants}, and {} gives {items}", reader.name()));
    let fix = format!("a file of a multiple of {step} items, or --items with a multiple of {step}");
    Err(Story::new("the input does not fill a packet").why(why).fix(fix))
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
