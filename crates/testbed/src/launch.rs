//! Agents of this machine: the program itself, called as `takt agent`.

use std::path::Path;

use takt_agent::{Agent, AgentError, Launch};

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
