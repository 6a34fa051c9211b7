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
    /// The takt that agents are.
    pub(super) program: PathBuf,
    pub(super) caller: Caller,
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
    pub fn start_agent(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, AgentError> {
        launch(&self.program, self.caller.mark(), namespace, cpus)
    }
}

/// Starts `program` as an agent that carries this mark: name and value of a variable.
pub(crate) fn launch(
    program: &Path,
    (name, value): (&str, &str),
    namespace: Option<&Path>,
    cpus: &[usize],
) -> Result<Agent, AgentError> {
    Agent::launch(&Launch {
        program: program.to_owned(),
        arguments: vec!["agent".into()],
        namespace: namespace.map(Path::to_owned),
        cpus: cpus.to_vec(),
        mark: Some((name.to_owned(), value.to_owned())),
    })
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
}
