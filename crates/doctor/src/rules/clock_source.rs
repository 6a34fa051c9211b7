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
    looks_at: "The time of a reading and that of the shortest system call, both measured here. Stands if a reading takes \
               as long: the kernel serves it then, as it does for `hpet`, `acpi_pm`, `jiffies` and an unsteady clock of a \
               hypervisor.",
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

/// Sources that the vDSO can read in user space.
const FAST: &[&str] = &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

/// Those of them that it reads there only where the hypervisor says that the processor's counter is steady.
const BY_LEAVE: &[&str] = &["kvm-clock", "hyperv_clocksource_tsc_page"];

const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// What was measured, nanoseconds.
#[derive(Clone, Copy)]
struct Measured {
    reading_ns: f64,
    /// The shortest system call there is.
    call_ns: f64,
}

impl Measured {
    fn here() -> Measured {
        let reading_ns = quickest_ns(|| {
            std::hint::black_box(WallClock.now());
        });
        let call_ns = quickest_ns(|| {
            std::hint::black_box(rustix::process::getppid());
        });
        Measured { reading_ns, call_ns }
    }

    /// A reading that enters the kernel is a system call, and more than the shortest.
    fn enters_the_kernel(self) -> bool {
        self.reading_ns >= self.call_ns
    }
}

fn probe(host: &Host) -> Look {
    let current = text(host, CLOCK_SOURCE)?;
    judged(&current, &host.read_opt(AVAILABLE).unwrap_or_default(), host.is_this().then(Measured::here))
}

/// By what was measured; of a recorded host by the name of its source, as far as that says it.
fn judged(current: &str, available: &str, measured: Option<Measured>) -> Look {
    let observed = format!("{current} (available: {available})");
    let (observed, fast) = match measured {
        Some(measured) => {
            let Measured { reading_ns, call_ns } = measured;
            let times = format!("{reading_ns:.0} ns a reading, {call_ns:.0} ns a system call");
            (format!("{observed}, {times}"), !measured.enters_the_kernel())
        }
        None if BY_LEAVE.contains(&current) => {
            return hidden(format!(
                "{current} is as quick as the hypervisor lets it be: only on the host can it be measured"
            ));
        }
        None => (observed, FAST.contains(&current)),
    };
    if fast {
        return fine(observed);
    }
    let other = available.split_whitespace().find(|source| FAST.contains(source) && *source != current);
    stands(observed, other.unwrap_or("a source programs can read; this kernel offers none"))
}

fn plan(host: &Host) -> Plan {
    let setting = Setting::Sysfs("devices/system/clocksource/clocksource0/current_clocksource".to_owned());
    let was = setting.get(host)?;
    // The kernel takes a source that it found unsteady off this list.
    let available = host.read_opt(AVAILABLE).unwrap_or_default();
    let fast = available.split_whitespace().find(|source| FAST.contains(source) && **source != was);
    Ok(fast.map(|fast| Change { setting, was, becomes: fast.to_owned() }).into_iter().collect())
}

/// The quickest of several short series: what it takes when nothing else interferes.
fn quickest_ns(work: impl Fn()) -> f64 {
    const TIMES: u32 = 1000;
    let series = || {
        let start = WallClock.now();
        (0..TIMES).for_each(|_| work());
        WallClock.now().saturating_since(start).as_nanos() as f64 / f64::from(TIMES)
    };
    (0..10).map(|_| series()).fold(f64::INFINITY, f64::min)
}

fn measure(_: &Host) -> Option<String> {
    Some(format!("{:.0} ns a reading on this host", Measured::here().reading_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(current: &str, available: &str) -> Tree {
        Tree::new().with(CLOCK_SOURCE, current).with(AVAILABLE, available)
    }

    #[test]
    fn of_a_recorded_host_sources_that_are_always_read_in_user_space_are_fine() {
        for source in FAST {
            let tree = tree(&format!("{source}\n"), &format!("{source} acpi_pm \n"));
            let word = found(&RULE, &tree.host()).0;
            assert_eq!(word, if BY_LEAVE.contains(source) { "hidden" } else { "fine" }, "{source}");
        }
    }

    #[test] // kvm-clock was called fast unread
    fn a_source_is_as_fast_as_it_was_measured_whatever_its_name() {
        let judged = |source: &str, reading_ns: f64| {
            judged(source, &format!("{source} tsc acpi_pm"), Some(Measured { reading_ns, call_ns: 120.0 })).unwrap()
        };
        for source in ["tsc", "kvm-clock", "one-of-tomorrow"] {
            assert!(matches!(judged(source, 30.0), Finding::Fine { .. }), "{source}");
            let Finding::Stands { observed, wanted } = judged(source, 260.4) else { panic!("{source}") };
            let times = ", 260 ns a reading, 120 ns a system call";
            assert_eq!(observed, format!("{source} (available: {source} tsc acpi_pm){times}"));
            assert!((wanted == "tsc") != (source == "tsc"), "{source}: {wanted}");
        }
    }

    #[test]
    fn on_this_host_it_is_measured() {
        if let Ok(Finding::NotVisible { why }) = probe(&Host::this()) {
            panic!("{why}");
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
