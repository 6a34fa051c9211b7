//! The environment `vm`: a virtual machine of QEMU, with a kernel of its own and nothing on it but the agent.
//!
//! ```text
//!   takt ==pipes== QEMU ==virtio-serial== agent = first process of the guest
//!   br0 -- tap0 -- QEMU (or vhost) --virtio-net-- eth0
//! ```
//!
//! The guest's root is an archive that takt writes: the program that is running now with its libraries, the kernel
//! modules for virtio, and a file that says what to do. KVM executes it where a test has shown that KVM boots a guest
//! here; elsewhere QEMU translates (TCG), which is several times slower, and the record says so.

mod accelerator;
mod cpio;
mod guest;
mod image;
mod kernel;
mod library;
mod modules;
mod parameters;
mod qemu;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use takt_agent::{Agent, AgentError};
use takt_host::affinity::{own_cpus, pin_self};
use takt_host::leftovers::Run;

pub use self::guest::{GuestError, GuestLine, serve_guest};
pub use self::parameters::{Parameters, ParametersError};

use self::accelerator::Accelerator;
use self::guest::{Link, Orders};
use self::kernel::Kernel;
use self::qemu::{Machine, Qemu};
use super::bridge::{Bridge, Seat};
use super::programs::last_lines;
use super::scratch::Scratch;
use super::{Environment, EnvironmentError, EnvironmentFacts, Limits, Native, RunningEnvironment, Shell};
use crate::net::{PathEnd, on_own_thread};

#[derive(Debug)]
pub struct Vm {
    native: Native,
    run: Run,
    limits: Limits,
    qemu: Qemu,
    kernel: Kernel,
    accelerator: Accelerator,
    parameters: Parameters,
    tools: Vec<PathBuf>,
    shell: bool,
}

impl Vm {
    /// Memory of a guest by default: enough for the buffers of every workload.
    pub const MEMORY_BYTES: u64 = 1 << 30;

    /// Finds QEMU and a kernel, and finds out whether KVM boots it; that is remembered until the next boot.
    pub fn open(native: Native, run: Run, limits: Limits) -> Result<Vm, EnvironmentError> {
        let (qemu, kernel) = both(Qemu::find(&native.caller), Kernel::find())?;
        let mut vm = Vm {
            native,
            run,
            limits,
            qemu,
            kernel,
            accelerator: Accelerator::Kvm,
            parameters: Parameters::default(),
            tools: Vec::new(),
            shell: false,
        };
        vm.accelerator =
            accelerator::find(&vm.qemu, &vm.kernel, || vm.boot(None, &own_cpus(), accelerator::PATIENCE).map(drop))?;
        Ok(vm)
    }

    /// Kernels of guests started from now on have these on their command line.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Vm {
        self.parameters = parameters;
        self
    }

    #[must_use]
    pub fn with_shell(mut self, shell: bool) -> Vm {
        self.shell = shell;
        self
    }

    /// Guests started with a shell from now on have this program of this machine as well, in `/bin`.
    #[must_use]
    pub fn with_tool(mut self, program: PathBuf) -> Vm {
        self.tools.push(program);
        self
    }

    fn boot(
        &self,
        at: Option<(&PathEnd, Seat)>,
        cpus: &[usize],
        patience: Duration,
    ) -> Result<RunningEnvironment, EnvironmentError> {
        let label = format!("vm{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let scratch = Scratch::create(&self.run, &label)?;
        let bridge = at.map(|(end, seat)| plug_in(end, seat)).transpose()?;
        let end = at.map(|(end, _)| end);
        let tap = at.map(|(_, seat)| seat.name(TAP));
        let link = at.map(|(end, seat)| Link { address: seat.address, ..Link::of(end) });
        let orders = Orders { modules: Vec::new(), link, shell: self.shell };
        let image = image::build(&self.native.caller, &self.native.program, &self.kernel, &self.tools, &orders)?;
        let shell = scratch.path().join("shell");
        let machine = Machine {
            accelerator: &self.accelerator,
            cpus: self.limits.cpus.map_or_else(|| cpus.len().max(1), |cpus| cpus.ceil() as usize),
            memory_bytes: self.limits.memory_bytes.unwrap_or(Vm::MEMORY_BYTES),
            kernel: &self.kernel.image,
            image: &scratch.write("image", &image)?,
            console: &scratch.path().join("console"),
            tap: tap.as_deref().zip(at.map(|(_, seat)| seat.hardware)),
            shell: self.shell.then_some(&shell),
            parameters: self.parameters,
            name: scratch.name(),
        };
        let agent = self.launch(&machine, end, cpus, patience);
        let agent = agent.map_err(|source| self.explain(scratch.path(), source))?;
        let facts = EnvironmentFacts {
            processor: None,
            environment: self.name().into(),
            machine: None,
            kernel: agent.hello().kernel.clone(),
            parameters: Some(Parameters::in_command_line(&agent.hello().kernel_facts.command_line)),
            kernel_facts: Some(agent.hello().kernel_facts.clone()),
            runtime: Some(self.qemu.title()),
            accelerator: Some(self.accelerator.name().into()),
            not_accelerated: self.accelerator.why_not().map(str::to_owned),
            vhost: Some(machine.vhost()),
            cpus: Some(agent.hello().cpus.len() as f64),
            memory_bytes: Some(machine.memory_bytes),
            interface: end.map(|_| guest::INTERFACE.to_owned()),
        };
        let pid = agent.child_pid();
        Ok(RunningEnvironment {
            agent: agent.in_environment(pid, (bridge, scratch)),
            holder: facts,
            shell: Shell::Socket { path: shell },
        })
    }

    /// QEMU opens the tap by its name, so it has to be born in its namespace; its threads stay on `cpus`, as an agent's
    /// would.
    fn launch(
        &self,
        machine: &Machine<'_>,
        end: Option<&PathEnd>,
        cpus: &[usize],
        patience: Duration,
    ) -> Result<Agent, AgentError> {
        let stderr = machine.console.with_file_name("stderr");
        let file = |source| AgentError::Launch { program: stderr.clone(), source };
        let mut command = self.qemu.command(machine);
        command.stderr(Stdio::from(fs::File::create(&stderr).map_err(file)?));
        let spawn = move || {
            // CPUs that can't be had were refused when the placement was made.
            let _ = pin_self(cpus);
            Agent::spawn(command, patience)
        };
        match end {
            Some(end) => end.namespace.inside(spawn).unwrap_or_else(|error| {
                Err(AgentError::Launch { program: self.qemu.program.clone(), source: std::io::Error::other(error) })
            }),
            None => on_own_thread(spawn),
        }
    }

    /// Output of QEMU, and what the guest's console showed last.
    fn explain(&self, scratch: &Path, source: AgentError) -> EnvironmentError {
        let read = |name: &str| String::from_utf8_lossy(&fs::read(scratch.join(name)).unwrap_or_default()).into_owned();
        let output = last_lines(&format!("{}\n{}", read("console"), read("stderr")));
        EnvironmentError::Inside { program: self.qemu.program.clone(), output, source }
    }
}

/// A tap of the bridge, for QEMU to open.
fn plug_in(end: &PathEnd, seat: Seat) -> Result<Bridge, EnvironmentError> {
    let mut bridge = Bridge::over(end, seat)?;
    let tap = seat.name(TAP);
    end.namespace.add_tap(&tap)?;
    bridge.connect(&tap)?;
    Ok(bridge)
}

impl Environment for Vm {
    fn name(&self) -> &str {
        "vm"
    }

    fn outside(&self) -> &Native {
        &self.native
    }

    fn start(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        self.boot(end.map(|end| (end, Seat::first(end))), cpus, PATIENCE)
    }

    fn start_beside(&self, end: &PathEnd, seat: u8, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        self.boot(Some((end, Seat::nth(end, seat))), cpus, PATIENCE)
    }
}

static NUMBER: AtomicU32 = AtomicU32::new(0);
/// The outer end of the guest's interface.
const TAP: &str = "tap0";
/// A guest is up in three seconds even in software; on a machine that is busy with other things, later.
const PATIENCE: Duration = Duration::from_secs(90);

/// Both, or what is missing; where both are, one command brings both.
fn both(
    qemu: Result<Qemu, EnvironmentError>,
    kernel: Result<Kernel, EnvironmentError>,
) -> Result<(Qemu, Kernel), EnvironmentError> {
    match (qemu, kernel) {
        (Err(EnvironmentError::Missing { what, names, fix }), Err(_)) => {
            let fix = Kernel::package().map_or_else(|| fix.clone(), |kernel| format!("{fix} && {kernel}"));
            Err(EnvironmentError::Missing { what, names, fix })
        }
        (qemu, kernel) => Ok((qemu?, kernel?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_both_are_missing_one_command_brings_both() {
        let qemu = || Err(EnvironmentError::Missing { what: "QEMU", names: String::new(), fix: "install QEMU".into() });
        let kernel = Kernel { image: "/k".into(), release: "6.1".into(), modules: None };
        let none = || Err(EnvironmentError::NoKernel { looked: String::new(), fix: "install a kernel".into() });
        let fix = |qemu, kernel| both(qemu, kernel).err().and_then(|error| error.fix());
        assert_eq!(fix(qemu(), Ok(kernel)).as_deref(), Some("install QEMU"));
        match Kernel::package() {
            Some(package) => assert_eq!(fix(qemu(), none()), Some(format!("install QEMU && {package}"))),
            None => assert_eq!(fix(qemu(), none()).as_deref(), Some("install QEMU")),
        }
    }
}
