//! Policies of the scheduler, and the kernel's reasons to refuse one.

use std::io;

use serde::{Deserialize, Serialize};

use crate::cpu_list;

/// How the scheduler treats a thread: sched(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// `SCHED_OTHER`, everybody's policy. Nice -20 (most) to 19 (least).
    Other { nice: i32 },
    /// `SCHED_FIFO`: before everything of lower priority, until it sleeps. 1 (least) to 99.
    Fifo { priority: u8 },
    /// `SCHED_RR`: as FIFO, and equals take turns. 1 (least) to 99.
    RoundRobin { priority: u8 },
    /// `SCHED_DEADLINE`: `runtime_ns` of CPU in each `period_ns`, before `deadline_ns` of it have passed. Not for pinned
    /// threads: the kernel admits it only where it may place the thread on any CPU of the root domain.
    Deadline {
        /// CPU time a period, at least 1024 ns.
        runtime_ns: u64,
        /// From the start of a period, runtime to period.
        deadline_ns: u64,
        period_ns: u64,
    },
    /// `SCHED_BATCH` (3), `SCHED_IDLE` (5), or one this program does not know; read, never set.
    Another { number: u32 },
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Policy::Other { nice: 0 } => write!(f, "OTHER"),
            Policy::Other { nice } => write!(f, "OTHER, nice {nice}"),
            Policy::Fifo { priority } => write!(f, "FIFO {priority}"),
            Policy::RoundRobin { priority } => write!(f, "RR {priority}"),
            Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
                write!(f, "DEADLINE {runtime_ns}/{deadline_ns}/{period_ns} ns")
            }
            Policy::Another { number } => write!(f, "policy {number}"),
        }
    }
}

/// Why a policy was not set. The display says what is missing, [`fix`](PolicyError::fix) what mends it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    #[error(
        "{policy} needs CAP_SYS_NICE{}",
        or_limit(*policy, *rtprio_limit)
    )]
    NotPermitted {
        policy: Policy,
        /// The soft limit in force, 0 to 99.
        rtprio_limit: u64,
    },
    /// The capability holds only inside a user namespace, and the scheduler wants it of the whole machine.
    #[error("the kernel refuses {policy} in a user namespace (a rootless container), even to its root")]
    UserNamespace { policy: Policy },
    /// A cgroup (v1) has no real-time time of its own, as every fresh one.
    #[error("the kernel refuses {policy} because cgroup {cgroup} has cpu.rt_runtime_us = 0")]
    CgroupBudget { policy: Policy, cgroup: String },
    /// A cgroup (v2) on a kernel with `CONFIG_RT_GROUP_SCHED`, which gives real-time only to the root group.
    #[error(
        "the kernel refuses {policy} in cgroup {cgroup}: with cgroup v2 this kernel (RT_GROUP_SCHED) allows it only in \
         the root group"
    )]
    GroupSchedV2 { policy: Policy, cgroup: String },
    /// A system-call filter is in force, and nothing else explains the refusal.
    #[error("the system-call filter (seccomp) of this process most likely refuses {policy}")]
    Filtered { policy: Policy },
    #[error(
        "the kernel refuses DEADLINE to a thread tied to CPUs {}; it must be allowed on every CPU of its cpuset",
        cpu_list::format(cpus)
    )]
    Pinned { cpus: Vec<usize> },
    #[error(
        "DEADLINE {share_percent} % of a CPU is more than the kernel can still reserve (sched_rt_runtime_us bounds the sum)"
    )]
    Admission {
        /// Runtime over period of what was requested.
        share_percent: u64,
    },
    #[error("DEADLINE takes periods of {min_us} to {max_us} µs on this kernel, not {period_us} µs")]
    Period { period_us: u64, min_us: u64, max_us: u64 },
    #[error("this kernel ({kernel}) has no SCHED_DEADLINE")]
    NoDeadline { kernel: String },
    #[error("this kernel ({kernel}) can't set {policy}: it has no sched_setattr")]
    NoPolicies { policy: Policy, kernel: String },
    #[error(
        "{policy} is out of range: priorities are 1 to 99, nice -20 to 19, and 1024 ns <= runtime <= deadline <= period"
    )]
    OutOfRange { policy: Policy },
    #[error("thread {tid} does not exist")]
    NoSuchThread { tid: u32 },
    #[error("takt can't set {policy}")]
    Io {
        policy: Policy,
        #[source]
        source: io::Error,
    },
}

/// Alternative to the capability: for DEADLINE nothing, for each of the others a limit of its own.
fn or_limit(policy: Policy, rtprio_limit: u64) -> String {
    match policy {
        Policy::Deadline { .. } | Policy::Another { .. } => ", which this process lacks".to_owned(),
        Policy::Other { .. } => ", or RLIMIT_NICE of its value; this process has neither".to_owned(),
        Policy::Fifo { .. } | Policy::RoundRobin { .. } => {
            format!(", or RLIMIT_RTPRIO of its priority; this process has neither (limit {rtprio_limit})")
        }
    }
}
