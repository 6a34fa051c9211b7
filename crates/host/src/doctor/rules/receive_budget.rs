//! `receive-budget`: how much the receive softirq may do at a time.

use super::look::{Look, Plan, fine, malformed, stands, sysctl, sysctl_becomes};
use crate::doctor::rule::{Effect, Fix, KernelRange, Measure, Proof, Rule, Topic};
use crate::host::Host;
use crate::proc::softnet;

pub(super) static RULE: Rule = Rule {
    id: "receive-budget",
    topic: Topic::Sockets,
    title: "Receive work cut short",
    mechanism: "The kernel ends a round of receiving after so many datagrams or so much time; what is left waits for a thread \
                of normal priority, and the card's ring fills meanwhile.",
    looks_at: "`net.core.netdev_budget` and how often it was used up (`/proc/net/softnet_stat`). Stands if that was more than \
               once in 10 000 datagrams and the budget is below 600.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "Not measured here: with little else to do the thread (`ksoftirqd`) begins at once, under load it waits as \
                long as any thread of normal priority.",
        here: None,
    },
    fix: Fix::Consent {
        plan,
        who_may_pay: "other threads of the CPU that receives: each round may take twice as long.",
    },
    proof: Proof::By(Measure::Datagram),
};

const NAME: &str = "net.core.netdev_budget";
const WANTED: i64 = 600;

fn probe(host: &Host) -> Look {
    let budget = sysctl(host, NAME)?;
    let path = "/proc/net/softnet_stat";
    let text = host.read(path)?;
    let counts = softnet::parse(&text).filter(|counts| counts.processed > 0);
    let counts = counts.ok_or_else(|| malformed(path, "columns of hexadecimal counters", &text))?;
    let seen = format!("{NAME} {budget}, used up {} times in {} datagrams", counts.squeezed, counts.processed);
    let often = u128::from(counts.squeezed) * 10_000 > u128::from(counts.processed);
    if often && budget < WANTED { stands(seen, format!("{NAME} >= {WANTED}")) } else { fine(seen) }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, &WANTED.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::{commands, word};
    use super::*;

    const BUDGET: (&str, &str) = ("/proc/sys/net/core/netdev_budget", "300\n");

    #[test]
    fn a_budget_that_is_used_up_often_stands() {
        let stat = |squeezed: &str| format!("00010000 00000000 {squeezed}\n");
        let (seldom, often) = (stat("00000006"), stat("00000007"));
        let file = "/proc/net/softnet_stat";
        assert_eq!(word(&RULE, &[BUDGET, (file, &seldom)]), "fine");
        assert_eq!(word(&RULE, &[BUDGET, (file, &often)]), "stands");
        assert_eq!(word(&RULE, &[(BUDGET.0, "600\n"), (file, &often)]), "fine");
        assert_eq!(word(&RULE, &[BUDGET]), "hidden");
        assert_eq!(commands(&RULE, &[BUDGET]), ["sudo sysctl -w net.core.netdev_budget=600"]);
    }
}
