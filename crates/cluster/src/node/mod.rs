//! One program a machine: offers its cores to the cluster, executes its part of waveforms, and lends agents to labs.

mod agents;
mod beat;
mod lending;
mod opening;
mod peers;
pub(crate) mod place;
pub(crate) mod run;
mod runs;
mod shown;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value as Json, json};
use takt_base::{Clock, Notes, Stop, WallClock};
use takt_bridge::clock::Responder;
use takt_mapper::ClassSpec;
use takt_packet::{Config, EngineKind, PortSpec};
use takt_runtime::{Registry, costs};
use zenoh::query::Query;

use self::lending::HostedAgent;
use self::opening::{Opening, SOON};
use self::peers::Peers;
use self::place::Refusal;
use self::run::{Host, Run};
use self::runs::Takes;
use self::shown::Shown;
use crate::ClusterError;
use crate::control::{Control, payload, reply};
use crate::counts::Messages;
use crate::destination::Destinations;
use crate::folder::Folder;
use crate::gate::{Admitted, Gate};
use crate::membership::Membership;
use crate::message::{EngineFacts, NodeFacts, RadioFacts, Request, RequestAnswer, TenantFacts};
use crate::metrics::Server;
use crate::metrics::figures::{Figures, RunFigures};
use crate::metrics::totals::Sums;
use crate::tenant::{Quotas, Share, Tenant};

/// How long a node waits for a question before it looks after its runs. A question ends the wait; managers look as seldom.
const LOOK: Duration = Duration::from_millis(100);

/// How often it says how it is.
const STATISTICS: Duration = Duration::from_secs(1);

/// Offer of a node.
pub struct Offer {
    /// Cores on which it lets workers run.
    pub cores: Vec<u32>,
    /// Capacities of these cores.
    pub capacities: ClassSpec,
    /// How samples pass between nodes.
    pub engine: EngineKind,
    /// The takt that agents of labs are.
    pub program: PathBuf,
}

/// A member of a cluster that executes waveforms.
pub struct Node {
    control: Arc<Control>,
    host: Host,
    class: String,
    bytes_per_s: f64,
    offer: Offer,
    engines: Vec<EngineFacts>,
    radios: Vec<RadioFacts>,
    clock: Responder,
    gate: Gate,
    quotas: Quotas,
    notes: Notes,
    runs: Vec<Run>,
    openings: Vec<Opening>,
    /// Share of each run beside cores.
    takes: BTreeMap<String, Takes>,
    agents: Vec<HostedAgent>,
    messages: Messages,
    /// Sums of runs that are gone.
    past: Sums,
    metrics: Option<Metrics>,
    shown: Option<Shown>,
}

/// Port at which metrics are read, and what the program counts besides: peers that TLS refused.
struct Metrics {
    server: Server,
    refused_peers: fn() -> u64,
}

impl Node {
    /// Joins the cluster of a folder, with the components of a registry: none ever comes over the network.
    ///
    /// # Errors
    /// The folder is not complete, or a tenant's; Zenoh refuses; an address is not one of this machine.
    pub fn open(folder: &Folder, offer: Offer, registry: Registry) -> Result<Node, ClusterError> {
        let gate = folder.gate()?;
        let samples = folder.samples()?;
        let clock = Responder::start(samples).map_err(|source| ClusterError::Io { source })?;
        let engines = engines(samples, offer.engine);
        let control = Arc::new(Control::open(folder, true)?);
        let name = folder.settings().node.clone();
        let members = Membership::start(&control, &name)?;
        let quotas = folder.settings().quota.clone();
        let bytes_per_s = folder.settings().samples_bits_per_s / 8.0;
        let ptp = folder.settings().ptp.service();
        let peers = Peers {
            signer: folder.signer()?.0,
            trust: folder.trust()?,
            destinations: Destinations::new(samples, folder.settings().samples_to.clone()),
            clock: clock.local(),
        };
        let host = Host { node: name, engine: offer.engine, samples, ptp, registry, members, peers };
        let (class, notes, runs, agents) = (costs::class(), Notes::new("refused   "), Vec::new(), Vec::new());
        let (messages, past, metrics) = (Messages::default(), Sums::default(), None);
        Ok(Node {
            control,
            host,
            class,
            bytes_per_s,
            offer,
            engines,
            radios: Vec::new(),
            clock,
            gate,
            quotas,
            notes,
            runs,
            openings: Vec::new(),
            takes: BTreeMap::new(),
            agents,
            messages,
            past,
            metrics,
            shown: None,
        })
    }

    /// Says that its machine reaches these radios. An offer only: no run uses them.
    pub fn offer_radios(&mut self, radios: Vec<RadioFacts>) {
        self.radios = radios;
    }

    /// Gives its metrics to whoever asks there, while it serves. `refused_peers`: how many TLS has refused so far.
    pub fn publish_metrics(&mut self, server: Server, refused_peers: fn() -> u64) {
        self.metrics = Some(Metrics { server, refused_peers });
    }

    /// Answers questions and executes what it is given, until it is stopped. `ready` is called once others see the node; `note`
    /// takes a line for people about each message that was refused, up to a rate.
    ///
    /// # Errors
    /// Another node has its name; the session is gone.
    pub fn serve(
        &mut self,
        stop: &Stop,
        ready: impl FnOnce(&NodeFacts),
        mut note: impl FnMut(&str),
    ) -> Result<(), ClusterError> {
        let questions = self.control.questions()?;
        let _alive = self.control.appear()?;
        ready(&self.facts());
        let (mut published, mut looked) = (Instant::now(), Instant::now());
        while !stop.requested() {
            let wait = if self.openings.is_empty() { LOOK } else { SOON };
            if let Ok(Some(query)) = questions.recv_timeout(wait) {
                self.receive(query);
            }
            self.attend_openings(WallClock.now().0);
            self.attend_agents(std::mem::replace(&mut looked, Instant::now()).elapsed());
            self.notes.take(WallClock.now().0).iter().for_each(|line| note(line));
            self.forget(Run::attend);
            self.show();
            if let Some(metrics) = &self.metrics {
                metrics.server.answer(|| self.metrics((metrics.refused_peers)()));
            }
            if published.elapsed() >= STATISTICS {
                published = Instant::now();
                self.control.publish(&self.facts())?;
            }
        }
        Ok(())
    }

    /// The page of metrics as of now.
    fn metrics(&self, refused_peers: u64) -> Option<String> {
        let mut sums = self.past.clone();
        self.runs.iter().for_each(|run| run.add_to(&mut sums));
        let facts = self.facts();
        let runs: Vec<RunFigures> = self.runs.iter().map(|run| run.figures(run.facts(&self.host))).collect();
        let (cluster, heartbeats) = (self.control.cluster().to_owned(), self.host.members.heartbeats());
        let messages = self.messages.clone();
        Figures { cluster, facts, runs, messages, heartbeats, sums, refused_peers }.page().ok()
    }

    /// Does what a message says, if it is let in, and answers: at once, or what is written to an agent once that has an answer.
    fn receive(&mut self, query: Query) {
        let now_ns = WallClock.now().0;
        let answer = match self.gate.admit(&payload(&query), now_ns, SystemTime::now()) {
            Ok(Admitted::Order(_, Request::WriteAgent(write))) => match self.write_agent(&write) {
                Ok(hosted) => {
                    hosted.waits = Some((query, Instant::now()));
                    hosted.answer();
                    return self.messages.order("write_agent");
                }
                Err(refusal) => self.refuse(refusal),
            },
            Ok(Admitted::Order(tenant, Request::Open(order))) => match self.open_run(&tenant, *order) {
                Ok(opening) => return self.openings.push(opening.answers(query)),
                Err(refusal) => self.answer_to("open", &tenant, now_ns, Err(refusal)),
            },
            Ok(Admitted::Question(question)) => {
                self.messages.question();
                self.answer(question).map_or_else(Refusal::into, RequestAnswer::Good)
            }
            Ok(Admitted::Order(tenant, order)) => {
                let name = order.name();
                let done = self.execute(&tenant, order);
                self.answer_to(name, &tenant, now_ns, done)
            }
            Err(refused) => {
                self.notes.add(now_ns, &refused.to_string());
                self.refuse(refused.into())
            }
        };
        reply(&query, answer);
    }

    /// Answer to an order that was carried out, or refused.
    fn answer_to(
        &mut self,
        name: &'static str,
        by: &Tenant,
        now_ns: u64,
        done: Result<Json, Refusal>,
    ) -> RequestAnswer {
        match done {
            Ok(good) => {
                self.messages.order(name);
                RequestAnswer::Good(good)
            }
            Err(refusal) => {
                self.notes.add(now_ns, &format!("order `{name}` of `{by}`: {}", refusal.why));
                self.refuse(refusal)
            }
        }
    }

    /// A message changes nothing.
    fn refuse(&mut self, refusal: Refusal) -> RequestAnswer {
        self.messages.refused(refusal.reason);
        refusal.into()
    }

    /// To what changes nothing.
    fn answer(&mut self, question: Request) -> Result<Json, Refusal> {
        match question {
            Request::Describe => Ok(json!(self.facts())),
            Request::Moment => Ok(json!(self.gate.moment(WallClock.now().0))),
            Request::Progress { run } => self.find(&run).map(|run| json!(run.progress())),
            order => {
                Err(Refusal::new(format!("`{}` is an order, and it has no signature", order.name()), "sign the order"))
            }
        }
    }

    /// Carries out a tenant's order.
    fn execute(&mut self, by: &Tenant, order: Request) -> Result<Json, Refusal> {
        match order {
            Request::Start(start) => {
                self.on(by, &start.run, |run, host| run.start(&start, host)).map(|started| json!(started))
            }
            Request::Prepare { after, order } => self.prepare(by, &after, *order),
            Request::Change(change) => {
                self.on(by, &change.run, |run, host| run.change(&change, host)).map(|started| json!(started))
            }
            Request::Recall { run } => self.on(by, &run, |run, host| run.recall(host)).map(|recalled| json!(recalled)),
            Request::Adopt(adopt) => {
                self.on(by, &adopt.run, |run, host| run.adopt(&adopt, host)).map(|adopted| json!(adopted))
            }
            Request::Stop { run, manager } => self.stop_run(by, &run, manager.as_deref()),
            Request::StartAgent(wanted) => self.start_agent(by, &wanted),
            question => self.answer(question),
        }
    }

    /// Share of the node that each tenant has.
    fn shares(&self) -> BTreeMap<Tenant, Share> {
        let mut shares: BTreeMap<Tenant, Share> = BTreeMap::new();
        let of_runs = self.runs.iter().filter(|run| run.ended().is_none());
        let of_runs = of_runs.map(|run| (run.name(), run.tenant(), run.cores().count()));
        let of_openings = self.openings.iter().map(|opening| (&*opening.name, &opening.tenant, opening.cores.len()));
        for (name, tenant, cores) in of_runs.chain(of_openings) {
            let share = shares.entry(tenant.clone()).or_default();
            share.runs += 1;
            share.cores += u32::try_from(cores).unwrap_or(u32::MAX);
            let takes = self.takes.get(name).copied().unwrap_or_default();
            share.memory_mib = share.memory_mib.saturating_add(takes.memory_mib);
            share.samples_bits_per_s = share.samples_bits_per_s.saturating_add(takes.samples_bits_per_s);
        }
        for HostedAgent { agent, .. } in &self.agents {
            let cores = u32::try_from(agent.cores().len()).unwrap_or(u32::MAX);
            let share = shares.entry(agent.tenant().clone()).or_default();
            share.cores += cores;
            share.memory_mib = share.memory_mib.saturating_add(agent.memory_mib());
        }
        shares
    }

    fn tenants(&self) -> Vec<TenantFacts> {
        let mut all = self.shares();
        self.quotas.tables().for_each(|(tenant, _)| _ = all.entry(tenant).or_default());
        let facts = |(tenant, has)| TenantFacts { quota: self.quotas.of(&tenant).0, tenant, has };
        all.into_iter().map(facts).collect()
    }

    fn busy(&self) -> Vec<u32> {
        let of_agents = self.agents.iter().flat_map(|hosted| hosted.agent.cores().iter().copied());
        let of_openings = self.openings.iter().flat_map(|opening| opening.cores.iter().copied());
        self.runs.iter().flat_map(Run::cores).chain(of_openings).chain(of_agents).collect()
    }

    fn free(&self) -> Vec<u32> {
        let busy = self.busy();
        self.offer.cores.iter().copied().filter(|core| !busy.contains(core)).collect()
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
            tenants: self.tenants(),
            agents: self.agents.iter().map(|hosted| hosted.agent.facts()).collect(),
            engines: self.engines.clone(),
            radios: self.radios.clone(),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A run that is being opened may have a network card changed: it gives it back when it is dropped.
        for opening in self.openings.drain(..) {
            opening.abandon();
        }
    }
}

/// Which engines open where samples come to: those over kernel sockets are opened as a run opens them, and closed again. The
/// others are not tried. XDP has the driver take a program for the whole interface, which may interrupt all that passes it, and
/// DPDK keeps what it has opened until the process ends. So of these only the chosen one is named.
fn engines(samples: IpAddr, chosen: EngineKind) -> Vec<EngineFacts> {
    let port = PortSpec { bind: SocketAddr::new(samples, 0), peer: None };
    let config = Config { stamps: false, ..Config::new(vec![port]) };
    let tried = EngineKind::OVER_SOCKETS.into_iter().map(|kind| {
        let why = takt_packet::open(kind, &config).err().map(|error| {
            let causes = std::iter::successors(error.source(), |&cause| cause.source());
            causes.fold(error.to_string(), |why, cause| format!("{why}: {cause}"))
        });
        EngineFacts { engine: kind.to_string(), opens: Some(why.is_none()), why }
    });
    let other = Some(chosen).filter(|kind| !EngineKind::OVER_SOCKETS.contains(kind));
    let other = other.map(|kind| EngineFacts { engine: kind.to_string(), opens: None, why: None });
    tried.chain(other).collect()
}
