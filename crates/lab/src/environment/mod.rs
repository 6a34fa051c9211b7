//! Where the measured side runs.

mod native;
mod placement;
mod site;

pub use native::Native;
pub use placement::Placement;
pub use site::{InForce, Site, SiteError, SiteOptions};

use std::path::Path;

use crate::agent::{Agent, AgentError};

/// Something that can hold the measured side: this machine itself, a container, a virtual machine.
pub trait Environment: Send {
    /// Its name in experiment files and records: `native`.
    fn name(&self) -> &'static str;

    /// Starts an agent inside, in a network namespace of this machine if one is given, on these CPUs.
    ///
    /// # Errors
    /// The agent can't be started there.
    fn start_agent(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, AgentError>;
}
