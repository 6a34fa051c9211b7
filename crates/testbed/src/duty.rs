//! Duties of an agent of the lab: services and workloads, by their options documents.

use std::error::Error;
use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_agent::{Failure, Handler, ServeError, Service};
use takt_base::Stop;
use takt_emulator::air::Scene;
use takt_emulator::emulate::{EmulatorOptions, InAir, Radios};
use takt_emulator::n200::N200;
use takt_emulator::x310::X310;
use takt_load::deadline::Role;
use takt_load::nodes::Serve;
use takt_load::{Model, WorkloadKind};
use takt_path::hop::Hop;
use takt_udp::{self as udp, Notice, ServeSummary, UdpError};

use crate::disturbance::Loops;
use crate::impairment::Hog;
use crate::sharing::Sharing;

/// Answers requests until `input` ends, as [`takt_agent::serve`] does.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    takt_agent::serve::<Running>(input, output, abandon)
}

pub(crate) enum Running {
    N200(Radios<N200>),
    X310(Radios<X310>),
    Air(InAir),
    Hop(Hop),
    Disturbance(Loops),
    Hog(Hog),
    Exchange(Role),
    Node(Serve),
    Share(Sharing),
    Udp { at: SocketAddr, stop: Stop, thread: JoinHandle<Result<ServeSummary, UdpError>> },
}

impl Handler for Running {
    fn start(service: Service, options: Value) -> Result<Running, Failure> {
        match service {
            Service::Emulator => emulate(read("emulator options", options)?),
            Service::Hop => Hop::start(&read("hop options", options)?).map(Running::Hop).map_err(failed),
            Service::Disturbance => Loops::start(read("load", options)?).map(Running::Disturbance).map_err(failed),
            Service::Hog => {
                let started = Hog::start(read("span of a period", options)?);
                started.map(Running::Hog).map_err(|error| Failure::of(&error, error.fix()))
            }
            Service::Exchange => {
                let started = Role::start(read("role", options)?);
                started.map(Running::Exchange).map_err(|error| Failure::of(&error, error.fix()))
            }
            Service::Share => Sharing::start(&read("shared radios", options)?).map(Running::Share),
            Service::Node => Serve::start(read("options of a node", options)?).map(Running::Node).map_err(failed),
            Service::UdpServer => serve_udp(read("server options", options)?),
        }
    }

    fn at(&self) -> Vec<String> {
        match self {
            Running::N200(radios) => radios.addrs().map(|addr| addr.to_string()).collect(),
            Running::X310(radios) => radios.addrs().map(|addr| addr.to_string()).collect(),
            Running::Air(radios) => radios.addrs().map(|(_, addr)| addr.to_string()).collect(),
            Running::Hop(_) | Running::Disturbance(_) | Running::Hog(_) | Running::Exchange(_) => Vec::new(),
            Running::Node(node) => vec![node.local().to_string()],
            Running::Share(sharing) => sharing.at(),
            Running::Udp { at, .. } => vec![at.to_string()],
        }
    }

    fn look(&self) -> Result<Value, Failure> {
        match self {
            Running::Hop(hop) => write(&hop.report()),
            _ => Err(Failure::saying("the running workload is not a hop")),
        }
    }

    fn finish(self) -> Result<Value, Failure> {
        match self {
            Running::N200(radios) => write(&radios.stop().map_err(failed)?),
            Running::X310(radios) => write(&radios.stop().map_err(failed)?),
            Running::Air(radios) => write(&radios.stop().map_err(failed)?),
            Running::Hop(hop) => write(&hop.finish()),
            Running::Disturbance(loops) => write(&loops.finish().map_err(failed)?),
            Running::Hog(hog) => {
                hog.finish();
                Ok(Value::Null)
            }
            Running::Exchange(role) => write(&role.finish().map_err(failed)?),
            Running::Share(sharing) => sharing.finish(),
            Running::Node(node) => {
                drop(node);
                Ok(Value::Null)
            }
            Running::Udp { stop, thread, .. } => {
                stop.request();
                write(&join(thread)?)
            }
        }
    }

    fn run(workload: &str, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let kind = WorkloadKind::named(workload);
        let kind = kind.ok_or_else(|| Failure::saying(format!("no workload is called {workload:?}")))?;
        kind.workload().run(options, stop)
    }
}

/// Which radios an agent emulates, and how.
#[derive(Deserialize)]
struct Emulation {
    #[serde(default)]
    model: Model,
    /// Several radios and what is between them, as `takt emulate --config` reads it; `None`: one radio by itself.
    #[serde(default)]
    air: Option<String>,
    #[serde(flatten)]
    options: EmulatorOptions,
}

fn emulate(Emulation { model, air, options }: Emulation) -> Result<Running, Failure> {
    if let Some(air) = air {
        let mut scene = Scene::parse("the air of an experiment", &air).map_err(failed)?;
        // The air says where its radios are.
        let options = EmulatorOptions { addrs: EmulatorOptions::default().addrs, ..options };
        scene.apply(&options).map_err(failed)?;
        return InAir::start(&scene).map(Running::Air).map_err(failed);
    }
    match model {
        Model::N200 => Radios::start(&options).map(Running::N200),
        Model::X310 => Radios::start(&options).map(Running::X310),
    }
    .map_err(failed)
}

/// Starts a server on a thread; returns when it listens, or could not.
fn serve_udp(options: udp::ServeOptions) -> Result<Running, Failure> {
    let stop = Stop::new();
    let (listens, ready) = mpsc::channel();
    let flag = stop.clone();
    let thread = thread::spawn(move || {
        let mut notice = |notice| {
            if let Notice::Ready(at) = notice {
                // The other end waits for it, unless it has gone: then nobody needs to know.
                let _ = listens.send(at);
            }
        };
        udp::serve(&options, &mut notice, &flag)
    });
    match ready.recv() {
        Ok(at) => Ok(Running::Udp { at, stop, thread }),
        // It ended without a word that it listens.
        Err(mpsc::RecvError) => join(thread).and_then(|_| Err(Failure::saying("the server ended before it listened"))),
    }
}

fn join(thread: JoinHandle<Result<ServeSummary, UdpError>>) -> Result<ServeSummary, Failure> {
    match thread.join() {
        Ok(served) => served.map_err(failed),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn failed(error: impl Error + 'static) -> Failure {
    Failure::of(&error, None)
}

fn read<T: DeserializeOwned>(what: &str, document: Value) -> Result<T, Failure> {
    serde_json::from_value(document).map_err(|error| Failure::saying(format!("{what}: {error}")))
}

fn write(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document).map_err(failed)
}
