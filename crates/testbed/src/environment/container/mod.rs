//! The environment `container`: a container of this machine's kernel, made by an OCI runtime from a bundle that takt
//! writes (OCI runtime specification 1.0.2). No engine, no image and no registry is needed; where Podman or Docker is to make
//! it, they are driven by their own commands.
//!
//! Its root is this machine's programs and libraries, read-only, and empty folders; the agent is the program that is
//! running now. It has process, mount, host name, IPC and network namespaces and a control group of its own, the
//! capabilities that a radio host needs, and no filter of system calls.

mod config;
mod engine;
mod root;
mod runtime;

use std::fs;
use std::io::{IsTerminal, stdin};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use takt_agent::{Agent, AgentError, cores};
use takt_host::Host;
use takt_host::capability::{self, CapabilitySet, in_user_namespace};
use takt_host::cgroup::remove_control_group;
use takt_host::cgroup::{self, GroupLimits};
use takt_host::leftovers::{Leftover, Registration, Run};

use self::config::Config;
use self::runtime::Runtime;
pub use self::runtime::RuntimeName;
use super::bridge::{Bridge, INSIDE, Seat, connect};
use super::programs::last_lines;
use super::scratch::Scratch;
use super::{Environment, EnvironmentError, EnvironmentFacts, Limits, Native, RunningEnvironment, Shell};
use crate::net::{Namespace, PathEnd};

#[derive(Debug)]
pub struct Container {
    native: Native,
    run: Run,
    limits: Limits,
    runtime: Runtime,
}

impl Container {
    /// Finds a runtime that works here, the one that is `wanted` if one is.
    pub fn open(
        native: Native,
        run: Run,
        limits: Limits,
        wanted: Option<RuntimeName>,
    ) -> Result<Container, EnvironmentError> {
        let runtime = Runtime::find(&native.caller, wanted)?;
        if !capability::own().contains(CapabilitySet::SYS_ADMIN) {
            return Err(EnvironmentError::NotPermitted { what: "a container", capability: "CAP_SYS_ADMIN" });
        }
        Ok(Container { native, run, limits, runtime })
    }

    /// Lays out what is run; the command that runs it.
    fn prepare(&self, parts: &Parts, cpus: &[usize]) -> Result<Command, EnvironmentError> {
        let root = parts.scratch.folder("root")?;
        let mut arguments = vec!["/takt".to_owned(), "agent".into(), "--outlive-parent".into()];
        if !cpus.is_empty() {
            arguments.extend(["--cores".into(), cores(cpus)]);
        }
        let config = Config {
            arguments,
            mark: self.native.caller.mark(),
            name: parts.scratch.name(),
            // Root of a user namespace may make none. Without limits the container does without; with them the runtime
            // says that they can't be had.
            group: self.limits != Limits::default() || in_user_namespace(&Host::this()) != Some(true),
            network: parts.inside.as_ref().map(Namespace::path),
            binds: root::lay_out(&root, &self.native.program)?,
            limits: self.limits,
        };
        let path = parts.scratch.path();
        let file = path.join("stderr");
        let stderr = fs::File::create(&file).map_err(EnvironmentError::file("making", &file))?;
        let mut command = self.runtime.run(&config, path).map_err(|error| self.unusable(error.to_string()))?;
        command.stderr(Stdio::from(stderr));
        Ok(command)
    }

    /// Connects a container that has started to the bridge.
    fn join(&self, end: &PathEnd, seat: Seat, pid: Option<u32>) -> Result<Bridge, EnvironmentError> {
        let network = pid.and_then(engine::foreign_network);
        let network = network.ok_or_else(|| self.unusable("the container has no network namespace of its own"))?;
        Ok(connect(end, seat, &network)?)
    }

    fn unusable(&self, why: impl Into<String>) -> EnvironmentError {
        let fix = "set environment_runtime = \"runc\", which needs no container engine".into();
        EnvironmentError::Unusable { program: self.runtime.program.clone(), why: why.into(), fix }
    }

    fn explain(&self, parts: &Parts, source: AgentError) -> EnvironmentError {
        let output = fs::read_to_string(parts.scratch.path().join("stderr")).unwrap_or_default();
        EnvironmentError::Inside { program: self.runtime.program.clone(), output: last_lines(&output), source }
    }
}

impl Environment for Container {
    fn name(&self) -> &str {
        "container"
    }

    fn outside(&self) -> &Native {
        &self.native
    }

    fn start(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        self.start_at(end.map(|end| (end, Seat::first(end))), cpus)
    }

    fn start_beside(&self, end: &PathEnd, seat: u8, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        self.start_at(Some((end, Seat::nth(end, seat))), cpus)
    }
}

impl Container {
    fn start_at(&self, end: Option<(&PathEnd, Seat)>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let mut parts = Parts::create(self, end)?;
        let command = self.prepare(&parts, cpus)?;
        let agent = Agent::spawn(command, PATIENCE).map_err(|source| self.explain(&parts, source))?;
        let pid = self.runtime.pid(parts.scratch.path(), parts.scratch.name());
        if let (Some((end, seat)), None) = (end, &parts.inside) {
            parts._bridge = Some(self.join(end, seat, pid)?);
        }
        let group = pid.and_then(engine::group_of).unwrap_or_else(|| parts.scratch.name().to_owned());
        let GroupLimits { cpus, memory_bytes } = cgroup::limits_of(&group);
        let facts = EnvironmentFacts {
            environment: Environment::name(self).into(),
            kernel: agent.hello().kernel.clone(),
            runtime: Some(self.runtime.title()),
            cpus,
            memory_bytes,
            interface: end.map(|_| INSIDE.to_owned()),
            ..EnvironmentFacts::default()
        };
        let pid = pid.unwrap_or_else(|| agent.child_pid());
        let shell = self.runtime.exec(parts.scratch.path(), parts.scratch.name(), stdin().is_terminal());
        Ok(RunningEnvironment {
            agent: agent.in_environment(pid, parts),
            holder: facts,
            shell: Shell::by(&shell, None),
        })
    }
}

/// Everything of one container outside of it; dropped, it is gone.
struct Parts {
    runtime: Runtime,
    group: Option<Registration>,
    /// Before the namespace inside, so that the pair of interfaces goes from its outer end.
    _bridge: Option<Bridge>,
    inside: Option<Namespace>,
    scratch: Scratch,
}

impl Parts {
    fn create(container: &Container, end: Option<(&PathEnd, Seat)>) -> Result<Parts, EnvironmentError> {
        let label = format!("box{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let scratch = Scratch::create(&container.run, &label)?;
        let group = container.run.will_create(Leftover::ControlGroup { name: scratch.name().to_owned() })?;
        let mut parts =
            Parts { runtime: container.runtime.clone(), group: Some(group), _bridge: None, inside: None, scratch };
        // Docker makes the namespace itself, later.
        if let Some((end, seat)) = end
            && container.runtime.name != RuntimeName::Docker
        {
            let inside = parts.inside.insert(Namespace::create(&container.run, &format!("{label}-in"))?);
            parts._bridge = Some(connect(end, seat, &inside.path())?);
        }
        Ok(parts)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // The runtime does this itself when its container ends; not when it was killed.
        self.runtime.delete(self.scratch.path(), self.scratch.name());
        if remove_control_group(self.scratch.name()).is_ok() {
            let _ = self.group.take().map(Registration::released);
        }
    }
}

static NUMBER: AtomicU32 = AtomicU32::new(0);
/// A container is up in tens of milliseconds; on a machine that is busy with other things, later. One that is not by now
/// hangs.
const PATIENCE: Duration = Duration::from_secs(120);
