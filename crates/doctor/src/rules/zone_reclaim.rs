//! `zone-reclaim`: a node that empties its caches rather than borrow memory.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "zone-reclaim",
    topic: Topic::Memory,
    title: "Reclaiming memory of the own node first",
    mechanism: "An allocation that could have been served by another node at once frees pages of its own first, while the \
                thread that allocates stands still.",
    looks_at: "`vm.zone_reclaim_mode`. Stands if it is not 0.",
    probe: |host| sysctl_off(host, NAME),
    known: "Milliseconds an allocation when the node is full. Not measured here.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        who_may_pay: "programs tuned to keep all memory on their own node.",
    },
    proof: Proof::Not("it shows only when a node's memory is full, which takt does not bring about"),
    ..Rule::COMMON
};

const NAME: &str = "vm.zone_reclaim_mode";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reclaiming_stands() {
        stands_unless_zero(&RULE, NAME);
    }
}
