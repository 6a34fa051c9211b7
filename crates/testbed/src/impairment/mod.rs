//! Impairments of the host side by a known amount, so that a verdict about it can be tried.
//!
//! ```text
//!  hog       = "4.5ms every 5ms"    a SCHED_FIFO thread takes each of the host side's cores
//!  freeze    = "40ms every 400ms"   such threads take all cores at once, the emulator's too, as a hypervisor does
//!  stall     = "20ms every 200ms"   the host side's process is stopped
//!  cpu_quota = 80                   it gets 80 % of the CPU time that this stream takes undisturbed
//! ```
//!
//! All but a freeze acts on the host side alone, never on the radio. It begins before the stream and ends after it.

mod hog;
mod stall;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use takt_agent::{Agent, AgentError, Failure, Service};
use takt_host::cgroup::{Borrowed, GroupError, Limit};
use takt_host::leftovers::Run;
use takt_load::Every;

pub(crate) use hog::Hog;
use stall::Stall;

use crate::environment::{Native, Placement};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpairmentOptions {
    /// Taken from each of its cores.
    pub hog: Option<Every>,
    /// Taken from each core of both sides at once.
    pub freeze: Option<Every>,
    pub stall: Option<Every>,
    /// CPUs' worth of time that its process may use.
    pub quota_cpus: Option<f64>,
}

/// Impairments that were started. Dropping it ends all of it.
#[derive(Debug)]
pub struct Impairment {
    hogs: Vec<Agent>,
    /// Dropped before the quota: a process that is stopped can't be moved.
    stall: Option<Stall>,
    quota: Option<Borrowed>,
    wanted: ImpairmentOptions,
}

/// Why nothing could be done to it. Everything started has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImpairmentError {
    #[error("takt can't take a core from the host side")]
    Hog(#[source] AgentError),
    #[error("takt can't stop the host side's process {pid}")]
    Stall { pid: u32, source: std::io::Error },
    #[error("takt can't set a CPU quota for the host side")]
    Quota(#[source] GroupError),
}

impl ImpairmentError {
    pub fn failure(&self) -> Failure {
        let (fix, lasting) = match self {
            ImpairmentError::Quota(error) => (error.fix(), error.is_unavailable()),
            ImpairmentError::Hog(_) | ImpairmentError::Stall { .. } => (None, false),
        };
        let failure = Failure::of(self, fix);
        Failure { lasting: failure.lasting || lasting, ..failure }
    }
}

impl Impairment {
    /// `pid`: the host side's process; `on`: the cores of both sides.
    pub fn start(
        wanted: &ImpairmentOptions,
        pid: u32,
        on: &Placement,
        native: &Native,
        run: &Run,
    ) -> Result<Impairment, ImpairmentError> {
        let mut impairment = Impairment { hogs: Vec::new(), stall: None, quota: None, wanted: wanted.clone() };
        if let Some(every) = wanted.hog {
            impairment.take_cores(every, &on.host, native)?;
        }
        if let Some(every) = wanted.freeze {
            let both: BTreeSet<usize> = on.host.iter().chain(&on.radio).copied().collect();
            impairment.take_cores(every, &both.into_iter().collect::<Vec<_>>(), native)?;
        }
        if let Some(cpus) = wanted.quota_cpus {
            let limit = Limit { cpus: Some(cpus), period: Some(period(cpus)), ..Limit::default() };
            let mut group = Borrowed::create(run, "quota", limit).map_err(ImpairmentError::Quota)?;
            group.take(pid).map_err(ImpairmentError::Quota)?;
            impairment.quota = Some(group);
        }
        if let Some(every) = wanted.stall {
            let stall = Stall::start(pid, every).map_err(|source| ImpairmentError::Stall { pid, source })?;
            impairment.stall = Some(stall);
        }
        Ok(impairment)
    }

    fn take_cores(&mut self, every: Every, cpus: &[usize], native: &Native) -> Result<(), ImpairmentError> {
        for &cpu in cpus {
            let mut agent = native.start_agent(None, &[cpu]).map_err(ImpairmentError::Hog)?;
            agent.start(Service::Hog, json!(every)).map_err(ImpairmentError::Hog)?;
            self.hogs.push(agent);
        }
        Ok(())
    }

    pub fn pids(&self) -> Vec<u32> {
        self.hogs.iter().map(Agent::pid).collect()
    }

    /// Ends it; what was in force, for the record, and `null` if nothing was.
    pub fn end(mut self) -> Result<Value, AgentError> {
        if self.wanted == ImpairmentOptions::default() {
            return Ok(Value::Null);
        }
        self.stall = None;
        let throttled = self.quota.as_ref().map(Borrowed::throttled);
        if let Some(group) = self.quota.take() {
            group.give_back().map_err(|error| AgentError::Failed(Failure::of(&error, error.fix())))?;
        }
        self.hogs.iter_mut().try_for_each(|agent| agent.finish().map(drop))?;
        let ImpairmentOptions { hog, freeze, stall, quota_cpus } = &self.wanted;
        Ok(json!({ "hog": hog, "freeze": freeze, "stall": stall, "quota_cpus": quota_cpus, "throttled": throttled }))
    }
}

/// The period over which a quota is counted: short, so that a process halts for moments, and long enough for the kernel, whose
/// least quota is 1 ms of a period.
fn period(cpus: f64) -> Duration {
    const LEAST: Duration = Duration::from_millis(1);
    let needed = LEAST.div_f64(cpus.max(1e-3));
    needed.max(takt_host::quota::PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_quota_is_counted_over_a_longer_period_and_not_rounded_up() {
        let ms = |cpus| period(cpus).as_secs_f64() * 1e3;
        assert_eq!((ms(2.0), ms(0.1)), (10.0, 10.0));
        assert!((ms(0.04) - 25.0).abs() < 1e-9 && (ms(1e-4) - 1000.0).abs() < 1e-9, "the kernel's longest is a second");
    }
}
