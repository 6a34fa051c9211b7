//! Which processors answer which interrupts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::proc::cpu_list;

/// An interrupt line with a handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Irq {
    pub number: u32,
    /// Its handler, as `/proc/interrupts` has it: `virtio1-input.0`.
    pub name: String,
    pub allowed: Vec<usize>,
    /// CPUs it is sent to; empty if the kernel does not say.
    pub effective: Vec<usize>,
    /// Times it came since the machine was started, by CPU that is online.
    pub counts: Vec<u64>,
}

/// The interrupts with a number, in rising order; `None` if `/proc/interrupts` can't be read.
#[must_use]
pub fn irqs(host: &Host) -> Option<Vec<Irq>> {
    let text = host.read("/proc/interrupts").ok()?;
    let mut lines = text.lines();
    let cpus = lines.next()?.split_whitespace().filter(|word| word.starts_with("CPU")).count();
    Some(lines.filter_map(|line| irq(host, line, cpus)).collect())
}

/// Whether an interrupt may be moved to other CPUs, as far as the kernel says. It keeps some where they are, even from root:
/// those of a disk's queues, which it places itself, and those of one CPU. Recent kernels show such a list without the bit
/// that its owner may write; of older ones only the attempt tells.
#[must_use]
pub fn is_movable(host: &Host, number: u32) -> bool {
    let list = fs::metadata(host.path(&format!("/proc/irq/{number}/smp_affinity_list")));
    list.map_or(true, |meta| meta.permissions().mode() & 0o200 != 0)
}

/// `24:  12  0  PCI-MSIX-0000:00:01.0  0-edge  virtio0-config`: number, a count a CPU, then words of which the last names
/// the handlers. Lines with letters for a number are the processor's own.
fn irq(host: &Host, line: &str, cpus: usize) -> Option<Irq> {
    let (number, rest) = line.split_once(':')?;
    let number: u32 = number.trim().parse().ok()?;
    let mut words = rest.split_whitespace();
    let counts: Vec<u64> = words.by_ref().take(cpus).map_while(|word| word.parse().ok()).collect();
    let list = |file| host.read_opt(&format!("/proc/irq/{number}/{file}")).and_then(|text| cpu_list::parse(&text));
    Some(Irq {
        number,
        name: words.next_back().unwrap_or_default().to_owned(),
        allowed: list("smp_affinity_list")?,
        effective: list("effective_affinity_list").unwrap_or_default(),
        counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use proptest::prelude::*;

    #[test]
    fn lines_with_numbers_are_interrupts_and_their_files_say_where_they_go() {
        let table = "            CPU0       CPU1\n  24:         12          3  PCI-MSIX-0000:00:01.0   1-edge      virtio1-input.0\n LOC:     100     200   Local timer interrupts\n";
        let tree = Tree::new()
            .with("/proc/interrupts", table)
            .with("/proc/irq/24/smp_affinity_list", "0-1\n")
            .with("/proc/irq/24/effective_affinity_list", "1\n")
            .with("/proc/irq/default_smp_affinity", "3\n");
        let expected = Irq {
            number: 24,
            name: "virtio1-input.0".to_owned(),
            allowed: vec![0, 1],
            effective: vec![1],
            counts: vec![12, 3],
        };
        assert_eq!(irqs(&tree.host()), Some(vec![expected]));
    }

    #[test]
    fn an_interrupt_whose_list_its_owner_may_not_write_stays_where_it_is() {
        let tree = Tree::new().with("/proc/irq/24/smp_affinity_list", "0-1\n");
        assert!(is_movable(&tree.host(), 24));
        let list = tree.host().path("/proc/irq/24/smp_affinity_list");
        fs::set_permissions(list, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(!is_movable(&tree.host(), 24));
        assert!(is_movable(&tree.host(), 25), "nothing says that it is not");
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        assert_eq!(irqs(&Tree::new().host()), None);
    }

    #[test]
    fn this_machine_is_understood() {
        if let Some(all) = irqs(&Host::this()) {
            assert!(all.iter().all(|irq| !irq.allowed.is_empty()), "{all:?}");
        }
    }

    proptest! {
        #[test]
        fn hostile_tables_never_panic(table in "([ 0-9:A-Za-z]{0,40}\n){0,4}") {
            let tree = Tree::new().with("/proc/interrupts", &table);
            let _ = irqs(&tree.host());
        }
    }
}
