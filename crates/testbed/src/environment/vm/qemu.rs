//! QEMU and its command line.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use takt_host::Host;
use takt_host::distribution::Family;

use super::super::EnvironmentError;
use super::super::programs::{Caller, find, version};
use super::accelerator::Accelerator;
use super::guest;
use super::parameters::Parameters;

/// The emulator for this machine's own architecture.
#[derive(Clone, Debug)]
pub(super) struct Qemu {
    caller: Caller,
    pub(super) program: PathBuf,
    version: String,
}

#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) accelerator: &'a Accelerator,
    pub(super) cpus: usize,
    pub(super) memory_bytes: u64,
    pub(super) kernel: &'a Path,
    pub(super) image: &'a Path,
    pub(super) console: &'a Path,
    /// The interface of this machine that is the guest's cable, and the hardware address of the guest's end.
    pub(super) tap: Option<(&'a str, [u8; 6])>,
    /// The socket of a shell in the guest.
    pub(super) shell: Option<&'a Path>,
    /// Parameters of the kernel, beside those that takt needs.
    pub(super) parameters: Parameters,
    pub(super) name: &'a str,
}

/// Name of the program, machine type, and how the kernel's command line begins: with the device that its console is on.
///
/// A PC's kernel panics if its first timer interrupts do not come within some ticks of its own, which a guest in software on a
/// busy host may miss (check_timer in arch/x86/kernel/apic/io_apic.c). Under KVM it leaves that check out by itself.
const FLAVOUR: (&str, &str, &str) = if cfg!(target_arch = "aarch64") {
    ("qemu-system-aarch64", "virt", "console=ttyAMA0")
} else {
    ("qemu-system-x86_64", "q35", "console=ttyS0 no_timer_check")
};
const PACKAGE: &str = if cfg!(target_arch = "aarch64") { "qemu-system-arm" } else { "qemu-system-x86" };
const VHOST: &str = "/dev/vhost-net";

impl Qemu {
    pub(super) fn find(caller: &Caller) -> Result<Qemu, EnvironmentError> {
        let (name, ..) = FLAVOUR;
        let fix = || Family::of(&Host::this()).install(PACKAGE, "qemu-kvm");
        let Some(program) = find(name) else {
            return Err(EnvironmentError::Missing { what: "QEMU", names: name.into(), fix: fix() });
        };
        let output = caller.says(&program, &["--version"]).unwrap_or_default();
        match version(&output) {
            Some(version) => Ok(Qemu { caller: caller.clone(), version: version.to_owned(), program }),
            None => Err(EnvironmentError::Unusable { program, why: "it does not say its version".into(), fix: fix() }),
        }
    }

    pub(super) fn title(&self) -> String {
        format!("QEMU {}", self.version)
    }

    /// A call of it whose standard input and output are the agent's.
    pub(super) fn command(&self, machine: &Machine<'_>) -> Command {
        let mut command = self.caller.command(&self.program);
        command.args(machine.arguments());
        command
    }
}

impl Machine<'_> {
    /// Whether the kernel itself moves datagrams between tap and guest: it can only where it also runs the guest.
    pub(super) fn vhost(&self) -> bool {
        let openable = || File::options().read(true).write(true).open(VHOST).is_ok();
        self.tap.is_some() && matches!(self.accelerator, Accelerator::Kvm) && openable()
    }

    fn arguments(&self) -> Vec<String> {
        let (_, machine, console) = FLAVOUR;
        let (accelerator, cpu) = match self.accelerator {
            Accelerator::Kvm => ("kvm", "host"),
            Accelerator::Tcg { .. } => ("tcg,thread=multi", "max"),
        };
        let megabytes = self.memory_bytes.div_ceil(1 << 20);
        let (cpus, vhost) = (self.cpus, if self.vhost() { "on" } else { "off" });
        let mut arguments: Vec<String> =
            ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"].map(String::from).into();
        let mut set = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        set("-name", self.name.into());
        set("-machine", machine.into());
        set("-accel", accelerator.into());
        set("-cpu", cpu.into());
        set("-smp", cpus.to_string());
        set("-m", format!("{megabytes}M"));
        set("-kernel", self.kernel.display().to_string());
        set("-initrd", self.image.display().to_string());
        // A guest that ends its first process restarts at once, which -no-reboot turns into the end of QEMU.
        set(
            "-append",
            format!(
                "{console} quiet panic=-1{} rdinit={} -- agent --guest {}",
                self.parameters.command_line(),
                guest::PROGRAM,
                guest::ORDERS
            ),
        );
        set("-serial", format!("file:{}", self.console.display()));
        set("-device", "virtio-serial-pci".into());
        set("-chardev", "stdio,id=agent,signal=off".into());
        set("-device", format!("virtserialport,chardev=agent,name={}", guest::PORT));
        if let Some(shell) = self.shell {
            set("-chardev", format!("socket,id=shell,server=on,wait=off,path={}", shell.display()));
            set("-device", format!("virtserialport,chardev=shell,name={}", guest::SHELL_PORT));
        }
        if let Some((tap, hardware)) = self.tap {
            let mac = hardware.map(|byte| format!("{byte:02x}")).join(":");
            set("-netdev", format!("tap,id=path,ifname={tap},script=no,downscript=no,vhost={vhost}"));
            set("-device", format!("virtio-net-pci,netdev=path,mac={mac},romfile="));
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accelerator: &Accelerator, tap: Option<(&str, [u8; 6])>) -> String {
        let machine = Machine {
            accelerator,
            cpus: 3,
            memory_bytes: (1 << 29) + 1,
            kernel: Path::new("/k"),
            image: Path::new("/i"),
            console: Path::new("/c"),
            tap,
            shell: None,
            parameters: "highres=off".parse().unwrap(),
            name: "takt-1-vm0",
        };
        machine.arguments().join(" ")
    }

    #[test]
    fn cores_memory_and_accelerator_are_as_stated() {
        let software = line(&Accelerator::Tcg { why: String::new() }, None);
        assert!(software.contains("-accel tcg,thread=multi -cpu max -smp 3 -m 513M "), "{software}");
        assert!(line(&Accelerator::Kvm, None).contains("-accel kvm -cpu host "));
        assert!(software.contains(" panic=-1 highres=off rdinit=/takt -- agent "), "{software}");
    }

    #[test]
    fn the_agent_never_speaks_over_the_path() {
        let line = line(&Accelerator::Tcg { why: String::new() }, Some(("tap0", [2, 0, 0, 0, 0, 10])));
        assert!(line.contains("virtserialport,chardev=agent,name=takt.agent"), "{line}");
        assert!(line.contains("-netdev tap,id=path,ifname=tap0,script=no,downscript=no,vhost=off"), "{line}");
        assert!(line.contains("virtio-net-pci,netdev=path,mac=02:00:00:00:00:0a,"), "{line}");
        assert_eq!(line.matches("-netdev").count(), 1, "no network but the path: {line}");
    }

    #[test]
    fn a_guest_without_a_path_has_no_network() {
        let line = line(&Accelerator::Tcg { why: String::new() }, None);
        assert!(!line.contains("-netdev") && line.contains("-nodefaults"), "{line}");
    }
}
