//! Removing one thing of a dead run, or of one's own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::process;
use crate::cgroup::{self, control_groups, remove_control_group, with_inner};
use crate::dirs;
use crate::host::Host;
use crate::leftovers::{Leftover, LeftoversError, own};
use crate::namespace;
use crate::patience::removed_in_time;
use crate::steering::Card;

/// `false` if there is no such thing. A record is only text: what it names must be takt's own by its name as well.
pub(super) fn remove(leftover: &Leftover) -> Result<bool, LeftoversError> {
    match leftover {
        Leftover::NetworkNamespace { name } => {
            own(name)?;
            Ok(namespace::remove_named(name)?)
        }
        Leftover::Scratch { name } => remove_scratch(name),
        Leftover::ControlGroup { name } => {
            own(name)?;
            end_members(name);
            // A process that was just being started may have come in since.
            remove_control_group(name).or_else(|_| {
                end_members(name);
                remove_control_group(name)
            })
        }
        Leftover::Borrowed { name, room, controller, from } => {
            own(name)?;
            let group = room.map_or(format!("/{name}"), |room| format!("/{name}/{room}"));
            Ok(cgroup::give_back(&Host::this(), controller, &group, from).map_err(held)?)
        }
        Leftover::LoadBalancer => Ok(cgroup::balance_again(&Host::this()).map_err(held)?),
        // Found by itself, never by a record: `clean` has removed it by then.
        Leftover::Socket { .. } => Ok(false),
        Leftover::Process { pid, start_ticks } => process::end_started(*pid, *start_ticks),
        Leftover::Steering { interface, namespace, change } => {
            let failed = |source| LeftoversError::Steering { interface: interface.clone(), source };
            change.give_back(&Card { interface: interface.clone(), namespace: *namespace }).map_err(failed)
        }
    }
}

fn held(error: cgroup::GroupError) -> LeftoversError {
    LeftoversError::Group(Box::new(error))
}

/// Removes the folder `name` of [`dirs::scratch_dir`] with all that is in it; `false` if there is none. Everything
/// mounted below it is unmounted first, so that nothing outside the folder is touched.
///
/// # Errors
/// The name is not takt's own, or a file can't be removed.
pub fn remove_scratch(name: &str) -> Result<bool, LeftoversError> {
    own(name)?;
    let Some(scratch) = dirs::find_scratch()? else { return Ok(false) };
    let path = scratch.path().join(name);
    let failed = |source| LeftoversError::Remove { what: "folder", path: path.clone(), source };
    if scratch.folder(name)?.is_none() {
        return Ok(false);
    }
    let mounts = Host::this().read("/proc/self/mountinfo").unwrap_or_default();
    // As the kernel lists them.
    let here = fs::read_link(scratch.by_descriptor()).map_err(failed)?.join(name);
    for mount in mounts_below(&mounts, &here) {
        match rustix::mount::unmount(&mount, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            // Not mounted any more.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
    }
    // A process that is about to end may still be writing there.
    let reached = scratch.by_descriptor().join(name);
    removed_in_time(io::ErrorKind::DirectoryNotEmpty, || fs::remove_dir_all(&reached)).map_err(failed)
}

/// Kills what is in a dead run's group: a container runtime that was killed itself may have left a process there that
/// carries no mark yet.
fn end_members(name: &str) {
    for folder in control_groups().into_iter().flat_map(|top| with_inner(top.join(name))) {
        let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|pid| pid.parse().ok()) {
            // A process that can't be killed keeps the group from being removed, which is reported.
            let still_there = |_: &Host, pid: u32| is_member(&folder, pid);
            let _ = process::end(pid, still_there);
        }
    }
}

fn is_member(folder: &Path, pid: u32) -> bool {
    let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    members.lines().any(|line| line.parse() == Ok(pid))
}

/// Mount points below a folder, the innermost first.
fn mounts_below(mountinfo: &str, folder: &Path) -> Vec<PathBuf> {
    let points = mountinfo.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    let mut points: Vec<PathBuf> = points.filter(|point| point.starts_with(folder)).collect();
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_name_is_refused_before_anything_is_looked_at() {
        for name in ["", "docker", "takt-", "takt-1/../../etc", "../takt-1-a"] {
            assert!(matches!(remove_scratch(name), Err(LeftoversError::Name { .. })), "{name}");
            assert!(matches!(remove_control_group(name), Err(LeftoversError::Name { .. })), "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_no_error() {
        assert!(!remove_scratch("takt-0-none").unwrap());
        assert!(!remove_control_group("takt-0-none").unwrap());
    }

    #[test]
    fn mounts_go_from_the_inside_and_neighbours_stay() {
        let table = "1 0 0:1 / /run rw - tmpfs t rw\n2 1 0:1 / /run/takt/scratch/takt-1-a/root rw - tmpfs t rw\n\
                     3 2 0:1 / /run/takt/scratch/takt-1-a/root/usr rw - tmpfs t rw\n\
                     4 1 0:1 / /run/takt/scratch/takt-1-ab rw - tmpfs t rw\nrubbish\n";
        let below = mounts_below(table, Path::new("/run/takt/scratch/takt-1-a"));
        let expected = ["/run/takt/scratch/takt-1-a/root/usr", "/run/takt/scratch/takt-1-a/root"];
        assert_eq!(below, expected.map(PathBuf::from));
    }
}
