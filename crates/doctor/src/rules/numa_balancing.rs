//! `numa-balancing`: pages made to fault, to see who uses them.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "numa-balancing",
    topic: Topic::Memory,
    title: "Automatic NUMA balancing",
    mechanism: "The kernel takes pages away for a moment to see which node touches them, so that a running thread meets page \
                faults and moved memory.",
    looks_at: "`kernel.numa_balancing`. Stands if it is on.",
    probe: |host| sysctl_off(host, NAME),
    known: "A fault of some µs for each page looked at. Not measured here: takt's developers had only machines of one \
            node, where it is off.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        who_may_pay: "programs on several nodes that do not place their memory themselves.",
    },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

const NAME: &str = "kernel.numa_balancing";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balancing_stands() {
        stands_unless_zero(&RULE, NAME);
    }
}
