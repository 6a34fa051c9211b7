//! Runs that are being opened. Making components may take seconds, in which the node answers others: so each is opened on a thread
//! of its own, and the node keeps what it takes and who waits for it.

use std::collections::BTreeMap;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value as Json, json};
use zenoh::query::Query;

use super::Node;
use super::place::{Placed, Refusal};
use super::run::{Opener, Run};
use crate::clock::ClockFacts;
use crate::control::reply;
use crate::message::{Opened, Order, Progress};
use crate::tenant::Tenant;

/// How long a node waits for a question while it opens a run: who ordered that waits as well.
pub(super) const SOON: Duration = Duration::from_millis(2);

/// A run that is being opened.
pub(super) struct Opening {
    pub(super) name: String,
    pub(super) tenant: Tenant,
    pub(super) manager: String,
    slot_ns: u64,
    /// Cores that it will have.
    pub(super) cores: Vec<u32>,
    thread: JoinHandle<Result<Run, Refusal>>,
    /// Query that waits for it.
    waits: Option<Query>,
    /// It was stopped before it was open.
    stopped: bool,
}

impl Opening {
    /// Begins to open a run.
    pub(super) fn begin(tenant: Tenant, order: Order, placed: Placed, with: Opener) -> Result<Opening, Refusal> {
        let (name, manager) = (order.run.clone(), order.manager.clone());
        let cores = placed.cores.iter().map(|&core| core as u32).collect();
        let (of, slot_ns) = (tenant.clone(), placed.graph.slot_ns());
        let thread = std::thread::Builder::new().name("takt-opening".to_owned());
        let thread = thread.spawn(move || Run::open(of, order, placed, with));
        let thread = thread
            .map_err(|error| Refusal::new(error, "end other threads on this node, or raise the limit: ulimit -u"))?;
        Ok(Opening { name, tenant, manager, slot_ns, cores, thread, waits: None, stopped: false })
    }

    /// Answers `query` once the run is open, or can't be.
    pub(super) fn answers(self, query: Query) -> Opening {
        Opening { waits: Some(query), ..self }
    }

    /// It will not begin. How it is: in no slot.
    pub(super) fn stop(&mut self) -> Progress {
        self.stopped = true;
        Progress {
            slot: 0,
            slot_ns: self.slot_ns,
            offset_ns: 0,
            offset_bound_ns: 0,
            clock: ClockFacts::default(),
            manager: self.manager.clone(),
            slow_slots: 0,
            lost_slots: BTreeMap::new(),
            end: None,
        }
    }

    /// Waits for it, and undoes it. The one that ordered it is answered before.
    pub(super) fn abandon(mut self) {
        if let Some(query) = self.waits.take() {
            reply(&query, Refusal::new("the node is being stopped", "use another node").into());
        }
        // Why it did not come about is of no use any more.
        drop(self.thread.join());
    }

    fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Its result.
    fn finish(self) -> Result<Run, Refusal> {
        let broken =
            |_| Err(Refusal::new("a component panicked while it was made", "remove that component from the waveform"));
        let run = self.thread.join().unwrap_or_else(broken)?;
        if self.stopped {
            return Err(Refusal::new(format!("run `{}` was stopped before it was open", self.name), "run it again"));
        }
        Ok(run)
    }
}

impl Node {
    /// Takes the runs that are open by now, and answers those who wait for them.
    pub(super) fn attend_openings(&mut self, now_ns: u64) {
        while let Some(at) = self.openings.iter().position(Opening::is_over) {
            let mut opening = self.openings.remove(at);
            let (name, tenant, waits) = (opening.name.clone(), opening.tenant.clone(), opening.waits.take());
            let opened = opening.finish().and_then(|run| self.keep(run));
            if opened.is_err() {
                self.takes.remove(&name);
            }
            let answer = self.answer_to("open", &tenant, now_ns, opened);
            if let Some(query) = waits {
                reply(&query, answer);
            }
        }
    }

    /// Takes part in a run that is open.
    fn keep(&mut self, run: Run) -> Result<Json, Refusal> {
        let opened = Opened { statement: run.statement(&self.host)? };
        run.join(&self.host.members)?;
        // It has counted nothing yet: its components are on the page from now on.
        run.add_to(&mut self.past);
        self.runs.push(run);
        Ok(json!(opened))
    }
}
