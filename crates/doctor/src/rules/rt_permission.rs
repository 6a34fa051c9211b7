//! `rt-permission`: whether the scheduler grants real-time priority.

use takt_host::call::{self, WITH_SUDO};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "rt-permission",
    topic: Topic::Permissions,
    title: "Real-time priority not permitted",
    mechanism: "A thread of normal priority shares its core with everything else. Under load it runs milliseconds \
                late, and a radio's answer is then late on the air.",
    looks_at: "takt asks the scheduler for FIFO 80 on a thread that ends at once, and for less if that is refused. A \
               problem if even FIFO 1 is refused; takt finds the reason (capability and limit, cgroup budget, user \
               namespace, system-call filter). A limit below 80 is a notice.",
    probe,
    known: "With twice as many busy loops as CPUs, threads of normal priority woke up to 7 ms late (99.9 %: 1.1 ms). \
            Threads at FIFO 80 woke within 0.1 ms at 99.9 % (Linux 6.18, 4 virtual CPUs, cyclictest). Not measured on \
            this host.",
    fix: Fix::Advice(Instructions::On(advise)),
    ..Rule::COMMON
};

/// The priority that takt's documentation recommends.
const WANTED: u8 = 80;

fn probe(host: &Host) -> Look {
    if granted(host, WANTED) {
        return fine("FIFO is granted");
    }
    match host.attempt_fifo() {
        None => hidden("a recorded host cannot be probed"),
        Some(Err(refused)) => problem(refused.to_string(), "FIFO granted"),
        Some(Ok(())) => notice(
            format!("FIFO up to {}", highest(host)),
            format!("a higher priority, such as --policy fifo:{WANTED}, is refused"),
        ),
    }
}

fn granted(host: &Host, priority: u8) -> bool {
    matches!(host.attempt_fifo_of(priority), Some(Ok(())))
}

/// The highest priority that is granted, where 1 is and the wanted one is not.
fn highest(host: &Host) -> u8 {
    let (mut yes, mut no) = (1, WANTED);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if granted(host, middle) { yes = middle } else { no = middle }
    }
    yes
}

/// One instruction per line. "This command" is the check, or another program that needs the priority, not the doctor.
fn advise(host: &Host) -> Vec<String> {
    let fix = host.attempt_fifo_of(WANTED).and_then(Result::err).and_then(|refused| refused.fix()).unwrap_or_default();
    fix.lines().map(|way| way.replace(WITH_SUDO, &call::sudo_takt("check"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::policy::{Policy, PolicyError};

    #[test]
    fn what_the_scheduler_answers_is_the_finding_and_its_reason_the_advice() {
        let tree = Tree::new();
        assert!(matches!(probe(&tree.host().answering_fifo(|_| Ok(()))).unwrap(), Finding::Fine { .. }));
        let refused = tree.host().answering_fifo(|_| {
            Err(PolicyError::CgroupBudget {
                policy: Policy::Fifo { priority: 1 },
                cgroup: "/sys/fs/cgroup/cpu/x".to_owned(),
            })
        });
        let Finding::Problem { observed, .. } = probe(&refused).unwrap() else { panic!("problem") };
        assert!(observed.contains("cpu.rt_runtime_us = 0"), "{observed}");
        assert!(advise(&refused)[0].contains("/sys/fs/cgroup/cpu/x/cpu.rt_runtime_us"));
        assert!(matches!(probe(&tree.host()).unwrap(), Finding::NotVisible { .. }));
    }

    #[test]
    fn a_limit_below_the_priority_that_is_wanted_is_noted() {
        let limited = Tree::new().host().answering_fifo(|priority| match priority {
            0..=20 => Ok(()),
            _ => Err(PolicyError::NotPermitted { policy: Policy::Fifo { priority }, rtprio_limit: 20 }),
        });
        assert_eq!(found(&RULE, &limited), ("notice", "FIFO up to 20".to_owned()));
        assert!(advise(&limited).iter().any(|way| way.contains("rtprio 95")), "{:?}", advise(&limited));
    }

    #[test]
    fn each_way_is_a_line_that_can_be_typed() {
        let tree = Tree::new();
        let refused = tree.host().answering_fifo(|_| {
            Err(PolicyError::NotPermitted { policy: Policy::Fifo { priority: 1 }, rtprio_limit: 0 })
        });
        let ways = advise(&refused);
        assert_eq!(ways.len(), 2, "{ways:?}");
        assert!(ways[0].ends_with(" check") && ways[1].starts_with("echo "), "{ways:?}");
    }
}
