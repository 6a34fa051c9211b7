//! One program a machine: offers its cores to the cluster, and executes its part of waveforms.

pub(crate) mod place;
pub(crate) mod run;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use takt_base::Stop;
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_runtime::{Registry, costs};

use self::place::Refusal;
use self::run::{Host, Run};
use crate::ClusterError;
use crate::clock::Responder;
use crate::control::{Control, reply};
use crate::folder::Folder;
use crate::membership::Membership;
use crate::message::{Answer, NodeFacts, Opened, Order, Request};
use crate::quorum::Ballot;

/// How long a node waits for a question before it looks after its runs.
const LOOK: Duration = Duration::from_millis(20);

/// How often it says how it is.
const STATISTICS: Duration = Duration::from_secs(1);

/// Runs at a time, those that have ended included.
const MOST_RUNS: usize = 64;

/// What a node offers.
pub struct Offer {
    /// Cores on which it lets workers run.
    pub cores: Vec<u32>,
    /// What these cores can do.
    pub capacities: ClassSpec,
    /// How samples pass between nodes.
    pub engine: EngineKind,
}

/// A member of a cluster that executes waveforms.
pub struct Node {
    control: Arc<Control>,
    host: Host,
    class: String,
    bytes_per_s: f64,
    offer: Offer,
    clock: Responder,
    runs: Vec<Run>,
}

impl Node {
    /// Joins the cluster of a folder, with the components of a registry: none ever comes over the network.
    ///
    /// # Errors
    /// The folder is not complete, Zenoh refuses, an address is not one of this machine.
    pub fn open(folder: &Folder, offer: Offer, registry: Registry) -> Result<Node, ClusterError> {
        let samples = folder.samples()?;
        let clock = Responder::start(samples).map_err(|source| ClusterError::Io { source })?;
        let control = Arc::new(Control::open(folder, true)?);
        let name = folder.settings().node.clone();
        let members = Membership::start(&control, &name)?;
        let bytes_per_s = folder.settings().samples_bits_per_s / 8.0;
        let host = Host { node: name, engine: offer.engine, samples, registry, members };
        Ok(Node { control, host, class: costs::class(), bytes_per_s, offer, clock, runs: Vec::new() })
    }

    /// Answers questions and executes what it is given, until asked to stop. `ready` is called once others see the node.
    ///
    /// # Errors
    /// Another node has its name; the session is gone.
    pub fn serve(&mut self, stop: &Stop, ready: impl FnOnce(&NodeFacts)) -> Result<(), ClusterError> {
        let questions = self.control.questions()?;
        let _alive = self.control.appear()?;
        ready(&self.facts());
        let mut published = Instant::now();
        while !stop.requested() {
            if let Ok(Some(query)) = questions.recv_timeout(LOOK) {
                reply(&query, |request| self.answer(request));
            }
            self.runs.retain_mut(|run| {
                let over = run.attend();
                if over {
                    self.host.members.release(run.name());
                }
                !over
            });
            if published.elapsed() >= STATISTICS {
                published = Instant::now();
                self.control.publish(&self.facts())?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Answer {
        let done = match request {
            Request::Describe => Ok(json!(self.facts())),
            Request::Open(order) => self.open_run(*order),
            Request::Start(start) => {
                self.on(&start.run, |run, host| run.start(&start, host)).map(|started| json!(started))
            }
            Request::Prepare { after, order } => self.prepare(&after, *order),
            Request::Change(change) => {
                self.on(&change.run, |run, host| run.change(&change, host)).map(|started| json!(started))
            }
            Request::Progress { run } => self.find(&run).map(|run| json!(run.progress())),
            Request::Recall { run } => self.find(&run).map(|run| json!(run.recall())),
            Request::Adopt(adopt) => {
                self.on(&adopt.run, |run, host| run.adopt(&adopt, host)).map(|adopted| json!(adopted))
            }
            Request::Stop { run, manager } => self.stop_run(&run, &manager),
        };
        match done {
            Ok(good) => Answer::Good(good),
            Err(Refusal { why, fix }) => Answer::Refused { why, fix },
        }
    }

    fn open_run(&mut self, order: Order) -> Result<serde_json::Value, Refusal> {
        if self.runs.iter().any(|run| run.name() == order.run) {
            return Err(Refusal::new(format!("run `{}` is there already", order.run), "another name for the run"));
        }
        if self.runs.len() >= MOST_RUNS {
            return Err(Refusal::new(format!("{MOST_RUNS} runs are here"), "stop one"));
        }
        let busy: Vec<u32> = self.busy();
        let free: Vec<u32> = self.offer.cores.iter().copied().filter(|core| !busy.contains(core)).collect();
        let run = Run::open(order, &free, &mut self.host)?;
        let opened = Opened { samples: run.samples() };
        self.runs.push(run);
        Ok(json!(opened))
    }

    fn prepare(&mut self, after: &Ballot, order: Order) -> Result<serde_json::Value, Refusal> {
        let run = order.run.clone();
        self.on(&run, |run, host| run.prepare(after, order, host)).map(|samples| json!(Opened { samples }))
    }

    /// Does something to a run, with what the node gives it.
    fn on<T>(
        &mut self,
        name: &str,
        what: impl FnOnce(&mut Run, &mut Host) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let run = self.runs.iter_mut().find(|run| run.name() == name).ok_or_else(|| unknown(name))?;
        what(run, &mut self.host)
    }

    fn stop_run(&mut self, name: &str, manager: &str) -> Result<serde_json::Value, Refusal> {
        let found = self.find(name)?;
        if found.manager() != manager {
            let why = format!("{} watches over run `{name}`, and not {manager}", found.manager());
            return Err(Refusal::new(why, "let that one end it"));
        }
        found.stop();
        let progress = json!(found.progress());
        self.runs.retain(|run| run.name() != name);
        self.host.members.release(name);
        Ok(progress)
    }

    fn find(&mut self, name: &str) -> Result<&mut Run, Refusal> {
        self.runs.iter_mut().find(|run| run.name() == name).ok_or_else(|| unknown(name))
    }

    fn busy(&self) -> Vec<u32> {
        self.runs.iter().flat_map(Run::cores).collect()
    }

    fn facts(&self) -> NodeFacts {
        NodeFacts {
            node: self.host.node.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            class: self.class.clone(),
            capacities: self.offer.capacities,
            cores: self.offer.cores.clone(),
            busy: self.busy(),
            bytes_per_s: self.bytes_per_s,
            clock: self.clock.local(),
            runs: self.runs.iter().map(|run| run.facts(&self.host)).collect(),
        }
    }
}

fn unknown(run: &str) -> Refusal {
    Refusal::new(format!("no run is called `{run}`"), "takt node list says which there are")
}
