//! A tree of control groups that has the controller one needs, of either version.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{GroupError, lists, membership, mount_of_v1, mount_of_v2};
use crate::host::Host;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// A tree for each controller.
    One,
    /// One tree for all.
    Two,
}

impl Version {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Version::One => "v1",
            Version::Two => "v2",
        }
    }
}

/// The tree that has a controller.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    host: Host,
    controller: &'static str,
    mount: String,
    pub(crate) version: Version,
}

impl Hierarchy {
    /// The tree that has `controller`: on hybrid hosts a controller is in the one or in the other.
    pub(crate) fn with(host: &Host, controller: &'static str) -> Result<Hierarchy, GroupError> {
        let mounts = host.read("/proc/self/mountinfo").unwrap_or_default();
        let (v1, v2) = (mount_of_v1(&mounts, controller), mount_of_v2(&mounts));
        let has = |mount: &&str| {
            let controllers = host.read(&format!("{mount}/cgroup.controllers")).unwrap_or_default();
            controllers.split_whitespace().any(|one| one == controller)
        };
        let found = v1.map(|mount| (mount, Version::One)).or_else(|| v2.filter(has).map(|mount| (mount, Version::Two)));
        let (mount, version) = found.ok_or(GroupError::NoController { controller, mounted: super::version(host) })?;
        Ok(Hierarchy { host: host.clone(), controller, mount: mount.to_owned(), version })
    }

    /// A file of a group, as named on the host; the root's group is `/`.
    pub(crate) fn file(&self, group: &str, file: &str) -> String {
        format!("{}{}/{file}", self.mount, group.trim_end_matches('/'))
    }

    /// Makes a group. Under version 2 the groups above hand the controller down first; that is not taken back later: by
    /// then others may count on it.
    pub(crate) fn make(&self, group: &str) -> Result<(), GroupError> {
        let above = group.rsplit_once('/').map_or("", |(above, _)| above);
        let handed_down = || self.get(above, HANDED_DOWN).split_whitespace().any(|one| one == self.controller);
        if self.version == Version::Two && !handed_down() {
            self.set(above, HANDED_DOWN, &format!("+{}", self.controller)).map_err(|error| match error {
                GroupError::Io { source, .. } => GroupError::NotHandedDown { controller: self.controller, source },
                error => error,
            })?;
        }
        self.make_below(group)
    }

    /// Makes a group that needs no controller of its own.
    pub(crate) fn make_below(&self, group: &str) -> Result<(), GroupError> {
        let folder = self.folder(group);
        fs::create_dir(&folder).map_err(|source| GroupError::of(folder, source))
    }

    pub(crate) fn set(&self, group: &str, file: &str, value: &str) -> Result<(), GroupError> {
        let path = self.host.path(&self.file(group, file));
        fs::write(&path, value).map_err(|source| GroupError::of(path, source))
    }

    /// Contents of a file of a group; empty if it can't be read.
    pub(crate) fn get(&self, group: &str, file: &str) -> String {
        self.host.read_opt(&self.file(group, file)).unwrap_or_default()
    }

    pub(crate) fn group_of(&self, pid: u32) -> Result<String, GroupError> {
        let table = self.host.read(&format!("/proc/{pid}/cgroup")).map_err(|_| GroupError::NoSuchProcess { pid })?;
        let of_ours = |controllers: &str| match self.version {
            Version::One => lists(controllers, self.controller),
            Version::Two => controllers.is_empty(),
        };
        let group = membership(&table, of_ours).unwrap_or("/");
        // Outside the part of the tree that this process' container shows.
        match group.starts_with("/..") {
            true => Err(GroupError::OutOfReach { pid, group: group.to_owned() }),
            false => Ok(group.to_owned()),
        }
    }

    pub(crate) fn put(&self, group: &str, pid: u32) -> Result<(), GroupError> {
        self.set(group, MEMBERS, &pid.to_string()).map_err(|error| match error {
            GroupError::Io { source, .. } if source.raw_os_error() == Some(libc::ESRCH) => {
                GroupError::NoSuchProcess { pid }
            }
            // Version 1 with RT_GROUP_SCHED: a fresh group has no real-time budget, so it takes no real-time thread.
            GroupError::Io { source, .. }
                if source.raw_os_error() == Some(libc::EINVAL) && self.controller == "cpu" =>
            {
                GroupError::RealTime { pid }
            }
            error => error,
        })
    }

    pub(crate) fn members(&self, group: &str) -> Vec<u32> {
        self.get(group, MEMBERS).lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Moves all processes of a group to another, or to the nearest above that takes them, and removes the group; what
    /// they start meanwhile as well. False if there is no such group.
    pub(crate) fn dissolve(&self, group: &str, into: &str) -> Result<bool, GroupError> {
        let folder = self.folder(group);
        if !folder.exists() {
            return Ok(false);
        }
        let begun = Instant::now();
        loop {
            for pid in self.members(group) {
                self.give(pid, into)?;
            }
            match fs::remove_dir(&folder) {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(source) => return Err(GroupError::of(folder, source)),
            }
        }
    }

    /// To the group, or to the first above it that is there and takes processes; the root always is and does.
    fn give(&self, pid: u32, into: &str) -> Result<(), GroupError> {
        let mut group = into.trim_end_matches('/');
        loop {
            let gone = !self.folder(group).exists();
            match if gone { Err(GroupError::NoSuchProcess { pid: 0 }) } else { self.put(group, pid) } {
                Err(GroupError::NoSuchProcess { pid: ended }) if ended == pid => return Ok(()),
                Err(error) if group.is_empty() => return Err(error),
                Err(_) => group = group.rsplit_once('/').map_or("", |(above, _)| above),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn folder(&self, group: &str) -> PathBuf {
        self.host.path(&format!("{}{group}", self.mount))
    }
}

const MEMBERS: &str = "cgroup.procs";
const HANDED_DOWN: &str = "cgroup.subtree_control";
/// How long processes that end may still be counted in their group.
const PATIENCE: Duration = Duration::from_secs(2);
