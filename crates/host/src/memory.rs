//! Keeping this process' memory in memory.

use std::io;

use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::call::WITH_SUDO;
use crate::capability::{self, CapabilitySet};
use crate::host::Host;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A finite limit, and no capability to pass it. Locking up to the limit would make later allocations fail, so
    /// nothing was locked.
    #[error("locking memory needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK; the limit is {limit_bytes} bytes")]
    Limit { limit_bytes: u64 },
    #[error("takt can't lock the memory of this process")]
    Io(#[source] io::Error),
}

impl MemoryError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        matches!(self, MemoryError::Limit { .. }).then(|| {
            format!(
                "{WITH_SUDO}\necho \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/95-takt-memlock.conf   \
                 (for good, once logged in again; a service: LimitMEMLOCK=infinity)"
            )
        })
    }
}

/// Locks all pages of this process, present and future, so that none waits for a disk. Call it before threads are
/// started: their stacks are then touched when they begin, not in the first slot. Reversed by [`unlock_all`] and by the
/// end of the process.
///
/// # Errors
/// [`MemoryError::Limit`] if the limit is finite and `CAP_IPC_LOCK` is missing, or holds inside a user namespace only;
/// nothing is locked then.
pub fn lock_all() -> Result<(), MemoryError> {
    let limit = getrlimit(Resource::Memlock).current;
    if let Some(limit_bytes) = limit.filter(|_| !passes_limit(&Host::this(), capability::own())) {
        return Err(MemoryError::Limit { limit_bytes });
    }
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|errno| MemoryError::Io(errno.into()))
}

/// The memory that this process may have of its own, bytes: heap, stacks and private mappings. `None`: no limit.
#[must_use]
pub fn own_limit() -> Option<u64> {
    getrlimit(Resource::Data).current
}

/// Lets this process have no more memory of its own than that: the kernel gives no more.
///
/// # Errors
/// The kernel refuses: the hard limit is lower already.
pub fn limit_own(bytes: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    Ok(setrlimit(Resource::Data, limit)?)
}

/// Unlocks what [`lock_all`] locked.
pub fn unlock_all() -> Result<(), MemoryError> {
    rustix::mm::munlockall().map_err(|errno| MemoryError::Io(errno.into()))
}

/// Whether a process with these capabilities may lock more than its limit. The kernel wants `CAP_IPC_LOCK` of the whole
/// machine: that of a user namespace counts for nothing.
#[must_use]
pub fn passes_limit(host: &Host, capabilities: CapabilitySet) -> bool {
    capabilities.contains(CapabilitySet::IPC_LOCK) && capability::in_user_namespace(host) != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn the_capability_passes_the_limit_unless_it_is_that_of_a_user_namespace() {
        let of = |map: &str| Tree::new().with("/proc/self/uid_map", map);
        let first = of("         0          0 4294967295\n");
        assert!(passes_limit(&first.host(), CapabilitySet::IPC_LOCK));
        assert!(!passes_limit(&first.host(), CapabilitySet::SYS_NICE));
        assert!(!passes_limit(&of("         0       1000          1\n").host(), CapabilitySet::IPC_LOCK));
        assert!(passes_limit(&Tree::new().host(), CapabilitySet::IPC_LOCK), "not visible: it is believed");
    }
}
