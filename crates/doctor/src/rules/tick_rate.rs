//! `tick-rate`: how often the kernel looks at who should run.

use takt_host::kernel;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "tick-rate",
    topic: Topic::Timers,
    title: "Coarse tick",
    mechanism: "Between threads of normal priority the kernel changes at its tick; with a coarse one a thread waits longer \
                for its turn.",
    looks_at: "`CONFIG_HZ` of the kernel's configuration. Never stands: real-time threads and high-resolution timers do not \
               wait for it; below 250 Hz it is noted.",
    probe,
    known: "Up to a tick for threads of normal priority beside others. Not measured here.",
    fix: Fix::Advice(Ways::Always(&["a kernel with CONFIG_HZ=1000; see rt-permission, which gains more"])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    match kernel::tick_hz(host) {
        None => hidden("this kernel's configuration is not there to read"),
        Some(hz) if hz >= 250 => fine(format!("{hz} Hz")),
        Some(hz) => notice(format!("{hz} Hz"), "give a radio's threads real-time priority"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_tick_is_noted() {
        let kernel = ("/proc/sys/kernel/osrelease", "6.1.0\n");
        assert_eq!(word(&RULE, &[kernel, ("/boot/config-6.1.0", "CONFIG_HZ=1000\n")]), "fine");
        assert_eq!(word(&RULE, &[kernel, ("/boot/config-6.1.0", "CONFIG_HZ=100\n")]), "notice");
        assert_eq!(word(&RULE, &[kernel]), "hidden");
    }
}
