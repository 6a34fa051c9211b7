//! `memory-limit`: memory that the own group may not exceed.

use takt_host::cgroup::{memory_limit, own_folders};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "memory-limit",
    topic: Topic::Groups,
    title: "Limit on memory",
    mechanism: "A group near its limit has pages taken back while its threads wait, and beyond it one of its processes is \
                killed.",
    looks_at: "`memory.max` (or `memory.limit_in_bytes`) and use of this process's control group and those above it. Stands \
               above four fifths in use; a limit is noted.",
    probe,
    known: "Stalls of milliseconds near the limit. Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "systemctl set-property UNIT MemoryMax=; docker run with a larger --memory, or without",
    ])),
    ..Rule::COMMON
};

/// Use and limit of a group, bytes, if it is limited.
fn limit(host: &Host, folder: &str) -> Option<(u64, u64)> {
    let read = |file: &str| host.read_opt(&format!("{folder}/{file}"))?.parse().ok();
    let used = read("memory.current").or_else(|| read("memory.usage_in_bytes"))?;
    Some((used, memory_limit(host, folder)?))
}

fn probe(host: &Host) -> Look {
    let folders = own_folders(host, "memory")?;
    if folders.is_empty() {
        return hidden("no control group for memory is mounted");
    }
    let limited = folders.iter().filter_map(|folder| Some((folder, limit(host, folder)?)));
    let share = |(used, most): (u64, u64)| used as f64 / most.max(1) as f64;
    let Some((folder, (used, most))) = limited.max_by(|a, b| share(a.1).total_cmp(&share(b.1))) else {
        let shown = folders.len() == 1 || host.list(&folders[0]).iter().any(|name| name.starts_with("memory."));
        return if shown { fine("no limit") } else { hidden(format!("{} shows no limit", folders[0])) };
    };
    let observed = format!("{} of {} MiB used by {folder}", used >> 20, most >> 20);
    if share((used, most)) > 0.8 { stands(observed, "a fifth free") } else { notice(observed, "it is far from full") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_group_stands_and_a_limited_one_is_noted() {
        let max = "/sys/fs/cgroup/a/b/memory.max";
        let used = ("/sys/fs/cgroup/a/b/memory.current", "94371840\n");
        assert_eq!(verdict_in(&RULE, &v2(), &[(max, "max\n"), used]).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[(max, "943718400\n"), used]).0, "notice");
        let full = verdict_in(&RULE, &v2(), &[(max, "104857600\n"), used]);
        assert_eq!(full, ("stands", "90 of 100 MiB used by /sys/fs/cgroup/a/b".to_owned()));
        let old = [
            ("/sys/fs/cgroup/x/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/x/a/b/memory.usage_in_bytes", "1\n"),
        ];
        assert_eq!(verdict_in(&RULE, &v1("memory"), &old).0, "fine");
        assert_eq!(verdict_in(&RULE, &v2(), &[]).0, "hidden");
    }
}
