//! Finding processes of dead runs, and ending them.
//!
//! The mark of a run is in the environment of what it starts, and environments are inherited: also by what a foreign
//! program leaves running for others, as Podman does with the process that keeps all of a user's containers together.
//! So the mark alone is not enough. A run records each program that it starts before it first starts it: takt itself for
//! agents, QEMU, a container runtime. A process that carries the mark *and* executes such a program is takt's own;
//! anything else that carries it is listed and left alone. A program is known by its file and not by its path, since an
//! agent in a container has another path to the same file. A container runtime executes a copy of itself in memory, to
//! keep containers from its file; a copy in memory is no program that anybody has installed, so with the mark it is the
//! run's, too.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::accounting::read_stat;
use crate::ending::give_way;
use crate::host::Host;
use crate::leftovers::{LeftoversError, MARK, Program, executable};

/// How long a killed process may take to go. One that sits in the kernel (a dead disk) takes longer; it is reported.
const PATIENCE: Duration = Duration::from_secs(5);

/// Marks of a dead run's processes.
#[derive(Clone, Debug)]
pub(super) struct DeadRun {
    pub(super) id: String,
    pub(super) programs: Vec<Program>,
}

/// Processes that carry the mark of a dead run. Only those of our own user are visible, unless we are root. This process
/// itself is never among them.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// Its own, with the time each began.
    pub(super) own: Vec<(u32, u64)>,
    /// Processes of another program, which is named.
    pub(super) foreign: Vec<(u32, PathBuf)>,
    /// A process is just becoming one of their programs, and shows no environment yet. On a busy machine that takes as long as
    /// it is kept from a processor.
    pub(super) becoming: bool,
}

pub(super) fn marked(runs: &[DeadRun]) -> Marked {
    let (host, mut found) = (Host::this(), Marked::default());
    if runs.is_empty() {
        return found;
    }
    let this = std::process::id();
    let numbers = host.list("/proc").into_iter().filter_map(|name| name.parse().ok()).filter(|&pid| pid != this);
    for pid in numbers {
        if !runs.iter().any(|run| carries(&host, pid, &run.id)) {
            found.becoming |= is_becoming(&host, pid, runs);
        } else if is_own(&host, pid, runs) {
            found.own.extend(started(&host, pid).map(|ticks| (pid, ticks)));
        } else if let Ok(path) = fs::read_link(executable(pid)) {
            found.foreign.push((pid, path));
        }
    }
    found
}

fn is_own(host: &Host, pid: u32, runs: &[DeadRun]) -> bool {
    let Some(program) = Program::of(pid) else { return false };
    runs.iter().any(|run| carries(host, pid, &run.id) && (run.programs.contains(&program) || is_in_memory(pid)))
}

fn is_in_memory(pid: u32) -> bool {
    fs::read_link(executable(pid)).is_ok_and(|path| path.starts_with("/memfd:"))
}

/// In the middle of execve(2) the program is there and the environment is not.
fn is_becoming(host: &Host, pid: u32, runs: &[DeadRun]) -> bool {
    let is_bare = host.read(&format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.is_empty());
    let is_one = |program: Program| is_in_memory(pid) || runs.iter().any(|run| run.programs.contains(&program));
    is_bare && Program::of(pid).is_some_and(is_one)
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
    let gone_or_failed = |errno| if errno == rustix::io::Errno::SRCH { Ok(false) } else { Err(failed(errno)) };
    let process = match pidfd_open(raw, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(errno) => return gone_or_failed(errno),
    };
    if !still_meant(&Host::this(), pid) {
        return Ok(false);
    }
    give_way(pid);
    if let Err(errno) = pidfd_send_signal(&process, Signal::KILL) {
        return gone_or_failed(errno);
    }
    let timeout = Timespec::try_from(PATIENCE).ok();
    let mut end = [PollFd::new(&process, PollFlags::IN)];
    let gone = retry_on_intr(|| poll(&mut end, timeout.as_ref())).map_err(failed)?;
    if gone == 0 {
        return Err(LeftoversError::Process { pid, source: io::ErrorKind::TimedOut.into() });
    }
    Ok(true)
}

pub(super) fn end_own(pid: u32, runs: &[DeadRun]) -> Result<bool, LeftoversError> {
    end(pid, |host, pid| is_own(host, pid, runs))
}

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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Looks from outside like execve(2) before it is over: a program without an environment.
    fn bare(program: &str) -> Child {
        let path = [Path::new("/bin"), Path::new("/usr/bin")].into_iter().map(|folder| folder.join(program));
        let path = path.into_iter().find(|path| path.exists()).expect("every machine has it");
        let mut command = Command::new(path);
        command.arg("600").env_clear().stdin(Stdio::piped()).spawn().expect("a program")
    }

    #[test]
    fn a_process_that_shows_no_environment_yet_may_be_a_dead_runs_if_the_program_is() {
        let mut sleeps = bare("sleep");
        let program = Program::of(sleeps.id()).expect("ours");
        let run = |programs| [DeadRun { id: "1-2".into(), programs }];
        let found = marked(&run(vec![program]));
        assert!(found.becoming && found.own.is_empty(), "it is waited for, and not ended");
        assert!(!is_becoming(&Host::this(), sleeps.id(), &run(Vec::new())), "another program is nobody's");
        sleeps.kill().and_then(|()| sleeps.wait()).expect("ours");
        assert!(!is_becoming(&Host::this(), sleeps.id(), &run(vec![program])));
    }
}
