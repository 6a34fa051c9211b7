//! Why a control group could not be made, changed or filled.

use std::io;
use std::path::PathBuf;

use crate::call::WITH_SUDO;
use crate::leftovers::LeftoversError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    #[error("this needs control groups with the {controller} controller; mounted here: {}", mounted.unwrap_or("none"))]
    NoController {
        controller: &'static str,
        /// `v1`, `v2` or `hybrid`.
        mounted: Option<&'static str>,
    },
    #[error("the kernel can't hand the {controller} controller down to control groups (cgroup.subtree_control)")]
    NotHandedDown {
        controller: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("control groups are read-only here, as in most containers: {}", .0.display())]
    ReadOnly(PathBuf),
    #[error("control groups belong to root here, or were not handed to this user: {}", .0.display())]
    NotPermitted(PathBuf),
    #[error("process {pid} does not exist")]
    NoSuchProcess { pid: u32 },
    #[error("process {pid} is in control group {group}, outside of what this container may change")]
    OutOfReach {
        pid: u32,
        /// Its group as seen from here.
        group: String,
    },
    #[error("process {pid} has real-time threads, and a new control group of version 1 has no time for them")]
    RealTime { pid: u32 },
    #[error("CPUs {cpus} are not all online and free for a control group of their own")]
    NoSuchCpus { cpus: String },
    #[error("a control group can't use CPUs {cpus} exclusively: {why}")]
    NotExclusive {
        cpus: String,
        /// The kernel's words, or ours.
        why: String,
    },
    #[error("{what} of {got} is out of range; expected: {expected}")]
    OutOfRange { what: &'static str, got: f64, expected: &'static str },
    /// It could not be recorded, so it was not done.
    #[error(transparent)]
    Leftovers(#[from] Box<LeftoversError>),
    #[error("takt can't read or change control group {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl GroupError {
    pub(super) fn of(path: PathBuf, source: io::Error) -> GroupError {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => GroupError::ReadOnly(path),
            io::ErrorKind::PermissionDenied => GroupError::NotPermitted(path),
            _ => GroupError::Io { path, source },
        }
    }

    /// Whether this machine or this process lacks what it takes; anything else is a fault or a clash.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        use GroupError::{NoController, NotHandedDown, NotPermitted, ReadOnly};
        matches!(self, NoController { .. } | NotHandedDown { .. } | NotPermitted(_) | ReadOnly(_))
    }

    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            GroupError::NoController { mounted: None, .. } => "sudo mount -t cgroup2 none /sys/fs/cgroup".into(),
            GroupError::NoController { controller, .. } => {
                format!("use a kernel that has it, started without cgroup_disable={controller}")
            }
            GroupError::NotHandedDown { .. } => {
                "end the real-time threads outside the root group first, or start with rt_group_sched=0".into()
            }
            GroupError::ReadOnly(_) => "run it on the host itself, outside the container".into(),
            GroupError::NotPermitted(_) => WITH_SUDO.into(),
            GroupError::OutOfReach { .. } => "run it on the host itself".into(),
            GroupError::RealTime { pid } => format!(
                "sudo chrt --all-tasks --other --pid 0 {pid}; a limit on CPU time does not hold for real-time threads anyway"
            ),
            GroupError::NotExclusive { .. } => "choose CPUs that no other cpuset holds, and leave one".into(),
            _ => return None,
        })
    }
}
