//! `timer-migration`: timers that leave the CPU they were armed on.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "timer-migration",
    topic: Topic::Timers,
    title: "Timers that change their CPU",
    mechanism: "A timer armed on an idle CPU, or on one without a tick (nohz_full), may be moved to another, which then has to \
                wake the first by an interrupt: a wake-up takes that much longer and varies more.",
    looks_at: "`kernel.timer_migration`. Never stands: whether it costs anything depends on the kernel, and `--prove` finds \
               out; 1, the default, is noted.",
    probe: |host| sysctl_noted(host, NAME, "threads pinned to CPUs without a tick may gain from 0"),
    known: "One interrupt between CPUs, a few µs. Not measured here; `--prove` does.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        who_may_pay: "power: idle CPUs are woken for their own timers.",
    },
    proof: Proof::By(Measure::WakeUp),
    ..Rule::COMMON
};

const NAME: &str = "kernel.timer_migration";

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/proc/sys/kernel/timer_migration";

    #[test]
    fn migration_is_noted() {
        assert_eq!(word(&RULE, &[(FILE, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[(FILE, "1\n")]), "notice");
        assert_eq!(commands(&RULE, &[(FILE, "1\n")]), ["sudo sysctl -w kernel.timer_migration=0"]);
    }
}
