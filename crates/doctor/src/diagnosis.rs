//! Looking: every rule applied to a host, the answers as plain values.

use serde::{Deserialize, Serialize};
use takt_host::Host;
use takt_host::call;
use takt_host::with_causes;

use super::rule::{Finding, Fix, Rule};
use super::rules::RULES;
use super::setting::Change;

/// What one rule has to say about a host. A plain value: it is what reports, records and `--json` hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    pub id: String,
    pub title: String,
    pub verdict: Verdict,
    pub observed: String,
    /// What would not stand in the way; for a notice, whom it concerns.
    pub wanted: Option<String>,
    pub why: String,
    /// What it costs; only where it stands or is noted.
    pub cost: Option<Cost>,
    /// What mends it; only where it stands or is noted.
    pub fix: Option<FixOffer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Looked at, and not in the way.
    Fine,
    Stands,
    /// Not in takt's way; in that of other programs.
    Notice,
    NotVisible,
    NotKnownHere,
}

impl Verdict {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Fine => "fine",
            Verdict::Stands => "stands",
            Verdict::Notice => "notice",
            Verdict::NotVisible => "hidden",
            Verdict::NotKnownHere => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Measured on this host just now. `None`: not measured here.
    pub measured_here: Option<String>,
    pub known: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOffer {
    pub kind: FixKind,
    pub changes: Vec<Change>,
    /// The same as shell commands; for advice, what to do, one way a line.
    pub commands: Vec<String>,
    /// Who pays, if anyone does.
    pub who_may_pay: Option<String>,
    /// How to take it back; absent for advice.
    pub undo: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    Safe,
    Consent,
    Advice,
}

/// Applies the rules that `which` picks, in their order. Takes a fraction of a second, most of it to watch the load;
/// changes nothing.
#[must_use]
pub fn examine(host: &Host, which: impl Fn(&Rule) -> bool) -> Vec<Diagnosis> {
    let release = host.read_opt("/proc/sys/kernel/osrelease").unwrap_or_default();
    RULES.iter().copied().filter(|&rule| which(rule)).map(|rule| diagnose(rule, host, &release)).collect()
}

fn diagnose(rule: &Rule, host: &Host, release: &str) -> Diagnosis {
    // Each rule has its own view: one that watches a recorded host for a while does not move it on for the next.
    let host = host.clone();
    let (verdict, observed, wanted) = match (rule.probe)(&host) {
        Ok(Finding::Fine { observed }) => (Verdict::Fine, observed, None),
        Ok(Finding::Stands { observed, wanted }) => (Verdict::Stands, observed, Some(wanted)),
        Ok(Finding::Notice { observed, note }) => (Verdict::Notice, observed, Some(note)),
        Ok(Finding::NotVisible { why }) => (Verdict::NotVisible, why, None),
        Err(error) => (Verdict::NotVisible, with_causes(&error), None),
    };
    let looked = matches!(verdict, Verdict::Fine | Verdict::Stands | Verdict::Notice);
    let verdict = if looked && rule.kernels.holds(release) != Some(true) { Verdict::NotKnownHere } else { verdict };
    let concerns = matches!(verdict, Verdict::Stands | Verdict::Notice);
    Diagnosis {
        id: rule.id.to_owned(),
        title: rule.title.to_owned(),
        verdict,
        observed,
        wanted,
        why: rule.mechanism.to_owned(),
        cost: concerns.then(|| Cost {
            measured_here: rule.here.filter(|_| host.is_this()).and_then(|measure| measure(&host)),
            known: rule.known.to_owned(),
        }),
        fix: if concerns { offer(rule, &host) } else { None },
    }
}

/// What mends it here; `None` if the rule has no way on this host (nothing to change, nothing to say).
fn offer(rule: &Rule, host: &Host) -> Option<FixOffer> {
    let (kind, changes, commands, who_may_pay) = match &rule.fix {
        Fix::Safe(plan) => (FixKind::Safe, plan(host).ok()?, Vec::new(), None),
        Fix::Consent { plan, who_may_pay } => {
            (FixKind::Consent, plan(host).ok()?, Vec::new(), Some((*who_may_pay).to_owned()))
        }
        Fix::Advice(ways) => (FixKind::Advice, Vec::new(), ways.on(host), None),
    };
    let commands = if kind == FixKind::Advice { commands } else { changes.iter().map(Change::command).collect() };
    let undo = (kind != FixKind::Advice).then(|| call::sudo_takt(format_args!("doctor --undo --only {}", rule.id)));
    (!commands.is_empty()).then_some(FixOffer { kind, changes, commands, who_may_pay, undo })
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Proof, Ways};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use takt_host::testing::Tree;

    #[test]
    fn a_host_that_shows_nothing_is_never_called_fine() {
        for diagnosis in examine(&Tree::new().host(), |_| true) {
            assert_eq!(diagnosis.verdict, Verdict::NotVisible, "{diagnosis:?}");
            assert!(!diagnosis.observed.is_empty(), "{}", diagnosis.id);
        }
    }

    #[test]
    fn on_a_kernel_outside_its_range_a_rule_says_so() {
        let tree =
            Tree::new().with("/proc/sys/kernel/osrelease", "2.6.32\n").with("/proc/self/timerslack_ns", "50000\n");
        let found = examine(&tree.host(), |rule| rule.id == "timer-slack");
        assert_eq!(found[0].verdict, Verdict::NotKnownHere);
        assert!(found[0].fix.is_none() && found[0].cost.is_none());
    }

    #[test]
    fn every_rule_has_its_own_name_and_says_everything() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for rule in RULES {
            for text in [rule.id, rule.title, rule.mechanism, rule.looks_at, rule.known] {
                assert!(!text.is_empty(), "{}", rule.id);
            }
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
            assert!(rule.mechanism.ends_with('.'), "{}: a sentence", rule.id);
            let advice = matches!(rule.fix, Fix::Advice(_));
            assert_eq!(rule.proof == Proof::ADVICE, advice, "{}: only a change can be proved", rule.id);
            assert!(!matches!(rule.fix, Fix::Advice(Ways::Always([]))), "{}: no advice", rule.id);
        }
    }

    #[test]
    fn this_host_is_examined_and_every_rule_answers() {
        let found = examine(&Host::this(), |_| true);
        assert_eq!(found.len(), RULES.len());
        for diagnosis in &found {
            if diagnosis.verdict == Verdict::Stands {
                assert!(diagnosis.wanted.is_some() && diagnosis.cost.is_some(), "{diagnosis:?}");
            }
            let json = serde_json::to_string(diagnosis).unwrap();
            assert_eq!(&serde_json::from_str::<Diagnosis>(&json).unwrap(), diagnosis);
        }
    }

    const FILES: &[&str] = &[
        "/proc/sys/net/core/rmem_max",
        "/proc/sys/net/core/wmem_max",
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/proc/sys/kernel/sched_rt_period_us",
        "/proc/swaps",
        "/proc/meminfo",
        "/proc/vmstat",
        "/proc/stat",
        "/proc/1/stat",
        "/proc/1/comm",
        "/proc/cmdline",
        "/proc/cpuinfo",
        "/proc/device-tree/compatible",
        "/proc/device-tree/hypervisor/compatible",
        "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/sys_vendor",
        "/proc/interrupts",
        "/proc/irq/24/smp_affinity_list",
        "/proc/net/softnet_stat",
        "/proc/pressure/cpu",
        "/proc/pressure/memory",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/self/stat",
        "/proc/self/limits",
        "/proc/self/status",
        "/proc/self/timerslack_ns",
        "/proc/sys/kernel/numa_balancing",
        "/proc/sys/kernel/sched_autogroup_enabled",
        "/proc/sys/kernel/timer_migration",
        "/proc/sys/kernel/printk",
        "/proc/consoles",
        "/proc/net/route",
        "/proc/42/task/43/stat",
        "/proc/sys/net/core/netdev_budget",
        "/proc/sys/net/core/netdev_budget_usecs",
        "/proc/sys/net/core/netdev_max_backlog",
        "/sys/class/net/eth0/device/current_link_speed",
        "/sys/class/net/eth0/device/current_link_width",
        "/sys/kernel/debug/sched/fair_server/cpu0/runtime",
        "/proc/sys/net/netfilter/nf_conntrack_count",
        "/proc/sys/net/netfilter/nf_conntrack_max",
        "/sys/class/net/eth0/device/msi_irqs/24",
        "/sys/class/net/eth0/device/numa_node",
        "/sys/class/net/eth0/device/uevent",
        "/sys/class/net/eth0/mtu",
        "/sys/class/net/eth0/queues/rx-0/rps_cpus",
        "/sys/class/net/eth0/speed",
        "/sys/class/net/eth0/statistics/rx_packets",
        "/ethtool/eth0/rx_ring",
        "/ethtool/eth0/rx_usecs",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
        "/sys/devices/system/cpu/isolated",
        "/sys/devices/system/node/node0/cpulist",
        "/sys/devices/system/node/node1/cpulist",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_rule_panics_whatever_the_files_hold(texts in proptest::collection::vec(
            prop_oneof![any::<String>(), "-?[0-9]{1,20}\n", "cpu( [0-9]{1,20}){8}\ncpu0( [0-9]{1,20}){8}\n", "[0-9a-zA-Z(): \t\n-]{0,200}"],
            FILES.len()..=FILES.len(),
        )) {
            let tree = Tree::new().with("/proc/sys/kernel/osrelease", "6.18.0\n");
            tree.put("/sys/class/net/eth0/operstate", "up\n");
            for (file, text) in FILES.iter().zip(&texts) {
                tree.put(file, text);
            }
            let found = examine(&tree.host(), |_| true);
            prop_assert_eq!(found.len(), RULES.len());
        }
    }
}
