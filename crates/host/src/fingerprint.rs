//! Which machine a figure was measured on.

use serde::{Deserialize, Serialize};

use crate::distribution::pretty_name;
use crate::firmware;
pub use crate::firmware::Virtualisation;
use crate::host::Host;
use crate::proc::status;
use crate::topology::Topology;

/// Facts that set one host apart from another as far as timing goes. Every record carries one. A fact that a host does
/// not show is `None`, never a guess.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    pub hostname: Option<String>,
    pub distribution: Option<String>,
    /// Kernel release, `uname -r`.
    pub kernel: Option<String>,
    /// Kernel build, `uname -v`: says whether and how it can be pre-empted.
    pub kernel_build: Option<String>,
    /// The kernel's command line: mitigations, isolated cores, tick.
    pub kernel_cmdline: Option<String>,
    pub cpu_model: Option<String>,
    pub cpus: usize,
    pub cores: usize,
    /// CPUs kept free by `isolcpus=`.
    pub isolated_cpus: Vec<usize>,
    /// Frequency governor, if all CPUs have the same.
    pub governor: Option<String>,
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    pub clock_source: Option<String>,
    /// Largest receive buffer a program may ask for, bytes (`net.core.rmem_max`).
    pub rmem_max_bytes: Option<i64>,
    /// Largest send buffer a program may ask for, bytes (`net.core.wmem_max`).
    pub wmem_max_bytes: Option<i64>,
    /// CPU time real-time threads may use in each period, microseconds; -1: all of it (`kernel.sched_rt_runtime_us`).
    pub rt_runtime_us: Option<i64>,
    /// Control groups: `v1`, `v2` or `hybrid`.
    pub cgroups: Option<String>,
    /// Changes with each start of the machine.
    pub boot_id: Option<String>,
    pub virtualisation: Virtualisation,
    /// Wrapper of this process, `docker` for one.
    pub container: Option<String>,
}

impl Virtualisation {
    /// Recognises it from the processor's signature, from what the firmware says, or from the flag by which a processor admits to
    /// be virtual.
    #[must_use]
    pub fn of(host: &Host) -> Virtualisation {
        match host.hypervisor() {
            Some(signature) if signature.starts_with("KVMKVMKVM") || signature.starts_with("Linux KVM") => {
                Virtualisation::Kvm
            }
            Some("TCGTCGTCGTCG") => Virtualisation::Tcg,
            Some("XenVMMXenVMM") => Virtualisation::Xen,
            Some("Microsoft Hv") => Virtualisation::HyperV,
            Some("VMwareVMware") => Virtualisation::Vmware,
            Some("VBoxVBoxVBox") => Virtualisation::VirtualBox,
            Some(_) => Virtualisation::Other,
            None => firmware::hypervisor(host)
                .unwrap_or_else(|| if flagged(host) { Virtualisation::Other } else { Virtualisation::None }),
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Virtualisation::None => "none",
            Virtualisation::Kvm => "KVM",
            Virtualisation::Tcg => "QEMU without acceleration (TCG)",
            Virtualisation::Xen => "Xen",
            Virtualisation::HyperV => "Hyper-V",
            Virtualisation::Vmware => "VMware",
            Virtualisation::VirtualBox => "VirtualBox",
            Virtualisation::Other => "an unnamed hypervisor",
        }
    }
}

impl Fingerprint {
    #[must_use]
    pub fn read() -> Fingerprint {
        Fingerprint::of(&Host::this())
    }

    #[must_use]
    pub fn of(host: &Host) -> Fingerprint {
        let topology = Topology::read(host).unwrap_or(Topology { cpus: Vec::new() });
        let all: Vec<usize> = topology.cpus.iter().map(|cpu| cpu.id).collect();
        let meminfo = host.read("/proc/meminfo").unwrap_or_default();
        let bytes = |field| status::number(&meminfo, field).and_then(|kib| kib.checked_mul(1024));
        Fingerprint {
            hostname: host.read_opt("/proc/sys/kernel/hostname"),
            distribution: pretty_name(host),
            kernel: host.read_opt("/proc/sys/kernel/osrelease"),
            kernel_build: host.read_opt("/proc/sys/kernel/version"),
            kernel_cmdline: host.read_opt("/proc/cmdline"),
            cpu_model: cpu_model(host, std::env::consts::ARCH),
            cpus: all.len(),
            cores: topology.cores(&all).len(),
            isolated_cpus: topology.cpus.iter().filter(|cpu| cpu.isolated).map(|cpu| cpu.id).collect(),
            governor: common_governor(host, &all),
            memory_bytes: bytes("MemTotal"),
            swap_bytes: bytes("SwapTotal"),
            clock_source: host.read_opt(CLOCK_SOURCE),
            rmem_max_bytes: host.read_number("/proc/sys/net/core/rmem_max").ok(),
            wmem_max_bytes: host.read_number("/proc/sys/net/core/wmem_max").ok(),
            rt_runtime_us: host.read_number("/proc/sys/kernel/sched_rt_runtime_us").ok(),
            cgroups: crate::cgroup::version(host).map(str::to_owned),
            boot_id: host.read_opt("/proc/sys/kernel/random/boot_id"),
            virtualisation: Virtualisation::of(host),
            container: container(host),
        }
    }
}

pub const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// A field of `/proc/cpuinfo`, first CPU.
fn cpuinfo(host: &Host, name: &str) -> Option<String> {
    let text = host.read("/proc/cpuinfo").ok()?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    });
    value.filter(|value| !value.is_empty())
}

/// The maker's name for the processor. A program of another instruction set is translated, and its processor is what
/// the translator makes of this one: `aarch64 on AMD EPYC`.
fn cpu_model(host: &Host, instruction_set: &str) -> Option<String> {
    // x86; then what some ARM and RISC-V kernels print.
    let model = ["model name", "Model", "uarch", "Processor"].iter().find_map(|name| cpuinfo(host, name));
    // No other kernel calls them flags.
    let of_x86 = cpuinfo(host, "flags").is_some();
    match model {
        Some(model) if of_x86 && !instruction_set.starts_with("x86") => Some(format!("{instruction_set} on {model}")),
        Some(model) => Some(model),
        // Other ARM kernels print numbers only.
        None => Some(format!("ARM {} {}", cpuinfo(host, "CPU implementer")?, cpuinfo(host, "CPU part")?)),
    }
}

fn flagged(host: &Host) -> bool {
    cpuinfo(host, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
}

fn common_governor(host: &Host, cpus: &[usize]) -> Option<String> {
    let governor = |cpu| host.read_opt(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"));
    let first = governor(cpus.first()?)?;
    cpus.iter().all(|cpu| governor(cpu).as_ref() == Some(&first)).then_some(first)
}

/// The marks that container engines leave.
#[must_use]
pub fn container(host: &Host) -> Option<String> {
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let marked = marks.into_iter().find(|(file, _)| host.path(file).exists()).map(|(_, engine)| engine.to_owned());
    marked.or_else(|| host.read_opt("/run/systemd/container").filter(|name| !name.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn hypervisors_are_recognised_by_their_signature_firmware_or_the_processors_flag() {
        let empty = Tree::new();
        assert_eq!(Virtualisation::of(&empty.host()), Virtualisation::None);
        assert_eq!(Virtualisation::of(&empty.host().under_hypervisor("KVMKVMKVM")), Virtualisation::Kvm);
        assert_eq!(Virtualisation::of(&empty.host().under_hypervisor("TCGTCGTCGTCG")), Virtualisation::Tcg);
        let arm = Tree::new().with("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
        assert_eq!(Virtualisation::of(&arm.host()), Virtualisation::Kvm);
        let flagged = Tree::new().with("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse\n");
        assert_eq!(Virtualisation::of(&flagged.host()), Virtualisation::Other);
    }

    #[test]
    fn what_a_host_does_not_show_is_absent_and_the_rest_survives_json() {
        let tree = Tree::new()
            .with("/proc/sys/kernel/osrelease", "6.18.44\n")
            .with("/proc/meminfo", "MemTotal:       24683660 kB\nSwapTotal:             0 kB\n")
            .with("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\n")
            .with("/sys/devices/system/cpu/online", "0-3\n")
            .with("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
        let print = Fingerprint::of(&tree.host());
        assert_eq!((print.cpus, print.cores), (4, 4));
        assert_eq!(print.memory_bytes, Some(24_683_660 * 1024));
        assert_eq!(print.swap_bytes, Some(0));
        assert_eq!(print.cpu_model.as_deref(), Some("AMD EPYC"));
        assert_eq!(print.distribution.as_deref(), Some("Debian 12"));
        assert_eq!((print.governor.as_ref(), print.clock_source.as_ref()), (None, None));
        let json = serde_json::to_string(&print).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), print);
    }

    #[test]
    fn a_translated_processor_is_not_the_one_that_translates() {
        let x86 = Tree::new().with("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse\n");
        assert_eq!(cpu_model(&x86.host(), "x86_64").as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu_model(&x86.host(), "aarch64").as_deref(), Some("aarch64 on AMD EPYC"));
        let board =
            Tree::new().with("/proc/cpuinfo", "Features\t: fp asimd\nCPU part\t: 0xd08\nModel\t\t: Raspberry Pi 4\n");
        assert_eq!(cpu_model(&board.host(), "aarch64").as_deref(), Some("Raspberry Pi 4"));
        let server = Tree::new().with("/proc/cpuinfo", "Features\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
        assert_eq!(cpu_model(&server.host(), "aarch64").as_deref(), Some("ARM 0x41 0xd0c"));
        assert_eq!(cpu_model(&Tree::new().host(), "aarch64"), None);
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_processor() {
        let print = Fingerprint::read();
        assert!(print.cpus > 0 && print.kernel.is_some() && print.memory_bytes.is_some());
    }
}
