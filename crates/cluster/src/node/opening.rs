//! Runs that are being opened. Making components may take seconds, in which the node answers others: so each is opened on a thread
//! of its own, and the node keeps what it takes and who waits for it.

use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value as Json, json};
use zenoh::query::Query;

use super::Node;
use super::place::{Placed, Refusal};
use super::run::{Opener, Run};
use crate::control::reply;
use crate::message::{Opened, Order};
use crate::tenant::Tenant;

/// How long a node waits for a question while it opens a run: who ordered that waits as well.
pub(super) const SOON: Duration = Duration::from_millis(2);

/// A run that is being opened.
pub(super) struct Opening {
    pub(super) name: String,
    pub(super) tenant: Tenant,
    manager: String,
    /// Cores that it will have.
    pub(super) cores: Vec<u32>,
    thread: JoinHandle<Result<Run, Refusal>>,
    /// Who waits for it.
    waits: Option<Query>,
    /// It was stopped before it was open.
    stopped: bool,
}

impl Opening {
    /// Begins to open a run.
    pub(super) fn begin(tenant: Tenant, order: Order, placed: Placed, with: Opener) -> Result<Opening, Refusal> {
        let (name, manager) = (order.run.clone(), order.manager.clone());
        let cores = placed.cores.iter().map(|&core| core as u32).collect();
        let of = tenant.clone();
        let thread = std::thread::Builder::new().name("takt-opening".to_owned());
        let thread = thread.spawn(move || Run::open(of, order, placed, with));
        let thread = thread.map_err(|error| Refusal::new(error, "fewer threads on this node"))?;
        Ok(Opening { name, tenant, manager, cores, thread, waits: None, stopped: false })
    }

    /// Answers `query` once the run is open, or can't be.
    pub(super) fn answers(self, query: Query) -> Opening {
        Opening { waits: Some(query), ..self }
    }

    fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// What became of it.
    fn finish(self) -> Result<Run, Refusal> {
        let broken =
            |_| Err(Refusal::new("a component panicked while it was made", "a waveform without that component"));
        let run = self.thread.join().unwrap_or_else(broken)?;
        if self.stopped {
            return Err(Refusal::new(format!("run `{}` was stopped before it was open", self.name), "run it anew"));
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
                self.memory_mib.remove(&name);
            }
            let answer = self.answer_to("open", &tenant, now_ns, opened);
            if let Some(query) = waits {
                reply(&query, answer);
            }
        }
    }

    /// Takes part in a run that is open.
    fn keep(&mut self, run: Run) -> Result<Json, Refusal> {
        run.join(&self.host.members)?;
        let opened = Opened { samples: run.samples() };
        // It has counted nothing yet: its components are on the page from now on.
        run.add_to(&mut self.past);
        self.runs.push(run);
        Ok(json!(opened))
    }

    /// Has a run end before it is open, where `manager` is its own or none is named. `None`: no such run is being opened.
    pub(super) fn stop_opening(&mut self, by: &Tenant, name: &str, manager: Option<&str>) -> Option<Refusal> {
        let opening = self.openings.iter_mut().find(|opening| opening.name == name)?;
        let is_theirs = by.rules(&opening.tenant) && manager.is_none_or(|manager| manager == opening.manager);
        opening.stopped |= is_theirs;
        let fix = if is_theirs { "nothing: it will not begin" } else { "let its manager end it" };
        Some(Refusal::new(format!("run `{name}` is not open yet"), fix))
    }
}
