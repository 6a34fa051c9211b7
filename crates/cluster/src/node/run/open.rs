//! A run is opened: all that may take seconds, on any thread, and nothing of the node changes.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use takt_base::Stop;
use takt_bridge::Bridges;
use takt_bridge::clock::SlotTime;
use takt_bridge::clock::ptp::Service;
use takt_packet::EngineKind;
use takt_runtime::{Registry, Session, SessionOptions, SlotClock, Wish};

use super::slow::Slow;
use super::{Counters, Host, Run, State};
use crate::message::Order;
use crate::node::beat::RunClock;
use crate::node::place::{Placed, Refusal};
use crate::tenant::Tenant;

impl Host {
    /// Parts that open a run, wherever that is done.
    pub(in crate::node) fn opener(&self) -> Opener {
        let Host { engine, samples, ptp, registry, .. } = self;
        Opener { engine: *engine, samples: *samples, ptp: ptp.clone(), registry: registry.clone() }
    }
}

/// Opens a run.
pub(in crate::node) struct Opener {
    engine: EngineKind,
    samples: IpAddr,
    ptp: Service,
    registry: Registry,
}

impl Run {
    /// Makes everything ready: components made, memory taken, workers waiting at their cores, bridges bound. That may take
    /// seconds, and changes nothing of the node.
    pub(in crate::node) fn open(
        tenant: Tenant,
        order: Order,
        placed: Placed,
        mut with: Opener,
    ) -> Result<Run, Refusal> {
        RunClock::check(order.slot_clock, &with.ptp)?;
        let bridges = bridges(&placed, with.engine, with.samples)?;
        bridges.give(&mut with.registry);
        let time = SlotTime::new(placed.graph.slot_ns());
        let fifo_priority = (order.fifo_priority > 0).then_some(order.fifo_priority);
        let options = SessionOptions {
            slots: order.slots,
            clock: SlotClock::Edges(Arc::new(time.clone())),
            cores: placed.cores.clone(),
            fifo_priority,
            priority: if fifo_priority.is_some() { Wish::Try } else { Wish::No },
            lock_memory: Wish::Try,
            ..SessionOptions::default()
        };
        let session = Session::open(&placed.share.graph, &placed.share.plan, &with.registry, options)
            .map_err(|error| Refusal::new(&error, error.fix()))?;
        let stop = Stop::new();
        let running = session.start_paused(&stop).map_err(|error| Refusal::new(&error, error.fix()))?;
        let supports = order.ballot();
        let samples = bridges.local();
        let (waveform, components) = (placed.graph.name().to_owned(), running.stats());
        let counters = Counters { waveform, components, links: Vec::new(), how: None };
        let state = State::Opened { running: Box::new(running), bridges };
        Ok(Run {
            tenant,
            order,
            placed,
            supports,
            reference: String::new(),
            time,
            samples,
            stop,
            state,
            since: Instant::now(),
            beat: RunClock::Alone,
            next: None,
            earlier: Vec::new(),
            placings: 1,
            slow: Slow::default(),
            counters,
        })
    }
}

pub(super) fn bridges(placed: &Placed, engine: EngineKind, samples: IpAddr) -> Result<Bridges, Refusal> {
    Bridges::open(&placed.share, engine, samples)
        .map_err(|error| Refusal::new(&error, "use another engine, or give an address of this node in `samples`"))
}
