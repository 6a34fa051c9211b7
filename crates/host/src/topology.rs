//! The processors of a host, as far as placing threads needs them.

use serde::{Deserialize, Serialize};

use crate::error::ReadError;
use crate::host::Host;
use crate::proc::cpu_list;

/// One CPU as the scheduler counts them (a hardware thread).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    pub id: usize,
    /// All CPUs of the same core, itself included, in rising order.
    pub core: Vec<usize>,
    /// The socket; `None` where the kernel does not say.
    pub package: Option<usize>,
    /// The NUMA node, 0 on machines with one.
    pub node: usize,
    /// CPUs that share its last-level cache; empty where the kernel does not say.
    pub last_level_cache: Vec<usize>,
    pub isolated: bool,
}

/// All online CPUs, in rising order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    pub cpus: Vec<Cpu>,
}

impl Topology {
    /// Reads the topology of `host`. Facts that a virtual machine hides are filled with the plainest assumption: each
    /// CPU a core of its own, one node.
    pub fn read(host: &Host) -> Result<Topology, ReadError> {
        let path = format!("{CPUS}/online");
        let text = host.read(&path)?;
        let online =
            cpu_list::parse(&text).ok_or_else(|| ReadError::malformed(path, "a list of CPUs such as 0-3", &text))?;
        let isolated = list(host, &format!("{CPUS}/isolated")).unwrap_or_default();
        let nodes = nodes(host);
        let cpu = |&id: &usize| Cpu {
            id,
            core: list(host, &format!("{CPUS}/cpu{id}/topology/thread_siblings_list")).unwrap_or_else(|| vec![id]),
            package: host
                .read_number(&format!("{CPUS}/cpu{id}/topology/physical_package_id"))
                .ok()
                .and_then(|package| usize::try_from(package).ok()),
            node: nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |&(node, _)| node),
            last_level_cache: last_level_cache(host, id),
            isolated: isolated.contains(&id),
        };
        Ok(Topology { cpus: online.iter().map(cpu).collect() })
    }

    /// The cores this thread may use: each a group of its CPUs, in rising order of the first.
    #[must_use]
    pub fn cores(&self, allowed: &[usize]) -> Vec<Vec<usize>> {
        let mut cores: Vec<Vec<usize>> = Vec::new();
        for cpu in self.cpus.iter().filter(|cpu| allowed.contains(&cpu.id)) {
            match cores.iter_mut().find(|core| core.iter().any(|id| cpu.core.contains(id))) {
                Some(core) => core.push(cpu.id),
                None => cores.push(vec![cpu.id]),
            }
        }
        cores
    }

    /// Splits the allowed CPUs into two groups that share no core, the second of `cores` cores taken from the end (CPU 0
    /// has the most interrupts on most machines, but also the timekeeping; neither group is better by nature). `None` if
    /// the first group would be empty.
    #[must_use]
    pub fn split(&self, allowed: &[usize], cores: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        let all = self.cores(allowed);
        let first = all.len().checked_sub(cores).filter(|&left| left > 0 && cores > 0)?;
        let flat = |part: &[Vec<usize>]| {
            let mut cpus = part.concat();
            cpus.sort_unstable();
            cpus
        };
        let (one, other) = all.split_at(first);
        Some((flat(one), flat(other)))
    }
}

const CPUS: &str = "/sys/devices/system/cpu";

fn list(host: &Host, path: &str) -> Option<Vec<usize>> {
    cpu_list::parse(&host.read_opt(path)?).filter(|cpus| !cpus.is_empty())
}

fn nodes(host: &Host) -> Vec<(usize, Vec<usize>)> {
    let folder = "/sys/devices/system/node";
    let numbered = |name: &String| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        Some((number, list(host, &format!("{folder}/{name}/cpulist"))?))
    };
    host.list(folder).iter().filter_map(numbered).collect()
}

/// The cache of the highest level that the kernel lists for a CPU.
fn last_level_cache(host: &Host, cpu: usize) -> Vec<usize> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let level = |index: &String| {
        let level = host.read_number(&format!("{folder}/{index}/level")).ok()?;
        Some((level, list(host, &format!("{folder}/{index}/shared_cpu_list"))?))
    };
    let deepest = host.list(&folder).iter().filter_map(level).max_by_key(|&(level, _)| level);
    deepest.map(|(_, cpus)| cpus).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    /// Two cores with two hardware threads each, numbered as most firmware does: 0 and 2 are siblings.
    fn two_by_two() -> Topology {
        let mut tree = Tree::new().with(&format!("{CPUS}/online"), "0-3\n").with(&format!("{CPUS}/isolated"), "3\n");
        for cpu in 0..4 {
            let siblings = format!("{},{}\n", cpu % 2, cpu % 2 + 2);
            tree = tree
                .with(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"), &siblings)
                .with(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"), "0\n")
                .with(&format!("{CPUS}/cpu{cpu}/cache/index0/level"), "1\n")
                .with(&format!("{CPUS}/cpu{cpu}/cache/index0/shared_cpu_list"), &siblings)
                .with(&format!("{CPUS}/cpu{cpu}/cache/index3/level"), "3\n")
                .with(&format!("{CPUS}/cpu{cpu}/cache/index3/shared_cpu_list"), "0-3\n");
        }
        Topology::read(&tree.host()).unwrap()
    }

    #[test]
    fn hardware_threads_of_a_core_are_never_split() {
        let topology = two_by_two();
        assert_eq!(topology.cores(&[0, 1, 2, 3]), [vec![0, 2], vec![1, 3]]);
        assert_eq!(topology.split(&[0, 1, 2, 3], 1), Some((vec![0, 2], vec![1, 3])));
        assert_eq!(topology.split(&[0, 1, 2, 3], 2), None);
        assert_eq!(topology.split(&[0, 2], 1), None);
    }

    #[test]
    fn facts_are_read_for_each_cpu() {
        let topology = two_by_two();
        assert_eq!(topology.cpus[3].last_level_cache, [0, 1, 2, 3]);
        assert!(topology.cpus[3].isolated && !topology.cpus[0].isolated);
        assert_eq!(topology.cpus[1].package, Some(0));
    }

    #[test]
    fn a_machine_that_hides_everything_but_its_cpus_has_a_core_for_each() {
        let tree = Tree::new().with(&format!("{CPUS}/online"), "0-1\n");
        let topology = Topology::read(&tree.host()).unwrap();
        assert_eq!(topology.cores(&[0, 1]), [vec![0], vec![1]]);
        assert!(Topology::read(&Tree::new().host()).is_err());
    }

    #[test]
    fn this_machine_has_the_cpus_its_threads_may_use() {
        let topology = Topology::read(&Host::this()).unwrap();
        let cores = topology.cores(&crate::affinity::own_cpus());
        assert_eq!(cores.concat().len(), crate::affinity::own_cpus().len());
    }
}
