//! The environment `native`: processes of this machine.

use std::path::{Path, PathBuf};

use takt_agent::{Agent, AgentError, Launch};
use takt_host::leftovers::Run;

use super::programs::Caller;
use super::{Environment, EnvironmentError, EnvironmentFacts, RunningEnvironment, Shell};
use crate::net::PathEnd;

/// Agents are children of this process: the same program, called as `takt agent`.
#[derive(Clone, Debug)]
pub struct Native {
    program: PathBuf,
    caller: Caller,
}

impl Native {
    /// `program`: the takt to call. Children carry the mark of `run`, so that `takt clean` knows them.
    #[must_use]
    pub fn new(program: PathBuf, run: &Run) -> Native {
        let caller = Caller::of(run);
        caller.starts(&program);
        Native { program, caller }
    }

    /// Starts an agent, in a network namespace of this machine if one is given, on these CPUs.
    ///
    /// # Errors
    /// The agent can't be started there.
    pub fn start_agent(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, AgentError> {
        let (name, value) = self.caller.mark();
        Agent::launch(&Launch {
            program: self.program.clone(),
            arguments: vec!["agent".into()],
            namespace: namespace.map(Path::to_owned),
            cpus: cpus.to_vec(),
            mark: Some((name.to_owned(), value.to_owned())),
        })
    }

    /// The takt that agents are.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Who calls other programs for the run.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }
}

impl Environment for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn outside(&self) -> &Native {
        self
    }

    fn hold(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let namespace = end.map(|end| end.namespace.path());
        let agent = self.start_agent(namespace.as_deref(), cpus)?;
        let holder = EnvironmentFacts {
            environment: self.name().into(),
            kernel: agent.hello().kernel.clone(),
            interface: end.map(|end| end.interface.to_owned()),
            ..EnvironmentFacts::default()
        };
        let shell = Shell::by(&self.caller.command("/bin/sh"), namespace);
        Ok(RunningEnvironment { agent, holder, shell })
    }
}
