//! `zone-reclaim`: a node that empties its caches rather than borrow memory.

use takt_host::Host;

use super::look::{Look, Plan, sysctl_becomes, sysctl_off};
use crate::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "zone-reclaim",
    topic: Topic::Memory,
    title: "Reclaiming memory of the own node first",
    mechanism: "An allocation that could have been served by another node at once frees pages of its own first, while the \
                thread that asked stands still.",
    looks_at: "`vm.zone_reclaim_mode`. Stands if it is not 0.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect { known: "Milliseconds an allocation when the node is full. Not measured here.", here: None },
    fix: Fix::Consent { plan, who_may_pay: "programs tuned to keep all memory on their own node." },
    proof: Proof::Not("it shows only when a node's memory is full, which takt does not bring about"),
};

const NAME: &str = "vm.zone_reclaim_mode";

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
    fn reclaiming_stands() {
        stands_unless_zero(&RULE, NAME);
    }
}
