//! One node's part of a run, from its share to its half of the outcome.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_bridge::clock::SlotTime;
use takt_bridge::{Bridges, Running as Crossing};
use takt_graph::{Plan, Share};
use takt_packet::EngineKind;
use takt_runtime::{Running, Session, SessionOptions, SlotClock, Wish, output_hash};

use super::{HOP_SLOTS, NodesError};
use crate::waveform::{Executed, Floors, Memory, Opened, PRIORITY, Policy, WaveformOptions, WaveformOutcome};

/// Memory of all links of a share at most.
const MEMORY_BYTES: u64 = 1 << 30;
/// Streams are numbered from here.
const FIRST_STREAM: usize = 1;
/// No run lasts longer.
const LONGEST: Duration = Duration::from_secs(3600);

pub(super) struct Part {
    options: WaveformOptions,
    opened: Opened,
    running: Running,
    crossing: Crossing,
    pub(super) time: SlotTime,
    stops: Stops,
    slots: u64,
    /// Latency of the whole waveform.
    latency_slots: u32,
}

/// Ready, and not begun: where the other node is is not known yet.
pub(super) struct Waiting {
    options: WaveformOptions,
    opened: Opened,
    node: usize,
    running: Running,
    bridges: Bridges,
    time: SlotTime,
    stops: Stops,
    slots: u64,
    /// Latency of the whole waveform.
    latency_slots: u32,
}

/// Ends worker and bridges of a part that nobody waits for any more.
#[derive(Default)]
struct Stops {
    worker: Stop,
    crossing: Stop,
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.worker.request();
        self.crossing.request();
    }
}

/// A waveform with its plan for both nodes, and the share of node 0 or 1 of it.
pub(super) fn share(options: &WaveformOptions, first: &[String], node: usize) -> Result<(Opened, Share), NodesError> {
    let mut opened = Opened::placed(&WaveformOptions { workers: 1, ..options.clone() }, None)?;
    let is_first = |&index: &usize| first.contains(&opened.graph.components()[index].name);
    let (first, second) = (0..opened.graph.components().len()).partition(is_first);
    let plan = Plan::across(&opened.graph, vec![first, second], options.latency, |_, _| HOP_SLOTS)?;
    let share = Share::of(&opened.graph, &plan, &[0, 1], node, FIRST_STREAM)?;
    opened.plan = plan;
    Ok((opened, share))
}

impl Waiting {
    /// Makes everything ready: components made, the worker waiting at its core, bridges bound at `address`.
    pub(super) fn open(
        options: &WaveformOptions,
        first: &[String],
        node: usize,
        address: IpAddr,
    ) -> Result<Waiting, NodesError> {
        let (mut opened, share) = share(options, first, node)?;
        let slots = slots(options, opened.slot_ns())?;
        let bridges = Bridges::open(&share, EngineKind::Mmsg, address)?;
        bridges.give(&mut opened.registry);
        let time = SlotTime::new(opened.slot_ns());
        // Nobody takes over from a node of a measurement, so it executes as long as it lives.
        time.extend_lease(u64::MAX);
        let (fifo_priority, priority) = match options.policy {
            Policy::Other => (None, Wish::No),
            Policy::Fifo => (Some(PRIORITY), Wish::Require),
            Policy::Highest => (Some(PRIORITY), Wish::Try),
        };
        let run = SessionOptions {
            slots: Some(slots),
            clock: SlotClock::Edges(Arc::new(time.clone())),
            cores: opened.cores.clone(),
            fifo_priority,
            priority,
            hash: options.hash,
            memory_max_bytes: MEMORY_BYTES,
            ..SessionOptions::default()
        };
        let latency_slots = opened.plan.latency_slots();
        let stops = Stops::default();
        let running = Session::open(&share.graph, &share.plan, &opened.registry, run)?.start_paused(&stops.worker)?;
        Ok(Waiting { options: options.clone(), opened, node, running, bridges, time, stops, slots, latency_slots })
    }

    /// Address of its bridges.
    pub(super) fn samples(&self) -> SocketAddr {
        self.bridges.local()
    }

    pub(super) fn time(&self) -> &SlotTime {
        &self.time
    }

    /// Lets its worker wait for slot 0, with the bridges of the other node at `other`.
    pub(super) fn go(mut self, other: SocketAddr) -> Result<Part, NodesError> {
        let peers = BTreeMap::from([(1 - self.node, other)]);
        // Above the worker: what it does is short, and the worker waits for it.
        let priority = (self.options.policy != Policy::Other).then_some(PRIORITY + 1);
        let crossing = self.bridges.start(&peers, self.time.clone(), priority, self.stops.crossing.clone());
        let crossing = crossing.map_err(NodesError::Line)?;
        self.running.go();
        let Waiting { options, opened, running, time, stops, slots, latency_slots, .. } = self;
        Ok(Part { options, opened, running, crossing, time, stops, slots, latency_slots })
    }
}

impl Part {
    /// Asks it to end at the next slot edge.
    pub(super) fn stop(&self) {
        self.stops.worker.request();
    }

    pub(super) fn ended(&self) -> bool {
        self.running.ended()
    }

    /// Waits for its last slot; its half of the outcome.
    pub(super) fn end(self, floors: Floors) -> Result<WaveformOutcome, NodesError> {
        let begun = Instant::now();
        let mut report = self.running.join();
        self.crossing.finish()?;
        // Bridges receive as well; what counts is what the waveform's own sinks did.
        let own = |name: &str| self.opened.graph.components().iter().any(|component| component.name == name);
        report.sink_hashes.retain(|sink| own(&sink.component));
        report.output_hash = output_hash(&report.sink_hashes);
        report.latency_slots = self.latency_slots;
        let fifo = report.granted.fifo_priority.is_some();
        let complete = report.slots >= self.slots;
        let executed = Executed { report, elapsed: begun.elapsed(), memory: None, fifo };
        let memory = [Memory::default(); 2];
        Ok(WaveformOutcome::of(&self.options, &self.opened, &executed, floors, memory, complete))
    }
}

/// Slots of a run.
pub(super) fn slots(options: &WaveformOptions, slot_ns: u64) -> Result<u64, NodesError> {
    let slots = options.slots_of(options.duration, slot_ns).unwrap_or(1);
    if u128::from(slots) * u128::from(slot_ns) > LONGEST.as_nanos() {
        return Err(NodesError::TooLong { slots, slot_us: slot_ns as f64 / 1e3 });
    }
    Ok(slots)
}
