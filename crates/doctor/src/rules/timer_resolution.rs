//! `timer-resolution`: sleeps end only at a tick.

use takt_host::kernel;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "timer-resolution",
    topic: Topic::Timers,
    title: "Sleeps end at a tick",
    mechanism: "Without high-resolution timers, a thread that sleeps until its slot wakes at the first tick after it, \
                up to one tick late.",
    looks_at: "Whether high-resolution timers are in force, and the tick rate. A problem if they are not.",
    probe,
    known: "Up to 10 ms at 100 Hz, 4 ms at 250 Hz and 1 ms at 1000 Hz, at every wake-up. With high-resolution timers, \
            the tick does not matter to sleeps. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "remove highres=off from the kernel's command line, or use a kernel with CONFIG_HIGH_RES_TIMERS",
        "if that does not help: use a clock source that counts on (see clock-source) and the CPU's own timer (no \
         nolapic)",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let tick = kernel::tick_hz(host).map_or("tick not known".to_owned(), |hz| format!("tick {hz} Hz"));
    match kernel::high_resolution_timers(host) {
        None => hidden("this kernel does not say whether its timers have high resolution"),
        Some(true) => fine(format!("high resolution, {tick}")),
        Some(false) => problem(format!("no high resolution, {tick}"), "high-resolution timers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_timer_list_says_is_the_finding() {
        let list = |ns: u32| format!("Timer List Version: v0.10\ncpu: 0\n clock 0:\n  .resolution: {ns} nsecs\n");
        assert_eq!(
            verdict(&RULE, &[("/proc/timer_list", &list(1))]),
            ("fine", "high resolution, tick not known".to_owned())
        );
        assert_eq!(word(&RULE, &[("/proc/timer_list", &list(4_000_000))]), "problem");
    }
}
