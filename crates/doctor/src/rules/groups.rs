//! The control groups this process is in, for the rules about them.

use takt_host::Host;
use takt_host::ReadError;
use takt_host::cgroup::{membership, mount_point};

/// The process's group and those above it, as folders, for one controller: of version 1 where it is mounted there, else of
/// version 2. Empty: this controller is in no hierarchy.
pub(super) fn own(host: &Host, controller: &str) -> Result<Vec<String>, ReadError> {
    let (memberships, mounts) = (host.read("/proc/self/cgroup")?, host.read("/proc/self/mountinfo")?);
    let is = |list: &str| list.split(',').any(|one| one == controller);
    let v1 = mount_point(&mounts, |kind, options| kind == "cgroup" && is(options)).zip(membership(&memberships, is));
    let v2 = || mount_point(&mounts, |kind, _| kind == "cgroup2").zip(membership(&memberships, str::is_empty));
    let Some((mount, path)) = v1.or_else(v2) else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    let mut group = path.trim_end_matches('/');
    loop {
        folders.push(format!("{mount}{group}"));
        match group.rfind('/') {
            Some(at) => group = &group[..at],
            None => return Ok(folders),
        }
    }
}

/// What tests of these rules build on: a process in `/a/b` of version 1's `controller`, or of version 2.
#[cfg(test)]
pub(super) mod testing {
    pub(in crate::rules) fn v1(controller: &str) -> [(&'static str, String); 2] {
        [
            ("/proc/self/cgroup", format!("4:{controller}:/a/b\n0::/\n")),
            ("/proc/self/mountinfo", format!("30 25 0:26 / /sys/fs/cgroup/x rw - cgroup cgroup rw,{controller}\n")),
        ]
    }

    pub(in crate::rules) fn v2() -> [(&'static str, String); 2] {
        [
            ("/proc/self/cgroup", "0::/a/b\n".to_owned()),
            ("/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".to_owned()),
        ]
    }

    /// What a rule says of those files and these.
    pub(in crate::rules) fn said(
        rule: &crate::Rule,
        groups: &[(&'static str, String)],
        more: &[(&str, &str)],
    ) -> (&'static str, String) {
        let mut files: Vec<(&str, &str)> = groups.iter().map(|(path, text)| (*path, text.as_str())).collect();
        files.extend(more);
        super::super::look::testing::said(rule, &files)
    }
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::host_of;
    use super::*;

    #[test]
    fn the_way_up_ends_at_the_mount_point() {
        let files = testing::v1("cpu");
        let (_tree, host) = host_of(&[(files[0].0, &files[0].1), (files[1].0, &files[1].1)]);
        let x = "/sys/fs/cgroup/x";
        assert_eq!(own(&host, "cpu").unwrap(), [format!("{x}/a/b"), format!("{x}/a"), x.to_owned()]);
        assert!(own(&host, "memory").unwrap().is_empty());
        assert!(own(&takt_host::testing::Tree::new().host(), "cpu").is_err());
    }
}
