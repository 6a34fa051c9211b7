//! CPUs for processes under `SCHED_DEADLINE` alone.
//!
//! The kernel admits a DEADLINE thread only if it may run on every CPU of its scheduling domain. To keep it off the
//! radio's core, the host side's CPUs become a domain of their own (an exclusive cpuset, sched-deadline.rst, section 5.1)
//! for the time of a round, with the processes of the host side and what disturbs them in it.

use std::thread;

use takt_agent::Failure;
use takt_host::cgroup::{CpuSet, GroupError};
use takt_host::leftovers::Run;
use takt_host::policy::{Policy, PolicyError, set_policy};
use takt_testbed::environment::{EnvironmentKind, InForce};

use crate::experiment::settings::PointPlace;

/// A domain of the host side's CPUs, with these processes in it. Dropping it gives the CPUs back.
///
/// # Errors
/// It can't be had here; the round is left out, with the reason.
pub(super) fn cpus(place: &PointPlace, site: &InForce, pids: &[u32], run: &Run) -> Result<CpuSet, Failure> {
    if let Some(error) = refused_by_kernel() {
        return Err(Failure::of(&error, error.fix()));
    }
    if place.environment.kind != EnvironmentKind::Native {
        return Err(refused(&format!("its processes are in a {}", site.environment), None));
    }
    if site.placement.shared() {
        return Err(refused("there is no second core for the radio", Some("two cores".into())));
    }
    let unable = |error: &GroupError| refused(&error.to_string(), error.fix());
    let set = CpuSet::create(run, "deadline", &site.placement.host, true).map_err(|error| unable(&error))?;
    // With version 2 a process is in one group, of its CPUs or of its quota.
    if set.version() == "v2" && place.disturbance.cap_share.is_some() {
        let why = "control groups of version 2 hold the cap in another group";
        return Err(refused(why, Some("cap = \"none\"".into())));
    }
    pids.iter().try_for_each(|&pid| set.add(pid)).map_err(|error| unable(&error))?;
    Ok(set)
}

/// Why the kernel gives the policy to no thread, if so: then no CPU is reserved in vain.
fn refused_by_kernel() -> Option<PolicyError> {
    const LITTLE: Policy = Policy::Deadline { runtime_ns: 100_000, deadline_ns: 10_000_000, period_ns: 10_000_000 };
    let answer = thread::spawn(|| set_policy(0, LITTLE)).join();
    answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).err().filter(PolicyError::is_lasting)
}

fn refused(why: &str, fix: Option<String>) -> Failure {
    let what = format!("CPUs for SCHED_DEADLINE alone, away from the radio's, can't be had: {why}");
    Failure { chain: vec![what], fix, lasting: true }
}
