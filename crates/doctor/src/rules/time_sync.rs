//! `time-sync`: which program sets the wall clock.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "time-sync",
    topic: Topic::Timers,
    title: "Wall clock synchronisation",
    mechanism: "A wall clock that steps puts the records of two hosts out of order. Two programs that both set it make \
                it step without end. takt's own deadlines use the monotonic clock, which no step moves.",
    looks_at: "Programs that set the clock (chronyd, ntpd, systemd-timesyncd, ptp4l with phc2sys). A problem if two \
               run; a notice if none runs.",
    probe,
    known: "Steps of milliseconds to seconds in wall-clock times. A slewed clock, including the monotonic clock, runs \
            fast or slow: up to 500 ppm (0.5 µs in each millisecond) under ntpd and systemd-timesyncd. Under chrony it \
            is up to 8 % while chrony catches up (`maxslewrate` in chrony.conf limits it). Not measured on this host.",
    fix: Fix::Advice(Instructions::On(advise)),
    ..Rule::COMMON
};

/// Names as the kernel has them, at most 15 bytes. phc2sys sets the system's clock, ptp4l only the card's.
const KEEPERS: [&str; 4] = ["chronyd", "ntpd", "systemd-timesyn", "phc2sys"];

fn probe(host: &Host) -> Look {
    let Some(keepers) = running(host, &KEEPERS) else { return hidden("no process is visible") };
    match keepers.as_slice() {
        [] => notice("no program sets it, as far as takt can see", "compare records of several hosts with care"),
        [one] => fine(one.clone()),
        several => problem(several.join(" and "), "only one of them"),
    }
}

fn advise(host: &Host) -> Vec<String> {
    match running(host, &KEEPERS).unwrap_or_default().as_slice() {
        [] => vec!["run chrony, or phc2sys if the card has a clock".to_owned()],
        all => vec![format!("stop all but one of {}", all.join(", "))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keepers_are_a_problem_one_is_fine_and_none_is_noted() {
        let init = ("/proc/1/comm", "systemd\n");
        let chrony = ("/proc/7/comm", "chronyd\n");
        assert_eq!(word(&RULE, &[init]), "notice");
        assert_eq!(verdict(&RULE, &[init, chrony]), ("fine", "chronyd".to_owned()));
        let both = [init, chrony, ("/proc/9/comm", "systemd-timesyn\n")];
        assert_eq!(verdict(&RULE, &both), ("problem", "chronyd and systemd-timesyn".to_owned()));
    }
}
