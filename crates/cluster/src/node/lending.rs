//! Agents of labs that a node lends cores to: started, written to, answered for.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use takt_host::fingerprint::Fingerprint;
use zenoh::query::Query;

use super::Node;
use super::agents::{Agent, Granted};
use super::place::Refusal;
use crate::control::reply;
use crate::message::{AgentStarted, RequestAnswer, StartAgent, WriteAgent};
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
            Some(output) => reply(&query, RequestAnswer::Good(json!(output))),
            None => self.waits = Some((query, since)),
        }
    }

    /// Answers the message that waits, since another one has come.
    fn give_way(&mut self) {
        let Some((query, _)) = self.waits.take() else { return };
        let output = self.agent.answer(Duration::MAX).unwrap_or_default();
        reply(&query, RequestAnswer::Good(json!(output)));
    }
}

/// MiB without which no agent does anything: its program, and the stacks of a few threads.
const LEAST_MIB: u32 = 64;

/// MiB of an agent whose tenant may have so many at most, and has some of them: all that is left. `None`: as many as it likes.
fn memory_for_agent(most_mib: Option<u32>, has_mib: u32) -> Option<u32> {
    most_mib.map(|most| most.saturating_sub(has_mib).max(LEAST_MIB))
}

impl Node {
    /// Passes on what a lab says to its agent, which the gate has found to be its own.
    pub(super) fn write_agent(&mut self, write: &WriteAgent) -> Result<&mut HostedAgent, Refusal> {
        let hosted = self.agents.iter_mut().find(|hosted| hosted.agent.number() == write.agent);
        let hosted = hosted.ok_or_else(|| {
            Refusal::new("that agent is gone", "wait for the next round: the lab then asks for another agent")
        })?;
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
                format!("takt has version {ours} here, but {theirs} in the lab"),
                "run the same version of takt on all nodes",
            ));
        }
        let free = self.free();
        let has = self.shares().remove(by).unwrap_or_default();
        let left = self.quotas.of(by).0.cores.map_or(u32::MAX, |most| most.saturating_sub(has.cores));
        let there = u32::try_from(free.len()).unwrap_or(u32::MAX);
        let cores = wanted.cores.unwrap_or(left.min(there).max(1));
        let memory_mib = memory_for_agent(self.quotas.of(by).0.memory_mib, has.memory_mib);
        let asks = Share { cores, memory_mib: memory_mib.unwrap_or(0), ..Share::default() };
        self.admit(by, has, asks)?;
        if cores > there {
            return Err(Refusal::new(
                format!("the agent asks for {cores} cores, but {there} are free"),
                "set environment_cpus to a lower number, or stop a run: takt node list says whose runs they are",
            ));
        }
        let cores: Vec<u32> = free.into_iter().take(cores as usize).collect();
        let number = self.gate.add_agent(by)?;
        let granted = Granted { cores: cores.clone(), memory_mib };
        let started = Agent::start(&self.offer.program, by.clone(), number, granted);
        let agent = started.map_err(|error| {
            self.gate.remove_agent(number);
            Refusal::new(
                format!("{}: {error}", self.offer.program.display()),
                "put takt back where it was when the node started",
            )
        })?;
        self.agents.push(HostedAgent { agent, waits: None });
        let life = self.gate.moment(0).life;
        Ok(json!(AgentStarted { agent: number, life, cores, machine: Fingerprint::read() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::Quotas;

    #[test]
    fn an_agent_has_the_memory_that_the_quota_leaves_and_counts_with_it() {
        assert_eq!(memory_for_agent(None, 5), None);
        assert_eq!(memory_for_agent(Some(512), 100), Some(412));
        // Too little is left: the quota says so.
        let quotas: Quotas = toml::from_str("[blue]\nmemory_mib = 100\n").unwrap();
        let (blue, has) = (Tenant::named("blue").unwrap(), Share { memory_mib: 60, ..Share::default() });
        let memory_mib = memory_for_agent(Some(100), has.memory_mib).unwrap();
        let over = quotas.admit(&blue, has, Share { memory_mib, ..Share::default() }).unwrap_err();
        assert_eq!(over.to_string(), "tenant `blue` may have 100 MiB here, has 60 and asks for 64 more");
    }
}
