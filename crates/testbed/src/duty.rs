//! What an agent of the lab does: services and workloads, by their options documents.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_agent::{Duty, Failure, ServeError, Service};
use takt_base::Stop;
use takt_emulator::emulate::{self, Emulator};
use takt_load::deadline::{Role, RoleOptions};
use takt_load::{Every, Kind};
use takt_path::hop::{self, Hop};
use takt_udp::{self as udp, Notice, ServeSummary, UdpError};

use crate::disturbance::{LoopOptions, Loops};
use crate::impairment::Hog;

/// Answers requests until `input` ends, as [`takt_agent::serve`] does.
///
/// # Errors
/// `output` is gone.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    takt_agent::serve::<Running>(input, output, abandon)
}

/// A service that was started.
enum Running {
    Emulator(Emulator),
    Hop(Hop),
    Disturbance(Loops),
    Hog(Hog),
    Exchange(Role),
    Udp { at: SocketAddr, stop: Stop, thread: JoinHandle<Result<ServeSummary, UdpError>> },
}

impl Duty for Running {
    fn start(service: Service, options: Value) -> Result<Running, Failure> {
        match service {
            Service::Emulator => {
                let options: emulate::Options = read("emulator options", options)?;
                Emulator::start(&options).map(Running::Emulator).map_err(|error| Failure::of(&error, None))
            }
            Service::Hop => {
                let options: hop::Options = read("hop options", options)?;
                Hop::start(&options).map(Running::Hop).map_err(|error| Failure::of(&error, None))
            }
            Service::Disturbance => {
                let options: LoopOptions = read("load", options)?;
                Loops::start(options).map(Running::Disturbance).map_err(|error| Failure::of(&error, None))
            }
            Service::Hog => {
                let every: Every = read("span of a period", options)?;
                Hog::start(every).map(Running::Hog).map_err(|error| Failure::of(&error, error.fix()))
            }
            Service::Exchange => {
                let options: RoleOptions = read("role", options)?;
                Role::start(options).map(Running::Exchange).map_err(|error| Failure::of(&error, error.fix()))
            }
            Service::UdpServer => serve_udp(read("server options", options)?),
        }
    }

    fn at(&self) -> Vec<String> {
        match self {
            Running::Emulator(emulator) => emulator.addrs().map(|addr| addr.to_string()).collect(),
            Running::Hop(_) | Running::Disturbance(_) | Running::Hog(_) | Running::Exchange(_) => Vec::new(),
            Running::Udp { at, .. } => vec![at.to_string()],
        }
    }

    fn look(&self) -> Result<Value, Failure> {
        match self {
            Running::Hop(hop) => write(&hop.report()),
            _ => Err(Failure::saying("what is running is no hop")),
        }
    }

    fn finish(self) -> Result<Value, Failure> {
        match self {
            Running::Emulator(emulator) => write(&emulator.stop().map_err(|error| Failure::of(&error, None))?),
            Running::Hop(hop) => write(&hop.finish()),
            Running::Disturbance(loops) => write(&loops.finish().map_err(|error| Failure::of(&error, None))?),
            Running::Hog(hog) => {
                hog.finish();
                Ok(Value::Null)
            }
            Running::Exchange(role) => write(&role.finish().map_err(|error| Failure::of(&error, None))?),
            Running::Udp { stop, thread, .. } => {
                stop.request();
                write(&join(thread)?)
            }
        }
    }

    fn run(workload: &str, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let kind = Kind::named(workload);
        let kind = kind.ok_or_else(|| Failure::saying(format!("no workload is called {workload:?}")))?;
        kind.workload().run(options, stop)
    }
}

/// Starts a server on a thread; returns when it listens, or could not.
fn serve_udp(options: udp::ServeOptions) -> Result<Running, Failure> {
    let stop = Stop::new();
    let (told, ready) = mpsc::channel();
    let flag = stop.clone();
    let thread = thread::spawn(move || {
        let mut notice = |notice| {
            if let Notice::Ready(at) = notice {
                // The other end waits for it, unless it has gone: then nobody needs to know.
                let _ = told.send(at);
            }
        };
        udp::serve(&options, &mut notice, &flag)
    });
    match ready.recv() {
        Ok(at) => Ok(Running::Udp { at, stop, thread }),
        // It ended without a word that it listens.
        Err(mpsc::RecvError) => match join(thread) {
            Ok(_) => Err(Failure::saying("the server ended before it listened")),
            Err(failure) => Err(failure),
        },
    }
}

fn join(thread: JoinHandle<Result<ServeSummary, UdpError>>) -> Result<ServeSummary, Failure> {
    match thread.join() {
        Ok(served) => served.map_err(|error| Failure::of(&error, None)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn read<T: DeserializeOwned>(what: &str, document: Value) -> Result<T, Failure> {
    serde_json::from_value(document).map_err(|error| Failure::saying(format!("{what}: {error}")))
}

fn write(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document).map_err(|error| Failure::of(&error, None))
}
