//! `backlog`: the queue in front of the protocol code.

use takt_host::proc::softnet;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "backlog",
    topic: Topic::Sockets,
    title: "Short backlog queue",
    mechanism: "Each CPU has a queue for datagrams from loopback, veth pairs and receive steering. When it is full, \
                the kernel drops datagrams before any socket sees them.",
    looks_at: "`net.core.netdev_max_backlog` and the drops in `/proc/net/softnet_stat`. A problem if the queue is \
               shorter than 10 000 and has dropped any datagrams since boot. A short queue without drops is a notice.",
    probe,
    known: "1000 datagrams, the default, last 14.5 ms at 25 MS/s sc16. Datagrams from cards with a polling driver \
            (NAPI) do not pass this queue. Not measured on this host.",
    fix: Fix::Safe(plan),
    proof: Proof::By(Measure::Loss),
    ..Rule::COMMON
};

const NAME: &str = "net.core.netdev_max_backlog";
const WANTED: i64 = 10_000;

fn probe(host: &Host) -> Look {
    let length = sysctl(host, NAME)?;
    let path = "/proc/net/softnet_stat";
    let text = host.read(path)?;
    let counts = softnet::parse(&text).filter(|counts| counts.processed > 0);
    let counts = counts.ok_or_else(|| malformed(path, "columns of hexadecimal counters", &text))?;
    let observed = format!("{NAME} {length}, {} of {} datagrams dropped there", counts.dropped, counts.processed);
    if length >= WANTED {
        fine(observed)
    } else if counts.dropped > 0 {
        problem(observed, format!("{NAME} >= {WANTED}"))
    } else {
        notice(observed, "it has been long enough so far")
    }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, &WANTED.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: (&str, &str) = ("/proc/sys/net/core/netdev_max_backlog", "1000\n");

    #[test]
    fn a_queue_that_overflowed_is_a_problem_and_a_short_one_is_noted() {
        let stat = |dropped: &str| format!("00000010 {dropped} 00000000\n");
        let (clean, lossy) = (stat("00000000"), stat("00000003"));
        let file = "/proc/net/softnet_stat";
        assert_eq!(word(&RULE, &[LENGTH, (file, &clean)]), "notice");
        let (word_, observed) = verdict(&RULE, &[LENGTH, (file, &lossy)]);
        assert_eq!(
            (word_, observed.as_str()),
            ("problem", "net.core.netdev_max_backlog 1000, 3 of 16 datagrams dropped there")
        );
        assert_eq!(word(&RULE, &[(LENGTH.0, "10000\n"), (file, &lossy)]), "fine");
        assert_eq!(commands(&RULE, &[LENGTH]), ["sudo sysctl -w net.core.netdev_max_backlog=10000"]);
    }

    #[test]
    fn counters_that_are_missing_or_empty_are_not_fine() {
        assert_eq!(word(&RULE, &[LENGTH]), "hidden");
        assert_eq!(word(&RULE, &[LENGTH, ("/proc/net/softnet_stat", "")]), "hidden");
    }
}
