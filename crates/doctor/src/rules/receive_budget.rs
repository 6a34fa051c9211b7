//! `receive-budget`: how much the receive softirq may do at a time.

use takt_host::proc::softnet;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "receive-budget",
    topic: Topic::Sockets,
    title: "Receive work cut short",
    mechanism: "The kernel ends a round of receiving after a given number of datagrams or a given time. After some \
                rounds, a thread of normal priority has to do the rest, and the card's ring fills meanwhile.",
    looks_at: "`net.core.netdev_budget`, `net.core.netdev_budget_usecs`, and how often either was used up \
               (`/proc/net/softnet_stat`, which does not say which). A problem if that happened more than once per 10 \
               000 datagrams and either is below twice its default: 600 datagrams, 4000 µs.",
    probe,
    known: "Not measured. On an idle core, the thread (`ksoftirqd`) starts at once; under load, it waits as long as \
            any thread of normal priority.",
    fix: Fix::Consent { plan, affects: "other threads on the CPU that receives: each round may take twice as long." },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

/// The limits with their wanted values, twice the default 300 datagrams and 2000 µs.
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
    if often && !short.is_empty() { problem(observed, short.join(", ")) } else { fine(observed) }
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
    fn a_budget_that_is_used_up_often_is_a_problem() {
        let stat = |squeezed: &str| format!("00010000 00000000 {squeezed}\n");
        let (seldom, often) = (stat("00000006"), stat("00000007"));
        let file = "/proc/net/softnet_stat";
        let (datagrams, time) = ((BUDGET.0, "600\n"), (TIME.0, "8000\n"));
        assert_eq!(word(&RULE, &[BUDGET, TIME, (file, &seldom)]), "fine");
        assert_eq!(word(&RULE, &[BUDGET, TIME, (file, &often)]), "problem");
        assert_eq!(word(&RULE, &[datagrams, TIME, (file, &often)]), "problem");
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
