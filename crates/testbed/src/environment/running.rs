//! An agent in its environment, and what that environment turned out to be.

use serde::{Deserialize, Serialize};
use takt_agent::{Agent, KernelFacts};

use super::{Machine, Parameters, Shell};

/// A running agent in its environment. Dropping the agent takes the environment away.
#[derive(Debug)]
pub struct RunningEnvironment {
    pub agent: Agent,
    pub holder: EnvironmentFacts,
    pub shell: Shell,
}

/// Environment of the measured side, as found in force, not as wished for; goes into every record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentFacts {
    pub environment: String,
    /// Release of the kernel under the agent, in its own words.
    pub kernel: String,
    /// Facts that decide in a guest's or a node's kernel when a thread wakes up; `None` elsewhere: the host's
    /// fingerprint says it.
    #[serde(default)]
    pub kernel_facts: Option<KernelFacts>,
    /// Parameters of a guest's kernel, as found in its command line.
    #[serde(default)]
    pub parameters: Option<Parameters>,
    /// Program that brought it up, with its version: `runc 1.1.5`, `QEMU 7.2.22`; `None`: nothing was needed.
    pub runtime: Option<String>,
    /// The processor that user emulation stands for, `aarch64 cortex-a72`, or a node's; `None`: this machine's own, or a
    /// guest's.
    #[serde(default)]
    pub processor: Option<String>,
    /// The machine, where it is another one than that of the run: a node's. The host's fingerprint says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Executor of a guest's instructions: `kvm` (the processor) or `tcg` (software); `None` outside of guests.
    pub accelerator: Option<String>,
    pub not_accelerated: Option<String>,
    /// Whether the kernel moves a guest's datagrams (`true`) or QEMU itself does; `None` outside of guests.
    pub vhost: Option<bool>,
    /// CPUs' worth of time the agent may use at most; `None`: no limit.
    pub cpus: Option<f64>,
    /// Memory the agent may use at most, bytes; `None`: no limit.
    pub memory_bytes: Option<u64>,
    /// The agent's interface on the path; `None` without a path.
    pub interface: Option<String>,
}
