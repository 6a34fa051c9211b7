//! Hops at work: agents in namespaces of their own, one of them perhaps on a share of a core.

use serde_json::json;
use takt_host::call;
use takt_host::leftovers::{Leftover, Registration};
use takt_host::quota::CpuQuota;
use takt_path::hop::{LARGE_BUFFER_BYTES, Options, Report};
use takt_path::model::HopSpec;

use super::super::{Namespace, PathError};
use super::{Build, HopCounters, Path};
use crate::agent::{Agent, AgentError, Launch, Service};

/// Above the host side, below the kernel's own threads; a hop stands for hardware, which is punctual.
const PRIORITY: u8 = 10;

/// The ring of a small computer's network card: some 700 small frames, or 230 of the largest.
const RING_BYTES: u32 = 512 << 10;

/// A hop that passes frames on. Process, group, record end in this order.
#[derive(Debug)]
pub(super) struct RunningHop {
    node: String,
    agent: Option<Agent>,
    quota: Option<CpuQuota>,
    registration: Option<Registration>,
}

impl RunningHop {
    /// Starts one between `lan0` and `wan0` of a namespace.
    pub(super) fn start(
        node: &str,
        namespace: &Namespace,
        spec: HopSpec,
        share: Option<f64>,
        mtu_bytes: u32,
        with: &Build<'_>,
    ) -> Result<RunningHop, PathError> {
        let failed = |source| PathError::Hop { node: node.into(), source };
        let mut hop = RunningHop { node: node.into(), agent: None, quota: None, registration: None };
        if let Some(share) = share {
            let name = with.run.name(&format!("{}-{node}", with.label));
            let registered = with.run.will_create(Leftover::ControlGroup { name: name.clone() });
            let unregistered = |source| PathError::Register { name: name.clone(), source: Box::new(source) };
            hop.registration = Some(registered.map_err(unregistered)?);
            hop.quota = Some(CpuQuota::create(&name, share).map_err(PathError::Quota)?);
        }
        let unrecorded = |source| PathError::Register { name: node.into(), source: Box::new(source) };
        with.run.starts(with.program).map_err(unrecorded)?;
        let (variable, value) = with.run.mark();
        let launch = Launch {
            program: with.program.to_owned(),
            arguments: vec!["agent".into()],
            namespace: Some(namespace.path()),
            cpus: with.cpus.to_vec(),
            mark: Some((variable.to_owned(), value.to_owned())),
        };
        let agent = hop.agent.insert(Agent::launch(&launch).map_err(failed)?);
        if let Some(quota) = &hop.quota {
            quota.add(agent.hello().pid).map_err(PathError::Quota)?;
        }
        let options = Options {
            spec,
            ports: ["lan0".into(), "wan0".into()],
            mtu_bytes,
            buffer_bytes: if share.is_some() { RING_BYTES } else { LARGE_BUFFER_BYTES },
            // What is to be slow has no priority; a group with a quota has no real-time budget either.
            priority: share.is_none().then_some(PRIORITY),
        };
        agent.start(Service::Hop, json!(options)).map_err(failed)?;
        Ok(hop)
    }

    fn look(&mut self) -> Result<HopCounters, AgentError> {
        let agent = self.agent.as_mut().ok_or(AgentError::Gone)?;
        let (pid, report) = (Some(agent.hello().pid), agent.look()?);
        let report: Report = serde_json::from_value(report)
            .map_err(|error| AgentError::Protocol { expected: "a hop's report", got: error.to_string() })?;
        let throttled = self.quota.as_ref().map(CpuQuota::throttled);
        Ok(HopCounters { node: self.node.clone(), pid, report, throttled })
    }
}

impl Drop for RunningHop {
    fn drop(&mut self) {
        // The group can go only when nothing in it lives.
        self.agent = None;
        drop(self.quota.take());
        if let Some(Err(error)) = self.registration.take().map(Registration::released) {
            let error = error.to_string();
            tracing::warn!(hop = self.node, error, "left behind; {} removes it", call::sudo_takt("clean"));
        }
    }
}

impl Path {
    /// What the hops in user space have counted since they began. Taken before and after a round it tells where frames
    /// ended; what the kernel drops on the way its own counters tell, by namespace.
    ///
    /// # Errors
    /// A hop is gone.
    pub fn look(&mut self) -> Result<Vec<HopCounters>, PathError> {
        let failed = |node: String, source| PathError::Hop { node, source };
        self.hops.iter_mut().map(|hop| hop.look().map_err(|source| failed(hop.node.clone(), source))).collect()
    }

    /// Processes of the hops in user space: their CPU time belongs to the path.
    #[must_use]
    pub fn hop_pids(&self) -> Vec<u32> {
        self.hops.iter().filter_map(|hop| Some(hop.agent.as_ref()?.hello().pid)).collect()
    }
}
