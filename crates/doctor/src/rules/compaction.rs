//! `compaction`: pages moved about in the background.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "compaction",
    topic: Topic::Memory,
    title: "Background compaction",
    mechanism: "The kernel moves pages to make room for huge ones; a thread that touches a page on the move waits, even if \
                it has locked its memory.",
    looks_at: "`vm.compaction_proactiveness` (and `vm.compact_unevictable_allowed` for locked pages). Never stands; above \
               zero with locked pages included it is noted.",
    kernels: KernelRange::from(5, 9),
    probe,
    known: "Microseconds a page, seldom. Not measured here.",
    fix: Fix::Consent { plan, who_may_pay: "programs that need huge pages later." },
    proof: Proof::Not("it shows only on memory that is scattered, which takt does not bring about"),
    ..Rule::COMMON
};

const NAME: &str = "vm.compaction_proactiveness";

fn probe(host: &Host) -> Look {
    let (eager, locked) = (sysctl(host, NAME)?, sysctl(host, "vm.compact_unevictable_allowed")?);
    let observed = format!("{NAME} {eager}, vm.compact_unevictable_allowed {locked}");
    if eager == 0 || locked == 0 { fine(observed) } else { notice(observed, "locked pages are moved too") }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EAGER: &str = "/proc/sys/vm/compaction_proactiveness";
    const LOCKED: (&str, &str) = ("/proc/sys/vm/compact_unevictable_allowed", "1\n");

    #[test]
    fn moving_locked_pages_is_noted() {
        assert_eq!(word(&RULE, &[(EAGER, "20\n"), LOCKED]), "notice");
        assert_eq!(word(&RULE, &[(EAGER, "0\n"), LOCKED]), "fine");
        assert_eq!(word(&RULE, &[(EAGER, "20\n"), (LOCKED.0, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[LOCKED]), "hidden");
        assert_eq!(commands(&RULE, &[(EAGER, "20\n")]), ["sudo sysctl -w vm.compaction_proactiveness=0"]);
    }
}
