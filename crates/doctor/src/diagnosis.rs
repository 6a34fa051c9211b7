//! Applies every rule to a host. The results are plain values.

use serde::{Deserialize, Serialize};
use takt_host::Host;
use takt_host::call;
use takt_host::with_causes;

use super::rule::{Finding, Fix, Rule, Topic};
use super::rules::RULES;
use super::setting::Change;

/// The result of one rule on a host: a plain value for reports, records and `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    pub id: String,
    pub title: String,
    pub verdict: Verdict,
    pub observed: String,
    /// The value that would be fine; for a notice, the note.
    pub wanted: Option<String>,
    pub why: String,
    /// The cost; only for a problem, or for a notice of a rule that can find one.
    pub cost: Option<Cost>,
    /// How to fix it; only for a problem or a notice.
    pub fix: Option<FixOffer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Examined, and not a problem.
    Fine,
    /// It keeps a radio from its deadlines. Documents of before called it `stands`.
    #[serde(alias = "stands")]
    Problem,
    /// No problem for takt, but it affects other programs.
    Notice,
    NotVisible,
    NotKnownHere,
}

impl Verdict {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Fine => "fine",
            Verdict::Problem => "problem",
            Verdict::Notice => "notice",
            Verdict::NotVisible => "hidden",
            Verdict::NotKnownHere => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Measured on this host just now. `None`: not measured on this host.
    pub measured_here: Option<String>,
    pub known: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOffer {
    pub kind: FixKind,
    pub changes: Vec<Change>,
    /// The changes as shell commands; for advice, one instruction per element.
    pub commands: Vec<String>,
    /// Side effects of the change, if any.
    #[serde(alias = "who_may_pay")]
    pub affects: Option<String>,
    /// How to undo it; absent for advice.
    pub undo: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    Safe,
    Consent,
    Advice,
}

/// Applies the rules that `which` picks, in their order, and changes nothing. Takes a fraction of a second, most of it to
/// watch the load.
#[must_use]
pub fn examine(host: &Host, which: impl Fn(&Rule) -> bool) -> Vec<Diagnosis> {
    let release = host.read_opt("/proc/sys/kernel/osrelease").unwrap_or_default();
    RULES.iter().copied().filter(|&rule| which(rule)).map(|rule| diagnose(rule, host, &release)).collect()
}

fn diagnose(rule: &Rule, host: &Host, release: &str) -> Diagnosis {
    // Each rule has its own view, so a rule that watches a recorded host for a while does not advance it for the next.
    let host = host.clone();
    let (verdict, observed, wanted) = match (rule.probe)(&host) {
        Ok(Finding::Fine { observed }) => (Verdict::Fine, observed, None),
        Ok(Finding::Problem { observed, wanted }) => (Verdict::Problem, observed, Some(wanted)),
        Ok(Finding::Notice { observed, note }) => (Verdict::Notice, observed, Some(note)),
        Ok(Finding::NotVisible { why }) => (Verdict::NotVisible, why, None),
        Err(error) => (Verdict::NotVisible, with_causes(&error), None),
    };
    let looked = matches!(verdict, Verdict::Fine | Verdict::Problem | Verdict::Notice);
    let verdict = if looked && rule.kernels.holds(release) != Some(true) { Verdict::NotKnownHere } else { verdict };
    let concerns = matches!(verdict, Verdict::Problem | Verdict::Notice);
    Diagnosis {
        id: rule.id.to_owned(),
        title: rule.title.to_owned(),
        verdict,
        observed,
        wanted,
        why: rule.mechanism.to_owned(),
        cost: (concerns && rule.topic != Topic::Notes).then(|| Cost {
            measured_here: rule.here.filter(|_| host.is_this()).and_then(|measure| measure(&host)),
            known: rule.known.to_owned(),
        }),
        fix: if concerns { offer(rule, &host) } else { None },
    }
}

/// The fix on this host; `None` if the rule has none (nothing to change, nothing to advise).
fn offer(rule: &Rule, host: &Host) -> Option<FixOffer> {
    let (kind, changes, commands, affects) = match &rule.fix {
        Fix::Safe(plan) => (FixKind::Safe, plan(host).ok()?, Vec::new(), None),
        Fix::Consent { plan, affects } => (FixKind::Consent, plan(host).ok()?, Vec::new(), Some((*affects).to_owned())),
        Fix::Advice(instructions) => (FixKind::Advice, Vec::new(), instructions.on(host), None),
    };
    let commands = if kind == FixKind::Advice { commands } else { changes.iter().map(Change::command).collect() };
    let undo = (kind != FixKind::Advice).then(|| call::sudo_takt(format_args!("doctor --undo --only {}", rule.id)));
    (!commands.is_empty()).then_some(FixOffer { kind, changes, commands, affects, undo })
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Instructions, Proof};
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
        for rule in RULES.iter() {
            for text in [rule.id, rule.title, rule.mechanism, rule.looks_at] {
                assert!(!text.is_empty(), "{}", rule.id);
            }
            assert_eq!(rule.known.is_empty(), rule.topic == Topic::Notes, "{}: a note has no cost of its own", rule.id);
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
            assert!(rule.mechanism.ends_with('.'), "{}: a sentence", rule.id);
            let advice = matches!(rule.fix, Fix::Advice(_));
            assert_eq!(rule.proof == Proof::ADVICE, advice, "{}: only a change can be proved", rule.id);
            assert!(!matches!(rule.fix, Fix::Advice(Instructions::Always([]))), "{}: no advice", rule.id);
        }
    }

    #[test]
    fn this_host_is_examined_and_every_rule_answers() {
        let found = examine(&Host::this(), |_| true);
        assert_eq!(found.len(), RULES.len());
        for diagnosis in &found {
            if diagnosis.verdict == Verdict::Problem {
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
            let is_note = |id: &str| crate::rule(id).is_some_and(|rule| rule.topic == Topic::Notes);
            prop_assert!(!found.iter().any(|one| one.verdict == Verdict::Problem && is_note(&one.id)));
        }
    }
}
