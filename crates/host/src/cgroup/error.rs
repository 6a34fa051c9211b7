//! Why a control group could not be made, changed or filled.

use std::io;
use std::path::PathBuf;

use crate::call::WITH_SUDO;
use crate::leftovers::LeftoversError;

/// Why a control group could not be made, changed or filled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// No tree has the controller.
    #[error("this needs control groups with the {controller} controller; mounted here: {}", mounted.unwrap_or("none"))]
    NoController {
        /// The controller: `cpu`, `cpuset`.
        controller: &'static str,
        /// `v1`, `v2` or `hybrid`.
        mounted: Option<&'static str>,
    },
    /// The root of version 2 has the controller and does not give it to groups below.
    #[error("the {controller} controller can't be handed down to control groups (cgroup.subtree_control)")]
    NotHandedDown {
        /// The controller.
        controller: &'static str,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// The tree can't be written by anybody.
    #[error("control groups are read-only here, as in most containers: {}", .0.display())]
    ReadOnly(PathBuf),
    /// The tree can be written by others.
    #[error("control groups belong to root here, or were not handed to this user: {}", .0.display())]
    NotPermitted(PathBuf),
    /// It has ended.
    #[error("process {pid} does not exist")]
    NoSuchProcess {
        /// The process.
        pid: u32,
    },
    /// A process outside this container.
    #[error("process {pid} is in control group {group}, outside of what this container may change")]
    OutOfReach {
        /// The process.
        pid: u32,
        /// Its group as seen from here.
        group: String,
    },
    /// A real-time thread for a group without real-time time.
    #[error("process {pid} has real-time threads, and a new control group of version 1 has no time for them")]
    RealTime {
        /// The process.
        pid: u32,
    },
    /// CPUs that are not there, or not in the group above.
    #[error("CPUs {cpus} are not all online and free for a control group of their own")]
    NoSuchCpus {
        /// The list asked for.
        cpus: String,
    },
    /// CPUs that another group has, or all there are.
    #[error("CPUs {cpus} can't be had exclusively: {why}")]
    NotExclusive {
        /// The list asked for.
        cpus: String,
        /// The kernel's words, or ours.
        why: String,
    },
    /// A value out of range.
    #[error("{what} of {got} is out of range: {expected}")]
    OutOfRange {
        /// Which value.
        what: &'static str,
        /// The value.
        got: f64,
        /// The range.
        expected: &'static str,
    },
    /// It could not be recorded, so it was not done.
    #[error(transparent)]
    Leftovers(#[from] Box<LeftoversError>),
    /// Anything else.
    #[error("control group {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the kernel answered.
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

    /// What the owner of this host can do about it, as a command where there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            GroupError::NoController { mounted: None, .. } => {
                Some("sudo mount -t cgroup2 none /sys/fs/cgroup".to_owned())
            }
            GroupError::NoController { controller, .. } => {
                Some(format!("a kernel with it, not started with cgroup_disable={controller}"))
            }
            GroupError::NotHandedDown { .. } => Some(
                "end the real-time threads outside the root group first, or start with rt_group_sched=0".to_owned(),
            ),
            GroupError::ReadOnly(_) => Some("run it on the host itself, outside the container".to_owned()),
            GroupError::NotPermitted(_) => Some(WITH_SUDO.to_owned()),
            GroupError::OutOfReach { .. } => Some("run it on the host itself".to_owned()),
            GroupError::RealTime { pid } => Some(format!(
                "sudo chrt --all-tasks --other --pid 0 {pid}; a limit on CPU time does not hold for real-time threads anyway"
            )),
            GroupError::NotExclusive { .. } => Some("choose CPUs that no other cpuset holds, and leave one".to_owned()),
            _ => None,
        }
    }
}
