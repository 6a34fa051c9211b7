//! `clock-source`: reading the time by a system call and a bus access instead of an instruction.

use takt_base::{Clock, WallClock};
use takt_host::fingerprint::CLOCK_SOURCE;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "clock-source",
    topic: Topic::Timers,
    title: "Slow clock source",
    mechanism: "A streamer reads the clock for every batch and every deadline; from a slow source each reading is a system \
                call and an access to a chip.",
    looks_at: "The kernel's current clock source. Stands if programs cannot read it without entering the kernel \
               (`hpet`, `acpi_pm`, `jiffies` and others).",
    probe,
    known: "Some 20 to 50 ns a reading from `tsc` and the sources of modern hypervisors, 1 to 5 µs from a chip.",
    here: Some(measure),
    fix: Fix::Consent {
        plan,
        who_may_pay: "every program of this machine, if the kernel left `tsc` aside because it is not steady.",
    },
    proof: Proof::By(Measure::ClockReading),
    ..Rule::COMMON
};

/// Sources that the vDSO reads in user space.
const FAST: &[&str] = &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

fn probe(host: &Host) -> Look {
    let current = host.read(CLOCK_SOURCE)?.trim().to_owned();
    let available = host.read_opt(AVAILABLE).unwrap_or_default();
    let observed = format!("{current} (available: {available})");
    if FAST.contains(&current.as_str()) {
        return fine(observed);
    }
    let fast = available.split_whitespace().find(|source| FAST.contains(source));
    stands(observed, fast.unwrap_or("a source programs can read; this kernel offers none"))
}

fn plan(host: &Host) -> Plan {
    let setting = Setting::Sysfs("devices/system/clocksource/clocksource0/current_clocksource".to_owned());
    let was = setting.get(host)?;
    // The kernel takes a source that it found unsteady off this list.
    let available = host.read_opt(AVAILABLE).unwrap_or_default();
    let fast = available.split_whitespace().find(|source| FAST.contains(source) && **source != was);
    Ok(fast.map(|fast| Change { setting, was, becomes: fast.to_owned() }).into_iter().collect())
}

/// The quickest of several short series: what a reading takes when nothing else interferes.
fn measure(_: &Host) -> Option<String> {
    const READINGS: u64 = 1000;
    let series = || {
        let start = WallClock.now();
        for _ in 1..READINGS {
            std::hint::black_box(WallClock.now());
        }
        WallClock.now().saturating_since(start).as_nanos() as u64 / READINGS
    };
    let quickest_ns = (0..10).map(|_| series()).min()?;
    Some(format!("{quickest_ns} ns a reading on this host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(current: &str, available: &str) -> Tree {
        Tree::new().with(CLOCK_SOURCE, current).with(AVAILABLE, available)
    }

    #[test]
    fn sources_read_in_user_space_are_fine() {
        for source in FAST {
            let tree = tree(&format!("{source}\n"), &format!("{source} acpi_pm \n"));
            let host = tree.host();
            assert!(matches!(probe(&host).unwrap(), Finding::Fine { .. }), "{source}");
        }
    }

    #[test]
    fn a_chip_stands_and_gives_way_to_what_is_offered() {
        let tree = tree("hpet\n", "tsc hpet acpi_pm \n");
        let host = tree.host();
        assert!(matches!(probe(&host).unwrap(), Finding::Stands { wanted, .. } if wanted == "tsc"));
        assert_eq!(plan(&host).unwrap()[0].becomes, "tsc");
    }

    #[test]
    fn a_source_the_kernel_has_ruled_out_is_not_requested() {
        let tree = tree("hpet\n", "hpet acpi_pm \n");
        let host = tree.host();
        assert!(matches!(probe(&host).unwrap(), Finding::Stands { wanted, .. } if wanted.contains("offers none")));
        assert_eq!(plan(&host).unwrap(), []);
        assert!(probe(&Tree::new().host()).is_err());
    }

    #[test]
    fn a_reading_is_measured() {
        assert!(measure(&Host::this()).unwrap().ends_with("ns a reading on this host"));
    }
}
