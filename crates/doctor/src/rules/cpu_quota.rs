//! `cpu-quota`: a limit on the CPU time of this process's control group.

use takt_host::cgroup::{are_cut_off, cpu_limit, own_folders};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpu-quota",
    topic: Topic::Groups,
    title: "CPU quota",
    mechanism: "A group that has used up its CPU time stops until the next period begins: all its threads at once, \
                whatever is due.",
    looks_at: "`cpu.max` (or `cpu.cfs_quota_us`) of this process's control group and its parents. A problem \
               if one has a quota. Not known if groups above are hidden, as in a container, and no visible group has a \
               quota.",
    probe,
    known: "Up to one period at a time, 100 ms by default. Eight threads with a quota of two CPUs missed 1206 of 40 \
            000 wake-ups (Linux 6.18, cyclictest). Not measured on this host.",
    fix: Fix::Advice(Instructions::On(advise)),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let folders = own_folders(host, "cpu")?;
    if folders.is_empty() {
        return hidden("no cpu control group is mounted");
    }
    let limited = folders.iter().filter_map(|folder| Some((folder, cpu_limit(host, folder)?)));
    let Some((folder, cpus)) = limited.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        if are_cut_off(host, &folders) {
            return hidden("no quota in the visible groups; groups above are hidden");
        }
        // A root group has no such file, and no limit.
        let shown = folders.len() == 1 || host.list(&folders[0]).iter().any(|name| name.starts_with("cpu."));
        return if shown { fine("no quota") } else { hidden(format!("{} does not show its quota", folders[0])) };
    };
    let stat = host.read_opt(&format!("{folder}/cpu.stat")).unwrap_or_default();
    let stopped = stat
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "))
        .map_or(String::new(), |count| format!(", throttled {count} times"));
    problem(format!("{cpus:.2} CPUs for {folder}{stopped}"), "no quota")
}

fn advise(host: &Host) -> Vec<String> {
    let folders = own_folders(host, "cpu").unwrap_or_default();
    let lift = |folder: &String| {
        cpu_limit(host, folder)?;
        let (file, value) = match host.read_opt(&format!("{folder}/cpu.max")) {
            Some(_) => ("cpu.max", "max"),
            None => ("cpu.cfs_quota_us", "-1"),
        };
        Some(format!("echo {value} | sudo tee {folder}/{file}"))
    };
    folders
        .iter()
        .filter_map(lift)
        .chain(["where it was set: systemctl set-property UNIT CPUQuota=; docker run without --cpus".to_owned()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_anywhere_on_the_way_up_is_a_problem() {
        let open = [("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"), ("/sys/fs/cgroup/a/cpu.max", "max 100000\n")];
        assert_eq!(verdict_in(&RULE, &v2(), &open).0, "fine");
        let above = [
            open[0],
            ("/sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
            ("/sys/fs/cgroup/a/cpu.stat", "nr_throttled 7\n"),
        ];
        let expected = "0.50 CPUs for /sys/fs/cgroup/a, throttled 7 times";
        assert_eq!(verdict_in(&RULE, &v2(), &above), ("problem", expected.to_owned()));
        let old = [
            ("/sys/fs/cgroup/x/a/b/cpu.cfs_quota_us", "20000\n"),
            ("/sys/fs/cgroup/x/a/b/cpu.cfs_period_us", "10000\n"),
        ];
        assert_eq!(verdict_in(&RULE, &v1("cpu"), &old), ("problem", "2.00 CPUs for /sys/fs/cgroup/x/a/b".to_owned()));
        let free = [("/sys/fs/cgroup/x/a/b/cpu.cfs_quota_us", "-1\n"), old[1]];
        assert_eq!(verdict_in(&RULE, &v1("cpu"), &free).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[]).0, "hidden");
        let events = ("/sys/fs/cgroup/cgroup.events", "populated 1\n");
        let (word, why) = verdict_in(&RULE, &v2(), &[open[0], open[1], events]);
        assert!(word == "hidden" && why.contains("groups above are hidden"), "{why}");
        assert_eq!(verdict_in(&RULE, &v2(), &[above[0], above[1], events]).0, "problem");
    }
}
