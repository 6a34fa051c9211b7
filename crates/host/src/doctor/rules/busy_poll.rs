//! `busy-poll`: whether a reader may look into the card's ring itself.

use super::look::{Look, Plan, fine, notice, sysctl, sysctl_becomes};
use crate::doctor::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};
use crate::host::Host;

pub(super) static RULE: Rule = Rule {
    id: "busy-poll",
    topic: Topic::Sockets,
    title: "Readers wait for the card's interrupt",
    mechanism: "Without busy polling a datagram reaches a sleeping reader by an interrupt, a softirq and a wake-up; with it \
                the reader takes it from the ring at the price of a CPU.",
    looks_at: "`net.core.busy_read`. Never stands: it trades processor time for microseconds, which matters to answers in \
               less than a millisecond only. Zero is noted.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect { known: "Some 5 to 20 µs an answer, and nothing in throughput. Not measured here.", here: None },
    fix: Fix::Consent { plan, who_may_pay: "processor time: every read that waits spins for up to 50 µs first." },
    proof: Proof::BEHIND_THE_CARD,
};

const NAME: &str = "net.core.busy_read";

fn probe(host: &Host) -> Look {
    match sysctl(host, NAME)? {
        0 => notice(format!("{NAME} 0"), "worth 50 where an answer has less than a millisecond and a CPU is free"),
        micros => fine(format!("{NAME} {micros} µs")),
    }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, "50")
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::{commands, word};
    use super::*;

    const FILE: &str = "/proc/sys/net/core/busy_read";

    #[test]
    fn no_polling_is_noted() {
        assert_eq!(word(&RULE, &[(FILE, "0\n")]), "notice");
        assert_eq!(word(&RULE, &[(FILE, "50\n")]), "fine");
        assert_eq!(word(&RULE, &[]), "hidden");
        assert_eq!(commands(&RULE, &[(FILE, "0\n")]), ["sudo sysctl -w net.core.busy_read=50"]);
    }
}
