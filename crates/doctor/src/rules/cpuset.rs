//! `cpuset`: CPUs that this process may not use.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpuset",
    topic: Topic::Groups,
    title: "Tied to some CPUs",
    mechanism: "Threads that may use only some of the CPUs wait for one another, and for whoever else is tied to the same, \
                while the others idle.",
    looks_at: "The CPUs this process may use, against those online. Stands below three where the machine has more; fewer \
               than all are noted.",
    probe,
    known: "A sender tied to a CPU that a foreign thread also was tied to got 20 % of it, with the other three idle. Not \
            measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "taskset -cp CPUS PID, where taskset or a wrapper did it",
        "systemctl set-property UNIT AllowedCPUs=; docker run --cpuset-cpus",
    ])),
    ..Rule::COMMON
};

const NEEDED: usize = 3;

fn probe(host: &Host) -> Look {
    let all = online(host)?;
    // The kernel's list also has CPUs that could be there, as those that `nosmt` keeps offline.
    let own: Vec<usize> = allowed(host)?.into_iter().filter(|cpu| all.contains(cpu)).collect();
    let observed = format!("{} of {}", named(&own), all.len());
    if own.len() >= all.len() {
        fine(format!("all {} CPUs", all.len()))
    } else if own.len() < NEEDED.min(all.len()) {
        stands(observed, format!("{NEEDED} CPUs"))
    } else {
        notice(observed, "takt places its threads among these")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_three_stand_and_fewer_than_all_are_noted() {
        let of = |own: &str| {
            let status = format!("Name:\tx\nCpus_allowed_list:\t{own}\n");
            verdict(&RULE, &[("/sys/devices/system/cpu/online", "0-7\n"), ("/proc/self/status", &status)])
        };
        assert_eq!(of("0-7").0, "fine");
        assert_eq!(of("0-3"), ("notice", "CPUs 0-3 of 8".to_owned()));
        assert_eq!(of("2"), ("stands", "CPU 2 of 8".to_owned()));
        assert_eq!(of("0-1,8-15"), ("stands", "CPUs 0-1 of 8".to_owned()), "CPUs that are offline are none");
        assert_eq!(of("x").0, "hidden");
    }
}
