//! One component between byte streams, slot by slot.

mod items;

use std::collections::BTreeMap;

use serde::Serialize;
use takt_graph::{Accepts, Kind, Length, OutputShape, Params, Shape, Value, limits};
use takt_host::call;
use takt_mapper::Costs;
use takt_stats::{Histogram, Ns};

use crate::costs::{self, CostsError};
use crate::{Bench, BenchError, Registry, TickError};

pub use items::{ItemsError, Reader, Writer};

/// Items a packet from a pipe, where the component does not say.
const FROM_A_PIPE: u64 = 65_536;

/// Why the job can't go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum JobError {
    /// The component was not made.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// It did not survive its input.
    #[error("{error}")]
    Tick { component: String, error: TickError },
    /// A stream can't be used.
    #[error(transparent)]
    Items(#[from] ItemsError),
    #[error("{short} ends in slot {slot}, but {long} continues")]
    Lengths {
        /// The stream that ends.
        short: String,
        /// One that goes on.
        long: String,
        slot: u64,
    },
    #[error("a packet would have {items} items; at most {} are allowed", limits::ITEMS)]
    TooLong { items: u64 },
    #[error("the component takes {}, but {name} has {items}", takes(*step, *exactly))]
    Unfilled {
        name: String,
        /// Number of items that came.
        items: usize,
        /// It takes multiples of so many.
        step: usize,
        /// It takes exactly so many.
        exactly: bool,
    },
}

fn takes(step: usize, exactly: bool) -> String {
    if exactly { format!("packets of exactly {step} items") } else { format!("a multiple of {step} items") }
}

impl JobError {
    /// The fix, if there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            JobError::Bench(_) => return None,
            JobError::Tick { component, .. } => {
                let list = call::takt(format_args!("component list {component}"));
                format!("{list}   (shows which packets it takes; its own message is above)")
            }
            JobError::Items(error) => error.fix(),
            JobError::Lengths { .. } => "give files with equally many packets, or --slots N".to_owned(),
            JobError::TooLong { .. } => "give --items N, the items of a packet".to_owned(),
            JobError::Unfilled { step, .. } => {
                format!("give a file or --items of a multiple of {step} items")
            }
        })
    }
}

/// A component, what its inputs read and what its outputs write.
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

/// Result of a job.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct JobOutcome {
    pub component: String,
    /// Its parameters.
    pub params: Params,
    /// Slots that it executed.
    pub slots: u64,
    pub items_in: BTreeMap<String, u64>,
    pub items_out: BTreeMap<String, u64>,
    /// Execution time of all slots, ports and files not included.
    pub execution_ns: u64,
    /// Its results in the end.
    pub results: BTreeMap<&'static str, Value>,
}

impl Job {
    /// Makes the component. `shape`: what it is with these parameters; a reader for each input, and a writer for each
    /// output. `items`: of a packet; `None`: as many as the component takes, or else the whole stream.
    ///
    /// # Errors
    /// It refuses; the packets would be too long.
    pub fn open(
        registry: &Registry,
        (kind, params, shape): (&Kind, Params, Shape),
        readers: Vec<Reader>,
        writers: Vec<Writer>,
        items: Option<u32>,
    ) -> Result<Job, JobError> {
        let lengths = lengths(&shape, &readers, items)?;
        let longest = lengths.iter().copied().max().unwrap_or(1);
        Ok(Job {
            bench: Bench::sized(registry, &kind.name, &params, longest)?,
            name: kind.name.clone(),
            items_in: vec![0; readers.len()],
            params,
            shape,
            readers,
            writers,
            lengths,
            requested: items.is_some(),
            slots: 0,
            execution_ns: 0,
            times: Histogram::default(),
            packet: Vec::new(),
        })
    }

    /// Executes the next slot, of at most `most`; `false` when there is none.
    ///
    /// # Errors
    /// A stream can't be used, or holds what the component does not take.
    pub fn slot(&mut self, most: Option<u64>) -> Result<bool, JobError> {
        let most = most.or_else(|| self.readers.is_empty().then_some(1));
        if most.is_some_and(|most| self.slots >= most) || !self.feed()? {
            return Ok(false);
        }
        self.bench.try_tick().map_err(|error| JobError::Tick { component: self.name.clone(), error })?;
        self.slots += 1;
        self.execution_ns += self.bench.ns();
        self.times.record_saturating(self.bench.ns());
        for (index, (writer, port)) in self.writers.iter_mut().zip(&self.shape.outputs).enumerate() {
            writer.packet(self.bench.output_bytes(index), port.item)?;
        }
        Ok(true)
    }

    /// Feeds every input its next packet; `false` when all have ended.
    fn feed(&mut self) -> Result<bool, JobError> {
        if self.readers.is_empty() {
            return Ok(true);
        }
        let mut ended = None;
        let mut goes_on = None;
        for (index, reader) in self.readers.iter_mut().enumerate() {
            let accepts = self.shape.inputs[index].accepts;
            reader.packet(self.lengths[index], &mut self.packet)?;
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
                let [short, long] = [short, long].map(|index: usize| self.readers[index].name.clone());
                Err(JobError::Lengths { short, long, slot: self.slots })
            }
            (None, Some(_)) => Ok(true),
            (_, None) => Ok(false),
        }
    }

    /// Its cost, and what predicts it elsewhere. `called`: in the waveform that they are for.
    ///
    /// # Errors
    /// It executed no slot.
    pub fn costs(&self, called: Option<&str>, registry: &Registry) -> Result<Costs, CostsError> {
        let items: Vec<u64> = self.lengths.iter().map(|&items| items as u64).collect();
        let component = (self.name.as_str(), &self.params, &items[..]);
        costs::of_component(called.unwrap_or(&self.name), component, &self.times, registry)
    }

    /// Ends the streams.
    ///
    /// # Errors
    /// One takes no more.
    pub fn finish(self) -> Result<JobOutcome, JobError> {
        let by_port = |names: Vec<String>, counts: Vec<u64>| names.into_iter().zip(counts).collect();
        let inputs = self.shape.inputs.iter().map(|port| port.name.clone()).collect();
        let outputs = self.shape.outputs.iter().map(|port| port.name.clone()).collect();
        let written: Vec<u64> = self.writers.into_iter().map(Writer::finish).collect::<Result<_, _>>()?;
        Ok(JobOutcome {
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
fn lengths(shape: &Shape, readers: &[Reader], requested: Option<u32>) -> Result<Vec<usize>, JobError> {
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
        return Err(JobError::TooLong { items: longest });
    }
    Ok(lengths.into_iter().map(|items| usize::try_from(items).unwrap_or(usize::MAX)).collect())
}

/// The number that divides the items of a packet, if the component says.
fn step(accepts: Accepts) -> Option<usize> {
    match accepts {
        Accepts::Exactly(n) | Accepts::MultipleOf(n) => Some(n as usize),
        Accepts::Any | Accepts::Ratio { .. } => None,
    }
}

/// Whether the component takes a packet of so many items; the last of a file may be shorter than the others.
fn whole(items: usize, accepts: Accepts, reader: &Reader) -> Result<(), JobError> {
    let Some(step) = step(accepts).filter(|&step| !items.is_multiple_of(step)) else { return Ok(()) };
    let exactly = matches!(accepts, Accepts::Exactly(_));
    Err(JobError::Unfilled { name: reader.name.clone(), items, step, exactly })
}
