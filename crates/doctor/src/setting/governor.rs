//! Settings that change with the frequency governor. The kernel forgets a governor's tunables when another one replaces it, and
//! starts with defaults when it comes back.

use std::os::unix::fs::PermissionsExt;

use takt_host::Host;

use super::Setting;
use crate::journal::Along;

const GOVERNOR: &str = "cpufreq/scaling_governor";
/// The folder of tunables for all CPUs, with drivers that do not tell CPUs apart.
const OF_ALL: &str = "devices/system/cpu/cpufreq";

/// Settings that change with the governor in this file below `/sys`: its tunables, the frequency set for `userspace`, and the
/// energy preference, which `performance` overrides.
pub(super) fn along(host: &Host, name: &str) -> Vec<Along> {
    let Some(folder) = name.strip_suffix("/scaling_governor").filter(|_| name.ends_with(GOVERNOR)) else {
        return Vec::new();
    };
    let Some(governor) = host.read_opt(&format!("/sys/{name}")).filter(|governor| !governor.is_empty()) else {
        return Vec::new();
    };
    let tunables = [format!("{folder}/{governor}"), format!("{OF_ALL}/{governor}")];
    let tunables = tunables.into_iter().flat_map(|folder| {
        host.list(&format!("/sys/{folder}")).into_iter().map(move |file| format!("{folder}/{file}"))
    });
    let speed = (governor == "userspace").then(|| format!("{folder}/scaling_setspeed"));
    let preference = format!("{folder}/energy_performance_preference");
    tunables.chain(speed).chain([preference]).filter_map(|name| one(host, name)).collect()
}

/// A setting with its value, unless it cannot be read or nobody may write it.
fn one(host: &Host, name: String) -> Option<Along> {
    let file = host.path(&format!("/sys/{name}"));
    let may_be_written =
        std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o200 != 0);
    let setting = Setting::Sysfs(name);
    let was = setting.get(host).ok().filter(|_| may_be_written)?;
    Some(Along { setting, was })
}

#[cfg(test)]
mod tests {
    use takt_host::testing::Tree;

    use super::*;

    const CPU0: &str = "/sys/devices/system/cpu/cpu0/cpufreq";

    fn found(tree: &Tree, name: &str) -> Vec<(String, String)> {
        along(&tree.host(), name).into_iter().map(|along| (along.setting.to_string(), along.was)).collect()
    }

    #[test]
    fn tunables_of_the_policy_and_of_all_are_found_with_what_else_a_governor_takes_along() {
        let tree = Tree::new()
            .with(&format!("{CPU0}/scaling_governor"), "ondemand\n")
            .with(&format!("{CPU0}/scaling_setspeed"), "<unsupported>\n")
            .with(&format!("{CPU0}/energy_performance_preference"), "balance_power\n")
            .with(&format!("{CPU0}/ondemand/up_threshold"), "95\n")
            .with(&format!("{CPU0}/schedutil/rate_limit_us"), "500\n")
            .with("/sys/devices/system/cpu/cpufreq/ondemand/sampling_rate", "10000\n")
            .with("/sys/devices/system/cpu/cpufreq/ondemand/sampling_rate_min", "1000\n");
        let least = tree.host().path("/sys/devices/system/cpu/cpufreq/ondemand/sampling_rate_min");
        std::fs::set_permissions(least, std::fs::Permissions::from_mode(0o444)).unwrap();
        let name = "devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let of = |name: &str, was: &str| (name.to_owned(), was.to_owned());
        assert_eq!(
            found(&tree, name),
            [
                of(&format!("{CPU0}/ondemand/up_threshold"), "95"),
                of("/sys/devices/system/cpu/cpufreq/ondemand/sampling_rate", "10000"),
                of(&format!("{CPU0}/energy_performance_preference"), "balance_power"),
            ]
        );
        tree.put(&format!("{CPU0}/scaling_governor"), "userspace\n");
        tree.put(&format!("{CPU0}/scaling_setspeed"), "1200000\n");
        assert_eq!(found(&tree, name)[0], of(&format!("{CPU0}/scaling_setspeed"), "1200000"));
        assert_eq!(found(&tree, "devices/system/cpu/cpu0/cpufreq/scaling_max_freq"), []);
        assert_eq!(found(&tree, "devices/system/cpu/cpu9/cpufreq/scaling_governor"), []);
    }
}
