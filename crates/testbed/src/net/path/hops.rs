//! Hops at work: agents in namespaces of their own.

use serde_json::json;
use takt_agent::{Agent, AgentError, Service};
use takt_path::hop::{HopOptions, LARGE_BUFFER_BYTES, Report};
use takt_path::model::HopSpec;

use super::super::{Namespace, PathError};
use super::{Build, HopCounters, Path};
use crate::launch::launch;

/// Above the host side, below the kernel's own threads; a node stands for hardware, which is punctual.
pub(super) const PRIORITY: u8 = 10;

#[derive(Debug)]
pub(super) struct RunningHop {
    pub(super) node: String,
    agent: Agent,
}

impl RunningHop {
    pub(super) fn start(
        node: &str,
        namespace: &Namespace,
        spec: HopSpec,
        mtu_bytes: u32,
        with: &Build<'_>,
    ) -> Result<RunningHop, PathError> {
        let failed = |source| PathError::Hop { node: node.into(), source };
        let unrecorded = |source| PathError::Register { name: node.into(), source: Box::new(source) };
        with.run.starts(with.program).map_err(unrecorded)?;
        let mut agent = launch(with.program, with.run.mark(), Some(&namespace.path()), with.cpus).map_err(failed)?;
        let options = HopOptions {
            spec,
            ports: ["lan0".into(), "wan0".into()],
            mtu_bytes,
            buffer_bytes: LARGE_BUFFER_BYTES,
            priority: Some(PRIORITY),
        };
        agent.start(Service::Hop, json!(options)).map_err(failed)?;
        Ok(RunningHop { node: node.into(), agent })
    }

    pub(super) fn pid(&self) -> u32 {
        self.agent.pid()
    }

    fn look(&mut self) -> Result<HopCounters, AgentError> {
        let report: Report = serde_json::from_value(self.agent.look()?)
            .map_err(|error| AgentError::Protocol { expected: "a hop's report", got: error.to_string() })?;
        Ok(HopCounters { node: self.node.clone(), report })
    }
}

impl Path {
    /// Counts of the hops in user space since they began. Taken before and after a round it tells where frames ended.
    /// The kernel's counters say what it dropped on the way, by namespace.
    pub fn look(&mut self) -> Result<Vec<HopCounters>, PathError> {
        let failed = |node: String, source| PathError::Hop { node, source };
        self.hops.iter_mut().map(|hop| hop.look().map_err(|source| failed(hop.node.clone(), source))).collect()
    }
}
