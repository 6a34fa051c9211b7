//! Keeping this process' memory in memory.

use std::io;

use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, getrlimit};

use crate::call::WITH_SUDO;
use crate::capability::{self, CapabilitySet};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A finite limit, and no capability to pass it. Locking up to the limit would make later allocations fail, so
    /// nothing was locked.
    #[error("locking memory needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK; the limit is {limit_bytes} bytes")]
    Limit { limit_bytes: u64 },
    #[error("locking all memory of this process")]
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
/// [`MemoryError::Limit`] if the limit is finite and `CAP_IPC_LOCK` is missing; nothing is locked then.
pub fn lock_all() -> Result<(), MemoryError> {
    let limit = getrlimit(Resource::Memlock).current;
    if let Some(limit_bytes) = limit.filter(|_| !capability::own().contains(CapabilitySet::IPC_LOCK)) {
        return Err(MemoryError::Limit { limit_bytes });
    }
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|errno| MemoryError::Io(errno.into()))
}

/// Unlocks what [`lock_all`] locked.
pub fn unlock_all() -> Result<(), MemoryError> {
    rustix::mm::munlockall().map_err(|errno| MemoryError::Io(errno.into()))
}
