//! What this process is permitted beyond an ordinary user: capabilities(7).

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::proc::status;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Capability {
    /// Network namespaces' interfaces, queueing disciplines, `SO_RCVBUFFORCE`, network sysctls.
    CapNetAdmin,
    CapNetRaw,
    /// Locking memory beyond the limit.
    CapIpcLock,
    /// Reading and steering other users' processes.
    CapSysPtrace,
    /// Namespaces, mounts, most sysctls.
    CapSysAdmin,
    /// Real-time policies, negative nice values, other users' threads.
    CapSysNice,
    CapSysResource,
    CapBpf,
    /// Writing files that belong to others, such as those of `/proc/sys`.
    CapDacOverride,
}

impl Capability {
    /// Its bit in the kernel's masks, and the name manuals use.
    const fn bit_and_name(self) -> (u32, &'static str) {
        match self {
            Capability::CapDacOverride => (1, "CAP_DAC_OVERRIDE"),
            Capability::CapNetAdmin => (12, "CAP_NET_ADMIN"),
            Capability::CapNetRaw => (13, "CAP_NET_RAW"),
            Capability::CapIpcLock => (14, "CAP_IPC_LOCK"),
            Capability::CapSysPtrace => (19, "CAP_SYS_PTRACE"),
            Capability::CapSysAdmin => (21, "CAP_SYS_ADMIN"),
            Capability::CapSysNice => (23, "CAP_SYS_NICE"),
            Capability::CapSysResource => (24, "CAP_SYS_RESOURCE"),
            Capability::CapBpf => (39, "CAP_BPF"),
        }
    }

    /// The name manuals use, `CAP_SYS_NICE` for one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.bit_and_name().1
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Those of this process; none if `/proc` does not say.
    #[must_use]
    pub fn own() -> Capabilities {
        Capabilities::of(&Host::this()).unwrap_or(Capabilities(0))
    }

    /// Those of the process that reads `host`; `None` if not visible.
    #[must_use]
    pub fn of(host: &Host) -> Option<Capabilities> {
        // The thread's own file: capabilities belong to threads, and one may have dropped some.
        let text = host.read("/proc/thread-self/status").or_else(|_| host.read("/proc/self/status")).ok()?;
        status::mask(&text, "CapEff").map(Capabilities)
    }

    /// Whether `capability` is among them. In a user namespace of its own a process may have all and still be refused
    /// what concerns the whole machine: see [`in_user_namespace`].
    #[must_use]
    pub fn has(self, capability: Capability) -> bool {
        self.0 >> capability.bit_and_name().0 & 1 == 1
    }
}

/// True if capabilities hold only inside a user namespace (a rootless container), where the scheduler and most sysctls
/// refuse regardless of them. `None` if not visible.
#[must_use]
pub fn in_user_namespace(host: &Host) -> Option<bool> {
    let map = host.read_opt("/proc/self/uid_map")?;
    let words: Vec<&str> = map.split_whitespace().collect();
    Some(words != ["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_the_kernels() {
        // capability.h: CAP_SYS_NICE 23, CAP_IPC_LOCK 14.
        let some = Capabilities(1 << 23 | 1 << 14);
        assert!(some.has(Capability::CapSysNice) && some.has(Capability::CapIpcLock));
        assert!(!some.has(Capability::CapNetAdmin));
    }

    #[test]
    fn what_proc_says_is_what_the_system_call_says() {
        let sets = rustix::thread::capabilities(None).unwrap();
        for (ours, theirs) in [
            (Capability::CapSysNice, rustix::thread::CapabilitySet::SYS_NICE),
            (Capability::CapNetAdmin, rustix::thread::CapabilitySet::NET_ADMIN),
            (Capability::CapBpf, rustix::thread::CapabilitySet::BPF),
        ] {
            assert_eq!(Capabilities::own().has(ours), sets.effective.contains(theirs), "{ours}");
        }
    }
}
