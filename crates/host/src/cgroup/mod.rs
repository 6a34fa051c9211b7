//! Permissions by control groups: this process' real-time threads, and a group that a container runtime made. Groups of
//! takt's own hold others' processes ([`Borrowed`]) or have CPUs of their own ([`CpuSet`]).

mod borrowed;
mod cpuset;
mod error;
#[cfg(test)]
mod group_tests;
mod hierarchy;
pub mod quota;
mod remove;

use crate::error::ReadError;
use crate::host::Host;

pub(crate) use borrowed::give_back;
pub use borrowed::{Borrowed, Limit};
pub use cpuset::CpuSet;
pub(crate) use cpuset::balance_again;
pub use error::GroupError;
pub(crate) use hierarchy::{Hierarchy, Version};
pub use remove::remove_control_group;
pub(crate) use remove::{control_groups, with_inner};

/// Part of the cgroup tree that keeps FIFO and RR away although the process may have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// v1: a group on the way up has no real-time time.
    ZeroBudget { cgroup: String },
    /// v2: a group that is not the root, with the cpu controller on.
    NotRootV2 { cgroup: String },
}

/// Looks for one; `None` if there is none or the tree is not visible.
pub(crate) fn real_time_obstacle(host: &Host) -> Option<Obstacle> {
    let memberships = host.read("/proc/self/cgroup").ok()?;
    let mounts = host.read("/proc/self/mountinfo").ok()?;
    zero_budget(host, &memberships, &mounts).or_else(|| not_root_v2(host, &memberships, &mounts))
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupLimits {
    /// CPUs' worth of time; `None`: no limit.
    pub cpus: Option<f64>,
    /// Memory, bytes; `None`: no limit.
    pub memory_bytes: Option<u64>,
}

/// The limits in force of the group `name` at the top of each hierarchy, of either version.
#[must_use]
pub fn limits_of(name: &str) -> GroupLimits {
    limits(&Host::this(), name)
}

#[must_use]
pub fn is_hybrid() -> bool {
    version(&Host::this()) == Some("hybrid")
}

fn limits(host: &Host, name: &str) -> GroupLimits {
    let mounts = host.read("/proc/self/mountinfo").unwrap_or_default();
    let folders = |controller| {
        let places = [mount_of_v2(&mounts), mount_of_v1(&mounts, controller)];
        places.into_iter().flatten().map(|mount| format!("{mount}/{name}"))
    };
    GroupLimits {
        cpus: folders("cpu").find_map(|folder| cpu_limit(host, &folder)),
        memory_bytes: folders("memory").find_map(|folder| memory_limit(host, &folder)),
    }
}

/// CPUs' worth of time that the group in a folder may use, if it is limited; either version.
#[must_use]
pub fn cpu_limit(host: &Host, folder: &str) -> Option<f64> {
    let share = |us: &str, period: &str| {
        let (us, period) = (us.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        (us > 0.0 && period > 0.0).then(|| us / period)
    };
    let read = |file: &str| host.read_opt(&format!("{folder}/{file}"));
    match read("cpu.max") {
        Some(max) => max.split_once(' ').and_then(|(us, period)| share(us, period)),
        None => share(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?),
    }
}

/// Memory that the group in a folder may use, bytes, if it is limited; either version. Beyond the lower of version 2's two
/// limits, `memory.high`, pages are taken back while threads wait; beyond `memory.max` a process is killed.
#[must_use]
pub fn memory_limit(host: &Host, folder: &str) -> Option<u64> {
    // `max`, no limit, is no number.
    let read = |file: &str| host.read_opt(&format!("{folder}/{file}"))?.parse::<u64>().ok();
    let limits = ["memory.max", "memory.high", "memory.limit_in_bytes"].into_iter().filter_map(read);
    limits.filter(|&bytes| bytes < V1_UNLIMITED).min()
}

/// Memory that the group in a folder uses and cannot give back at once, bytes; either version. Memory that was read
/// from files and not touched since is taken back first, without harm.
#[must_use]
pub fn memory_used(host: &Host, folder: &str) -> Option<u64> {
    let read = |file: &str| host.read_opt(&format!("{folder}/{file}"))?.parse::<u64>().ok();
    let used = read("memory.current").or_else(|| read("memory.usage_in_bytes"))?;
    let stat = host.read_opt(&format!("{folder}/memory.stat")).unwrap_or_default();
    let counted = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    // Version 1 has both: the total is with the groups below, as its use is.
    let cached = counted("total_inactive_file ").or_else(|| counted("inactive_file "));
    Some(used.saturating_sub(cached.unwrap_or(0)))
}

/// Whether there are groups above the topmost of these [folders](own_folders) that a namespace of control groups hides, as in
/// a container. For version 1 it is not known, and said to be none.
#[must_use]
pub fn are_cut_off(host: &Host, folders: &[String]) -> bool {
    // Every group of version 2 has this file, except the root.
    folders.last().is_some_and(|top| host.path(&format!("{top}/cgroup.events")).exists())
}

/// Version 1 says "no limit" with the largest number of pages there is.
const V1_UNLIMITED: u64 = 1 << 62;

/// Which kinds of control groups are mounted: `v1`, `v2`, or both, `hybrid`.
pub(crate) fn version(host: &Host) -> Option<&'static str> {
    let table = host.read("/proc/self/mountinfo").ok()?;
    let has = |version| mounts(&table).any(|mount| mount.version == version);
    match (has(Version::One), has(Version::Two)) {
        (true, true) => Some("hybrid"),
        (true, false) => Some("v1"),
        (false, true) => Some("v2"),
        (false, false) => None,
    }
}

fn zero_budget(host: &Host, memberships: &str, mounts: &str) -> Option<Obstacle> {
    let path = membership(memberships, |controllers| lists(controllers, "cpu"))?;
    let mut groups = upwards(mount_of_v1(mounts, "cpu")?, path).into_iter();
    let has_none = |folder: &String| host.read_number(&format!("{folder}/cpu.rt_runtime_us")).is_ok_and(|us| us == 0);
    groups.find(has_none).map(|cgroup| Obstacle::ZeroBudget { cgroup })
}

fn not_root_v2(host: &Host, memberships: &str, mounts: &str) -> Option<Obstacle> {
    let path = membership(memberships, str::is_empty).filter(|&path| path != "/")?;
    let mount = mount_of_v2(mounts)?;
    let folder = format!("{mount}{path}");
    // cpu.max exists where the cpu controller is on, and never in the root group.
    host.read_opt(&format!("{folder}/cpu.max")).map(|_| Obstacle::NotRootV2 { cgroup: folder })
}

/// The group of the process that reads `host` and those above it, as folders, for one controller: of version 1 where it is
/// mounted there, else of version 2. Empty: this controller is in no hierarchy.
///
/// # Errors
/// `/proc/self` does not show its groups or its mounts.
pub fn own_folders(host: &Host, controller: &str) -> Result<Vec<String>, ReadError> {
    let (memberships, mounts) = (host.read("/proc/self/cgroup")?, host.read("/proc/self/mountinfo")?);
    let v1 = mount_of_v1(&mounts, controller).zip(membership(&memberships, |list| lists(list, controller)));
    let v2 = || mount_of_v2(&mounts).zip(membership(&memberships, str::is_empty));
    Ok(v1.or_else(v2).map_or_else(Vec::new, |(mount, path)| upwards(mount, path)))
}

/// From a group up to the mount point, which inside a container is the container's own group.
fn upwards(mount: &str, path: &str) -> Vec<String> {
    let groups = std::iter::successors(Some(path.trim_end_matches('/')), |&group| Some(&group[..group.rfind('/')?]));
    groups.map(|group| format!("{mount}{group}")).collect()
}

/// The group of the hierarchy whose controllers satisfy `is`; lines read `ID:CONTROLLERS:PATH`.
pub(crate) fn membership(text: &str, is: impl Fn(&str) -> bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        (is(controllers) && path.starts_with('/')).then_some(path)
    })
}

/// Mount point of a hierarchy of control groups.
pub(crate) struct Mount<'a> {
    pub(crate) point: &'a str,
    version: Version,
    options: &'a str,
}

/// The hierarchies in a mountinfo. Field 5 is the mount point; behind ` - ` stand type, source and options.
pub(crate) fn mounts(mountinfo: &str) -> impl Iterator<Item = Mount<'_>> {
    mountinfo.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let version = match right.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        Some(Mount { point: left.split(' ').nth(4)?, version, options: right.nth(1).unwrap_or("") })
    })
}

/// Mount point of a controller of version 1.
pub(crate) fn mount_of_v1<'a>(mountinfo: &'a str, controller: &str) -> Option<&'a str> {
    mounts(mountinfo).find(|mount| mount.version == Version::One && lists(mount.options, controller)).map(|it| it.point)
}

/// Mount point of version 2.
pub(crate) fn mount_of_v2(mountinfo: &str) -> Option<&str> {
    mounts(mountinfo).find(|mount| mount.version == Version::Two).map(|mount| mount.point)
}

/// Whether a list with commas holds this controller.
pub(crate) fn lists(list: &str, controller: &str) -> bool {
    list.split(',').any(|one| one == controller)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use proptest::prelude::*;

    const V1_MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";

    #[test]
    fn an_obstacle_is_a_zero_on_the_way_up_or_a_group_of_v2_with_the_cpu_controller() {
        let v2 = "31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let zero = Obstacle::ZeroBudget { cgroup: "/sys/fs/cgroup/cpu/a".to_owned() };
        let below = Obstacle::NotRootV2 { cgroup: "/sys/fs/cgroup/user.slice".to_owned() };
        for (case, memberships, mounts, expected) in [
            ("a zero on the way up", "2:cpuacct:/a/b\n1:cpu:/a/b\n0::/\n", V1_MOUNTS, Some(zero)),
            ("a group of v2", "0::/user.slice\n", v2, Some(below)),
            ("the root of v2", "0::/\n", v2, None),
            ("a budget", "1:cpu,cpuacct:/\n", V1_MOUNTS, None),
        ] {
            let tree = Tree::new()
                .with("/proc/self/cgroup", memberships)
                .with("/proc/self/mountinfo", mounts)
                .with("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n")
                .with("/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", "0\n")
                .with("/sys/fs/cgroup/cpu/a/b/cpu.rt_runtime_us", "1000\n")
                .with("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
            assert_eq!(real_time_obstacle(&tree.host()), expected, "{case}");
            assert_eq!(version(&tree.host()), Some(if mounts == v2 { "v2" } else { "v1" }), "{case}");
        }
    }

    #[test]
    fn limits_are_read_in_either_version() {
        let v1 = Tree::new()
            .with(
                "/proc/self/mountinfo",
                &format!("{V1_MOUNTS}31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
            )
            .with("/sys/fs/cgroup/cpu/takt-1/cpu.cfs_quota_us", "150000\n")
            .with("/sys/fs/cgroup/cpu/takt-1/cpu.cfs_period_us", "100000\n")
            .with("/sys/fs/cgroup/memory/takt-1/memory.limit_in_bytes", "268435456\n")
            .with("/sys/fs/cgroup/cpu/takt-2/cpu.cfs_quota_us", "-1\n")
            .with("/sys/fs/cgroup/cpu/takt-2/cpu.cfs_period_us", "100000\n")
            .with("/sys/fs/cgroup/memory/takt-2/memory.limit_in_bytes", "9223372036854771712\n");
        let some = GroupLimits { cpus: Some(1.5), memory_bytes: Some(1 << 28) };
        assert_eq!(limits(&v1.host(), "takt-1"), some);
        assert_eq!(limits(&v1.host(), "takt-2"), GroupLimits::default());
        let v2 = Tree::new()
            .with("/proc/self/mountinfo", "31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .with("/sys/fs/cgroup/takt-1/cpu.max", "150000 100000\n")
            .with("/sys/fs/cgroup/takt-1/memory.max", "268435456\n")
            .with("/sys/fs/cgroup/takt-2/cpu.max", "max 100000\n")
            .with("/sys/fs/cgroup/takt-2/memory.max", "max\n");
        assert_eq!(limits(&v2.host(), "takt-1"), some);
        assert_eq!(limits(&v2.host(), "takt-2"), GroupLimits::default());
    }

    #[test]
    fn of_two_limits_of_memory_the_lower_counts() {
        let limits = |max: &str, high: &str| {
            let tree = Tree::new().with("/g/memory.max", max).with("/g/memory.high", high);
            memory_limit(&tree.host(), "/g")
        };
        assert_eq!(limits("max\n", "max\n"), None);
        assert_eq!(limits("4096\n", "max\n"), Some(4096));
        assert_eq!(limits("8192\n", "4096\n"), Some(4096));
    }

    #[test]
    fn what_is_only_cached_is_not_in_use() {
        let v2 = Tree::new()
            .with("/g/memory.current", "1000\n")
            .with("/g/memory.stat", "active_file 1\ninactive_file 300\n");
        assert_eq!(memory_used(&v2.host(), "/g"), Some(700));
        let v1 = Tree::new()
            .with("/g/memory.usage_in_bytes", "1000\n")
            .with("/g/memory.stat", "inactive_file 1\ntotal_inactive_file 400\n");
        assert_eq!(memory_used(&v1.host(), "/g"), Some(600));
        let unsaid = Tree::new().with("/g/memory.current", "1000\n");
        assert_eq!(memory_used(&unsaid.host(), "/g"), Some(1000));
        assert_eq!(memory_used(&Tree::new().host(), "/g"), None);
    }

    #[test]
    fn a_topmost_group_with_events_is_not_the_root() {
        let tree = Tree::new().with("/g/a/cgroup.events", "populated 1\n");
        let of = |folders: &[&str]| folders.iter().map(|&folder| folder.to_owned()).collect::<Vec<String>>();
        assert!(!are_cut_off(&tree.host(), &of(&["/g/a", "/g"])));
        assert!(!are_cut_off(&tree.host(), &[]));
        tree.put("/g/cgroup.events", "populated 1\n");
        assert!(are_cut_off(&tree.host(), &of(&["/g/a", "/g"])));
    }

    #[test]
    fn the_way_up_ends_at_the_mount_point() {
        let tree = Tree::new()
            .with("/proc/self/cgroup", "4:cpu:/a/b\n0::/\n")
            .with("/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup/x rw - cgroup cgroup rw,cpu\n");
        let x = "/sys/fs/cgroup/x";
        assert_eq!(own_folders(&tree.host(), "cpu").unwrap(), [format!("{x}/a/b"), format!("{x}/a"), x.to_owned()]);
        assert!(own_folders(&tree.host(), "memory").unwrap().is_empty());
        assert!(own_folders(&Tree::new().host(), "cpu").is_err());
    }

    proptest! {
        #[test]
        fn hostile_tables_never_panic(cgroup in "([0-9:a-z,/.]{0,20}\n){0,4}", mounts in "([0-9a-z,/ -]{0,60}\n){0,4}") {
            let tree = Tree::new().with("/proc/self/cgroup", &cgroup).with("/proc/self/mountinfo", &mounts);
            let _ = real_time_obstacle(&tree.host());
        }
    }
}
