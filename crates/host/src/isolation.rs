//! Which processors the scheduler and the clock tick keep away from.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::proc::cpu_list;

/// CPUs set apart. `None` where the kernel does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Those the load balancer leaves alone: `isolcpus=`, and cpusets that are isolated partitions.
    pub isolated: Option<Vec<usize>>,
    /// Those without a clock tick while one thread runs: `nohz_full=`.
    pub tickless: Option<Vec<usize>>,
    /// Those whose deferred kernel work is done elsewhere: `rcu_nocbs=`. From the command line; `None`: not option for.
    pub rcu_elsewhere: Option<Vec<usize>>,
}

#[must_use]
pub fn isolation(host: &Host) -> Isolation {
    let list = |path| host.read_opt(path).filter(|text| text != "(null)").and_then(|text| cpu_list::parse(&text));
    let cmdline = host.read_opt("/proc/cmdline").unwrap_or_default();
    let option = |key: &str| cmdline.split_whitespace().rev().find_map(|word| cpu_list::parse(word.strip_prefix(key)?));
    Isolation {
        isolated: list("/sys/devices/system/cpu/isolated"),
        tickless: list("/sys/devices/system/cpu/nohz_full"),
        rcu_elsewhere: option("rcu_nocbs="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn each_kind_is_read_where_the_kernel_shows_it() {
        let tree = Tree::new()
            .with("/sys/devices/system/cpu/isolated", "2-3\n")
            .with("/sys/devices/system/cpu/nohz_full", "3\n")
            .with("/proc/cmdline", "quiet rcu_nocbs=2,3\n");
        let isolation = isolation(&tree.host());
        assert_eq!((isolation.isolated, isolation.tickless), (Some(vec![2, 3]), Some(vec![3])));
        assert_eq!(isolation.rcu_elsewhere, Some(vec![2, 3]));
    }

    #[test]
    fn none_is_a_list_without_members_and_unknown_is_no_list() {
        let tree = Tree::new()
            .with("/sys/devices/system/cpu/isolated", "\n")
            .with("/sys/devices/system/cpu/nohz_full", "(null)\n");
        let isolation = isolation(&tree.host());
        assert_eq!(isolation.isolated, Some(vec![]));
        assert_eq!((isolation.tickless, isolation.rcu_elsewhere), (None, None));
    }
}
