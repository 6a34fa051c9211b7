//! `timer-slack`: the kernel may wake a thread of normal priority a little later than it requested.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "timer-slack",
    topic: Topic::Timers,
    title: "Timer slack",
    mechanism: "The kernel delays wake-ups of ordinary threads to serve several at once; a thread that sleeps until the \
                next slot begins it that much later.",
    looks_at: "The slack that programs started from here inherit. Never stands: takt sets its own where it matters; other \
               programs' threads of normal priority have it.",
    probe,
    known: "At the default of 50 µs the median wake-up of an ordinary thread was 75 µs late, at 1 ns 27 µs, at 200 µs \
            225 µs; under FIFO there is none (Linux 6.18, cyclictest). Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "for another program, once it runs: echo 1 | sudo tee /proc/TID/timerslack_ns, for each TID in /proc/PID/task",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let slack = host.read_number("/proc/self/timerslack_ns")?;
    let observed = format!("{slack} ns");
    if slack <= 1000 {
        fine(observed)
    } else {
        notice(observed, "takt sets its own; other programs need PR_SET_TIMERSLACK or a real-time policy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_noted_and_a_small_slack_is_fine() {
        let with = |text: &str| probe(&Tree::new().with("/proc/self/timerslack_ns", text).host());
        assert!(matches!(with("50000\n").unwrap(), Finding::Notice { .. }));
        assert!(matches!(with("1\n").unwrap(), Finding::Fine { .. }));
        assert!(with("x\n").is_err());
        assert!(probe(&Tree::new().host()).is_err());
    }
}
