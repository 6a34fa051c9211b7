//! A share of processor time that a process may not exceed: a control group of its own, v1 or v2.
//!
//! The quota holds for processes. For kernel threads it does not on every kernel: since Linux 6.18 a group is throttled
//! where its threads return to user mode, which a kernel thread never does (measured on 6.18: a threaded NAPI poller with
//! a quota of 10 % took 20 %, counted as throttled 24 times for 0 ns). So work that is to be limited belongs into a
//! process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cgroup;
use crate::host::Host;
use crate::leftovers::remove_control_group;

/// The period over which the share is counted. Short, so that what is limited halts for moments, not for long.
const PERIOD: Duration = Duration::from_millis(10);
/// The root's file of controllers that its children have (v2).
const HANDED_DOWN: &str = "cgroup.subtree_control";

/// A control group with a quota. Dropping it removes the group, which must be empty then.
#[derive(Debug)]
pub struct CpuQuota {
    name: String,
    folder: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Why there is no quota.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// No hierarchy with the cpu controller can be seen.
    #[error("a CPU limit needs a control group with the cpu controller, and none is mounted")]
    NoController,
    /// The hierarchy is there, but not for this process.
    #[error("a CPU limit needs write access to {}, which this process lacks", .0.display())]
    NotPermitted(PathBuf),
    /// Anything else.
    #[error("control group {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
}

/// How often the limit was felt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Throttled {
    /// Periods in which the group wanted to run.
    pub periods: u64,
    /// Those in which it used up its share.
    pub times: u64,
}

impl CpuQuota {
    /// Makes the group `name` (`takt-…`, registered by the caller as a leftover before) at the top of the hierarchy.
    /// `share`: of one processor; 0.25 is a quarter, 2.0 two processors.
    ///
    /// # Errors
    /// No cpu controller, no permission, or the share is refused.
    pub fn create(name: &str, share: f64) -> Result<CpuQuota, QuotaError> {
        CpuQuota::over(name, share, PERIOD)
    }

    /// The same, counted over another period: 1 ms to 1 s.
    ///
    /// # Errors
    /// As [`CpuQuota::create`].
    pub fn over(name: &str, share: f64, period: Duration) -> Result<CpuQuota, QuotaError> {
        let (mount, version) = mount().ok_or(QuotaError::NoController)?;
        let folder = mount.join(name);
        // v2: children of the root have the controller only if the root hands it down. It is not taken back later: by
        // then others may count on it, and it would take their limits away.
        if version == Version::Two && !controls(&folder) {
            write(&mount.join(HANDED_DOWN), "+cpu")?;
        }
        let quota = CpuQuota { name: name.to_owned(), folder, version };
        fs::create_dir(&quota.folder).map_err(|source| failed(&quota.folder, source))?;
        let period_us = period.as_micros();
        let quota_us = (share * period_us as f64).round().max(1000.0) as u64;
        match version {
            Version::One => {
                write(&quota.folder.join("cpu.cfs_period_us"), &period_us.to_string())?;
                write(&quota.folder.join("cpu.cfs_quota_us"), &quota_us.to_string())?;
            }
            Version::Two => write(&quota.folder.join("cpu.max"), &format!("{quota_us} {period_us}"))?,
        }
        Ok(quota)
    }

    /// Puts a process, with all its threads, into it.
    ///
    /// # Errors
    /// There is no such process.
    pub fn add(&self, pid: u32) -> Result<(), QuotaError> {
        write(&self.folder.join("cgroup.procs"), &pid.to_string())
    }

    /// How often it was felt so far.
    #[must_use]
    pub fn throttled(&self) -> Throttled {
        let text = fs::read_to_string(self.folder.join("cpu.stat")).unwrap_or_default();
        let number = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            values.next().unwrap_or(0)
        };
        Throttled { periods: number("nr_periods "), times: number("nr_throttled ") }
    }

    /// Which kind of control groups holds it: `v1` or `v2`.
    #[must_use]
    pub fn version(&self) -> &'static str {
        match self.version {
            Version::One => "v1",
            Version::Two => "v2",
        }
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // What can't be removed now (something in it lives) is found by `clean`.
        let _ = remove_control_group(&self.name);
    }
}

fn mount() -> Option<(PathBuf, Version)> {
    let (v1, v2) = cgroup::cpu_mounts(&Host::this());
    v1.map(|mount| (mount, Version::One)).or_else(|| v2.map(|mount| (mount, Version::Two)))
}

/// Whether groups beside this one have the cpu controller.
fn controls(group: &Path) -> bool {
    let file = group.with_file_name(HANDED_DOWN);
    fs::read_to_string(file).is_ok_and(|on| on.split_whitespace().any(|controller| controller == "cpu"))
}

fn write(path: &Path, text: &str) -> Result<(), QuotaError> {
    fs::write(path, text).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> QuotaError {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => QuotaError::NotPermitted(path.into()),
        _ => QuotaError::Io { path: path.into(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_in_it_feels_the_limit_and_the_group_goes_with_the_value() {
        let name = format!("takt-{}-quota", std::process::id());
        let quota = match CpuQuota::create(&name, 0.2) {
            Ok(quota) => quota,
            Err(error) => {
                assert!(matches!(error, QuotaError::NoController | QuotaError::NotPermitted(_)), "{error}");
                return;
            }
        };
        let folder = quota.folder.clone();
        let mut spins = Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        quota.add(spins.id()).unwrap();
        while quota.throttled().times < 3 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        spins.kill().unwrap();
        spins.wait().unwrap();
        drop(quota);
        assert!(!folder.exists());
    }
}
