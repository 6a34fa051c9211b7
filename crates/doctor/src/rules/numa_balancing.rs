//! `numa-balancing`: the kernel makes pages fault to see which node uses them.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "numa-balancing",
    topic: Topic::Memory,
    title: "Automatic NUMA balancing",
    mechanism: "The kernel unmaps pages for a moment to see which node touches them. A running thread then has page \
                faults, and its memory may move.",
    looks_at: "`kernel.numa_balancing`. A problem if it is on.",
    probe: |host| sysctl_off(host, NAME),
    known: "A page fault of some µs for each page that the kernel samples. Not measured: takt's developers had only \
            machines with one node, where it is off.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        affects: "programs on several nodes that do not place their memory themselves.",
    },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

const NAME: &str = "kernel.numa_balancing";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balancing_is_a_problem() {
        problem_unless_zero(&RULE, NAME);
    }
}
