//! The agent's own loop.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use takt_base::Stop;
use takt_host::accounting::Snapshot;

use crate::counters::Counters;
use crate::kernel_facts::KernelFacts;
use crate::protocol::{Failure, Hello, LONGEST, Numbered, PROTOCOL, Reply, Request, Service, WAITING};

/// Abilities of an agent: a service, once it runs, and workloads by name.
pub trait Handler: Sized {
    /// Starts a service by its options document.
    ///
    /// # Errors
    /// The options are wrong, or this host refuses it.
    fn start(service: Service, options: Value) -> Result<Self, Failure>;

    fn at(&self) -> Vec<String>;

    /// Its counts so far.
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
    #[error("the agent can't write to its standard output")]
    Output(#[source] io::Error),
}

/// Answers requests until `input` ends. Everything started is stopped then. `abandon` is called if that takes longer
/// than the grace that a workload gets to look at its stop flag (the program ends itself there).
pub fn serve<D: Handler>(
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    let stop = Stop::new();
    let (received, requests) = mpsc::sync_channel(WAITING);
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

/// One received line.
type Received = Numbered<Result<Request, Failure>>;

/// Passes requests on; `stop` takes effect at once, though a workload is running. Returns when the input ends, or its
/// sender does not wait for replies.
fn listen(mut input: impl BufRead, received: &SyncSender<Received>, stop: &Stop) {
    let mut line = Vec::new();
    while let Ok(1..) = input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line) {
        let is_too_long = line.len() > LONGEST;
        let unread = |failure| Numbered { number: None, body: Err(failure) };
        let request = match serde_json::from_slice(&line) {
            _ if is_too_long => unread(Failure::saying(format!("a request of more than {LONGEST} bytes"))),
            Ok(Numbered { body: Request::Stop, .. }) => {
                stop.request();
                line.clear();
                continue;
            }
            Ok(Numbered { number, body }) => Numbered { number, body: Ok(body) },
            Err(error) => unread(Failure::of(&error, None)),
        };
        if received.try_send(request).is_err() || is_too_long {
            return;
        }
        line.clear();
    }
}

fn answer_all<D: Handler>(
    requests: &Receiver<Received>,
    stop: &Stop,
    output: &mut impl Write,
) -> Result<(), ServeError> {
    let mut here = Here { running: None::<D>, accounted: None };
    for Numbered { number, body: request } in requests {
        let body = request.and_then(|request| answer(request, &mut here, stop)).unwrap_or_else(Reply::Failed);
        let line = line(number, body);
        output.write_all(line.as_bytes()).and_then(|()| output.flush()).map_err(ServeError::Output)?;
    }
    Ok(())
}

/// A reply as it travels: the other end reads no longer line than this one.
fn line(number: Option<u64>, body: Reply) -> String {
    let why = match (Numbered { number, body }).line() {
        Ok(line) if line.len() <= LONGEST => return line,
        Ok(line) => format!("a reply of {} bytes; at most {LONGEST} are allowed", line.len()),
        Err(error) => error.to_string(),
    };
    let failed = Numbered { number, body: Reply::Failed(Failure::saying(why)) };
    // Texts and a flag: always JSON.
    failed.line().unwrap_or_default()
}

/// State of an agent from one request to the next.
struct Here<D> {
    running: Option<D>,
    accounted: Option<Snapshot>,
}

fn answer<D: Handler>(request: Request, here: &mut Here<D>, stop: &Stop) -> Result<Reply, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs until it is stopped.
    struct Endless;

    impl Handler for Endless {
        fn start(_: Service, _: Value) -> Result<Endless, Failure> {
            Ok(Endless)
        }

        fn at(&self) -> Vec<String> {
            Vec::new()
        }

        fn look(&self) -> Result<Value, Failure> {
            Ok(Value::Null)
        }

        fn finish(self) -> Result<Value, Failure> {
            Ok(Value::Null)
        }

        fn run(_: &str, _: Value, stop: &Stop) -> Result<Value, Failure> {
            while !stop.requested() {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(Value::Null)
        }
    }

    fn replies(input: Vec<u8>) -> Vec<String> {
        let mut output = Vec::new();
        serve::<Endless>(io::Cursor::new(input), &mut output, || {}).unwrap();
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn who_asks_and_does_not_wait_for_replies_is_listened_to_no_more() {
        let run = json_line(&Request::Run { workload: "endless".to_owned(), options: Value::Null });
        let replies = replies([run, json_line(&Request::Finish).repeat(1000)].concat());
        assert!((2..=1 + WAITING + 1).contains(&replies.len()), "{} replies", replies.len());
        assert!(replies[0].contains(r#""reply":"done""#), "what runs is stopped and replies: {}", replies[0]);
    }

    #[test]
    fn a_request_without_end_is_refused_and_the_last() {
        let mut input = json_line(&Request::Finish);
        input.extend(vec![b' '; LONGEST + 1]);
        input.extend(json_line(&Request::Finish));
        let replies = replies(input);
        assert_eq!(replies.len(), 2, "{replies:?}");
        assert!(replies[1].contains("a request of more than 4194304 bytes"), "{}", replies[1]);
    }

    #[test]
    fn a_reply_has_the_number_of_its_request_and_is_no_longer_than_the_other_end_reads() {
        let request = |number| Numbered { number: Some(number), body: Request::Finish }.line().unwrap();
        let replies = replies([request(7), "rubbish\n".to_owned(), request(9)].concat().into_bytes());
        let number = |line: &String| serde_json::from_str::<Numbered<Reply>>(line).unwrap().number;
        assert_eq!(replies.iter().map(number).collect::<Vec<_>>(), [Some(7), None, Some(9)]);
        let long = line(Some(3), Reply::Done { result: Value::String("x".repeat(LONGEST)) });
        let read: Numbered<Reply> = serde_json::from_str(&long).unwrap();
        let Reply::Failed(failure) = &read.body else { panic!("{read:?}") };
        assert_eq!(failure.to_string(), "a reply of 4194344 bytes; at most 4194304 are allowed");
        assert_eq!(read.number, Some(3));
    }

    fn json_line(request: &Request) -> Vec<u8> {
        Numbered { number: None, body: request }.line().unwrap().into_bytes()
    }
}
