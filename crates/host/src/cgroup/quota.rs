//! A share of processor time that a process may not exceed: a control group of its own, v1 or v2.
//!
//! For processes that the caller has started and ends; those of others are [borrowed](crate::cgroup::Borrowed).
//!
//! The quota holds for processes. For kernel threads it does not on every kernel: since Linux 6.18 a group is throttled
//! where its threads return to user mode, which a kernel thread never does (measured on 6.18: a threaded NAPI poller with
//! a quota of 10 % took 20 %, counted as throttled 24 times for 0 ns). So work that is to be limited belongs into a
//! process.

use std::time::Duration;

use super::{GroupError, Hierarchy, Version, remove_control_group};
use crate::host::Host;

/// The period over which the share is counted. Short, so that what is limited halts for moments, not for long.
pub const PERIOD: Duration = Duration::from_millis(10);

/// A control group with a quota. Dropping it removes the group, which must be empty then.
#[derive(Debug)]
pub struct CpuQuota {
    name: String,
    hierarchy: Hierarchy,
}

/// How often the limit was felt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Throttled {
    /// Periods in which the group wanted to run.
    pub periods: u64,
    /// Those in which it used up its share.
    pub times: u64,
}

impl Throttled {
    /// From a group's `cpu.stat`.
    pub(crate) fn read(text: &str) -> Throttled {
        let number = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            values.next().unwrap_or(0)
        };
        Throttled { periods: number("nr_periods "), times: number("nr_throttled ") }
    }
}

/// Sets the quota of a group, microseconds a period; `None`: no limit.
pub(crate) fn set(hierarchy: &Hierarchy, group: &str, quota_us: Option<u64>, period_us: u64) -> Result<(), GroupError> {
    let set = |file, value: String| hierarchy.set(group, file, &value);
    match hierarchy.version {
        Version::One => {
            // Lifted first: another period must not meet this one's quota.
            set("cpu.cfs_quota_us", "-1".to_owned())?;
            set("cpu.cfs_period_us", period_us.to_string())?;
            quota_us.map_or(Ok(()), |us| set("cpu.cfs_quota_us", us.to_string()))
        }
        Version::Two => {
            let quota = quota_us.map_or("max".to_owned(), |us| us.to_string());
            set("cpu.max", format!("{quota} {period_us}"))
        }
    }
}

impl CpuQuota {
    /// Makes the group `name` (`takt-…`, registered by the caller as a leftover before) at the top of the hierarchy.
    /// `share`: of one processor; 0.25 is a quarter, 2.0 two processors.
    ///
    /// # Errors
    /// No cpu controller, no permission, or the share is refused.
    pub fn create(name: &str, share: f64) -> Result<CpuQuota, GroupError> {
        CpuQuota::over(name, share, PERIOD)
    }

    /// The same, counted over another period: 1 ms to 1 s.
    pub fn over(name: &str, share: f64, period: Duration) -> Result<CpuQuota, GroupError> {
        let quota = CpuQuota { name: name.to_owned(), hierarchy: Hierarchy::with(&Host::this(), "cpu")? };
        quota.hierarchy.make(&quota.group())?;
        let period_us = u64::try_from(period.as_micros()).unwrap_or(u64::MAX);
        set(&quota.hierarchy, &quota.group(), Some(quota_us(share, period_us)), period_us)?;
        Ok(quota)
    }

    /// Puts a process, with all its threads, into it.
    pub fn add(&self, pid: u32) -> Result<(), GroupError> {
        self.hierarchy.put(&self.group(), pid)
    }

    /// No limit from now on: what is in it can end as fast as anything else.
    ///
    /// # Errors
    /// The group is gone, or no longer ours.
    pub fn lift(&self) -> Result<(), GroupError> {
        set(&self.hierarchy, &self.group(), None, PERIOD.as_micros() as u64)
    }

    #[must_use]
    pub fn throttled(&self) -> Throttled {
        Throttled::read(&self.hierarchy.get(&self.group(), "cpu.stat"))
    }

    #[must_use]
    pub fn version(&self) -> &'static str {
        self.hierarchy.version.name()
    }

    fn group(&self) -> String {
        format!("/{}", self.name)
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // A group that can't be removed now (something in it lives) is found by `clean`.
        let _ = remove_control_group(&self.name);
    }
}

/// CPUs' worth of time as microseconds a period; the kernel's least is 1 ms.
pub(crate) fn quota_us(cpus: f64, period_us: u64) -> u64 {
    ((cpus * period_us as f64).round() as u64).max(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Killed;

    #[test]
    fn a_process_in_it_feels_the_limit_and_the_group_goes_with_the_value() {
        let name = format!("takt-{}-quota", std::process::id());
        let quota = match CpuQuota::create(&name, 0.2) {
            Ok(quota) => quota,
            Err(error) => {
                assert!(
                    matches!(
                        error,
                        GroupError::NoController { .. } | GroupError::NotPermitted(_) | GroupError::ReadOnly(_)
                    ),
                    "{error}"
                );
                return takt_testing::skip(error);
            }
        };
        let folder = std::path::PathBuf::from(quota.hierarchy.file(&quota.group(), ""));
        let spins = Killed::start("while :; do :; done");
        quota.add(spins.0.id()).unwrap();
        takt_testing::wait_for("the limit to be felt three times", || (quota.throttled().times >= 3).then_some(()));
        quota.lift().unwrap();
        let lifted =
            quota.hierarchy.get(&quota.group(), if quota.version() == "v1" { "cpu.cfs_quota_us" } else { "cpu.max" });
        assert!(lifted.starts_with("-1") || lifted.starts_with("max"), "{lifted}");
        drop(spins);
        drop(quota);
        assert!(!folder.exists());
    }
}
