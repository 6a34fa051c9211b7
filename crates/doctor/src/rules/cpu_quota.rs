//! `cpu-quota`: a share of processor time that the own group may not exceed.

use takt_host::cgroup::{are_cut_off, cpu_limit, own_folders};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpu-quota",
    topic: Topic::Groups,
    title: "Quota on processor time",
    mechanism: "A group that has used its time up stands still until the next period begins, all its threads at once and \
                whatever is due.",
    looks_at: "`cpu.max` (or `cpu.cfs_quota_us`) of this process's control group and of those above it. Stands if one is \
               limited. Where groups above are out of sight, as in a container, none is not known.",
    probe,
    known: "Up to a period, 100 ms by default, at a time. Eight threads that shared two CPUs' worth of time had 1206 of \
            40 000 wake-ups go unseen (Linux 6.18, cyclictest). Not measured here.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let folders = own_folders(host, "cpu")?;
    if folders.is_empty() {
        return hidden("no control group for processor time is mounted");
    }
    let limited = folders.iter().filter_map(|folder| Some((folder, cpu_limit(host, folder)?)));
    let Some((folder, cpus)) = limited.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        if are_cut_off(host, &folders) {
            return hidden("no quota up to the topmost group in sight; groups above are out of sight");
        }
        // A root group has no such file, and no limit.
        let shown = folders.len() == 1 || host.list(&folders[0]).iter().any(|name| name.starts_with("cpu."));
        return if shown { fine("no quota") } else { hidden(format!("{} shows no limit", folders[0])) };
    };
    let stat = host.read_opt(&format!("{folder}/cpu.stat")).unwrap_or_default();
    let stopped = stat
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "))
        .map_or(String::new(), |count| format!(", stopped {count} times"));
    stands(format!("{cpus:.2} CPUs for {folder}{stopped}"), "no quota")
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
        .chain(["or where it was set: systemctl set-property UNIT CPUQuota=; docker run without --cpus".to_owned()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_anywhere_on_the_way_up_stands() {
        let open = [("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"), ("/sys/fs/cgroup/a/cpu.max", "max 100000\n")];
        assert_eq!(verdict_in(&RULE, &v2(), &open).0, "fine");
        let above = [
            open[0],
            ("/sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
            ("/sys/fs/cgroup/a/cpu.stat", "nr_throttled 7\n"),
        ];
        let expected = "0.50 CPUs for /sys/fs/cgroup/a, stopped 7 times";
        assert_eq!(verdict_in(&RULE, &v2(), &above), ("stands", expected.to_owned()));
        let old = [
            ("/sys/fs/cgroup/x/a/b/cpu.cfs_quota_us", "20000\n"),
            ("/sys/fs/cgroup/x/a/b/cpu.cfs_period_us", "10000\n"),
        ];
        assert_eq!(verdict_in(&RULE, &v1("cpu"), &old), ("stands", "2.00 CPUs for /sys/fs/cgroup/x/a/b".to_owned()));
        let free = [("/sys/fs/cgroup/x/a/b/cpu.cfs_quota_us", "-1\n"), old[1]];
        assert_eq!(verdict_in(&RULE, &v1("cpu"), &free).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[]).0, "hidden");
        let events = ("/sys/fs/cgroup/cgroup.events", "populated 1\n");
        let (word, why) = verdict_in(&RULE, &v2(), &[open[0], open[1], events]);
        assert!(word == "hidden" && why.contains("groups above are out of sight"), "{why}");
        assert_eq!(verdict_in(&RULE, &v2(), &[above[0], above[1], events]).0, "stands");
    }
}
