//! Permissions of this process beyond an ordinary user: capabilities(7).

pub use rustix::thread::CapabilitySet;
use rustix::thread::CapabilitySets;

use crate::host::Host;
use crate::proc::status;

/// Those in effect for the calling thread; none if the kernel does not say.
#[must_use]
pub fn own() -> CapabilitySet {
    rustix::thread::capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective)
}

/// Takes some away from the calling thread for good, and from each thread that it starts from then on.
///
/// # Errors
/// The kernel refuses.
pub fn without(some: CapabilitySet) -> std::io::Result<()> {
    let sets = rustix::thread::capabilities(None)?;
    let left = CapabilitySets {
        effective: sets.effective.difference(some),
        permitted: sets.permitted.difference(some),
        inheritable: sets.inheritable.difference(some),
    };
    Ok(rustix::thread::set_capabilities(None, left)?)
}

/// Those in effect for the process that reads `host`; `None` if not visible. In a user namespace of its own a process may
/// have all and still be refused what concerns the whole machine: see [`in_user_namespace`].
#[must_use]
pub fn of(host: &Host) -> Option<CapabilitySet> {
    // The thread's own file: capabilities belong to threads, and one may have dropped some.
    let text = host.read("/proc/thread-self/status").or_else(|_| host.read("/proc/self/status")).ok()?;
    status::mask(&text, "CapEff").map(CapabilitySet::from_bits_retain)
}

/// Their names in manuals, such as `CAP_SYS_NICE`.
#[must_use]
pub fn names(capabilities: CapabilitySet) -> Vec<String> {
    capabilities.iter_names().map(|(name, _)| format!("CAP_{name}")).collect()
}

/// True if capabilities hold only inside a user namespace (a rootless container), where the scheduler and most sysctls
/// refuse regardless of them. `None` if not visible.
#[must_use]
pub fn in_user_namespace(host: &Host) -> Option<bool> {
    // The first namespace has a fixed number. Another one's map may be as that of the first.
    if let Ok(name) = std::fs::read_link(host.path("/proc/self/ns/user")) {
        return Some(name.as_os_str() != FIRST_USER_NAMESPACE);
    }
    let map = host.read_opt("/proc/self/uid_map")?;
    let words: Vec<&str> = map.split_whitespace().collect();
    Some(words != ["0", "0", "4294967295"])
}

/// `PROC_USER_INIT_INO` (linux/proc_ns.h).
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn a_user_namespace_is_one_though_it_maps_every_user_to_itself() {
        let tree = Tree::new().with("/proc/self/uid_map", "         0          0 4294967295\n");
        assert_eq!(in_user_namespace(&tree.host()), Some(false));
        let ns = tree.host().path("/proc/self/ns/user");
        std::fs::create_dir_all(ns.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("user:[4026532300]", &ns).unwrap();
        assert_eq!(in_user_namespace(&tree.host()), Some(true));
        std::fs::remove_file(&ns).unwrap();
        std::os::unix::fs::symlink(FIRST_USER_NAMESPACE, &ns).unwrap();
        assert_eq!(in_user_namespace(&tree.host()), Some(false));
    }

    #[test]
    fn bits_are_the_kernels() {
        // capability.h: CAP_SYS_NICE 23, CAP_IPC_LOCK 14.
        let tree = Tree::new().with("/proc/self/status", &format!("CapEff:\t{:016x}\n", 1 << 23 | 1 << 14));
        let some = of(&tree.host()).unwrap();
        assert_eq!(some, CapabilitySet::SYS_NICE | CapabilitySet::IPC_LOCK);
        assert_eq!(names(some), ["CAP_IPC_LOCK", "CAP_SYS_NICE"]);
    }

    #[test]
    fn what_proc_says_is_what_the_system_call_says() {
        assert_eq!(of(&Host::this()), Some(own()));
    }
}
