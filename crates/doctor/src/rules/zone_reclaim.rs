//! `zone-reclaim`: a node frees its own pages instead of using another node's memory.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "zone-reclaim",
    topic: Topic::Memory,
    title: "Each node reclaims its own memory first",
    mechanism: "An allocation first frees pages of its own node, although another node could serve it at once. The \
                allocating thread waits meanwhile.",
    looks_at: "`vm.zone_reclaim_mode`. A problem if it is not 0.",
    probe: |host| sysctl_off(host, NAME),
    known: "Milliseconds per allocation when the node is full. Not measured on this host.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "0"),
        affects: "programs tuned to keep all memory on their own node.",
    },
    proof: Proof::Not("it shows only when a node's memory is full, and takt does not fill it"),
    ..Rule::COMMON
};

const NAME: &str = "vm.zone_reclaim_mode";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reclaiming_is_a_problem() {
        problem_unless_zero(&RULE, NAME);
    }
}
