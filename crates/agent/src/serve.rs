//! The agent's own loop.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use takt_base::Stop;
use takt_host::accounting::Snapshot;

use crate::counters::Counters;
use crate::kernel_facts::KernelFacts;
use crate::protocol::{Failure, Hello, PROTOCOL, Reply, Request, Service};

/// What an agent can do: a service, once it runs, and workloads by name.
pub trait Duty: Sized {
    /// Starts a service by its options document.
    ///
    /// # Errors
    /// The options are wrong, or this host refuses it.
    fn start(service: Service, options: Value) -> Result<Self, Failure>;

    fn at(&self) -> Vec<String>;

    /// What it has counted so far.
    ///
    /// # Errors
    /// It does not count while it runs.
    fn look(&self) -> Result<Value, Failure>;

    /// Ends it; what it counted.
    ///
    /// # Errors
    /// It had ended by itself.
    fn finish(self) -> Result<Value, Failure>;

    /// Runs a workload to its end, or until `stop`; its result.
    ///
    /// # Errors
    /// There is no such workload, the options are wrong, or it could not be run.
    fn run(workload: &str, options: Value, stop: &Stop) -> Result<Value, Failure>;
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The program that started it no longer listens.
    #[error("standard output of the agent")]
    Output(#[source] io::Error),
}

/// Answers requests until `input` ends. What was started is stopped then; `abandon` is called if that takes longer than
/// the grace that a workload gets to look at its stop flag (the program ends itself there).
pub fn serve<D: Duty>(
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    let stop = Stop::new();
    let (received, requests) = mpsc::channel();
    let (ended, end) = mpsc::channel::<()>();
    let stop_by_input = stop.clone();
    // Not joined: a read can't be interrupted, and the process ends with the agent.
    thread::spawn(move || {
        listen(input, &received, &stop_by_input);
        drop(received);
        stop_by_input.request();
        if end.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
            abandon();
        }
    });
    let done = answer_all::<D>(&requests, &stop, &mut output);
    drop(ended);
    done
}

/// Time to look at the stop flag after the input has ended.
const GRACE: Duration = Duration::from_secs(3);

/// Passes requests on; `stop` takes effect at once, though a workload is running.
fn listen(input: impl BufRead, received: &Sender<Result<Request, Failure>>, stop: &Stop) {
    for line in input.lines().map_while(Result::ok) {
        let request = match serde_json::from_str(&line) {
            Ok(Request::Stop) => {
                stop.request();
                continue;
            }
            Ok(request) => Ok(request),
            Err(error) => Err(Failure::of(&error, None)),
        };
        if received.send(request).is_err() {
            return;
        }
    }
}

fn answer_all<D: Duty>(
    requests: &Receiver<Result<Request, Failure>>,
    stop: &Stop,
    output: &mut impl Write,
) -> Result<(), ServeError> {
    let mut here = Here { running: None::<D>, accounted: None };
    for request in requests {
        let reply = request.and_then(|request| answer(request, &mut here, stop)).unwrap_or_else(Reply::Failed);
        let line = serde_json::to_string(&reply)
            .unwrap_or_else(|error| format!(r#"{{"reply":"failed","chain":["{error}"],"fix":null}}"#));
        writeln!(output, "{line}").and_then(|()| output.flush()).map_err(ServeError::Output)?;
    }
    Ok(())
}

/// What an agent keeps from one request to the next.
struct Here<D> {
    running: Option<D>,
    accounted: Option<Snapshot>,
}

fn answer<D: Duty>(request: Request, here: &mut Here<D>, stop: &Stop) -> Result<Reply, Failure> {
    let idle = || Failure::saying("nothing is running");
    let Here { running, accounted } = here;
    match request {
        Request::Hello => Ok(Reply::Hello(Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            cpus: takt_host::affinity::own_cpus(),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            kernel_facts: KernelFacts::read(),
        })),
        Request::Counters => Counters::read().map(Reply::Counters).map_err(|error| Failure::of(&error, None)),
        Request::Account { companions } => {
            let now = Snapshot::take_with(&companions).map_err(|error| Failure::of(&error, None))?;
            let used = accounted.as_ref().map(|earlier| now.since(earlier));
            *accounted = Some(now);
            let result = serde_json::to_value(used).map_err(|error| Failure::of(&error, None))?;
            Ok(Reply::Done { result })
        }
        Request::Start { service, options } => {
            if running.is_some() {
                return Err(Failure::saying("something is running already; finish it first"));
            }
            let started = D::start(service, options)?;
            let at = started.at();
            *running = Some(started);
            Ok(Reply::Started { at })
        }
        Request::Look => Ok(Reply::Done { result: running.as_ref().ok_or_else(idle)?.look()? }),
        Request::Finish => Ok(Reply::Done { result: running.take().ok_or_else(idle)?.finish()? }),
        Request::Run { workload, options } => Ok(Reply::Done { result: D::run(&workload, options, stop)? }),
        // `listen` has taken it.
        Request::Stop => Err(Failure::saying("stop has no reply")),
    }
}
