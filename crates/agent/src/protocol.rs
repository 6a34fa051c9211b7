//! The lines that are spoken.

use std::error::Error;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_host::policy::PolicyError;

use crate::{AgentError, Counters, KernelFacts};

/// Raised when a line changes its meaning; both ends must say the same.
pub const PROTOCOL: u32 = 2;

/// Bytes of a line in either direction: the text of a waveform, escaped, and what goes with it.
pub(crate) const LONGEST: usize = 4 << 20;

/// Lines that wait, in either direction, while the other end does something else. A client that waits for its replies
/// has one.
pub(crate) const WAITING: usize = 16;

/// A request, with a number of its own; or a reply, with the number of the request that it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered<T> {
    /// `None` on what answers no request: a line that was not one. Another version of the protocol may know no numbers.
    #[serde(default)]
    pub number: Option<u64>,
    /// The request or the reply.
    #[serde(flatten)]
    pub body: T,
}

impl<T: Serialize> Numbered<T> {
    /// As it travels.
    ///
    /// # Errors
    /// JSON can't express it.
    pub(crate) fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| line + "\n")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    Hello,
    /// What has the kernel counted in your namespace?
    Counters,
    /// What have you, these other processes and your machine used since the last request? `null` the first time.
    Account {
        companions: Vec<u32>,
    },
    /// Begin something that lasts until [`Request::Finish`].
    Start {
        service: Service,
        options: Value,
    },
    /// What has the hop that was started counted so far?
    Look,
    /// End what was started, and report what it counted.
    Finish,
    Run {
        workload: String,
        options: Value,
    },
    /// End the workload that is running as soon as it can; it still replies.
    Stop,
}

/// Service that runs until [`Request::Finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    Emulator,
    UdpServer,
    /// A hop of the path between two interfaces.
    Hop,
    /// Work that does nothing but use what others need.
    Disturbance,
    /// A thread that takes its core from everybody else.
    Hog,
    /// A process of the TD-SCDMA exchange.
    Exchange,
    /// A second node, which executes a part of a waveform.
    Node,
    /// One radio shared by many.
    Share,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    Hello(Hello),
    Counters(Counters),
    /// To [`Request::Start`]: it runs; where it listens.
    Started {
        at: Vec<String>,
    },
    /// To [`Request::Account`], [`Request::Look`], [`Request::Finish`] and [`Request::Run`]: what was counted or measured.
    Done {
        result: Value,
    },
    Failed(Failure),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of its program.
    pub protocol: u32,
    pub version: String,
    pub pid: u32,
    pub cpus: Vec<usize>,
    #[serde(default)]
    pub kernel: String,
    /// Facts that decide there when a thread wakes up.
    #[serde(default)]
    pub kernel_facts: KernelFacts,
}

/// Why something could not be done, in a form that travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.in_one_line())]
pub struct Failure {
    pub chain: Vec<String>,
    /// Its remedy, if that is known.
    pub fix: Option<String>,
    /// This host refuses it for good: another attempt would end alike.
    #[serde(default)]
    pub lasting: bool,
}

impl Failure {
    #[must_use]
    pub fn of(error: &(dyn Error + 'static), fix: Option<String>) -> Failure {
        let causes = std::iter::successors(Some(error), |&error| error.source());
        let lasting = causes.clone().any(is_lasting);
        Failure { chain: causes.map(ToString::to_string).collect(), fix, lasting }
    }

    #[must_use]
    pub fn saying(what: impl Into<String>) -> Failure {
        Failure { chain: vec![what.into()], fix: None, lasting: false }
    }

    /// One line, with all that would mend it.
    #[must_use]
    pub fn with_fix(&self) -> String {
        let fix = self.fix.as_ref().map(|fix| format!(" (fix: {})", fix.lines().collect::<Vec<_>>().join("; or ")));
        self.in_one_line() + &fix.unwrap_or_default()
    }

    /// One line: the error, its cause, the cause of that.
    fn in_one_line(&self) -> String {
        self.chain.join(": ")
    }
}

/// Whether a link of the chain says so: a policy that the scheduler does not give, or an agent that reported one.
fn is_lasting(link: &(dyn Error + 'static)) -> bool {
    match (link.downcast_ref::<PolicyError>(), link.downcast_ref::<AgentError>()) {
        (Some(refused), _) => refused.is_lasting(),
        (_, Some(AgentError::Failed(failure))) => failure.lasting,
        _ => false,
    }
}
