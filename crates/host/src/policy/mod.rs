//! Scheduling policies, and why the kernel refuses one.
//!
//! `EPERM` has half a dozen causes: no capability, a limit of zero, a cgroup without real-time budget, a container's user
//! namespace, a system-call filter, a pinned thread asking for DEADLINE. [`set_policy`] finds out which it was, and the
//! error's [`fix`](PolicyError::fix) says what to do.

mod spec;

use std::io;

use crate::call::WITH_SUDO;
use crate::capability::{self, CapabilitySet, in_user_namespace};
use crate::cgroup;
use crate::host::{FifoAttempt, Host};
use crate::proc::limits::{self, Limit};
use crate::proc::{cpu_list, status};
pub use crate::scheduling::{Policy, PolicyError};
use crate::sys::sched::{self, SchedAttr};

pub use spec::{PolicySpec, PolicySpecError};

impl PolicyError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            PolicyError::NotPermitted { policy: Policy::Other { .. }, .. } => format!("{WITH_SUDO}\nraise RLIMIT_NICE"),
            PolicyError::NotPermitted { policy: Policy::Deadline { .. }, .. } => {
                format!("{WITH_SUDO}   (no limit grants DEADLINE to other users)")
            }
            PolicyError::NotPermitted { .. } => format!(
                "{WITH_SUDO}\necho \"$USER - rtprio 95\" | sudo tee /etc/security/limits.d/95-takt.conf   (for good, once \
                 logged in again)"
            ),
            PolicyError::UserNamespace { .. } => {
                "run takt outside the rootless container, or in one started by root".into()
            }
            PolicyError::CgroupBudget { cgroup, .. } => format!(
                "echo 200000 | sudo tee {cgroup}/cpu.rt_runtime_us (its parents need at least as much); for a container \
                 set OCI resources.cpu.realtimeRuntime (docker run --cpu-rt-runtime)"
            ),
            PolicyError::GroupSchedV2 { .. } => {
                "start the machine with rt_group_sched=0 (Linux 6.16 on), or run in the root cgroup".into()
            }
            PolicyError::Filtered { .. } => "allow sched_setattr in the container's seccomp profile".into(),
            PolicyError::Pinned { .. } => "do not pin it; use an exclusive cpuset of the wanted CPUs instead".into(),
            PolicyError::Period { min_us, max_us, .. } => format!("choose a period of {min_us} to {max_us} µs"),
            PolicyError::NoPolicies { .. } => {
                "run takt outside the sandbox that replaces the kernel, such as gVisor".into()
            }
            PolicyError::NoDeadline { .. } => "use FIFO or RR, or Linux 3.14 or newer".into(),
            PolicyError::OutOfRange { policy: Policy::Deadline { .. } } => {
                "ask for less runtime than the period, or for a longer period".into()
            }
            PolicyError::Admission { .. } => "ask for less runtime, or end other DEADLINE threads".into(),
            _ => return None,
        })
    }

    /// Whether this host refuses it for good: a second request gets the same answer.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        match self {
            PolicyError::NotPermitted { .. }
            | PolicyError::UserNamespace { .. }
            | PolicyError::CgroupBudget { .. }
            | PolicyError::GroupSchedV2 { .. }
            | PolicyError::Filtered { .. }
            | PolicyError::Period { .. }
            | PolicyError::NoDeadline { .. }
            | PolicyError::NoPolicies { .. } => true,
            PolicyError::Pinned { .. }
            | PolicyError::Admission { .. }
            | PolicyError::OutOfRange { .. }
            | PolicyError::NoSuchThread { .. }
            | PolicyError::Io { .. } => false,
        }
    }
}

/// Gives thread `tid` (0: the calling one) a policy. Threads it starts later inherit it.
///
/// ```
/// use takt_host::policy::{Policy, policy, set_policy};
/// match set_policy(0, Policy::Fifo { priority: 50 }) {
///     Ok(()) => assert_eq!(policy(0)?, Policy::Fifo { priority: 50 }),
///     Err(refused) => println!("{refused}; fix: {}", refused.fix().unwrap_or_default()),
/// }
/// # Ok::<(), takt_host::policy::PolicyError>(())
/// ```
pub fn set_policy(tid: u32, policy: Policy) -> Result<(), PolicyError> {
    let attr = attributes(policy).ok_or(PolicyError::OutOfRange { policy })?;
    let thread = i32::try_from(tid).map_err(|_| PolicyError::NoSuchThread { tid })?;
    sched::set(thread, &attr).map_err(|source| match source.raw_os_error() {
        Some(libc::EPERM) => why_refused(&Host::this(), tid, policy, source),
        Some(libc::ESRCH) => PolicyError::NoSuchThread { tid },
        Some(libc::EBUSY) => {
            let share_percent = attr.runtime_ns.saturating_mul(100).checked_div(attr.period_ns).unwrap_or(0);
            PolicyError::Admission { share_percent }
        }
        Some(libc::EINVAL) => why_invalid(&Host::this(), policy, source),
        Some(libc::ENOSYS) => PolicyError::NoPolicies { policy, kernel: release(&Host::this()) },
        _ => PolicyError::Io { policy, source },
    })
}

/// The policy of thread `tid` (0: the calling one).
pub fn policy(tid: u32) -> Result<Policy, PolicyError> {
    let thread = i32::try_from(tid).map_err(|_| PolicyError::NoSuchThread { tid })?;
    let attr = sched::get(thread).map_err(|_| PolicyError::NoSuchThread { tid })?;
    let priority = u8::try_from(attr.priority).unwrap_or(u8::MAX);
    Ok(match attr.policy {
        SCHED_OTHER => Policy::Other { nice: attr.nice },
        SCHED_FIFO => Policy::Fifo { priority },
        SCHED_RR => Policy::RoundRobin { priority },
        SCHED_DEADLINE => {
            Policy::Deadline { runtime_ns: attr.runtime_ns, deadline_ns: attr.deadline_ns, period_ns: attr.period_ns }
        }
        number => Policy::Another { number },
    })
}

/// Asks for FIFO on a thread that ends at once: whether it may be had, not to have it.
fn attempt_fifo(priority: u8) -> Result<(), PolicyError> {
    let policy = Policy::Fifo { priority };
    let attempt = std::thread::Builder::new().name("takt-rt-attempt".to_owned()).spawn(move || set_policy(0, policy));
    let thread = attempt.map_err(|source| PolicyError::Io { policy, source })?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Host {
    /// Whether the scheduler grants `SCHED_FIFO` of the least priority, found out by asking on a thread of its own; `None`
    /// if a recorded host does not say.
    pub fn attempt_fifo(&self) -> Option<Result<(), PolicyError>> {
        self.attempt_fifo_of(1)
    }

    /// As [`attempt_fifo`](Host::attempt_fifo), of this priority: a limit may grant a low one and refuse a high one.
    pub fn attempt_fifo_of(&self, priority: u8) -> Option<Result<(), PolicyError>> {
        let attempt = self.fifo_answer().or(self.is_this().then_some(attempt_fifo as FifoAttempt));
        attempt.map(|attempt| attempt(priority))
    }
}

/// The kernel's form of a policy; `None` if a value is out of range.
fn attributes(policy: Policy) -> Option<SchedAttr> {
    let none = SchedAttr::default();
    let real_time = |policy, priority: u8| {
        (1..=99).contains(&priority).then(|| SchedAttr { policy, priority: priority.into(), ..none })
    };
    match policy {
        Policy::Other { nice } => (-20..=19).contains(&nice).then_some(SchedAttr { policy: SCHED_OTHER, nice, ..none }),
        Policy::Fifo { priority } => real_time(SCHED_FIFO, priority),
        Policy::RoundRobin { priority } => real_time(SCHED_RR, priority),
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            let in_order = 1024 <= runtime_ns && runtime_ns <= deadline_ns && deadline_ns <= period_ns;
            in_order.then_some(SchedAttr { policy: SCHED_DEADLINE, runtime_ns, deadline_ns, period_ns, ..none })
        }
        Policy::Another { .. } => None,
    }
}

/// Finds the cause of an `EINVAL` for values that are in range by themselves.
fn why_invalid(host: &Host, policy: Policy, source: io::Error) -> PolicyError {
    let Policy::Deadline { period_ns, .. } = policy else { return PolicyError::Io { policy, source } };
    let bound =
        |file: &str| host.read_number(&format!("/proc/sys/kernel/{file}")).ok().and_then(|us| us.try_into().ok());
    let bounds = bound("sched_deadline_period_min_us").zip(bound("sched_deadline_period_max_us"));
    let period_us = period_ns / 1000;
    match bounds {
        Some((min_us, max_us)) if !(min_us..=max_us).contains(&period_us) => {
            PolicyError::Period { period_us, min_us, max_us }
        }
        // With nothing left to be wrong it is the policy that the kernel does not know. Kernels before 5.6 have DEADLINE
        // without these files, and take any period.
        _ => PolicyError::NoDeadline { kernel: release(host) },
    }
}

fn release(host: &Host) -> String {
    host.read_opt("/proc/sys/kernel/osrelease").map_or_else(|| "of no name".to_owned(), |name| format!("Linux {name}"))
}

/// Finds the cause of an `EPERM`, most frequent first.
fn why_refused(host: &Host, tid: u32, policy: Policy, source: io::Error) -> PolicyError {
    let rtprio_limit = match host.read("/proc/self/limits").ok().and_then(|t| limits::soft(&t, "Max realtime priority"))
    {
        Some(Limit::At(limit)) => limit,
        Some(Limit::Unlimited) => 99,
        None => 0,
    };
    let by_limit = matches!(policy, Policy::Fifo { priority } | Policy::RoundRobin { priority }
        if u64::from(priority) <= rtprio_limit);
    let by_capability = capability::of(host).is_some_and(|own| own.contains(CapabilitySet::SYS_NICE));
    if !by_limit && !by_capability {
        return PolicyError::NotPermitted { policy, rtprio_limit };
    }
    // The kernel asks for privileges before it looks at CPUs.
    if !by_limit && in_user_namespace(host) == Some(true) {
        return PolicyError::UserNamespace { policy };
    }
    if let Policy::Deadline { .. } = policy
        && let Ok(cpus) = crate::affinity::cpus(tid)
        && host
            .read_opt("/sys/devices/system/cpu/online")
            .and_then(|t| cpu_list::parse(&t))
            .is_some_and(|all| all != cpus)
    {
        return PolicyError::Pinned { cpus };
    }
    match cgroup::real_time_obstacle(host) {
        Some(cgroup::Obstacle::ZeroBudget { cgroup }) => return PolicyError::CgroupBudget { policy, cgroup },
        Some(cgroup::Obstacle::NotRootV2 { cgroup }) => return PolicyError::GroupSchedV2 { policy, cgroup },
        None => {}
    }
    let filtered = host.read("/proc/self/status").ok().and_then(|t| status::number(&t, "Seccomp")) == Some(2);
    if filtered { PolicyError::Filtered { policy } } else { PolicyError::Io { policy, source } }
}

const SCHED_OTHER: u32 = libc::SCHED_OTHER as u32;
const SCHED_FIFO: u32 = libc::SCHED_FIFO as u32;
const SCHED_RR: u32 = libc::SCHED_RR as u32;
const SCHED_DEADLINE: u32 = libc::SCHED_DEADLINE as u32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    const DEADLINE: Policy = Policy::Deadline { runtime_ns: 20_000, deadline_ns: 50_000, period_ns: 50_000 };

    fn invalid(tree: &Tree, policy: Policy) -> PolicyError {
        why_invalid(&tree.host(), policy, io::Error::from_raw_os_error(libc::EINVAL))
    }

    #[test]
    fn a_kernel_without_deadline_is_told_from_one_that_refuses_the_period() {
        let without = invalid(&Tree::new().with("/proc/sys/kernel/osrelease", "3.10.0\n"), DEADLINE);
        assert_eq!(without.to_string(), "this kernel (Linux 3.10.0) has no SCHED_DEADLINE");
        assert!(without.fix().unwrap().contains("FIFO"));
        let with = Tree::new()
            .with("/proc/sys/kernel/sched_deadline_period_min_us", "100\n")
            .with("/proc/sys/kernel/sched_deadline_period_max_us", "4194304\n");
        let refused = invalid(&with, DEADLINE);
        assert_eq!(refused.to_string(), "DEADLINE takes periods of 100 to 4194304 µs on this kernel, not 50 µs");
        let other = with.with("/proc/sys/kernel/sched_deadline_period_min_us", "10\n");
        assert!(matches!(invalid(&other, DEADLINE), PolicyError::NoDeadline { .. }), "nothing else is wrong with it");
        assert!(matches!(invalid(&Tree::new(), Policy::Fifo { priority: 1 }), PolicyError::Io { .. }));
    }

    #[test]
    fn each_policy_names_the_limit_that_would_grant_it() {
        let refusal = |policy| {
            let refused = PolicyError::NotPermitted { policy, rtprio_limit: 0 };
            (refused.to_string(), refused.fix().unwrap())
        };
        let (why, fix) = refusal(DEADLINE);
        assert!(!why.contains("RLIMIT") && !fix.contains("rtprio"), "{why}; {fix}");
        let (why, fix) = refusal(Policy::Other { nice: -5 });
        assert!(why.contains("RLIMIT_NICE") && fix.contains("RLIMIT_NICE") && !why.contains("RTPRIO"), "{why}; {fix}");
        let (why, fix) = refusal(Policy::Fifo { priority: 50 });
        assert!(why.contains("RLIMIT_RTPRIO") && fix.contains("rtprio 95"), "{why}; {fix}");
    }

    #[test]
    fn a_refusal_without_capability_or_limit_says_so_first() {
        let tree = Tree::new()
            .with("/proc/self/status", "CapEff:\t0000000000000000\n")
            .with("/proc/self/limits", "Max realtime priority     0                    0                    \n");
        let why = why_refused(&tree.host(), 0, Policy::Fifo { priority: 5 }, io::Error::from_raw_os_error(libc::EPERM));
        assert!(matches!(why, PolicyError::NotPermitted { rtprio_limit: 0, .. }), "{why}");
    }

    #[test]
    fn a_cgroup_without_real_time_budget_is_named_with_its_fix() {
        let tree = Tree::new()
            .with("/proc/self/status", "CapEff:\t000001ffffffffff\n")
            .with("/proc/self/uid_map", "0 0 4294967295\n")
            .with("/proc/self/cgroup", "1:cpu:/a\n")
            .with("/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n")
            .with("/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", "0\n");
        let why = why_refused(&tree.host(), 0, Policy::Fifo { priority: 5 }, io::Error::from_raw_os_error(libc::EPERM));
        assert!(matches!(&why, PolicyError::CgroupBudget { cgroup, .. } if cgroup == "/sys/fs/cgroup/cpu/a"), "{why}");
        assert!(why.fix().unwrap().contains("cpu.rt_runtime_us"));
    }
}
