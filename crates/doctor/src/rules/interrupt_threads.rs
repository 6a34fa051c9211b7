//! `interrupt-threads`: interrupts served by threads, which a radio's threads can starve.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "interrupt-threads",
    topic: Topic::Interrupts,
    title: "Interrupts served by threads",
    mechanism: "With PREEMPT_RT or `threadirqs` the card's interrupt is a thread of FIFO 50: a radio's thread above it that \
                never sleeps keeps its own datagrams from coming.",
    looks_at: "`threadirqs`, `/sys/kernel/realtime`, and `threaded` of each card. Never stands; threads are noted, for they \
               want their place in the order of priorities.",
    probe,
    known: "Nothing where the priorities are in order. Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "chrt -p PID shows the order; ps -eo pid,rtprio,comm | grep -e irq/ -e napi/ names the threads",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let note = "give threads that poll a priority below 50";
    if boot_option(host, "threadirqs")?.is_some() {
        return notice("threadirqs on the kernel's command line", note);
    }
    if host.read_opt("/sys/kernel/realtime").as_deref() == Some("1") {
        return notice("PREEMPT_RT", note);
    }
    each_card(host, |card| match host.read_number(&format!("{NET}/{card}/threaded"))? {
        0 => fine("by interrupt"),
        _ => notice("receives in a thread of normal priority", "give that thread (napi/…) a real-time priority"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_noted_wherever_they_come_from() {
        let line = |text| ("/proc/cmdline", text);
        let threaded = "/sys/class/net/eth0/threaded";
        assert_eq!(word(&RULE, &[line("quiet\n"), UP, DEVICE, (threaded, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[line("quiet threadirqs\n")]), "notice");
        assert_eq!(word(&RULE, &[line("quiet\n"), ("/sys/kernel/realtime", "1\n")]), "notice");
        assert_eq!(word(&RULE, &[line("quiet\n"), UP, DEVICE, (threaded, "1\n")]), "notice");
        assert_eq!(word(&RULE, &[line("quiet\n"), UP, DEVICE]), "hidden");
    }
}
