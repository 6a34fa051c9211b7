//! The parts of the exchange and what ties them together; who is started when, and ends when.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use takt_agent::{Agent, Launch, Service};
use takt_base::{Clock, MonoNs, Stop, WallClock};

use super::DeadlineError;
use super::error::doing;
use super::interface::{Given, Received, Receiving, Sending};
use super::memory::Cells;
use super::options::{Apart, DeadlineOptions};
use super::roles::{Layer, Role, RoleOptions, RoleReport};
use super::stall::{Stalls, Watch};

/// Memory, pipes and the two layers, which wait.
pub(super) struct Exchange {
    pub(super) cells: Arc<Cells>,
    /// Wakes the physical layer.
    wake: File,
    /// Is woken by the higher layer.
    answers: File,
    layers: Layers,
    /// Memory that the layers have opened by its path: it lives as long as they do.
    _shared: OwnedFd,
}

enum Layers {
    Processes(Vec<Agent>),
    Threads(Vec<Role>),
}

pub(super) struct Ran {
    pub(super) received: Received,
    pub(super) answers: Vec<Given>,
    pub(super) stalls: Stalls,
    pub(super) roles: Vec<RoleReport>,
}

const LOOK: Duration = Duration::from_millis(50);

impl Exchange {
    pub(super) fn open(options: &DeadlineOptions) -> Result<Exchange, DeadlineError> {
        let (cells, shared) = Cells::create().map_err(doing("making shared memory of the exchange"))?;
        let pipe = || io::pipe().map_err(doing("making a pipe of the exchange"));
        let ((to_physical, wake), (to_higher, from_physical), (answers, from_higher)) = (pipe()?, pipe()?, pipe()?);
        let path = |fd: &dyn AsRawFd| PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd()));
        let role = |layer, wake: &dyn AsRawFd, next: &dyn AsRawFd, rank| RoleOptions {
            layer,
            memory: path(&shared),
            wake: path(wake),
            next: path(next),
            codes: options.codes,
            seed: options.seed,
            placement: options.placement(rank),
        };
        let roles = vec![
            role(Layer::Physical, &to_physical, &from_physical, 2),
            role(Layer::Higher, &to_higher, &from_higher, 1),
        ];
        let layers = match options.apart {
            Apart::Threads => Layers::Threads(roles.into_iter().map(Role::start).collect::<Result<_, _>>()?),
            Apart::Processes => Layers::Processes(roles.into_iter().map(process).collect::<Result<_, _>>()?),
        };
        // The layers have ends of their own by now; ours must go, or no layer would notice that the other end goes.
        drop((to_physical, to_higher, from_physical, from_higher));
        Ok(Exchange {
            cells: Arc::new(cells),
            wake: OwnedFd::from(wake).into(),
            answers: OwnedFd::from(answers).into(),
            layers,
            _shared: shared,
        })
    }

    /// Runs it until the plan ends or `stop` is raised: first receiving ends, with it the layers, with them sending.
    pub(super) fn run(
        self,
        receiving: Receiving,
        sending: Sending,
        watch: Watch,
        end_by: MonoNs,
        stop: &Stop,
    ) -> Result<Ran, DeadlineError> {
        let over = Stop::new();
        let flag = over.clone();
        let start = |name: &str| thread::Builder::new().name(name.into());
        let receiver = start("takt-interface").spawn(move || receiving.run(self.wake, &flag));
        let receiver = receiver.map_err(doing("starting a thread"))?;
        let sender =
            start("takt-answer").spawn(move || sending.run(self.answers)).map_err(doing("starting a thread"))?;
        while !receiver.is_finished() && !stop.requested() && WallClock.now() < end_by {
            thread::sleep(LOOK);
        }
        over.request();
        let received = receiver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let answers = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let stalls = watch.finish();
        let roles = self.layers.finish()?;
        Ok(Ran { received: received?, answers: answers?, stalls, roles })
    }
}

impl Layers {
    fn finish(self) -> Result<Vec<RoleReport>, DeadlineError> {
        match self {
            Layers::Threads(roles) => roles.into_iter().map(|role| role.finish().map_err(doing("a layer"))).collect(),
            Layers::Processes(mut agents) => {
                let report = |agent: &mut Agent| {
                    let counted = agent.finish().map_err(DeadlineError::Process)?;
                    RoleReport::deserialize(counted).map_err(|error| doing("a layer")(io::Error::other(error)))
                };
                let reports = agents.iter_mut().map(report).collect();
                end_behind(agents);
                reports
            }
        }
    }
}

/// Ends processes without waiting for their end: what disturbs goes on until the round's result is there, and can keep an
/// ending thread from its processor for as long. The kernel takes such a thread out of its session's autogroup (sched(7)),
/// and beside a session whose threads wake thousands of times a second Linux 6.18 left one waiting for up to 70 s; who
/// waited for the process turned in wait4(2) all the while.
fn end_behind(agents: Vec<Agent>) {
    // If no thread can be had, the caller waits for them.
    let _ = thread::Builder::new().name("takt-end".into()).spawn(move || drop(agents));
}

/// A layer in a process of its own: this program, as an agent. It carries the mark that this process carries.
fn process(role: RoleOptions) -> Result<Agent, DeadlineError> {
    let program = std::env::current_exe().map_err(doing("finding this program"))?;
    let launch = Launch { program, arguments: vec!["agent".into()], namespace: None, cpus: Vec::new(), mark: None };
    let mut agent = Agent::launch(&launch).map_err(DeadlineError::Process)?;
    agent.start(Service::Exchange, json!(role)).map_err(DeadlineError::Process)?;
    Ok(agent)
}
