//! The environment `native`: processes of this machine.

use std::path::{Path, PathBuf};

use takt_host::leftovers::Run;

use super::Environment;
use crate::agent::{Agent, AgentError, Launch};

/// Agents are children of this process: the same program, called as `takt agent`.
#[derive(Clone, Debug)]
pub struct Native {
    program: PathBuf,
    mark: (String, String),
}

impl Native {
    /// `program`: the takt to call. Children carry the mark of `run`, so that `takt clean` knows them.
    #[must_use]
    pub fn new(program: PathBuf, run: &Run) -> Native {
        let (name, value) = run.mark();
        Native { program, mark: (name.to_owned(), value.to_owned()) }
    }
}

impl Environment for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn start_agent(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, AgentError> {
        Agent::launch(&Launch {
            program: self.program.clone(),
            arguments: vec!["agent".into()],
            namespace: namespace.map(Path::to_owned),
            cpus: cpus.to_vec(),
            mark: Some(self.mark.clone()),
        })
    }
}
