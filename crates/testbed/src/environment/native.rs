//! The environment `native`: processes of this machine.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use takt_agent::{Agent, AgentError};
use takt_host::leftovers::Run;

use super::bridge::{INSIDE, Seat, connect};
use super::programs::Caller;
use super::{Environment, EnvironmentError, EnvironmentFacts, RunningEnvironment, Shell};
use crate::launch::launch;
use crate::net::{Namespace, PathEnd};

/// Agents are children of this process: the same program, called as `takt agent`.
#[derive(Clone, Debug)]
pub struct Native {
    /// The takt that agents are.
    pub(super) program: PathBuf,
    pub(super) caller: Caller,
    run: Run,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Native {
    /// `program`: the takt to call. Children carry the mark of `run`, so that `takt clean` knows them.
    #[must_use]
    pub fn new(program: PathBuf, run: &Run) -> Native {
        let caller = Caller::of(run);
        caller.starts(&program);
        Native { program, caller, run: run.clone() }
    }

    /// Starts an agent, in a network namespace of this machine if one is given, on these CPUs.
    pub fn start_agent(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, AgentError> {
        launch(&self.program, self.caller.mark(), namespace, cpus)
    }
}

impl Environment for Native {
    fn name(&self) -> &str {
        "native"
    }

    fn outside(&self) -> &Native {
        self
    }

    fn own_network(&self) -> bool {
        false
    }

    fn start(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let namespace = end.map(|end| end.namespace.path());
        let agent = self.start_agent(namespace.as_deref(), cpus)?;
        let facts = EnvironmentFacts {
            environment: self.name().into(),
            kernel: agent.hello().kernel.clone(),
            interface: end.map(|end| end.interface.to_owned()),
            ..EnvironmentFacts::default()
        };
        let shell = Shell::by(&self.caller.command("/bin/sh"), namespace);
        Ok(RunningEnvironment { agent, holder: facts, shell })
    }

    fn start_beside(&self, end: &PathEnd, seat: u8, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let label = format!("seat{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let inside = Namespace::create(&self.run, &label)?;
        let bridge = connect(end, Seat::nth(end, seat), &inside.path())?;
        let agent = self.start_agent(Some(&inside.path()), cpus)?;
        let facts = EnvironmentFacts {
            environment: self.name().into(),
            kernel: agent.hello().kernel.clone(),
            interface: Some(INSIDE.to_owned()),
            ..EnvironmentFacts::default()
        };
        let shell = Shell::by(&self.caller.command("/bin/sh"), Some(inside.path()));
        let pid = agent.pid();
        // The pair of interfaces goes from its outer end, before the namespace inside.
        Ok(RunningEnvironment { agent: agent.in_environment(pid, (bridge, inside)), holder: facts, shell })
    }
}
