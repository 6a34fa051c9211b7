//! `frequency-limit`: the CPU may not reach its maximum frequency.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "frequency-limit",
    topic: Topic::Power,
    title: "Frequency limited",
    mechanism: "A limit below the CPU's maximum makes the work of every slot longer by the same factor. With turbo \
                off, no core can exceed its nominal clock.",
    looks_at: "`scaling_max_freq` and `cpuinfo_max_freq` of each CPU, and `cpufreq/boost` or `intel_pstate/no_turbo`. \
               A problem if a CPU is limited below its maximum. Turbo off alone is a notice, since some switch it off \
               so that every slot takes the same time. takt offers no change for a limit that the kernel or the \
               firmware sets against heat. The CPUs' cooling devices (`cur_state`) and `bios_limit` show such a limit.",
    probe,
    known: "In proportion: at 2 of 3 GHz, work takes 1.5 times as long. Not measured: takt's developers had only \
            virtual machines, which show no frequency control.",
    fix: Fix::Consent { plan, affects: "power, heat and battery life, and a limit that somebody set against heat." },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

/// CPUs limited below their maximum frequency.
#[derive(Default)]
struct Limited {
    /// By the setting, each with the frequency that it could have, kHz.
    by_setting: Vec<(usize, u64)>,
    /// By the kernel or the firmware, temporarily. Writing their limit would change what applies once they are cool.
    by_heat: Vec<usize>,
}

fn limited(host: &Host) -> Result<Option<Limited>, ReadError> {
    let most = of_each_cpu(host, "cpufreq/cpuinfo_max_freq")?;
    let limits = of_each_cpu(host, "cpufreq/scaling_max_freq")?;
    if limits.is_empty() {
        return Ok(None);
    }
    let firmware = of_each_cpu(host, "cpufreq/bios_limit")?;
    let cooled = cooled(host);
    let khz = |all: &[(usize, String)], cpu| all.iter().find(|(at, _)| *at == cpu)?.1.parse::<u64>().ok();
    let mut found = Limited::default();
    for &(cpu, _) in &limits {
        let (Some(limit), Some(could)) = (khz(&limits, cpu), khz(&most, cpu)) else { continue };
        if limit >= could {
            continue;
        }
        // Nobody gets more than the firmware allows.
        let most = khz(&firmware, cpu).unwrap_or(could).min(could);
        if limit >= most || cooled.as_ref().is_some_and(|cooled| cooled.is_empty() || cooled.contains(&cpu)) {
            found.by_heat.push(cpu);
        } else {
            found.by_setting.push((cpu, most));
        }
    }
    Ok(Some(found))
}

/// The CPUs that a cooling device slows down now. Empty: a device does, and it may be any CPU. `None`: no device does.
///
/// Kernels from 5.12 on name a device after the CPU whose policy it limits, older ones number it; ACPI's are all `Processor`.
fn cooled(host: &Host) -> Option<Vec<usize>> {
    const THERMAL: &str = "/sys/class/thermal";
    let mut cooled: Option<Vec<usize>> = None;
    let mut any = false;
    for device in host.list(THERMAL).iter().filter(|name| name.starts_with("cooling_device")) {
        let read = |file: &str| host.read_opt(&format!("{THERMAL}/{device}/{file}"));
        let active = read("cur_state").and_then(|state| state.parse::<u64>().ok()).is_some_and(|state| state > 0);
        let Some(kind) = read("type").filter(|_| active) else { continue };
        if let Some(cpu) = kind.strip_prefix("cpufreq-cpu").and_then(|cpu| cpu.parse::<usize>().ok()) {
            let policy = format!("/sys/{CPUS}/cpu{cpu}/cpufreq/related_cpus");
            let related = host.read_opt(&policy).unwrap_or_default();
            let related = related.split_whitespace().filter_map(|cpu| cpu.parse().ok());
            cooled.get_or_insert_default().extend(related.chain([cpu]));
        } else {
            any |= kind == "Processor" || kind.starts_with("thermal-cpufreq-");
        }
    }
    if any { Some(Vec::new()) } else { cooled }
}

/// The switch that turned turbo off: its name below `/sys` and the value that turns turbo on.
fn turbo_off(host: &Host) -> Option<(String, &'static str)> {
    let switches = [("cpufreq/boost", "0", "1"), ("intel_pstate/no_turbo", "1", "0")];
    let off = |(name, off, free): (&str, &str, &'static str)| {
        let name = format!("{CPUS}/{name}");
        (host.read_opt(&format!("/sys/{name}")).as_deref() == Some(off)).then_some((name, free))
    };
    switches.into_iter().find_map(off)
}

fn probe(host: &Host) -> Look {
    let Some(limited) = limited(host)? else { return hidden("this kernel shows no frequency control") };
    let mut observed = Vec::new();
    if !limited.by_setting.is_empty() {
        let cpus: Vec<usize> = limited.by_setting.iter().map(|&(cpu, _)| cpu).collect();
        observed.push(format!("{} limited below the maximum", named(&cpus)));
    }
    if !limited.by_heat.is_empty() {
        observed.push(format!("{} limited below the maximum by heat or firmware", named(&limited.by_heat)));
    }
    if turbo_off(host).is_some() {
        observed.push("turbo is off".to_owned());
    }
    let by_nobody = limited.by_setting.is_empty() && limited.by_heat.is_empty();
    match observed.as_slice() {
        [] => fine("no limit below the maximum"),
        [turbo] if by_nobody => notice(turbo.clone(), "steadier, but slower when one core works alone"),
        _ if limited.by_heat.is_empty() => problem(observed.join(", "), "no limit"),
        _ => problem(observed.join(", "), "no limit: improve the airflow, clean the cooler, check the power supply"),
    }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    if let Some((name, free)) = turbo_off(host) {
        changes.extend(becomes(host, Setting::Sysfs(name), free)?);
    }
    for (cpu, khz) in limited(host).ok().flatten().unwrap_or_default().by_setting {
        let setting = Setting::Sysfs(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_max_freq"));
        changes.extend(becomes(host, setting, &khz.to_string())?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0\n");
    const MOST: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
    const LIMIT: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq";

    #[test]
    fn a_limit_and_missing_turbo_are_a_problem_and_are_lifted() {
        assert_eq!(word(&RULE, &[ONLINE, MOST, (LIMIT, "3000000\n")]), "fine");
        let low = [ONLINE, MOST, (LIMIT, "2000000\n"), ("/sys/devices/system/cpu/cpufreq/boost", "0\n")];
        assert_eq!(verdict(&RULE, &low), ("problem", "CPU 0 limited below the maximum, turbo is off".to_owned()));
        assert_eq!(
            commands(&RULE, &low),
            [
                "echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
                "echo 3000000 | sudo tee /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
            ]
        );
        let steady = [ONLINE, MOST, (LIMIT, "3000000\n"), ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")];
        assert_eq!(word(&RULE, &steady), "notice");
        assert_eq!(commands(&RULE, &steady), ["echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"]);
        assert_eq!(word(&RULE, &[ONLINE]), "hidden");
    }

    /// Four CPUs of two policies, all held down, and this cooling device.
    fn hot<'a>(kind: &'a str, state: &'a str) -> Vec<(&'a str, &'a str)> {
        const FREQUENCIES: [(&str, &str); 8] = [
            ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3000000\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "2000000\n"),
            ("/sys/devices/system/cpu/cpu2/cpufreq/cpuinfo_max_freq", "3000000\n"),
            ("/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "2000000\n"),
            ("/sys/devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq", "3000000\n"),
            ("/sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq", "3000000\n"),
        ];
        let mut files = vec![("/sys/devices/system/cpu/online", "0-3\n")];
        files.extend(FREQUENCIES);
        files.push(("/sys/devices/system/cpu/cpu0/cpufreq/related_cpus", "0 1\n"));
        files.extend([("/sys/class/thermal/cooling_device3/type", kind)]);
        files.extend([("/sys/class/thermal/cooling_device3/cur_state", state)]);
        files
    }

    #[test]
    fn what_heat_holds_down_is_no_setting_and_is_left() {
        let lift = |cpu| format!("echo 3000000 | sudo tee /sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq");
        let below = "limited below the maximum";
        for (kind, state, observed, lifted) in [
            ("cpufreq-cpu0\n", "3\n", format!("CPU 2 {below}, CPUs 0-1 {below} by heat or firmware"), vec![2]),
            ("cpufreq-cpu0\n", "0\n", format!("CPUs 0-2 {below}"), vec![0, 1, 2]),
            ("thermal-cpufreq-0\n", "1\n", format!("CPUs 0-2 {below} by heat or firmware"), vec![]),
            ("Processor\n", "2\n", format!("CPUs 0-2 {below} by heat or firmware"), vec![]),
            ("Fan\n", "2\n", format!("CPUs 0-2 {below}"), vec![0, 1, 2]),
        ] {
            let files = hot(kind, state);
            assert_eq!(verdict(&RULE, &files), ("problem", observed), "{kind}");
            assert_eq!(commands(&RULE, &files), lifted.into_iter().map(lift).collect::<Vec<_>>(), "{kind}");
        }
    }

    #[test]
    fn what_the_firmware_holds_down_is_no_setting_unless_somebody_set_less() {
        let most = ("/sys/devices/system/cpu/cpu0/cpufreq/bios_limit", "2000000\n");
        let by_firmware = [ONLINE, MOST, (LIMIT, "2000000\n"), most];
        let observed = "CPU 0 limited below the maximum by heat or firmware".to_owned();
        assert_eq!(verdict(&RULE, &by_firmware), ("problem", observed));
        assert_eq!(commands(&RULE, &by_firmware), Vec::<String>::new());
        let less = [ONLINE, MOST, (LIMIT, "1500000\n"), most];
        assert_eq!(verdict(&RULE, &less).1, "CPU 0 limited below the maximum");
        assert_eq!(commands(&RULE, &less), [format!("echo 2000000 | sudo tee {LIMIT}")]);
    }
}
