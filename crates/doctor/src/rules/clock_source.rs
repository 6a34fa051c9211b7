//! `clock-source`: reading the time takes a system call and a bus access instead of an instruction.

use takt_base::{Clock, WallClock};
use takt_host::fingerprint::CLOCK_SOURCE;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "clock-source",
    topic: Topic::Timers,
    title: "Slow clock source",
    mechanism: "A streaming program reads the clock for every batch and every deadline. With a slow source, each \
                reading is a system call and an access to a chip.",
    looks_at: "The time that a clock reading takes and that of the shortest system call, both measured on this host. A \
               problem if the reading takes at least as long as the call, since the kernel then serves it. It does so \
               for `hpet`, `acpi_pm`, `jiffies` and an unstable clock of a hypervisor.",
    probe,
    known: "About 20 to 50 ns per reading from `tsc` and the sources of modern hypervisors, 1 to 5 µs from a chip.",
    here: Some(measure),
    fix: Fix::Consent {
        plan,
        affects: "every program on this host, if the kernel rejected `tsc` because it is unstable.",
    },
    proof: Proof::By(Measure::ClockReading),
    ..Rule::COMMON
};

/// Sources that the vDSO can read in user space.
const FAST: &[&str] = &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

/// The subset that the vDSO reads there only if the hypervisor says that the CPU's counter is stable.
const IF_STABLE: &[&str] = &["kvm-clock", "hyperv_clocksource_tsc_page"];

const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// Measured durations, ns.
#[derive(Clone, Copy)]
struct Measured {
    reading_ns: f64,
    /// The shortest system call there is.
    call_ns: f64,
}

impl Measured {
    fn here() -> Measured {
        let reading_ns = fastest_ns(|| {
            std::hint::black_box(WallClock.now());
        });
        let call_ns = fastest_ns(|| {
            std::hint::black_box(rustix::process::getppid());
        });
        Measured { reading_ns, call_ns }
    }

    /// A reading that enters the kernel takes at least as long as the shortest system call.
    fn enters_the_kernel(self) -> bool {
        self.reading_ns >= self.call_ns
    }
}

fn probe(host: &Host) -> Look {
    let current = text(host, CLOCK_SOURCE)?;
    judged(&current, &host.read_opt(AVAILABLE).unwrap_or_default(), host.is_this().then(Measured::here))
}

/// Judges by the measurement; on a recorded host by the name of the source, where the name is enough.
fn judged(current: &str, available: &str, measured: Option<Measured>) -> Look {
    let observed = format!("{current} (available: {available})");
    let (observed, fast) = match measured {
        Some(measured) => {
            let Measured { reading_ns, call_ns } = measured;
            let times = format!("{reading_ns:.0} ns per reading, {call_ns:.0} ns per system call");
            (format!("{observed}, {times}"), !measured.enters_the_kernel())
        }
        None if IF_STABLE.contains(&current) => {
            return hidden(format!("the speed of {current} depends on the hypervisor; measure it on the host itself"));
        }
        None => (observed, FAST.contains(&current)),
    };
    if fast {
        return fine(observed);
    }
    let other = available.split_whitespace().find(|source| FAST.contains(source) && *source != current);
    problem(observed, other.unwrap_or("a source that programs can read without a system call; this kernel offers none"))
}

fn plan(host: &Host) -> Plan {
    let setting = Setting::Sysfs("devices/system/clocksource/clocksource0/current_clocksource".to_owned());
    let was = setting.get(host)?;
    // The kernel removes a source that it found unstable from this list.
    let available = host.read_opt(AVAILABLE).unwrap_or_default();
    let fast = available.split_whitespace().find(|source| FAST.contains(source) && **source != was);
    Ok(fast.map(|fast| Change { setting, was, becomes: fast.to_owned() }).into_iter().collect())
}

/// The fastest of several short series, so that nothing else interfered.
fn fastest_ns(work: impl Fn()) -> f64 {
    const TIMES: u32 = 1000;
    let series = || {
        let start = WallClock.now();
        (0..TIMES).for_each(|_| work());
        WallClock.now().saturating_since(start).as_nanos() as f64 / f64::from(TIMES)
    };
    (0..10).map(|_| series()).fold(f64::INFINITY, f64::min)
}

fn measure(_: &Host) -> Option<String> {
    Some(format!("{:.0} ns per reading on this host", Measured::here().reading_ns))
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
            assert_eq!(word, if IF_STABLE.contains(source) { "hidden" } else { "fine" }, "{source}");
        }
    }

    #[test] // kvm-clock was called fast unread
    fn a_source_is_as_fast_as_it_was_measured_whatever_its_name() {
        let judged = |source: &str, reading_ns: f64| {
            judged(source, &format!("{source} tsc acpi_pm"), Some(Measured { reading_ns, call_ns: 120.0 })).unwrap()
        };
        for source in ["tsc", "kvm-clock", "one-of-tomorrow"] {
            assert!(matches!(judged(source, 30.0), Finding::Fine { .. }), "{source}");
            let Finding::Problem { observed, wanted } = judged(source, 260.4) else { panic!("{source}") };
            let times = ", 260 ns per reading, 120 ns per system call";
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
    fn a_chip_is_a_problem_and_gives_way_to_what_is_offered() {
        let tree = tree("hpet\n", "tsc hpet acpi_pm \n");
        let host = tree.host();
        assert!(matches!(probe(&host).unwrap(), Finding::Problem { wanted, .. } if wanted == "tsc"));
        assert_eq!(plan(&host).unwrap()[0].becomes, "tsc");
    }

    #[test]
    fn a_source_the_kernel_has_ruled_out_is_not_requested() {
        let tree = tree("hpet\n", "hpet acpi_pm \n");
        let host = tree.host();
        assert!(matches!(probe(&host).unwrap(), Finding::Problem { wanted, .. } if wanted.contains("offers none")));
        assert_eq!(plan(&host).unwrap(), []);
        assert!(probe(&Tree::new().host()).is_err());
    }

    #[test]
    fn a_reading_is_measured() {
        assert!(measure(&Host::this()).unwrap().ends_with("ns per reading on this host"));
    }
}
