//! A component between files, slot by slot.

use takt_graph::{Accepts, Kind, Length, OutputShape, Params, Shape, limits};
use takt_host::call;
use takt_mapper::Costs;
use takt_runtime::{Bench, Registry};
use takt_stats::{Histogram, Ns};

use super::files::{Reader, Writer};
use super::ports::file_problem;
use super::run::{Args, Outcome};
use crate::Problem;
use crate::costs;

/// Items a packet from a pipe, where the component does not say.
const FROM_A_PIPE: u64 = 65_536;

pub struct Job {
    bench: Bench,
    name: String,
    params: Params,
    shape: Shape,
    readers: Vec<Reader>,
    writers: Vec<Writer>,
    /// Items a packet, of each input, and whether that was requested.
    lengths: Vec<usize>,
    requested: bool,
    items_in: Vec<u64>,
    slots: u64,
    execution_ns: u64,
    times: Histogram<Ns>,
    packet: Vec<u8>,
}

impl Job {
    /// Makes the component.
    /// Errors: it refuses; the packets would be too long.
    pub fn open(
        registry: &Registry,
        kind: &Kind,
        params: Params,
        shape: Shape,
        readers: Vec<Reader>,
        writers: Vec<Writer>,
        args: &Args,
    ) -> Result<Job, Problem> {
        let lengths = lengths(&shape, &readers, args.items)?;
        let longest = lengths.iter().copied().max().unwrap_or(1);
        let bench = Bench::sized(registry, &kind.name, &params, longest)
            .map_err(|error| Problem::new(format!("`{}` was not made", kind.name)).why(error))?;
        Ok(Job {
            bench,
            name: kind.name.clone(),
            items_in: vec![0; readers.len()],
            params,
            shape,
            readers,
            writers,
            lengths,
            requested: args.items.is_some(),
            slots: 0,
            execution_ns: 0,
            times: Histogram::default(),
            packet: Vec::new(),
        })
    }

    /// Executes the next slot; `false` when there is none.
    /// Errors: a file can't be used, or holds what the component does not take.
    pub fn slot(&mut self, most: Option<u64>) -> Result<bool, Problem> {
        let most = most.or_else(|| self.readers.is_empty().then_some(1));
        if most.is_some_and(|most| self.slots >= most) || !self.feed()? {
            return Ok(false);
        }
        self.bench.try_tick().map_err(|error| {
            let list = call::takt(format_args!("component list {}", self.name));
            let fix = format!("{list}   (says which packets it takes; what it printed above says more)");
            Problem::new(format!("`{}` did not survive its input", self.name)).why(error).fix(fix)
        })?;
        self.slots += 1;
        self.execution_ns += self.bench.ns();
        self.times.record_saturating(self.bench.ns());
        for (index, (writer, port)) in self.writers.iter_mut().zip(&self.shape.outputs).enumerate() {
            writer.packet(self.bench.output_bytes(index), port.item).map_err(file_problem)?;
        }
        Ok(true)
    }

    /// Feeds every input its next packet; `false` when all have ended.
    fn feed(&mut self) -> Result<bool, Problem> {
        if self.readers.is_empty() {
            return Ok(true);
        }
        let mut ended = None;
        let mut goes_on = None;
        for (index, reader) in self.readers.iter_mut().enumerate() {
            let accepts = self.shape.inputs[index].accepts;
            reader.packet(self.lengths[index], &mut self.packet).map_err(file_problem)?;
            let step = step(accepts).unwrap_or(if self.requested { self.lengths[index] } else { 1 });
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
                let (short, long) = (&self.readers[short].name, &self.readers[long].name);
                let why = format!("{short} ends in slot {}, {long} goes on", self.slots);
                let what = Problem::new("the inputs are of different lengths").why(why);
                Err(what.fix("files with as many packets each, or --slots N"))
            }
            (None, Some(_)) => Ok(true),
            (_, None) => Ok(false),
        }
    }

    /// What it cost, and what predicts it elsewhere.
    /// Errors: it executed no slot.
    pub fn costs(&self, called: Option<&str>, registry: &Registry) -> Result<Costs, Problem> {
        let name = called.unwrap_or(&self.name);
        let Some(cost) = costs::of_times(&self.times) else {
            let what = Problem::new(format!("nothing is known about what `{}` costs", self.name));
            return Err(what.why("it executed no slot").fix("an input that is not empty"));
        };
        let mut costs = Costs::of(&costs::class(), Some(costs::capacities()?)).with(name, cost);
        let items: Vec<u64> = self.lengths.iter().map(|&items| items as u64).collect();
        if let Some((profile, times)) = costs::profile(&self.name, &self.params, &items, registry) {
            costs.profiles.insert(name.to_owned(), profile);
            costs.scaled.extend(times.map(|times| (name.to_owned(), times)));
        }
        Ok(costs)
    }

    /// Ends the files.
    /// Errors: one takes no more.
    pub fn finish(self) -> Result<Outcome, Problem> {
        let by_port = |names: Vec<String>, counts: Vec<u64>| names.into_iter().zip(counts).collect();
        let inputs = self.shape.inputs.iter().map(|port| port.name.clone()).collect();
        let outputs = self.shape.outputs.iter().map(|port| port.name.clone()).collect();
        let written: Vec<u64> =
            self.writers.into_iter().map(Writer::finish).collect::<Result<_, _>>().map_err(file_problem)?;
        Ok(Outcome {
            results: self.bench.results(),
            component: self.name,
            params: self.params,
            slots: self.slots,
            items_in: by_port(inputs, self.items_in),
            items_out: by_port(outputs, written),
            execution_ns: self.execution_ns,
        })
    }
}

/// Items a packet, of each input: what the component takes, what was requested, or the whole file.
fn lengths(shape: &Shape, readers: &[Reader], requested: Option<u32>) -> Result<Vec<usize>, Problem> {
    let mut lengths: Vec<u64> = Vec::new();
    for (port, reader) in shape.inputs.iter().zip(readers) {
        let step = if let Accepts::MultipleOf(n) = port.accepts { u64::from(n) } else { 1 };
        lengths.push(match port.accepts {
            Accepts::Exactly(n) => u64::from(n),
            _ => requested
                .map_or_else(|| reader.items().unwrap_or((FROM_A_PIPE / step).max(1) * step).max(step), u64::from),
        });
    }
    for (index, port) in shape.inputs.iter().enumerate() {
        if let Accepts::Ratio { num, den, of } = port.accepts {
            lengths[index] = lengths[of] * u64::from(num) / u64::from(den);
        }
    }
    let of_output = |port: &OutputShape| match port.length {
        Length::Fixed(n) | Length::UpTo(n) => u64::from(n),
        Length::Ratio { num, den, of } => lengths[of].saturating_mul(num.into()) / u64::from(den),
    };
    let longest = lengths.iter().copied().chain(shape.outputs.iter().map(of_output)).max().unwrap_or(1);
    if longest > limits::ITEMS {
        let why = format!("a packet would have {longest} items, and at most {} are taken", limits::ITEMS);
        return Err(Problem::new("can't take the file as one packet").why(why).fix("--items N, so many a packet"));
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
fn whole(items: usize, accepts: Accepts, reader: &Reader) -> Result<(), Problem> {
    let Some(step) = step(accepts).filter(|&step| !items.is_multiple_of(step)) else { return Ok(()) };
    let wants = match accepts {
        Accepts::Exactly(_) => format!("packets of exactly {step} items"),
        _ => format!("a multiple of {step} items"),
    };
    let why = format!("the component takes {wants}, and {} gives {items}", reader.name);
    let fix = format!("a file of a multiple of {step} items, or --items with a multiple of {step}");
    Err(Problem::new("the input does not fill a packet").why(why).fix(fix))
}
