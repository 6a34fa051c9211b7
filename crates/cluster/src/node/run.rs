//! One waveform's part on this node, from the order to its end.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_base::{Clock, Stop, WallClock};
use takt_packet::EngineKind;
use takt_runtime::{Options, Registry, Running, Session, SlotClock, Wish};

use super::place::{Placed, Refusal, place};
use crate::bridge::{self, Bridges};
use crate::clock::{Follower, Offset, SlotTime};
use crate::message::{End, Order, Progress, RunFacts, Start, Started};

/// A run that is not started for so long is forgotten: its manager is gone.
const UNSTARTED: Duration = Duration::from_secs(30);

/// A run that has ended is forgotten so much later, if nobody has asked for it to be.
const ENDED: Duration = Duration::from_secs(120);

/// A waveform's part on this node.
pub(super) struct Run {
    order: Order,
    placed: Placed,
    time: SlotTime,
    samples: SocketAddr,
    stop: Stop,
    state: State,
    since: Instant,
    _follower: Option<Follower>,
}

enum State {
    Opened {
        running: Box<Running>,
        bridges: Bridges,
    },
    Executing {
        running: Box<Running>,
        bridges: bridge::Running,
    },
    Ended(Box<End>),
    /// Between two others.
    Changing,
}

impl Run {
    /// Makes everything ready: components made, memory taken, workers waiting at their cores, bridges bound.
    pub(super) fn open(
        order: Order,
        node: &str,
        free: &[u32],
        (engine, samples): (EngineKind, IpAddr),
        registry: &mut Registry,
    ) -> Result<Run, Refusal> {
        let placed = place(&order, node, free, registry)?;
        let bridges = Bridges::open(&placed.share, engine, samples, order.first_stream, registry)
            .map_err(|error| Refusal::new(&error, "another engine, or an address of this node in `samples`"))?;
        let time = SlotTime::new(placed.graph.slot_ns(), Arc::new(Offset::default()));
        let fifo_priority = (order.fifo_priority > 0).then_some(order.fifo_priority);
        let options = Options {
            slots: order.slots,
            clock: SlotClock::Edges(Arc::new(time.clone())),
            cores: placed.cores.clone(),
            fifo_priority,
            priority: if fifo_priority.is_some() { Wish::Try } else { Wish::No },
            lock_memory: Wish::Try,
            ..Options::default()
        };
        let session = Session::open(&placed.share.graph, &placed.share.plan, registry, options)
            .map_err(|error| Refusal::new(&error, error.fix()))?;
        let stop = Stop::new();
        let running = session.start_paused(&stop).map_err(|error| Refusal::new(&error, error.fix()))?;
        let samples = bridges.local();
        let state = State::Opened { running: Box::new(running), bridges };
        Ok(Run { order, placed, time, samples, stop, state, since: Instant::now(), _follower: None })
    }

    pub(super) fn name(&self) -> &str {
        &self.order.run
    }

    /// Where other nodes send samples to.
    pub(super) fn samples(&self) -> SocketAddr {
        self.samples
    }

    /// Cores that it has.
    pub(super) fn cores(&self) -> impl Iterator<Item = u32> {
        let held = !matches!(self.state, State::Ended(_));
        self.placed.cores.iter().filter(move |_| held).map(|&core| core as u32)
    }

    /// Lets the workers begin at slot 0.
    pub(super) fn start(&mut self, node: &str, start: &Start) -> Result<Started, Refusal> {
        let State::Opened { mut running, bridges } = std::mem::replace(&mut self.state, State::Changing) else {
            return Err(Refusal::new(format!("run `{}` was started before", start.run), "start it once"));
        };
        let epoch_ns = if start.reference == node {
            WallClock.now().0.saturating_add(start.in_ns)
        } else {
            let follower = Follower::start(start.clock, self.time.offset());
            let asked = follower.map_err(|error| {
                let why = format!("the clock of `{}` does not answer at {}: {error}", start.reference, start.clock);
                Refusal::new(why, "a way for UDP between the nodes' sample addresses")
            })?;
            self._follower = Some(asked);
            start.epoch_ns.ok_or_else(|| Refusal::new("the begin of slot 0 is missing", "epoch_ns"))?
        };
        let peers: BTreeMap<usize, SocketAddr> = self
            .order
            .workers
            .iter()
            .enumerate()
            .filter_map(|(index, worker)| Some((index, *start.samples.get(&worker.node)?)))
            .collect();
        // Above the workers: what it does is short, and they wait for it.
        let priority = (self.order.fifo_priority > 0).then(|| self.order.fifo_priority.saturating_add(1).min(98));
        let bridges = bridges
            .start(&peers, self.time.clone(), priority, Stop::new())
            .map_err(|error| Refusal::new(error, "fewer threads on this node"))?;
        self.time.begin(epoch_ns);
        running.go();
        self.state = State::Executing { running, bridges };
        Ok(Started { epoch_ns, offset_ns: self.time.offset().ns(), offset_bound_ns: self.time.offset().bound_ns() })
    }

    /// Notices the end. `true`: it is to be forgotten.
    pub(super) fn attend(&mut self) -> bool {
        match &self.state {
            State::Executing { running, .. } if running.ended() => {
                self.end();
                false
            }
            State::Opened { .. } => self.since.elapsed() > UNSTARTED,
            State::Ended(_) => self.since.elapsed() > ENDED,
            State::Executing { .. } => false,
            State::Changing => true,
        }
    }

    /// Ends it at the next slot edge.
    pub(super) fn stop(&mut self) {
        self.stop.request();
        self.end();
    }

    fn end(&mut self) {
        let State::Executing { running, bridges } = std::mem::replace(&mut self.state, State::Changing) else { return };
        let report = running.join();
        // What was made in the last slots is still to be sent.
        let bridges_broke = bridges.finish().err().map(|error| error.to_string());
        let sinks = report.sink_hashes.clone();
        // Our own structs, whose maps have texts as keys: always JSON.
        let report = serde_json::to_value(&report).unwrap_or_default();
        self._follower = None;
        (self.state, self.since) = (State::Ended(Box::new(End { report, sinks, bridges_broke })), Instant::now());
    }

    pub(super) fn progress(&self) -> Progress {
        let end = if let State::Ended(end) = &self.state { Some((**end).clone()) } else { None };
        let offset = self.time.offset();
        Progress { slots: self.slots(), offset_ns: offset.ns(), offset_bound_ns: offset.bound_ns(), end }
    }

    pub(super) fn facts(&self) -> RunFacts {
        let components = self.placed.share.graph.components().iter().map(|component| component.name.clone()).collect();
        let waveform = self.placed.graph.name().to_owned();
        RunFacts { run: self.order.run.clone(), waveform, components, slots: self.slots() }
    }

    /// Slots executed or missed by the component that is behind all others.
    fn slots(&self) -> u64 {
        match &self.state {
            State::Executing { running, .. } => {
                let done = |component: &takt_runtime::ComponentSnapshot| component.executions + component.missed;
                running.snapshot().components.iter().map(done).min().unwrap_or(0)
            }
            State::Ended(end) => end.report.get("slots").and_then(serde_json::Value::as_u64).unwrap_or(0),
            State::Opened { .. } | State::Changing => 0,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
    }
}
