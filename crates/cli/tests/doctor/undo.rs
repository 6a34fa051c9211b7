//! On a host of files where everything is wrong: `--fix` and then `--undo`, killed at any place, leave every setting that any
//! rule can touch as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use takt_doctor::{Fix, RULES};

use crate::program::{Fact, doctor, entries, fix_all, json, kill_at, text};

/// Everything a rule can change, each set so that it does.
const WRONG: &[(&str, &str)] = &[
    ("proc/sys/kernel/osrelease", "6.18.0\n"),
    ("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n"),
    ("proc/sys/net/core/rmem_max", "212992\n"),
    ("proc/sys/net/core/wmem_max", "212992\n"),
    ("proc/sys/net/core/netdev_max_backlog", "1000\n"),
    ("proc/sys/net/core/netdev_budget", "300\n"),
    ("proc/sys/net/core/netdev_budget_usecs", "2000\n"),
    ("proc/sys/net/core/busy_read", "0\n"),
    ("proc/sys/net/core/busy_poll", "0\n"),
    ("proc/net/softnet_stat", "00000010 00000001 00000002\n"),
    ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
    ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
    ("proc/sys/kernel/sched_autogroup_enabled", "1\n"),
    ("proc/sys/kernel/timer_migration", "1\n"),
    ("proc/sys/kernel/printk", "7 4 1 7\n"),
    ("proc/consoles", "ttyS0 -W- (EC) 4:64\n"),
    ("proc/sys/kernel/numa_balancing", "1\n"),
    ("proc/sys/vm/zone_reclaim_mode", "1\n"),
    ("proc/interrupts", " CPU0 CPU1\n 41: 7 0 eth0-0\n 42: 9 0 eth0-1\n 43: 0 5 disk\n"),
    ("proc/irq/41/smp_affinity_list", "0\n"),
    ("proc/irq/42/smp_affinity_list", "0\n"),
    ("proc/irq/43/smp_affinity_list", "0-2\n"),
    ("proc/irq/43/effective_affinity_list", "2\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("sys/devices/system/cpu/online", "0-2\n"),
    ("sys/devices/system/cpu/isolated", "2\n"),
    ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/schedutil/rate_limit_us", "500\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "power\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0\n"),
    ("sys/devices/system/cpu/cpuidle/current_governor", "haltpoll\n"),
    ("sys/module/haltpoll/parameters/guest_halt_poll_ns", "0\n"),
    ("sys/module/pcie_aspm/parameters/policy", "powersave\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always\n"),
    ("sys/kernel/mm/transparent_hugepage/defrag", "always\n"),
    ("sys/kernel/debug/sched/preempt", "(none) full\n"),
    ("sys/kernel/debug/sched/base_slice_ns", "2800000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu1/period", "1000000000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n"),
    ("sys/kernel/debug/sched/fair_server/cpu2/period", "1000000000\n"),
    ("sys/class/net/eth0/operstate", "up\n"),
    ("sys/class/net/eth0/mtu", "1400\n"),
    ("sys/class/net/eth0/gro_flush_timeout", "200000\n"),
    ("sys/class/net/eth0/device/uevent", "DRIVER=igb\n"),
    ("sys/class/net/eth0/device/msi_irqs/41", "msix\n"),
    ("sys/class/net/eth0/device/msi_irqs/42", "msix\n"),
    ("ethtool/eth0/rx_ring", "256 4096\n"),
    ("ethtool/eth0/rx_usecs", "250\n"),
    ("ethtool/eth0/adaptive_rx", "1\n"),
    ("ethtool/eth0/rx_pause", "0\n"),
    ("ethtool/eth0/eee", "1\n"),
];

struct Copy(tempfile::TempDir);

impl Copy {
    fn new() -> Copy {
        let copy = Copy(tempfile::tempdir().expect("a folder"));
        for (file, text) in WRONG {
            let path = copy.0.path().join("root").join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        copy
    }

    fn doctor(&self, more: &[&str]) -> Command {
        let mut command = doctor(&self.0.path().join("state"), more);
        command.arg("--root").arg(self.0.path().join("root"));
        command
    }

    /// All files with what they hold; of a list of choices that in force, since writing leaves only it.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for (file, _) in WRONG {
            let text = fs::read_to_string(self.0.path().join("root").join(file)).expect("a file");
            let chosen = text.split(' ').find_map(|word| word.strip_prefix('(')?.strip_suffix(')'));
            all.insert(PathBuf::from(file), chosen.unwrap_or(text.trim()).to_owned());
        }
        all
    }
}

fn changing() -> BTreeSet<&'static str> {
    RULES.iter().filter(|rule| !matches!(rule.fix, Fix::Advice(_))).map(|rule| rule.id).collect()
}

#[test]
fn where_everything_is_wrong_every_rule_changes_something_and_undo_gives_all_of_it_back() {
    let copy = Copy::new();
    let before = copy.files();
    let args = fix_all(&changing());
    let fixed = json(&copy.doctor(&args).output().expect("takt"));
    let made: BTreeSet<&str> =
        fixed["made"].as_array().expect("a list").iter().filter_map(|made| made["rule"].as_str()).collect();
    assert_eq!(made, changing());
    assert_ne!(copy.files(), before);
    let undone = copy.doctor(&["--undo"]).output().expect("takt");
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_eq!(copy.files(), before);
}

#[test]
fn killed_between_any_two_changes_undo_gives_all_of_it_back() {
    let args = fix_all(&changing());
    let whole = Copy::new();
    let fixed = json(&whole.doctor(&args).output().expect("takt"));
    let last = fixed["made"].as_array().expect("a list").len();
    assert!(last > 19, "{last}");
    for fact in [Fact::Noted(1), Fact::Made(1), Fact::Noted(2), Fact::Made(7), Fact::Noted(19), Fact::Noted(last)] {
        let copy = Copy::new();
        let before = copy.files();
        if !kill_at(fact, &copy.doctor(&args)) {
            return;
        }
        let state = copy.0.path().join("state");
        let (Fact::Noted(noted) | Fact::Made(noted)) = fact;
        assert_eq!((entries(&state, "changes"), entries(&state, "settled")), (noted, 0), "{fact:?}");
        assert!(copy.files() != before || matches!(fact, Fact::Noted(1)), "{fact:?}: changes were made");
        let undone = copy.doctor(&["--undo"]).output().expect("takt");
        assert!(undone.status.success(), "{fact:?}: {}", text(&undone.stdout));
        assert_eq!(copy.files(), before, "{fact:?}");
    }
}
