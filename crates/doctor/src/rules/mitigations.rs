//! `mitigations`: what defences against the processor's own leaks cost each system call.

use takt_base::{Clock, WallClock};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "mitigations",
    topic: Topic::Kernel,
    title: "Mitigations of processor faults",
    mechanism: "Every entry into the kernel pays for them, and a radio at full rate enters it some ten thousand times a \
                second.",
    looks_at: "`/sys/devices/system/cpu/vulnerabilities` and `mitigations=` of the kernel's command line. Never stands: they \
               protect this machine, and batched system calls spread their cost.",
    probe,
    known: "100 ns to 1 µs a system call, less the newer the processor; takt's engines move 16 to 64 datagrams with one.",
    here: Some(measure),
    fix: Fix::Advice(Ways::Always(&[
        "mitigations=auto is the default; =off on the kernel's command line only on a machine without strangers",
    ])),
    ..Rule::COMMON
};

const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";

fn probe(host: &Host) -> Look {
    let all: Vec<(String, String)> = host
        .list(FOLDER)
        .into_iter()
        .filter_map(|name| Some((host.read_opt(&format!("{FOLDER}/{name}"))?, name)))
        .collect();
    if all.is_empty() {
        return hidden("this kernel does not list its processor's faults");
    }
    let with: Vec<&str> =
        all.iter().filter(|(state, _)| state.starts_with("Mitigation")).map(|(_, name)| name.as_str()).collect();
    let option = boot_option(host, "mitigations")?.map_or(String::new(), |value| format!(", mitigations={value}"));
    if with.is_empty() {
        return fine(format!("none in force{option}"));
    }
    notice(format!("{}{option}", with.join(", ")), "leave them on where other people's programs run")
}

/// The quickest of several short series of the cheapest system call.
fn measure(_: &Host) -> Option<String> {
    const CALLS: u64 = 1000;
    let series = || {
        let start = WallClock.now();
        for _ in 0..CALLS {
            std::hint::black_box(rustix::process::getppid());
        }
        WallClock.now().saturating_since(start).as_nanos() as u64 / CALLS
    };
    let quickest_ns = (0..10).map(|_| series()).min()?;
    Some(format!("{quickest_ns} ns for an empty system call on this host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_noted() {
        let line = ("/proc/cmdline", "quiet mitigations=auto,nosmt\n");
        let meltdown = "/sys/devices/system/cpu/vulnerabilities/meltdown";
        assert_eq!(word(&RULE, &[line, (meltdown, "Not affected\n")]), "fine");
        let found = verdict(&RULE, &[line, (meltdown, "Mitigation: PTI\n")]);
        assert_eq!(found, ("notice", "meltdown, mitigations=auto,nosmt".to_owned()));
        assert_eq!(word(&RULE, &[line]), "hidden");
        assert_eq!(word(&RULE, &[(meltdown, "Mitigation: PTI\n")]), "hidden");
        assert!(measure(&Host::this()).unwrap().contains("ns for an empty system call"));
    }
}
