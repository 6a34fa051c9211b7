//! `cpuset`: CPUs that this process may not use.

use takt_host::Host;

use super::look::{Look, allowed, fine, named, notice, online, stands};
use crate::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "cpuset",
    topic: Topic::Groups,
    title: "Tied to some CPUs",
    mechanism: "Threads that may use only some of the CPUs wait for one another, and for whoever else is tied to the same, \
                while the others idle.",
    looks_at: "The CPUs this process may use, against those online. Stands below three where the machine has more; fewer \
               than all are noted.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "A sender tied to a CPU that a foreign thread also was tied to got 20 % of it, with the other three idle. Not \
                measured here.",
        here: None,
    },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

const NEEDED: usize = 3;

fn probe(host: &Host) -> Look {
    let (own, all) = (allowed(host)?, online(host)?);
    let seen = format!("{} of {}", named(&own), all.len());
    if own.len() >= all.len() {
        fine(format!("all {} CPUs", all.len()))
    } else if own.len() < NEEDED.min(all.len()) {
        stands(seen, format!("{NEEDED} CPUs"))
    } else {
        notice(seen, "takt places its threads among these")
    }
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        "taskset -cp CPUS PID, where taskset or a wrapper did it".to_owned(),
        "systemctl set-property UNIT AllowedCPUs=; docker run --cpuset-cpus".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::{said, word};
    use super::*;

    #[test]
    fn fewer_than_three_stand_and_fewer_than_all_are_noted() {
        let of = |own: &str| {
            let status = format!("Name:\tx\nCpus_allowed_list:\t{own}\n");
            said(&RULE, &[("/sys/devices/system/cpu/online", "0-7\n"), ("/proc/self/status", &status)])
        };
        assert_eq!(of("0-7").0, "fine");
        assert_eq!(of("0-3"), ("notice", "CPUs 0-3 of 8".to_owned()));
        assert_eq!(of("2"), ("stands", "CPU 2 of 8".to_owned()));
        assert_eq!(of("x").0, "hidden");
        assert_eq!(word(&RULE, &[]), "hidden");
    }
}
