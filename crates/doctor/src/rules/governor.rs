//! `governor`: a processor that saves power between two datagrams.

use takt_host::Host;
use takt_host::ReadError;
use takt_host::proc::cpu_list;

use super::super::rule::{Effect, Finding, Fix, KernelRange, Measure, Proof, Rule, Topic};
use super::super::setting::{Change, Setting, SettingError};

pub(super) static RULE: Rule = Rule {
    id: "governor",
    topic: Topic::Power,
    title: "Frequency governor that saves power",
    mechanism: "Between two slots a power-saving governor lowers the clock, and the next slot's work begins slow.",
    looks_at: "`scaling_governor` of each online CPU. Stands if one is not `performance`.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "Not measured here: the gain depends on the processor, and takt's developers had only virtual machines, \
                which show no frequency control.",
        here: None,
    },
    fix: Fix::Consent {
        plan,
        who_may_pay: "power, heat and battery of this machine, and the turbo clock of its other cores.",
    },
    proof: Proof::By(Measure::WakeUp),
};

const CPUS: &str = "devices/system/cpu";

/// The CPUs whose frequency can be governed, each with its governor.
fn governors(host: &Host) -> Vec<(usize, String)> {
    let online =
        host.read_opt(&format!("/sys/{CPUS}/online")).and_then(|text| cpu_list::parse(&text)).unwrap_or_default();
    let governor = |cpu| Some((cpu, host.read_opt(&format!("/sys/{CPUS}/cpu{cpu}/cpufreq/scaling_governor"))?));
    online.into_iter().filter_map(governor).collect()
}

fn probe(host: &Host) -> Result<Finding, ReadError> {
    let all = governors(host);
    if all.is_empty() {
        let why = "this kernel shows no frequency control (as in most virtual machines)".to_owned();
        return Ok(Finding::NotVisible { why });
    }
    let saving: Vec<&(usize, String)> = all.iter().filter(|(_, governor)| governor != "performance").collect();
    let Some((_, name)) = saving.first() else {
        return Ok(Finding::Fine { seen: format!("performance on {} CPUs", all.len()) });
    };
    let cpus: Vec<usize> = saving.iter().map(|&&(cpu, _)| cpu).collect();
    Ok(Finding::Stands { seen: format!("{name} on {}", super::look::named(&cpus)), wanted: "performance".to_owned() })
}

fn plan(host: &Host) -> Result<Vec<Change>, SettingError> {
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
    use takt_host::testing::Tree;

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
    fn performance_everywhere_is_fine() {
        assert!(matches!(probe(&tree(&["performance"; 2]).host()).unwrap(), Finding::Fine { .. }));
    }

    #[test]
    fn the_cpus_that_save_power_are_named_and_changed_one_by_one() {
        let tree = tree(&["performance", "powersave", "powersave"]);
        let host = tree.host();
        let Finding::Stands { seen, .. } = probe(&host).unwrap() else { panic!("stands") };
        assert_eq!(seen, "powersave on CPUs 1-2");
        let commands: Vec<String> = plan(&host).unwrap().iter().map(Change::command).collect();
        let command =
            |cpu| format!("echo performance | sudo tee /sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        assert_eq!(commands, [command(1), command(2)]);
    }

    #[test]
    fn a_governor_that_is_not_offered_is_not_asked_for() {
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
