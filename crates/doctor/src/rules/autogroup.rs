//! `autogroup`: ordinary threads that share their session's weight.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "autogroup",
    topic: Topic::Kernel,
    title: "Ordinary threads grouped by session",
    mechanism: "The kernel shares a CPU between sessions first (autogroup, sched(7)), then between the threads of each. So \
                what an ordinary thread gets depends on who else runs in its session; and threads that end, and the \
                kernel's own, stand outside and may wait long beside a session whose threads wake all the time.",
    looks_at: "`kernel.sched_autogroup_enabled`. Never stands: real-time threads and control groups with a weight of their own \
               do not meet it; 1, the default of most distributions, is noted.",
    probe: |host| sysctl_noted(host, NAME, "only ordinary threads meet it, beside others that wake all the time"),
    known: "On Linux 6.18 in a virtual machine, beside threads that slept 50 to 300 µs at a time, a thread that ended \
            waited 10 to 70 s for a CPU in 13 of 55 runs, and whoever waited for its process turned in wait4(2); with 0 \
            in none of 24.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        who_may_pay: "people at a desktop: a build with many threads gets more of it.",
    },
    proof: Proof::Not(
        "it shows only where a thread outside a busy session waits for a CPU, which takt does not bring about",
    ),
    ..Rule::COMMON
};

const NAME: &str = "kernel.sched_autogroup_enabled";

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/proc/sys/kernel/sched_autogroup_enabled";

    #[test]
    fn grouping_is_noted() {
        assert_eq!(word(&RULE, &[(FILE, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[(FILE, "1\n")]), "notice");
        assert_eq!(commands(&RULE, &[(FILE, "1\n")]), ["sudo sysctl -w kernel.sched_autogroup_enabled=0"]);
    }
}
