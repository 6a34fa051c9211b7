//! `cpuset`: CPUs that this process may not use.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpuset",
    topic: Topic::Groups,
    title: "Restricted to some CPUs",
    mechanism: "Threads that may use only some of the CPUs wait for each other and for other threads there, while the \
                other CPUs idle.",
    looks_at: "The CPUs that this process may use, and the CPUs that are online. A problem below three if more are \
               online; fewer than all is a notice.",
    probe,
    known: "A sender pinned to the same CPU as another program's thread got 20 % of it, while the other three CPUs \
            idled. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "if taskset or a wrapper did it: taskset -cp CPUS PID",
        "for a unit: systemctl set-property UNIT AllowedCPUs=; for a container: docker run --cpuset-cpus",
    ])),
    ..Rule::COMMON
};

const NEEDED: usize = 3;

fn probe(host: &Host) -> Look {
    let all = online(host)?;
    // The kernel's list also has CPUs that are not online, such as those that `nosmt` disables.
    let own: Vec<usize> = allowed(host)?.into_iter().filter(|cpu| all.contains(cpu)).collect();
    let observed = format!("{} of {}", named(&own), all.len());
    if own.len() >= all.len() {
        fine(format!("all {} CPUs", all.len()))
    } else if own.len() < NEEDED.min(all.len()) {
        problem(observed, format!("{NEEDED} CPUs"))
    } else {
        notice(observed, "takt places its threads on these CPUs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_three_are_a_problem_and_fewer_than_all_are_noted() {
        let of = |own: &str| {
            let status = format!("Name:\tx\nCpus_allowed_list:\t{own}\n");
            verdict(&RULE, &[("/sys/devices/system/cpu/online", "0-7\n"), ("/proc/self/status", &status)])
        };
        assert_eq!(of("0-7").0, "fine");
        assert_eq!(of("0-3"), ("notice", "CPUs 0-3 of 8".to_owned()));
        assert_eq!(of("2"), ("problem", "CPU 2 of 8".to_owned()));
        assert_eq!(of("0-1,8-15"), ("problem", "CPUs 0-1 of 8".to_owned()), "CPUs that are offline are none");
        assert_eq!(of("x").0, "hidden");
    }
}
