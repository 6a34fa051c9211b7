//! `energy-preference`: the CPU chooses its own frequency, by a preference.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "energy-preference",
    topic: Topic::Power,
    title: "Energy preference that saves power",
    mechanism: "CPUs that choose their own frequency follow a preference. One that saves energy raises the clock late, \
                after a slot's work is half done.",
    looks_at: "`energy_performance_preference` of each CPU. A problem for `power`, `balance_power` and, if the kernel \
               shows a number, above 128 (balance_performance). `default` leaves the choice to the CPU and is a \
               notice.",
    probe,
    known: "Not measured: takt's developers had only virtual machines, which show no frequency control.",
    fix: Fix::Consent { plan, affects: "power, heat and battery life." },
    proof: Proof::By(Measure::WakeUp),
    ..Rule::COMMON
};

const FILE: &str = "cpufreq/energy_performance_preference";
const WANTED: &str = "performance";

/// The scale goes from 0, performance, by 128 and 192, the two balances, to 255, power.
fn saves(preference: &str) -> bool {
    matches!(preference, "power" | "balance_power") || preference.parse::<u8>().is_ok_and(|number| number > 128)
}

fn probe(host: &Host) -> Look {
    let all = of_each_cpu(host, FILE)?;
    let Some((_, first)) = all.first() else { return hidden("this CPU has no energy preference") };
    let saving: Vec<&(usize, String)> = all.iter().filter(|(_, preference)| saves(preference)).collect();
    let Some((_, name)) = saving.first() else {
        let unsaid = all.iter().any(|(_, preference)| preference == "default");
        return if unsaid { notice("default", "only the CPU knows what this means") } else { fine(first.clone()) };
    };
    let cpus: Vec<usize> = saving.iter().map(|(cpu, _)| *cpu).collect();
    problem(format!("{name} on {}", named(&cpus)), WANTED)
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    let to_change = |(_, preference): &&(usize, String)| saves(preference) || preference == "default";
    for (cpu, _) in of_each_cpu(host, FILE).unwrap_or_default().iter().filter(to_change) {
        changes.extend(becomes(host, Setting::Sysfs(format!("{CPUS}/cpu{cpu}/{FILE}")), WANTED)?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_for_energy_is_a_problem() {
        let online = ("/sys/devices/system/cpu/online", "0\n");
        let file = "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference";
        for (preference, answer) in
            [("balance_performance", "fine"), ("128", "fine"), ("192", "problem"), ("default", "notice")]
        {
            assert_eq!(word(&RULE, &[online, (file, preference)]), answer, "{preference}");
        }
        assert_eq!(verdict(&RULE, &[online, (file, "power\n")]), ("problem", "power on CPU 0".to_owned()));
        assert_eq!(commands(&RULE, &[online, (file, "power\n")]), [format!("echo performance | sudo tee {file}")]);
        assert_eq!(word(&RULE, &[online]), "hidden");
    }
}
