//! `frequency-limit`: a processor that is held below its own frequency.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "frequency-limit",
    topic: Topic::Power,
    title: "Frequency held down",
    mechanism: "A limit below what the processor could do makes every slot's work longer by the same factor, and with turbo \
                off no core may go beyond its nominal clock.",
    looks_at: "`scaling_max_freq` against `cpuinfo_max_freq` of each CPU, and `cpufreq/boost` or `intel_pstate/no_turbo`. \
               Stands if a CPU is held below its own; turbo off alone is noted, since some switch it off to have every slot \
               take the same time.",
    probe,
    known: "In proportion: at 2 of 3 GHz work takes 1.5 times as long. Not measured here, since takt's developers had \
            only virtual machines, which show no frequency control.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "power, heat and battery of this machine; a limit that was set against heat.",
    },
    proof: Proof::By(Measure::Datagram),
    ..Rule::COMMON
};

/// CPUs that are held below their own, with what they could do.
fn limited(host: &Host) -> Result<Option<Vec<(usize, u64)>>, ReadError> {
    let most = of_each_cpu(host, "cpufreq/cpuinfo_max_freq")?;
    let limits = of_each_cpu(host, "cpufreq/scaling_max_freq")?;
    let khz = |all: &[(usize, String)], cpu| all.iter().find(|(at, _)| *at == cpu)?.1.parse::<u64>().ok();
    let below = |&(cpu, _): &(usize, String)| {
        let (limit, could) = (khz(&limits, cpu)?, khz(&most, cpu)?);
        (limit < could).then_some((cpu, could))
    };
    Ok((!limits.is_empty()).then(|| limits.iter().filter_map(below).collect()))
}

/// The switch that holds turbo back: its name below `/sys` and the value that lets it go.
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
    if !limited.is_empty() {
        let cpus: Vec<usize> = limited.iter().map(|&(cpu, _)| cpu).collect();
        observed.push(format!("{} held below the own frequency", named(&cpus)));
    }
    if turbo_off(host).is_some() {
        observed.push("turbo is off".to_owned());
    }
    match (limited.is_empty(), observed.as_slice()) {
        (_, []) => fine("as high as the processor goes"),
        (true, [turbo]) => notice(turbo.clone(), "steadier, and slower where one core works alone"),
        _ => stands(observed.join(", "), "no limit"),
    }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    if let Some((name, free)) = turbo_off(host) {
        changes.extend(becomes(host, Setting::Sysfs(name), free)?);
    }
    for (cpu, khz) in limited(host).ok().flatten().unwrap_or_default() {
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
    fn a_limit_and_missing_turbo_stand_and_are_lifted() {
        assert_eq!(word(&RULE, &[ONLINE, MOST, (LIMIT, "3000000\n")]), "fine");
        let low = [ONLINE, MOST, (LIMIT, "2000000\n"), ("/sys/devices/system/cpu/cpufreq/boost", "0\n")];
        assert_eq!(verdict(&RULE, &low), ("stands", "CPU 0 held below the own frequency, turbo is off".to_owned()));
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
}
