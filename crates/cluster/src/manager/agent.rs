//! An agent of the lab on a node: two ends of a stream of bytes, and the thread that carries it in signed messages.
//!
//! At any moment one message is with the node, which answers once its agent has written something, or after a while.
//! Words to the agent go at once, as a second message: the node answers the first one then. Answers come in the order
//! of the messages.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zenoh::handlers::FifoChannelHandler;
use zenoh::query::Reply;

use super::{BETWEEN, Manager, PATIENCE};
use crate::ClusterError;
use crate::control::{Control, answer};
use crate::message::{
    AGENT_LEASE, AgentOutput, AgentStarted, MOST_AGENT_BYTES, NodeFacts, Request, StartAgent, WriteAgent,
};

/// Messages that are with the node at a time.
const UNDER_WAY: usize = 2;

/// How long an answer is waited for before it is looked whether there is more to send.
const LOOK: Duration = Duration::from_millis(10);

/// How long an agent may be there after its lab was killed: its lease, and some more to end in.
const LEFT_BEHIND: Duration = Duration::from_secs(AGENT_LEASE.as_secs() + 5);

/// An agent that a node has started.
pub struct RemoteAgent {
    /// Number, cores and machine of the agent, as granted.
    pub started: AgentStarted,
    /// Bytes written here reach the agent. It ends once this is dropped.
    pub to: ToAgent,
    /// Output of the agent. An error says which node it was, and what happened.
    pub from: BufReader<FromAgent>,
    /// Dropping it waits until the agent has ended, or the node does not answer; after `to` was dropped.
    pub end: AgentEnd,
}

impl Manager {
    /// Has a node start an agent, on so many of its cores; none: on all that it grants. If it refuses and has agents of
    /// this tenant, they may be those of a lab that was killed. The request is repeated until they have ended.
    ///
    /// # Errors
    /// The node does not answer, has another takt, no free core, or a quota that leaves none.
    pub fn start_agent(&self, node: &str, cores: Option<u32>) -> Result<RemoteAgent, ClusterError> {
        let start = Request::StartAgent(StartAgent { version: env!("CARGO_PKG_VERSION").to_owned(), cores });
        let begun = Instant::now();
        let started: AgentStarted = loop {
            match self.control.ask(node, &start, PATIENCE) {
                Err(ClusterError::Refused { .. }) if begun.elapsed() < LEFT_BEHIND && self.has_agents(node)? => {
                    std::thread::sleep(BETWEEN);
                }
                done => break done?,
            }
        };
        let (to, input) = mpsc::channel();
        let (output, from) = mpsc::channel();
        let carrier = Carrier {
            control: Arc::clone(&self.control),
            node: node.to_owned(),
            agent: (started.agent, started.life),
            number: 0,
            waiting: Vec::new(),
            end: End::NotYet,
            under_way: VecDeque::new(),
        };
        let thread = std::thread::Builder::new().name(format!("agent on {node}")).spawn(move || {
            if let Err(error) = carrier.carry(&input, &output) {
                // Nobody reads any more: nobody needs to know.
                let _ = output.send(Err(io::Error::other(error.to_string())));
            }
        });
        let thread = thread.map_err(|source| ClusterError::Io { source })?;
        let from = BufReader::new(FromAgent { chunks: from, left: io::Cursor::default() });
        Ok(RemoteAgent { started, to: ToAgent(to), from, end: AgentEnd(Some(thread)) })
    }
}

impl Manager {
    /// Whether agents of this tenant are on a node.
    fn has_agents(&self, node: &str) -> Result<bool, ClusterError> {
        let facts: NodeFacts = self.control.ask(node, &Request::Describe, PATIENCE)?;
        Ok(facts.agents.iter().any(|agent| agent.tenant == *self.control.tenant()))
    }
}

/// Whether the agent is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    NotYet,
    Wanted,
    Sent,
}

/// Carries bytes to and fro.
struct Carrier {
    control: Arc<Control>,
    node: String,
    /// Its number, and the node's life.
    agent: (u64, u64),
    /// Number of the next message.
    number: u64,
    /// Bytes still to be sent.
    waiting: Vec<u8>,
    end: End,
    under_way: VecDeque<FifoChannelHandler<Reply>>,
}

impl Carrier {
    fn carry(mut self, input: &Receiver<Vec<u8>>, output: &Sender<io::Result<Vec<u8>>>) -> Result<(), ClusterError> {
        loop {
            self.take(input);
            let more = !self.waiting.is_empty() || self.end == End::Wanted;
            if self.under_way.is_empty() || (more && self.under_way.len() < UNDER_WAY) {
                self.write()?;
            }
            let Some(AgentOutput { output: bytes, ended }) = self.answer()? else { continue };
            let bytes = STANDARD.decode(bytes).map_err(|error| self.refused(error.to_string()))?;
            // Nobody reads: the end is under way.
            let _ = output.send(Ok(bytes));
            match ended {
                Some(_) if self.end == End::Sent => return Ok(()),
                Some(how) => return Err(ClusterError::AgentEnded { node: self.node, how }),
                None => {}
            }
        }
    }

    /// Takes what is to be sent.
    fn take(&mut self, input: &Receiver<Vec<u8>>) {
        while self.end == End::NotYet {
            match input.try_recv() {
                Ok(bytes) => self.waiting.extend(bytes),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => self.end = End::Wanted,
            }
        }
    }

    /// Sends the next message.
    fn write(&mut self) -> Result<(), ClusterError> {
        let rest = self.waiting.split_off(self.waiting.len().min(MOST_AGENT_BYTES));
        let input = STANDARD.encode(std::mem::replace(&mut self.waiting, rest));
        let end = self.end == End::Wanted && self.waiting.is_empty();
        let (agent, life) = self.agent;
        let message = WriteAgent { agent, input, end };
        self.under_way.push_back(self.control.write_agent(&self.node, (life, self.number), message, AGENT_LEASE)?);
        self.number += 1;
        if end {
            self.end = End::Sent;
        }
        Ok(())
    }

    /// The answer to the oldest message; `None`: it has not come yet.
    fn answer(&mut self) -> Result<Option<AgentOutput>, ClusterError> {
        let Some(oldest) = self.under_way.front() else { return Ok(None) };
        match oldest.recv_timeout(LOOK) {
            Ok(Some(reply)) => {
                self.under_way.pop_front();
                answer(&self.node, &reply).map(Some).map_err(|error| match error {
                    ClusterError::Silent { .. } => self.lost(),
                    other => other,
                })
            }
            Ok(None) => Ok(None),
            Err(_) => Err(self.lost()),
        }
    }

    fn lost(&self) -> ClusterError {
        ClusterError::AgentLost { node: self.node.clone() }
    }

    fn refused(&self, why: String) -> ClusterError {
        ClusterError::Refused {
            node: self.node.clone(),
            why,
            fix: "run the same version of takt on all nodes".to_owned(),
        }
    }
}

/// The end of the stream that the agent reads.
pub struct ToAgent(Sender<Vec<u8>>);

impl Write for ToAgent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The end of the stream that it writes.
pub struct FromAgent {
    chunks: Receiver<io::Result<Vec<u8>>>,
    left: io::Cursor<Vec<u8>>,
}

impl Read for FromAgent {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let got = self.left.read(into)?;
            if got > 0 || into.is_empty() {
                return Ok(got);
            }
            match self.chunks.recv() {
                Ok(bytes) => self.left = io::Cursor::new(bytes?),
                Err(mpsc::RecvError) => return Ok(0),
            }
        }
    }
}

/// The end of an agent.
pub struct AgentEnd(Option<JoinHandle<()>>);

impl Drop for AgentEnd {
    fn drop(&mut self) {
        // A thread that panicked has printed why.
        let _ = self.0.take().map(JoinHandle::join);
    }
}
