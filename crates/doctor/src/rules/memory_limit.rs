//! `memory-limit`: a limit on the memory of this process's control group.

use takt_host::cgroup::{are_cut_off, memory_limit, memory_used, own_folders};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "memory-limit",
    topic: Topic::Groups,
    title: "Memory limit",
    mechanism: "When a group nears its memory limit, the kernel takes pages back while the group's threads wait. When \
                it exceeds the limit, the kernel kills one of its processes.",
    looks_at: "The lower of `memory.max` and `memory.high` (or `memory.limit_in_bytes`) of this process's control \
               group and its parents, and their use without cached pages (`inactive_file`). A problem above \
               80 % in use; any limit is a notice. Not known if groups above are hidden, as in a container, and no \
               visible group has a limit.",
    probe,
    known: "Stalls of milliseconds near the limit. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "raise or remove the limit: systemctl set-property UNIT MemoryMax=; docker run with a larger --memory, or \
         without it",
    ])),
    ..Rule::COMMON
};

/// Use and limit of a group, bytes, if it is limited.
fn limit(host: &Host, folder: &str) -> Option<(u64, u64)> {
    Some((memory_used(host, folder)?, memory_limit(host, folder)?))
}

fn probe(host: &Host) -> Look {
    let folders = own_folders(host, "memory")?;
    if folders.is_empty() {
        return hidden("no memory control group is mounted");
    }
    let limited = folders.iter().filter_map(|folder| Some((folder, limit(host, folder)?)));
    let share = |(used, most): (u64, u64)| used as f64 / most.max(1) as f64;
    let Some((folder, (used, most))) = limited.max_by(|a, b| share(a.1).total_cmp(&share(b.1))) else {
        if are_cut_off(host, &folders) {
            return hidden("no limit in the visible groups; groups above are hidden");
        }
        let shown = folders.len() == 1 || host.list(&folders[0]).iter().any(|name| name.starts_with("memory."));
        return if shown { fine("no limit") } else { hidden(format!("{} does not show its limit", folders[0])) };
    };
    let observed = format!("{} of {} MiB used by {folder}", used >> 20, most >> 20);
    if share((used, most)) > 0.8 { problem(observed, "20 % free") } else { notice(observed, "it is far from full") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_group_is_a_problem_and_a_limited_one_is_noted() {
        let max = "/sys/fs/cgroup/a/b/memory.max";
        let used = ("/sys/fs/cgroup/a/b/memory.current", "94371840\n");
        assert_eq!(verdict_in(&RULE, &v2(), &[(max, "max\n"), used]).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[(max, "943718400\n"), used]).0, "notice");
        let full = verdict_in(&RULE, &v2(), &[(max, "104857600\n"), used]);
        assert_eq!(full, ("problem", "90 of 100 MiB used by /sys/fs/cgroup/a/b".to_owned()));
        let old = [
            ("/sys/fs/cgroup/x/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/x/a/b/memory.usage_in_bytes", "1\n"),
        ];
        assert_eq!(verdict_in(&RULE, &v1("memory"), &old).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[]).0, "hidden");
    }

    #[test]
    fn the_lower_limit_counts_and_a_cache_does_not() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "943718400\n"),
            ("/sys/fs/cgroup/a/b/memory.high", "104857600\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "94371840\n"),
        ];
        let full = ("problem", "90 of 100 MiB used by /sys/fs/cgroup/a/b".to_owned());
        assert_eq!(verdict_in(&RULE, &v2(), &files), full);
        let cached = [&files[..], &[("/sys/fs/cgroup/a/b/memory.stat", "inactive_file 73400320\n")]].concat();
        let free = ("notice", "20 of 100 MiB used by /sys/fs/cgroup/a/b".to_owned());
        assert_eq!(verdict_in(&RULE, &v2(), &cached), free);
    }

    #[test]
    fn a_namespace_of_groups_hides_limits_above() {
        let max = "/sys/fs/cgroup/a/memory.max";
        let events = ("/sys/fs/cgroup/cgroup.events", "populated 1\n");
        assert_eq!(verdict_in(&RULE, &v2(), &[(max, "max\n"), events]).0, "hidden");
        let limited = [(max, "104857600\n"), ("/sys/fs/cgroup/a/memory.current", "1\n"), events];
        assert_eq!(verdict_in(&RULE, &v2(), &limited).0, "notice");
    }
}
