//! What control groups allow: this process' real-time threads, and a group that a container runtime made; and groups of
//! takt's own that hold others' processes ([`Guests`]) or have CPUs of their own ([`CpuSet`]).

mod cpuset;
mod error;
#[cfg(test)]
mod group_tests;
mod guests;
mod hierarchy;

use crate::host::Host;

pub use cpuset::CpuSet;
pub(crate) use cpuset::balance_again;
pub use error::GroupError;
pub(crate) use guests::give_back;
pub use guests::{Guests, Limit};
pub(crate) use hierarchy::{Hierarchy, Version};

/// What in the cgroup tree keeps FIFO and RR away although the process may have them.
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

/// What a control group may use at most.
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

/// Whether hierarchies of both versions are mounted, which some container runtimes refuse.
#[must_use]
pub fn is_hybrid() -> bool {
    version(&Host::this()) == Some("hybrid")
}

fn limits(host: &Host, name: &str) -> GroupLimits {
    let mounts = host.read("/proc/self/mountinfo").unwrap_or_default();
    let of_v1 = |controller: &'static str| {
        let has = move |kind: &str, options: &str| kind == "cgroup" && options.split(',').any(|o| o == controller);
        mount_point(&mounts, has).map(|mount| format!("{mount}/{name}"))
    };
    let v2 = mount_point(&mounts, |kind, _| kind == "cgroup2").map(|mount| format!("{mount}/{name}"));
    let read = |folder: &Option<String>, file: &str| host.read_opt(&format!("{}/{file}", folder.as_ref()?));
    let quota =
        |us: &str, period: &str| Some(us.parse::<f64>().ok().filter(|&us| us > 0.0)? / period.parse::<f64>().ok()?);
    let cpu_v1 = of_v1("cpu");
    let cpus = read(&v2, "cpu.max")
        .and_then(|max| max.trim().split_once(' ').and_then(|(us, period)| quota(us, period)))
        .or_else(|| quota(read(&cpu_v1, "cpu.cfs_quota_us")?.trim(), read(&cpu_v1, "cpu.cfs_period_us")?.trim()));
    let bytes = |text: Option<String>| text?.trim().parse().ok().filter(|&bytes: &u64| bytes < V1_UNLIMITED);
    let memory_bytes =
        bytes(read(&v2, "memory.max")).or_else(|| bytes(read(&of_v1("memory"), "memory.limit_in_bytes")));
    GroupLimits { cpus, memory_bytes }
}

/// Version 1 says "no limit" with the largest number of pages there is.
const V1_UNLIMITED: u64 = 1 << 62;

/// Which kinds of control groups are mounted: `v1`, `v2`, or both, `hybrid`.
pub(crate) fn version(host: &Host) -> Option<&'static str> {
    let mounts = host.read("/proc/self/mountinfo").ok()?;
    match (mount_point(&mounts, |kind, _| kind == "cgroup"), mount_point(&mounts, |kind, _| kind == "cgroup2")) {
        (Some(_), Some(_)) => Some("hybrid"),
        (Some(_), None) => Some("v1"),
        (None, Some(_)) => Some("v2"),
        (None, None) => None,
    }
}

fn zero_budget(host: &Host, memberships: &str, mounts: &str) -> Option<Obstacle> {
    let path = membership(memberships, |controllers| controllers.split(',').any(|c| c == "cpu"))?;
    let mount = mount_point(mounts, |kind, options| kind == "cgroup" && options.split(',').any(|o| o == "cpu"))?;
    // From the group up to the mount point, which inside a container is the container's own group.
    let mut group = path.trim_end_matches('/');
    loop {
        let folder = format!("{mount}{group}");
        if host.read_number(&format!("{folder}/cpu.rt_runtime_us")).is_ok_and(|budget| budget == 0) {
            return Some(Obstacle::ZeroBudget { cgroup: folder });
        }
        group = &group[..group.rfind('/')?];
    }
}

fn not_root_v2(host: &Host, memberships: &str, mounts: &str) -> Option<Obstacle> {
    let path = membership(memberships, str::is_empty).filter(|&path| path != "/")?;
    let mount = mount_point(mounts, |kind, _| kind == "cgroup2")?;
    let folder = format!("{mount}{path}");
    // cpu.max exists where the cpu controller is on, and never in the root group.
    host.read_opt(&format!("{folder}/cpu.max")).map(|_| Obstacle::NotRootV2 { cgroup: folder })
}

/// The group of the hierarchy whose controllers satisfy `is`; lines read `ID:CONTROLLERS:PATH`.
pub fn membership(text: &str, is: impl Fn(&str) -> bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        (is(controllers) && path.starts_with('/')).then_some(path)
    })
}

/// Where a file system is mounted: field 5 of mountinfo; behind ` - ` stand its type, source and options.
pub fn mount_point(text: &str, is: impl Fn(&str, &str) -> bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (kind, _source, options) = (right.next()?, right.next()?, right.next().unwrap_or(""));
        is(kind, options).then(|| left.split(' ').nth(4)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use proptest::prelude::*;

    const V1_MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";

    #[test]
    fn a_zero_anywhere_on_the_way_up_is_found() {
        let tree = Tree::new()
            .with("/proc/self/cgroup", "2:cpuacct:/a/b\n1:cpu:/a/b\n0::/\n")
            .with("/proc/self/mountinfo", V1_MOUNTS)
            .with("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n")
            .with("/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", "0\n")
            .with("/sys/fs/cgroup/cpu/a/b/cpu.rt_runtime_us", "1000\n");
        let found = real_time_obstacle(&tree.host());
        assert_eq!(found, Some(Obstacle::ZeroBudget { cgroup: "/sys/fs/cgroup/cpu/a".to_owned() }));
    }

    #[test]
    fn a_group_of_v2_with_the_cpu_controller_is_an_obstacle_and_the_root_is_none() {
        let mounts = "31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let tree = Tree::new()
            .with("/proc/self/cgroup", "0::/user.slice\n")
            .with("/proc/self/mountinfo", mounts)
            .with("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
        let cgroup = "/sys/fs/cgroup/user.slice".to_owned();
        assert_eq!(real_time_obstacle(&tree.host()), Some(Obstacle::NotRootV2 { cgroup }));
        let root = tree.with("/proc/self/cgroup", "0::/\n");
        assert_eq!(real_time_obstacle(&root.host()), None);
        assert_eq!(version(&root.host()), Some("v2"));
    }

    #[test]
    fn a_budget_is_no_obstacle() {
        let tree = Tree::new()
            .with("/proc/self/cgroup", "1:cpu,cpuacct:/\n")
            .with("/proc/self/mountinfo", V1_MOUNTS)
            .with("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n");
        assert_eq!(real_time_obstacle(&tree.host()), None);
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

    proptest! {
        #[test]
        fn hostile_tables_never_panic(cgroup in "([0-9:a-z,/.]{0,20}\n){0,4}", mounts in "([0-9a-z,/ -]{0,60}\n){0,4}") {
            let tree = Tree::new().with("/proc/self/cgroup", &cgroup).with("/proc/self/mountinfo", &mounts);
            let _ = real_time_obstacle(&tree.host());
        }
    }
}
