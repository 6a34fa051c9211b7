//! `foreign-real-time`: other programs' real-time threads.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "foreign-real-time",
    topic: Topic::Processors,
    title: "Real-time threads of other programs",
    mechanism: "A real-time thread of the same or a higher priority runs before a radio's thread for as long as it likes.",
    looks_at: "Policy and priority of every thread (`/proc/PID/task/TID/stat`), the kernel's own left out. Never stands, since \
               most of them sleep; those there are are noted.",
    probe,
    known: "As long as the other thread runs at a time. Not measured here.",
    fix: Fix::Advice(Ways::Always(&["chrt -p PID shows a thread's priority; takt's own is given with --policy"])),
    ..Rule::COMMON
};

/// `PF_KTHREAD` of linux/sched.h, in the ninth field of stat.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Name and place in the order of a thread, from its stat line; `None` for the kernel's and for ordinary ones.
fn real_time(line: &str) -> Option<(String, String)> {
    let (open, close) = (line.find('(')?, line.rfind(')')?);
    let fields: Vec<&str> = line.get(close + 1..)?.split_whitespace().collect();
    // proc(5) counts from 1; behind the name stands field 3.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let (flags, priority, policy) = (number(9)?, number(40)?, number(41)?);
    let place = match policy {
        _ if flags & KERNEL_THREAD != 0 => return None,
        1 | 2 => priority.to_string(),
        6 => "DEADLINE".to_owned(),
        _ => return None,
    };
    Some((line.get(open + 1..close).unwrap_or_default().to_owned(), place))
}

fn probe(host: &Host) -> Look {
    let numbers: Vec<u32> = host.list("/proc").iter().filter_map(|name| name.parse().ok()).collect();
    // A sound server's first thread is an ordinary one; the one that beats is another.
    let threads = |pid: u32| {
        let tasks = format!("/proc/{pid}/task");
        host.list(&tasks).into_iter().filter_map(move |tid| host.read_opt(&format!("{tasks}/{tid}/stat")))
    };
    let others = numbers.into_iter().filter(|&pid| !(host.is_this() && pid == std::process::id()));
    let lines: Vec<String> = others.flat_map(threads).collect();
    if lines.is_empty() {
        return hidden("no process is visible");
    }
    let found: Vec<(String, String)> = lines.iter().filter_map(|line| real_time(line)).collect();
    if found.is_empty() {
        return fine(format!("none among {} threads", lines.len()));
    }
    let first: Vec<String> = found.iter().take(4).map(|(name, place)| format!("{name} at {place}")).collect();
    notice(
        format!("{} of them: {}", found.len(), first.join(", ")),
        "give a radio's threads a higher priority than theirs; before a DEADLINE thread comes nobody",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, flags: u64, priority: u64, policy: u64) -> String {
        let zeros = "0 ".repeat(30);
        format!("42 ({name}) S 1 1 1 0 -1 {flags} {zeros}{priority} {policy} 0 0 0\n")
    }

    #[test]
    fn programs_are_noted_and_the_kernels_threads_are_not() {
        let file = "/proc/42/task/42/stat";
        assert_eq!(word(&RULE, &[(file, &line("bash", 0, 0, 0))]), "fine");
        assert_eq!(word(&RULE, &[(file, &line("migration/0", KERNEL_THREAD, 99, 1))]), "fine");
        assert_eq!(
            verdict(&RULE, &[(file, &line("jackd (x)", 0, 70, 1))]),
            ("notice", "1 of them: jackd (x) at 70".to_owned())
        );
        let second = ("/proc/42/task/43/stat", line("data-loop.0", 0, 20, 2));
        let both = [(file, line("pipewire", 0, 0, 0)), second];
        let both = both.each_ref().map(|(path, line)| (*path, line.as_str()));
        assert_eq!(verdict(&RULE, &both), ("notice", "1 of them: data-loop.0 at 20".to_owned()));
    }

    #[test]
    fn the_fields_are_where_the_kernel_writes_them() {
        // Behind field 41 stand delayacct_blkio_ticks, guest_time, cguest_time.
        assert_eq!(real_time(&line("a", 0, 33, 2)), Some(("a".to_owned(), "33".to_owned())));
        assert_eq!(real_time(&line("a", 0, 0, 6)), Some(("a".to_owned(), "DEADLINE".to_owned())));
        assert_eq!(real_time("1 (a) S 1"), None);
    }
}
