//! `time-sync`: who keeps the wall clock.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "time-sync",
    topic: Topic::Timers,
    title: "Keeping of the wall clock",
    mechanism: "A wall clock that steps puts records of two hosts out of order, and two programs that both keep it make it \
                step for ever; takt's own deadlines run on the monotonic clock, which no step moves.",
    looks_at: "Programs that keep the clock (chronyd, ntpd, systemd-timesyncd, ptp4l with phc2sys). Stands if two do; noted \
               if none does.",
    probe,
    known: "Steps of milliseconds to seconds in wall-clock times. A slewed clock runs fast or slow, the monotonic clock \
            included: up to 500 ppm, 0.5 µs in each millisecond, under ntpd and systemd-timesyncd; up to 8 % under \
            chrony while it catches up (`maxslewrate` in chrony.conf limits it). Not measured here.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

/// Names as the kernel has them, at most 15 bytes. phc2sys sets the system's clock, ptp4l alone the card's.
const KEEPERS: [&str; 4] = ["chronyd", "ntpd", "systemd-timesyn", "phc2sys"];

fn probe(host: &Host) -> Look {
    let Some(keepers) = running(host, &KEEPERS) else { return hidden("no process is visible") };
    match keepers.as_slice() {
        [] => {
            notice("nobody keeps it, as far as can be observed from here", "compare records of several hosts with care")
        }
        [one] => fine(one.clone()),
        several => stands(several.join(" and "), "one of them"),
    }
}

fn advise(host: &Host) -> Vec<String> {
    match running(host, &KEEPERS).unwrap_or_default().as_slice() {
        [] => vec!["run chrony, or phc2sys where the card has a clock".to_owned()],
        all => vec![format!("stop all but one of {}", all.join(", "))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keepers_stand_one_is_fine_and_none_is_noted() {
        let init = ("/proc/1/comm", "systemd\n");
        let chrony = ("/proc/7/comm", "chronyd\n");
        assert_eq!(word(&RULE, &[init]), "notice");
        assert_eq!(verdict(&RULE, &[init, chrony]), ("fine", "chronyd".to_owned()));
        let both = [init, chrony, ("/proc/9/comm", "systemd-timesyn\n")];
        assert_eq!(verdict(&RULE, &both), ("stands", "chronyd and systemd-timesyn".to_owned()));
    }
}
