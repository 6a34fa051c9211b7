//! `numa-balancing`: pages made to fault, to see who uses them.

use takt_host::Host;

use super::look::{Look, Plan, sysctl_becomes, sysctl_off};
use crate::rule::{Effect, Fix, KernelRange, Measure, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "numa-balancing",
    topic: Topic::Memory,
    title: "Automatic NUMA balancing",
    mechanism: "The kernel takes pages away for a moment to see which node touches them, so that a running thread meets page \
                faults and moved memory.",
    looks_at: "`kernel.numa_balancing`. Stands if it is on.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "A fault of some µs for each page looked at. Not measured here: takt's developers had only machines of one \
                node, where it is off.",
        here: None,
    },
    fix: Fix::Consent { plan, who_may_pay: "programs on several nodes that do not place their memory themselves." },
    proof: Proof::By(Measure::Datagram),
};

const NAME: &str = "kernel.numa_balancing";

fn probe(host: &Host) -> Look {
    sysctl_off(host, NAME)
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, "0")
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::stands_unless_zero;
    use super::*;

    #[test]
    fn balancing_stands() {
        stands_unless_zero(&RULE, NAME);
    }
}
