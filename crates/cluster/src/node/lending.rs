//! Agents of labs that a node lends cores to: started, written to, answered for.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use takt_host::fingerprint::Fingerprint;
use zenoh::query::Query;

use super::Node;
use super::agents::Agent;
use super::place::Refusal;
use crate::control::reply;
use crate::message::{AgentStarted, Answer, StartAgent, WriteAgent};
use crate::tenant::{Share, Tenant};

/// An agent of a lab, and the message of its lab that waits for an answer.
pub(super) struct HostedAgent {
    pub(super) agent: Agent,
    pub(super) waits: Option<(Query, Instant)>,
}

impl HostedAgent {
    /// Answers the message that waits, if there is something to answer.
    pub(super) fn answer(&mut self) {
        let Some((query, since)) = self.waits.take() else { return };
        match self.agent.answer(since.elapsed()) {
            Some(output) => reply(&query, Answer::Good(json!(output))),
            None => self.waits = Some((query, since)),
        }
    }

    /// Answers the message that waits, since another one has come.
    fn give_way(&mut self) {
        let Some((query, _)) = self.waits.take() else { return };
        let output = self.agent.answer(Duration::MAX).unwrap_or_default();
        reply(&query, Answer::Good(json!(output)));
    }
}

impl Node {
    /// Passes on what a lab says to its agent, which the gate has found to be its own.
    pub(super) fn write_agent(&mut self, write: &WriteAgent) -> Result<&mut HostedAgent, Refusal> {
        let hosted = self.agents.iter_mut().find(|hosted| hosted.agent.number() == write.agent);
        let hosted = hosted.ok_or_else(|| Refusal::new("that agent is gone", "another one"))?;
        hosted.give_way();
        hosted.agent.take(&write.input, write.end)?;
        Ok(hosted)
    }

    /// Answers for agents that have something to say, and forgets those that are over.
    pub(super) fn attend_agents(&mut self, passed: Duration) {
        let gate = &mut self.gate;
        self.agents.retain_mut(|hosted| {
            let over = hosted.agent.attend(passed);
            hosted.answer();
            if over {
                gate.remove_agent(hosted.agent.number());
            }
            !over
        });
    }

    /// Starts an agent for a tenant.
    pub(super) fn start_agent(&mut self, by: &Tenant, wanted: &StartAgent) -> Result<Json, Refusal> {
        let ours = env!("CARGO_PKG_VERSION");
        if wanted.version != ours {
            let theirs = takt_graph::limits::shortened(&wanted.version);
            return Err(Refusal::new(
                format!("takt is {ours} here, and {theirs} in the lab"),
                "the same takt on all nodes",
            ));
        }
        let free = self.free();
        let has = self.shares().remove(by).unwrap_or_default();
        let left = self.quotas.of(by).0.cores.map_or(u32::MAX, |most| most.saturating_sub(has.cores));
        let there = u32::try_from(free.len()).unwrap_or(u32::MAX);
        let cores = wanted.cores.unwrap_or(left.min(there).max(1));
        self.quotas.admit(by, has, Share { cores, ..Share::default() })?;
        if cores > there {
            return Err(Refusal::new(
                format!("an agent is to have {cores} cores, and {there} are free"),
                "environment_cpus = a lower number; or stop a run: takt node list says whose they are",
            ));
        }
        let cores: Vec<u32> = free.into_iter().take(cores as usize).collect();
        let number = self.gate.add_agent(by)?;
        let started = Agent::start(&self.offer.program, by.clone(), number, cores.clone());
        let agent = started.map_err(|error| {
            self.gate.remove_agent(number);
            Refusal::new(format!("{}: {error}", self.offer.program.display()), "takt where it was when the node began")
        })?;
        self.agents.push(HostedAgent { agent, waits: None });
        let life = self.gate.moment(0).life;
        Ok(json!(AgentStarted { agent: number, life, cores, machine: Fingerprint::read() }))
    }
}
