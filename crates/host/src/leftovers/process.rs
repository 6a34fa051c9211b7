//! Finding processes of dead runs, and ending them.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::LeftoversError;
use super::record::MARK;
use crate::accounting::read_stat;
use crate::host::Host;

/// How long a killed process may take to go. One that sits in the kernel (a dead disk) takes longer; it is reported.
const PATIENCE: Duration = Duration::from_secs(5);

/// Processes whose environment carries the mark of one of `ids`, with the time each began. Only those of our own user are visible, unless we are
/// root. This process itself is never among them.
pub(super) fn marked(ids: &[&str]) -> Vec<(u32, u64)> {
    let host = Host::this();
    let own = std::process::id();
    if ids.is_empty() {
        return Vec::new();
    }
    let numbers = host.list("/proc").into_iter().filter_map(|name| name.parse().ok());
    numbers
        .filter(|&pid| pid != own && ids.iter().any(|id| carries(&host, pid, id)))
        .filter_map(|pid| Some((pid, started(&host, pid)?)))
        .collect()
}

fn carries(host: &Host, pid: u32, id: &str) -> bool {
    let wanted = format!("{MARK}={id}");
    host.read(&format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.split('\0').any(|entry| entry == wanted))
}

/// Kills a process if it is still the one meant; true if it was there. The descriptor pins the process, so that what
/// was looked at is what is killed.
pub(super) fn end(pid: u32, still_meant: impl Fn(&Host, u32) -> bool) -> Result<bool, LeftoversError> {
    let failed = |errno: rustix::io::Errno| LeftoversError::Process { pid, source: errno.into() };
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let process = match pidfd_open(raw, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        Err(errno) => return Err(failed(errno)),
    };
    if !still_meant(&Host::this(), pid) {
        return Ok(false);
    }
    match pidfd_send_signal(&process, Signal::KILL) {
        Ok(()) => {}
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        Err(errno) => return Err(failed(errno)),
    }
    let timeout = Timespec::try_from(PATIENCE).ok();
    let mut end = [PollFd::new(&process, PollFlags::IN)];
    let gone = retry_on_intr(|| poll(&mut end, timeout.as_ref())).map_err(failed)?;
    if gone == 0 {
        return Err(LeftoversError::Process { pid, source: io::ErrorKind::TimedOut.into() });
    }
    Ok(true)
}

/// Kills a process that carries the mark of one of `ids`.
pub(super) fn end_marked(pid: u32, ids: &[&str]) -> Result<bool, LeftoversError> {
    end(pid, |host, pid| ids.iter().any(|id| carries(host, pid, id)))
}

/// Kills a process that began at `start_ticks`.
pub(super) fn end_started(pid: u32, start_ticks: u64) -> Result<bool, LeftoversError> {
    end(pid, |host, pid| started(host, pid) == Some(start_ticks))
}

/// Whether a process of that number exists, whoever it is.
pub(super) fn exists(pid: u32) -> bool {
    started(&Host::this(), pid).is_some()
}

fn started(host: &Host, pid: u32) -> Option<u64> {
    read_stat(host, &format!("/proc/{pid}/stat")).ok().flatten().map(|stat| stat.start_ticks)
}
