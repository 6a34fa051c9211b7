//! A disturbance that runs: its processes, and the cap on them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_agent::{Agent, AgentError, Service};
use takt_host::cgroup::GroupError;
use takt_host::leftovers::{Leftover, LeftoversError, Registration, Run};
use takt_host::quota::{CpuQuota, Throttled};

use super::{LoopOptions, Spec};
use crate::environment::Native;

/// Kind and number of disturbing processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DisturbanceOptions {
    pub spec: Spec,
    /// Share of their CPUs that all of them together may use, 0 to 1; `None`: no cap.
    pub cap_share: Option<f64>,
    pub cap_period: Duration,
    pub cpus: Vec<usize>,
    /// Cores that `4x` means four each of: those of the machine that takt may use, the radio's among them.
    pub cores: usize,
}

/// Processes that disturb. Dropping it ends them.
#[derive(Debug)]
pub struct Disturbance {
    wanted: DisturbanceOptions,
    agents: Vec<Agent>,
    /// After the agents, so that the group is empty when it goes.
    cap: Option<Cap>,
}

#[derive(Debug)]
struct Cap {
    quota: Option<CpuQuota>,
    registration: Option<Registration>,
}

/// Why nothing disturbs. The processes that were started have ended again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DisturbanceError {
    #[error("a process of the disturbance failed")]
    Agent(#[from] AgentError),
    #[error("takt can't set the cap on the disturbance")]
    Cap(#[from] GroupError),
    /// The group can't be recorded, so it was not made.
    #[error("takt can't record the control group of the disturbance")]
    Leftovers(#[from] LeftoversError),
}

impl DisturbanceError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            DisturbanceError::Cap(error) if error.is_unavailable() => {
                let fix = error.fix().map_or(String::new(), |fix| format!("{fix}\n"));
                Some(format!("{fix}set cap = \"none\", which needs no control group"))
            }
            DisturbanceError::Leftovers(error) => Some(error.fix()),
            _ => None,
        }
    }
}

impl Disturbance {
    /// Starts it: every process is in its place and capped before the first begins to work.
    pub fn start(
        wanted: &DisturbanceOptions,
        native: &Native,
        run: &Run,
        label: &str,
    ) -> Result<Disturbance, DisturbanceError> {
        let loads = wanted.spec.processes(wanted.cores);
        let cap = match wanted.cap_share {
            Some(share) if !loads.is_empty() => Some(Cap::make(wanted, share, run, label)?),
            _ => None,
        };
        let mut disturbance = Disturbance { wanted: wanted.clone(), agents: Vec::new(), cap };
        for _ in &loads {
            disturbance.agents.push(native.start_agent(None, &wanted.cpus)?);
        }
        if let Some(quota) = disturbance.quota() {
            disturbance.agents.iter().try_for_each(|agent| quota.add(agent.pid()))?;
        }
        for (agent, load) in disturbance.agents.iter_mut().zip(loads) {
            agent.start(Service::Disturbance, json!(LoopOptions { load }))?;
        }
        Ok(disturbance)
    }

    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        self.agents.iter().map(Agent::pid).collect()
    }

    /// How many of its processes run: they are there, and have neither ended nor been stopped.
    fn running(&self) -> usize {
        let runs = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // proc_pid_stat(5): the state is the first word after the name, which may hold anything.
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            state.is_some_and(|state| matches!(state, 'R' | 'S' | 'D'))
        };
        self.pids().iter().filter(|pid| runs(pid)).count()
    }

    /// Disturbance in force, for the record; `null` for none.
    #[must_use]
    pub fn in_force(&self) -> Value {
        if self.agents.is_empty() {
            return Value::Null;
        }
        json!({
            "wanted": self.wanted,
            "running": self.running(),
            "pids": self.pids(),
            "cgroup": self.quota().map(CpuQuota::version),
        })
    }

    /// Ends it; how often the cap was felt.
    pub fn finish(mut self) -> Result<Throttled, AgentError> {
        let throttled = self.quota().map_or_else(Throttled::default, |quota| {
            let felt = quota.throttled();
            // Sixteen loops that share a tenth of a core take seconds to say goodbye. They end in either case.
            let _ = quota.lift();
            felt
        });
        self.agents.iter_mut().try_for_each(|agent| agent.finish().map(drop))?;
        Ok(throttled)
    }

    fn quota(&self) -> Option<&CpuQuota> {
        self.cap.as_ref()?.quota.as_ref()
    }
}

impl Cap {
    fn make(wanted: &DisturbanceOptions, share: f64, run: &Run, label: &str) -> Result<Cap, DisturbanceError> {
        let name = run.name(label);
        let registration = run.will_create(Leftover::ControlGroup { name: name.clone() })?;
        let mut cap = Cap { quota: None, registration: Some(registration) };
        cap.quota = Some(CpuQuota::over(&name, share * wanted.cpus.len() as f64, wanted.cap_period)?);
        Ok(cap)
    }
}

impl Drop for Cap {
    fn drop(&mut self) {
        self.quota = None;
        // A group that could not be removed stays recorded, for `takt clean`.
        let _ = self.registration.take().map(Registration::released);
    }
}
