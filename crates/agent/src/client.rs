//! The end that asks.

use std::any::Any;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_base::Stop;
use takt_host::accounting::Usage;
use takt_host::ending;

use crate::Counters;
use crate::protocol::{Failure, Hello, Numbered, PROTOCOL, Reply, Request, Service};
use crate::replies::Replies;

#[derive(Clone, Debug)]
pub struct Launch {
    /// The program: this very one, as a rule ([`std::env::current_exe`]).
    pub program: PathBuf,
    /// Arguments before the options below: `agent`.
    pub arguments: Vec<OsString>,
    /// The network namespace to enter, as a file.
    pub namespace: Option<PathBuf>,
    /// The CPUs to stay on; empty: all.
    pub cpus: Vec<usize>,
    /// A variable for its environment, by which `takt clean` knows it.
    pub mark: Option<(String, String)>,
}

/// A running agent. Dropping it ends it.
pub struct Agent {
    to: Option<Box<dyn Write + Send>>,
    from: Replies,
    /// Number of the last request.
    number: u64,
    child: Option<Child>,
    hello: Hello,
    pid: u32,
    /// Dropped after the child has ended.
    _resources: Option<Box<dyn Any + Send>>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    #[error("takt can't start the agent {}", .program.display())]
    Launch {
        program: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the agent has ended")]
    Gone,
    #[error("the agent has not answered within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("{0}")]
    Failed(Failure),
    #[error("the agent answered {got}; expected: {expected}")]
    Protocol { expected: &'static str, got: String },
    #[error("the agent answered request {got}, but the last request was {asked}")]
    Number { got: u64, asked: u64 },
    #[error(
        "the agent speaks version {theirs} of the protocol, but this takt speaks {PROTOCOL}: start the same takt at \
         both ends"
    )]
    Version { theirs: u32 },
    #[error("takt stopped the agent's work early")]
    Stopped,
}

/// Lets drivers of radios print errors only, unless the user asks for more: they greet and warn at each opening, and an agent opens a
/// radio each round. The names are those of UHD and of SoapySDR.
fn quiet_drivers(command: &mut Command) {
    for (name, level) in [("UHD_LOG_CONSOLE_LEVEL", "error"), ("SOAPY_SDR_LOG_LEVEL", "ERROR")] {
        if std::env::var_os(name).is_none() {
            command.env(name, level);
        }
    }
}

impl Agent {
    /// Starts one as a child of this process, in a process group of its own: Ctrl-C is for the one who asks.
    ///
    /// The thread that calls this must outlive the agent, since the kernel ends the child with the thread that made it.
    ///
    /// # Errors
    /// It can't be started, can't enter its namespace, or speaks another protocol.
    pub fn launch(launch: &Launch) -> Result<Agent, AgentError> {
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments);
        if let Some(namespace) = &launch.namespace {
            command.arg("--netns").arg(namespace);
        }
        if !launch.cpus.is_empty() {
            command.arg("--cores").arg(cores(&launch.cpus));
        }
        command.envs(launch.mark.clone());
        Agent::spawn(command, PATIENCE)
    }

    /// Starts a program on whose standard input and output an agent speaks: the agent itself, or its environment. It gets
    /// a process group of its own, and `patience` to answer for the first time.
    ///
    /// # Errors
    /// It can't be started, does not answer in time, or speaks another protocol.
    pub fn spawn(mut command: Command, patience: Duration) -> Result<Agent, AgentError> {
        let program = PathBuf::from(command.get_program());
        let failed = |source| AgentError::Launch { program: program.clone(), source };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        quiet_drivers(&mut command);
        let mut child = command.spawn().map_err(failed)?;
        let piped = child.stdin.take().zip(child.stdout.take());
        let (to, from) = piped.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        let mut agent = Agent::new(to, BufReader::new(from));
        agent.child = Some(child);
        agent.greet(patience)?;
        Ok(agent)
    }

    /// Speaks with an agent over any pair of streams. A stream that fails with an error of its own making says why.
    ///
    /// # Errors
    /// It does not answer, or speaks another protocol.
    pub fn over(to: impl Write + Send + 'static, from: impl BufRead + Send + 'static) -> Result<Agent, AgentError> {
        let mut agent = Agent::new(to, from);
        agent.greet(PATIENCE)?;
        Ok(agent)
    }

    fn new(to: impl Write + Send + 'static, from: impl BufRead + Send + 'static) -> Agent {
        let from = Replies::listen(from);
        let (to, hello): (Option<Box<dyn Write + Send>>, _) = (Some(Box::new(to)), Hello::default());
        Agent { to, from, number: 0, child: None, hello, pid: 0, _resources: None }
    }

    fn greet(&mut self, patience: Duration) -> Result<(), AgentError> {
        match self.ask(&Request::Hello, patience)? {
            Reply::Hello(hello) if hello.protocol == PROTOCOL => {
                self.pid = hello.pid;
                self.hello = hello;
                Ok(())
            }
            Reply::Hello(hello) => Err(AgentError::Version { theirs: hello.protocol }),
            other => Err(unexpected("hello", &other)),
        }
    }

    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The process of this machine that does its work: of a guest, the hypervisor.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Says that it runs in an environment: `pid` is the environment's process on this machine, and `resources` are dropped
    /// once the agent has ended.
    #[must_use]
    pub fn in_environment(mut self, pid: u32, resources: impl Send + 'static) -> Agent {
        self.pid = pid;
        self._resources = Some(Box::new(resources));
        self
    }

    /// The process that was started; of an agent over given streams, its own.
    #[must_use]
    pub fn child_pid(&self) -> u32 {
        self.child.as_ref().map_or(self.hello.pid, Child::id)
    }

    /// The kernel's counts in its namespace.
    ///
    /// # Errors
    /// It is gone, or `/proc` is not there.
    pub fn counters(&mut self) -> Result<Counters, AgentError> {
        match self.ask(&Request::Counters, PATIENCE)? {
            Reply::Counters(counters) => Ok(counters),
            other => Err(unexpected("counters", &other)),
        }
    }

    /// Resource usage since the last call of it, these other processes of its machine and that machine; `None` the
    /// first time.
    ///
    /// # Errors
    /// It is gone, or `/proc` is not there.
    pub fn account(&mut self, companions: &[u32]) -> Result<Option<Usage>, AgentError> {
        match self.ask(&Request::Account { companions: companions.to_vec() }, PATIENCE)? {
            Reply::Done { result } => serde_json::from_value(result)
                .map_err(|error| AgentError::Failed(Failure::saying(format!("reading what the agent used: {error}")))),
            other => Err(unexpected("what was used", &other)),
        }
    }

    /// Starts a service; where it listens.
    pub fn start(&mut self, service: Service, options: Value) -> Result<Vec<String>, AgentError> {
        match self.ask(&Request::Start { service, options }, PATIENCE)? {
            Reply::Started { at } => Ok(at),
            other => Err(unexpected("the start of a service", &other)),
        }
    }

    /// Counts so far of the hop that was started.
    ///
    /// # Errors
    /// Nothing was started, or it is no hop.
    pub fn look(&mut self) -> Result<Value, AgentError> {
        match self.ask(&Request::Look, PATIENCE)? {
            Reply::Done { result } => Ok(result),
            other => Err(unexpected("counters of a hop", &other)),
        }
    }

    /// Ends the service; what it counted.
    ///
    /// # Errors
    /// It ended by itself, or nothing was started.
    pub fn finish(&mut self) -> Result<Value, AgentError> {
        match self.ask(&Request::Finish, PATIENCE)? {
            Reply::Done { result } => Ok(result),
            other => Err(unexpected("the summary of a service", &other)),
        }
    }

    /// Runs a workload that should take `about`, and waits for its result. When `stop` is raised the workload gets a stop;
    /// its result then does not count.
    ///
    /// # Errors
    /// [`AgentError::Failed`] if the workload could not be run, [`AgentError::Stopped`] after `stop`,
    /// [`AgentError::Silent`] if it takes much longer than it should.
    pub fn run(&mut self, workload: &str, options: Value, about: Duration, stop: &Stop) -> Result<Value, AgentError> {
        self.begin(&Request::Run { workload: workload.to_owned(), options })?;
        let limit = about * 2 + PATIENCE;
        let begun = Instant::now();
        let mut stop_sent = false;
        loop {
            if stop.requested() && !stop_sent {
                self.say(&Request::Stop)?;
                stop_sent = true;
            }
            match self.from.wait_for(self.number, LOOK)? {
                Some(_) if stop_sent => return Err(AgentError::Stopped),
                Some(Reply::Done { result }) => return Ok(result),
                Some(other) => return Err(unexpected("the result of a workload", &other)),
                None if begun.elapsed() > limit => return Err(AgentError::Silent(limit)),
                None => {}
            }
        }
    }

    fn ask(&mut self, request: &Request, patience: Duration) -> Result<Reply, AgentError> {
        self.begin(request)?;
        self.from.wait_for(self.number, patience)?.ok_or(AgentError::Silent(patience))
    }

    /// Makes a request that has an answer. From now on no answer to an earlier one counts.
    fn begin(&mut self, request: &Request) -> Result<(), AgentError> {
        self.number += 1;
        self.say(request)
    }

    fn say(&mut self, request: &Request) -> Result<(), AgentError> {
        let to = self.to.as_mut().ok_or(AgentError::Gone)?;
        let line = Numbered { number: Some(self.number), body: request }.line();
        let line = line.map_err(|error| AgentError::Failed(Failure::of(&error, None)))?;
        to.write_all(line.as_bytes()).and_then(|()| to.flush()).map_err(|_| self.gone())
    }

    /// Why it takes no more: what was received last, if that says it.
    fn gone(&self) -> AgentError {
        self.from.last_failure().map_or(AgentError::Gone, AgentError::Failed)
    }
}

/// Longest time for an answer that costs an agent none: one that has not answered by then hangs. Its program may have
/// to be read from a disk first, beside whatever else a machine does.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a waiting caller looks at its stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// How long an agent may take to end after its input has.
const FAREWELL: Duration = Duration::from_secs(4);

#[must_use]
pub fn cores(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn unexpected(expected: &'static str, reply: &Reply) -> AgentError {
    match reply {
        Reply::Failed(failure) => AgentError::Failed(failure.clone()),
        other => AgentError::Protocol { expected, got: format!("{other:?}").chars().take(80).collect() },
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.to = None;
        let Some(mut child) = self.child.take() else { return };
        let begun = Instant::now();
        while begun.elapsed() < FAREWELL {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        // It hangs: a stopped workload that does not look at its flag, or one that gets no time to.
        let _ = ending::kill(&mut child);
        let _ = child.wait();
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("hello", &self.hello).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, PipeWriter, pipe};

    use serde_json::json;

    use super::*;

    /// An agent that a test plays, once it has said hello: what it reads and writes.
    struct Played {
        reads: BufReader<PipeReader>,
        writes: PipeWriter,
    }

    impl Played {
        fn with_its_lab() -> (Agent, Played) {
            let (requests, to) = pipe().unwrap();
            let (from, mut writes) = pipe().unwrap();
            let hello = Hello { protocol: PROTOCOL, ..Hello::default() };
            say(&mut writes, Some(1), Reply::Hello(hello));
            let agent = Agent::over(to, BufReader::new(from)).unwrap();
            let mut played = Played { reads: BufReader::new(requests), writes };
            assert_eq!(played.read().number, Some(1));
            (agent, played)
        }

        fn read(&mut self) -> Numbered<Request> {
            let mut line = String::new();
            self.reads.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        }
    }

    fn say(to: &mut impl Write, number: Option<u64>, body: Reply) {
        to.write_all(Numbered { number, body }.line().unwrap().as_bytes()).unwrap();
    }

    fn done(result: Value) -> Reply {
        Reply::Done { result }
    }

    #[test] // a resumed run ended with "the agent answered Done, where counters was due"
    fn an_answer_that_came_too_late_is_not_taken_for_the_next_one() {
        let (mut agent, mut played) = Played::with_its_lab();
        assert!(matches!(agent.ask(&Request::Finish, Duration::ZERO), Err(AgentError::Silent(_))));
        let late = played.read().number;
        say(&mut played.writes, late, done(json!("late")));
        say(&mut played.writes, late.map(|number| number + 1), Reply::Counters(Counters::default()));
        assert_eq!(agent.counters().unwrap(), Counters::default());
        assert_eq!(played.read().number, late.map(|number| number + 1));
    }

    #[test]
    fn an_answer_to_a_request_that_was_never_made_is_named() {
        for (number, why) in [
            (Some(99), "the agent answered request 99, but the last request was 2"),
            (None, "the agent answered Done { result: Null }; expected: a reply with a number"),
        ] {
            let (mut agent, mut played) = Played::with_its_lab();
            say(&mut played.writes, number, done(Value::Null));
            assert_eq!(agent.look().unwrap_err().to_string(), why);
        }
    }
}
