//! `governor`: the CPU saves power between two datagrams.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "governor",
    topic: Topic::Power,
    title: "Frequency governor that saves power",
    mechanism: "Between two slots, a power-saving governor lowers the clock, so the work of the next slot begins \
                slowly.",
    looks_at: "`scaling_governor` of each online CPU. A problem if one is not `performance`.",
    probe,
    known: "Not measured: the gain depends on the CPU, and takt's developers had only virtual machines, which show no \
            frequency control.",
    fix: Fix::Consent { plan, affects: "power, heat and battery life, and the turbo clock of the other cores." },
    proof: Proof::By(Measure::WakeUp),
    ..Rule::COMMON
};

/// The CPUs whose frequency can be governed, each with its governor.
fn governors(host: &Host) -> Vec<(usize, String)> {
    of_each_cpu(host, "cpufreq/scaling_governor").unwrap_or_default()
}

fn probe(host: &Host) -> Look {
    let all = governors(host);
    if all.is_empty() {
        return hidden("this kernel shows no frequency control (as in most virtual machines)");
    }
    let saving: Vec<&(usize, String)> = all.iter().filter(|(_, governor)| governor != "performance").collect();
    let Some((_, name)) = saving.first() else {
        return fine(format!("performance on {} CPUs", all.len()));
    };
    let cpus: Vec<usize> = saving.iter().map(|&&(cpu, _)| cpu).collect();
    problem(format!("{name} on {}", named(&cpus)), "performance")
}

fn plan(host: &Host) -> Plan {
    let offered = |cpu: usize| {
        host.read_opt(&format!("/sys/{CPUS}/cpu{cpu}/cpufreq/scaling_available_governors"))
            .is_none_or(|all| all.split_whitespace().any(|governor| governor == "performance"))
    };
    let change = |(cpu, was): (usize, String)| Change {
        setting: Setting::Sysfs(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")),
        was,
        becomes: "performance".to_owned(),
    };
    let saving = governors(host).into_iter().filter(|(cpu, governor)| governor != "performance" && offered(*cpu));
    Ok(saving.map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(governors: &[&str]) -> Tree {
        let tree = Tree::new().with("/sys/devices/system/cpu/online", &format!("0-{}\n", governors.len() - 1));
        for (cpu, governor) in governors.iter().enumerate() {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
            tree.put(&format!("{folder}/scaling_governor"), &format!("{governor}\n"));
            tree.put(&format!("{folder}/scaling_available_governors"), "performance powersave \n");
        }
        tree
    }

    #[test]
    fn the_cpus_that_save_power_are_named_and_changed_one_by_one() {
        assert!(matches!(probe(&tree(&["performance"; 2]).host()).unwrap(), Finding::Fine { .. }));
        let tree = tree(&["performance", "powersave", "powersave"]);
        let host = tree.host();
        assert_eq!(found(&RULE, &host), ("problem", "powersave on CPUs 1-2".to_owned()));
        let commands: Vec<String> = plan(&host).unwrap().iter().map(Change::command).collect();
        let command =
            |cpu| format!("echo performance | sudo tee /sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        assert_eq!(commands, [command(1), command(2)]);
    }

    #[test]
    fn a_governor_that_is_not_offered_is_not_requested() {
        let tree = tree(&["powersave"]);
        tree.put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "powersave schedutil\n");
        assert_eq!(plan(&tree.host()).unwrap(), []);
    }

    #[test]
    fn a_machine_without_frequency_control_says_so() {
        let tree = Tree::new().with("/sys/devices/system/cpu/online", "0-3\n");
        assert!(matches!(probe(&tree.host()).unwrap(), Finding::NotVisible { .. }));
    }
}
