//! Cost of handing a packet from one component to the next, on the runtime's own links.
//!
//! A component of takt writes its items straight into the link's memory and the next reads them there, so a link copies
//! nothing. The workload times these for each packet, apart and together:
//!
//! - *write*: copying a packet of the application into the link (what `send` does in a message-based system);
//! - *hand-over*: publishing it until the reader has noticed it; this is all that the link itself adds;
//! - *read*: copying it out again (what `recv` does).
//!
//! With the reader on another core the writer's time stamp travels in the packet: both cores read one clock. The floor is
//! the same two copies without a link, in the same process, in turns with it.

pub(crate) mod workload;

use std::hint::black_box;
use std::thread;

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_host::affinity::{AffinityError, pin_self};
use takt_host::policy::{Policy, set_policy};
use takt_runtime::ring::{Reader, Writer, ring};
use takt_stats::{Histogram, Ns};

use super::waveform::{Floors, WaveformError, floors};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceOptions {
    pub packet_bytes: usize,
    pub count: u64,
    pub reader: Side,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// On the writer's core, after it.
    #[default]
    SameCore,
    /// On a core of its own, watching.
    OtherCore,
}

impl Default for InterfaceOptions {
    fn default() -> InterfaceOptions {
        InterfaceOptions { packet_bytes: 12_500, count: 100_000, reader: Side::SameCore }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceOutcome {
    pub options: InterfaceOptions,
    /// Write, hand-over and read together.
    pub latency: Histogram<Ns>,
    pub hand_over: Histogram<Ns>,
    /// The two copies without a link.
    pub floor: Histogram<Ns>,
    pub mean_ns: f64,
    pub largest_over_mean: f64,
    pub hand_over_mean_ns: f64,
    pub median_ns: f64,
    /// Median latency over the median of the floor.
    pub over_floor: f64,
    /// Packet bits over mean latency.
    pub throughput_bps: f64,
    pub floors: Floors,
    /// Cores: the writer's, then the reader's where it is another.
    pub cores: Vec<usize>,
    /// Whether all threads had real-time priority, as workers do where it is permitted.
    pub fifo: bool,
    /// It measured as many packets as requested.
    pub complete: bool,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    #[error(transparent)]
    Cores(#[from] WaveformError),
    #[error("takt can't place a thread")]
    Place(#[from] AffinityError),
    #[error("takt measured no packet")]
    Nothing,
}

/// Measures. `stop` ends it early.
pub fn run(options: &InterfaceOptions, stop: &Stop) -> Result<InterfaceOutcome, InterfaceError> {
    let cores = super::waveform::cores(if options.reader == Side::SameCore { 1 } else { 2 })?;
    // On a thread of its own: the agent's thread keeps its CPUs and its policy.
    let measured = thread::scope(|scope| {
        let done = scope.spawn(|| match options.reader {
            Side::SameCore => one_core(options, &cores, stop),
            Side::OtherCore => two_cores(options, &cores, stop),
        });
        done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    measured.outcome(options, cores, !stop.requested())
}

/// On its core, with the priority a worker would have; whether that was permitted.
fn place(cores: &[usize]) -> Result<bool, InterfaceError> {
    pin_self(cores)?;
    Ok(set_policy(0, Policy::Fifo { priority: PRIORITY }).is_ok())
}

/// As workers have it.
const PRIORITY: u8 = 20;

struct Measured {
    latency: Histogram<Ns>,
    hand_over: Histogram<Ns>,
    floor: Histogram<Ns>,
    floors: Floors,
    fifo: bool,
}

impl Measured {
    fn new(fifo: bool) -> Measured {
        let blank = || Histogram::with_bound(BOUND_NS);
        Measured { latency: blank(), hand_over: blank(), floor: blank(), floors: floors(), fifo }
    }

    /// Counts a packet by the clock's readings: writing begun, ended, the reader saw it, reading ended, the floor ended.
    fn note(&mut self, clock: &quanta::Clock, [begun, published, observed, ended, copied]: [u64; 5]) {
        self.latency.record_saturating(clock.delta_as_nanos(begun, ended));
        self.hand_over.record_saturating(clock.delta_as_nanos(published, observed));
        self.floor.record_saturating(clock.delta_as_nanos(ended, copied));
    }

    fn outcome(
        self,
        options: &InterfaceOptions,
        cores: Vec<usize>,
        complete: bool,
    ) -> Result<InterfaceOutcome, InterfaceError> {
        let mean = |histogram: &Histogram<Ns>| histogram.mean().ok_or(InterfaceError::Nothing);
        let median = |histogram: &Histogram<Ns>| histogram.quantile(0.5).map_or(1.0, |ns| ns.max(1) as f64);
        let mean_ns = mean(&self.latency)?.max(1.0);
        Ok(InterfaceOutcome {
            options: options.clone(),
            mean_ns,
            largest_over_mean: self.latency.max().unwrap_or(0) as f64 / mean_ns,
            hand_over_mean_ns: mean(&self.hand_over)?,
            median_ns: median(&self.latency),
            over_floor: median(&self.latency) / median(&self.floor),
            throughput_bps: options.packet_bytes as f64 * 8e9 / mean_ns,
            latency: self.latency,
            hand_over: self.hand_over,
            floor: self.floor,
            floors: self.floors,
            fifo: self.fifo,
            cores,
            complete,
        })
    }
}

const BOUND_NS: u64 = 1_000_000_000;
/// Packets before what is measured.
const WARM_UP: u64 = 1_000;
/// Cells of the link, as between two workers.
const CELLS: usize = 4;

/// A cell as the runtime has them: the items in memory of their own.
struct Packet {
    /// The writer's clock when it began, and when it published.
    begun: u64,
    published: u64,
    items: Box<[u8]>,
}

fn link(bytes: usize) -> (Writer<Packet>, Reader<Packet>) {
    let cell = || Packet { begun: 0, published: 0, items: vec![1; bytes].into_boxed_slice() };
    let (writer, mut readers) = ring((0..CELLS).map(|_| cell()), 1);
    (writer, readers.remove(0))
}

fn one_core(options: &InterfaceOptions, cores: &[usize], stop: &Stop) -> Result<Measured, InterfaceError> {
    let mut measured = Measured::new(place(cores)?);
    let clock = quanta::Clock::new();
    let (mut writer, mut reader) = link(options.packet_bytes);
    let application = vec![7_u8; options.packet_bytes];
    let mut received = vec![0_u8; options.packet_bytes];
    let mut between = vec![0_u8; options.packet_bytes];
    for slot in 0..options.count + WARM_UP {
        if stop.requested() {
            break;
        }
        let begun = clock.raw();
        if let Some(cell) = writer.cell(slot) {
            cell.items.copy_from_slice(black_box(&application));
        }
        let written = clock.raw();
        writer.publish(slot);
        let ready = black_box(reader.ready(slot));
        let observed = clock.raw();
        if let Some(cell) = reader.cell(slot).filter(|_| ready) {
            received.copy_from_slice(&cell.items);
        }
        reader.release(slot + 1);
        let ended = clock.raw();
        black_box(&mut received);
        copy_twice(&application, &mut between, &mut received);
        let copied = clock.raw();
        if slot >= WARM_UP {
            measured.note(&clock, [begun, written, observed, ended, copied]);
        }
    }
    Ok(measured)
}

/// The floor: what a link can't go below.
#[inline(always)] // it is timed from outside
fn copy_twice(from: &[u8], between: &mut [u8], to: &mut [u8]) {
    between.copy_from_slice(black_box(from));
    black_box(&mut *between);
    to.copy_from_slice(between);
    black_box(to);
}

/// In lock step: the writer writes again when the reader has let go, so that no packet waits for an earlier one.
fn two_cores(options: &InterfaceOptions, cores: &[usize], stop: &Stop) -> Result<Measured, InterfaceError> {
    let (mut writer, mut reader) = link(options.packet_bytes);
    let (mut requests, mut requested) = ring([0_u64; CELLS], 1);
    let mut requested = requested.remove(0);
    let clock = quanta::Clock::new();
    let ended = Stop::new();
    let [here, there] = [0, 1].map(|n| cores.get(n).copied().unwrap_or(0));
    thread::scope(|scope| {
        let (writers_clock, writers_end) = (clock.clone(), ended.clone());
        let writing = scope.spawn(move || -> Result<bool, InterfaceError> {
            let fifo = place(&[here])?;
            let application = vec![7_u8; options.packet_bytes];
            for slot in 0.. {
                while !requested.ready(slot) {
                    if writers_end.requested() {
                        return Ok(fifo);
                    }
                    std::hint::spin_loop();
                }
                requested.release(slot + 1);
                let begun = writers_clock.raw();
                if let Some(cell) = writer.cell(slot) {
                    cell.items.copy_from_slice(black_box(&application));
                    (cell.begun, cell.published) = (begun, writers_clock.raw());
                }
                writer.publish(slot);
            }
            Ok(fifo)
        });
        let measured = read_all(options, there, &mut reader, &mut requests, &clock, stop);
        ended.request();
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (fifo, measured) = (written?, measured?);
        Ok(Measured { fifo: fifo && measured.fifo, ..measured })
    })
}

fn read_all(
    options: &InterfaceOptions,
    core: usize,
    reader: &mut Reader<Packet>,
    requests: &mut Writer<u64>,
    clock: &quanta::Clock,
    stop: &Stop,
) -> Result<Measured, InterfaceError> {
    let mut measured = Measured::new(place(&[core])?);
    let mut received = vec![0_u8; options.packet_bytes];
    let (application, mut between) = (vec![7_u8; options.packet_bytes], vec![0_u8; options.packet_bytes]);
    for slot in 0..options.count + WARM_UP {
        if let Some(word) = requests.cell(slot) {
            *word = slot;
        }
        requests.publish(slot);
        while !reader.ready(slot) {
            if stop.requested() {
                return Ok(measured);
            }
            std::hint::spin_loop();
        }
        let observed = clock.raw();
        let Some(cell) = reader.cell(slot) else { continue };
        received.copy_from_slice(&cell.items);
        let ended = clock.raw();
        let (begun, published) = (cell.begun, cell.published);
        reader.release(slot + 1);
        black_box(&mut received);
        copy_twice(&application, &mut between, &mut received);
        let copied = clock.raw();
        if slot >= WARM_UP {
            measured.note(clock, [begun, published, observed, ended, copied]);
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_it_and_what_was_measured_is_not_complete() {
        let stop = Stop::new();
        stop.request();
        assert!(matches!(run(&InterfaceOptions::default(), &stop), Err(InterfaceError::Nothing)));
    }
}
