//! `busy-poll`: whether a reader may look into the card's ring itself.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "busy-poll",
    topic: Topic::Sockets,
    title: "Readers wait for the card's interrupt",
    mechanism: "Without busy polling a datagram reaches a sleeping reader by an interrupt, a softirq and a wake-up; with it \
                the reader takes it from the ring at the price of a CPU.",
    looks_at: "`net.core.busy_read`, for programs that wait in the reading call, and `net.core.busy_poll`, for those that wait \
               in poll(2), as UHD does. Never stands: it trades processor time for microseconds, which matters to answers in \
               less than a millisecond only. Zero of either is noted.",
    probe,
    known: "Some 5 to 20 µs an answer, and nothing in throughput. Not measured here.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "processor time: every read or poll that waits spins for up to 50 µs first, in every program; reads on \
                      sockets that are open already do not.",
    },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const NAMES: [&str; 2] = ["net.core.busy_read", "net.core.busy_poll"];

fn probe(host: &Host) -> Look {
    let [read, poll] = [sysctl(host, NAMES[0])?, sysctl(host, NAMES[1])?];
    let observed = format!("{} {read} µs, {} {poll} µs", NAMES[0], NAMES[1]);
    if read == 0 || poll == 0 {
        notice(observed, "worth 50 where an answer has less than a millisecond and a CPU is free")
    } else {
        fine(observed)
    }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for name in NAMES {
        if sysctl(host, name).is_ok_and(|micros| micros == 0) {
            changes.extend(sysctl_becomes(host, name, "50")?);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = "/proc/sys/net/core/busy_read";
    const POLL: &str = "/proc/sys/net/core/busy_poll";

    #[test]
    fn no_polling_is_noted() {
        assert_eq!(word(&RULE, &[(READ, "0\n"), (POLL, "0\n")]), "notice");
        assert_eq!(word(&RULE, &[(READ, "50\n"), (POLL, "100\n")]), "fine");
        assert_eq!(word(&RULE, &[(READ, "50\n")]), "hidden");
        let half = [(READ, "50\n"), (POLL, "0\n")];
        assert_eq!(word(&RULE, &half), "notice");
        assert_eq!(commands(&RULE, &half), ["sudo sysctl -w net.core.busy_poll=50"]);
    }
}
