//! `receive-budget`: how much the receive softirq may do at a time.

use takt_host::proc::softnet;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "receive-budget",
    topic: Topic::Sockets,
    title: "Receive work cut short",
    mechanism: "The kernel ends a round of receiving after so many datagrams or so much time; what is left after some rounds \
                waits for a thread of normal priority, and the card's ring fills meanwhile.",
    looks_at: "`net.core.netdev_budget`, `net.core.netdev_budget_usecs` and how often one of them was used up \
               (`/proc/net/softnet_stat`, which does not tell which). Stands if that was more than once in 10 000 datagrams \
               and either is below twice its usual value: 600 datagrams, 4000 µs.",
    probe,
    known: "Not measured here: with little else to do the thread (`ksoftirqd`) begins at once, under load it waits as \
            long as any thread of normal priority.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "other threads of the CPU that receives: each round may take twice as long.",
    },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

/// The limits, each with what is wanted of it: twice the usual 300 datagrams and 2000 µs.
const LIMITS: [(&str, i64); 2] = [("net.core.netdev_budget", 600), ("net.core.netdev_budget_usecs", 4000)];

fn probe(host: &Host) -> Look {
    let mut short = Vec::new();
    let mut limits = Vec::new();
    for (name, wanted) in LIMITS {
        let limit = sysctl(host, name)?;
        limits.push(format!("{name} {limit}"));
        short.extend((limit < wanted).then(|| format!("{name} >= {wanted}")));
    }
    let path = "/proc/net/softnet_stat";
    let text = host.read(path)?;
    let counts = softnet::parse(&text).filter(|counts| counts.processed > 0);
    let counts = counts.ok_or_else(|| malformed(path, "columns of hexadecimal counters", &text))?;
    let observed =
        format!("{}, used up {} times in {} datagrams", limits.join(", "), counts.squeezed, counts.processed);
    let often = u128::from(counts.squeezed) * 10_000 > u128::from(counts.processed);
    if often && !short.is_empty() { stands(observed, short.join(", ")) } else { fine(observed) }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for (name, wanted) in LIMITS {
        if sysctl(host, name).is_ok_and(|limit| limit < wanted) {
            changes.extend(sysctl_becomes(host, name, &wanted.to_string())?);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: (&str, &str) = ("/proc/sys/net/core/netdev_budget", "300\n");
    const TIME: (&str, &str) = ("/proc/sys/net/core/netdev_budget_usecs", "2000\n");

    #[test]
    fn a_budget_that_is_used_up_often_stands() {
        let stat = |squeezed: &str| format!("00010000 00000000 {squeezed}\n");
        let (seldom, often) = (stat("00000006"), stat("00000007"));
        let file = "/proc/net/softnet_stat";
        let (datagrams, time) = ((BUDGET.0, "600\n"), (TIME.0, "8000\n"));
        assert_eq!(word(&RULE, &[BUDGET, TIME, (file, &seldom)]), "fine");
        assert_eq!(word(&RULE, &[BUDGET, TIME, (file, &often)]), "stands");
        assert_eq!(word(&RULE, &[datagrams, TIME, (file, &often)]), "stands");
        assert_eq!(word(&RULE, &[datagrams, time, (file, &often)]), "fine");
        assert_eq!(word(&RULE, &[BUDGET, TIME]), "hidden");
        assert_eq!(word(&RULE, &[BUDGET, (file, &often)]), "hidden");
        let raised = |name: &str, value| format!("sudo sysctl -w net.core.{name}={value}");
        assert_eq!(
            commands(&RULE, &[BUDGET, TIME]),
            [raised("netdev_budget", 600), raised("netdev_budget_usecs", 4000)]
        );
        assert_eq!(commands(&RULE, &[BUDGET, time]), [raised("netdev_budget", 600)]);
    }
}
