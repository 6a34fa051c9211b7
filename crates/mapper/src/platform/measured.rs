//! A machine whose cores were calibrated one by one.

use serde::Serialize;

use super::{ClassSpec, CoresSpec, NodeSpec, PlatformSpec};
use crate::cost::prices::Prices;
use crate::cost::work::Capacities;

/// Measured capacities of a core.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredCore {
    /// Its number on the machine.
    pub core: usize,
    #[serde(flatten)]
    pub capacities: Capacities,
    /// Nanoseconds of an instruction of each kind.
    pub prices: Prices,
}

/// Cores that differ by more than this are not of one kind.
const ALIKE: f64 = 1.25;

impl PlatformSpec {
    /// One machine, called `host`. Cores that can do about the same are of one class: the best of each class stands for it.
    /// The fastest class is called `class`: it is what costs tried on this machine are measured on.
    #[must_use]
    pub fn measured(class: &str, cores: &[MeasuredCore]) -> PlatformSpec {
        let mut order: Vec<&MeasuredCore> = cores.iter().collect();
        order.sort_by(|a, b| b.capacities.mac_per_s.total_cmp(&a.capacities.mac_per_s));
        let mut classes: Vec<(f64, &MeasuredCore, Vec<u32>)> = Vec::new();
        for core in order {
            let (mac, cpu) = (core.capacities.mac_per_s, u32::try_from(core.core).unwrap_or(u32::MAX));
            match classes.last_mut().filter(|(best, ..)| mac * ALIKE >= *best) {
                Some((_, _, cpus)) => cpus.push(cpu),
                None => classes.push((mac, core, vec![cpu])),
            }
        }
        let mut spec = PlatformSpec { name: "host".to_owned(), ..PlatformSpec::default() };
        let mut node = NodeSpec { name: "host".to_owned(), ..NodeSpec::default() };
        for (index, (_, best, mut cpus)) in classes.into_iter().enumerate() {
            let class = if index == 0 { class.to_owned() } else { format!("slower-{index}") };
            cpus.sort_unstable();
            let (capacities, prices) = (Some(best.capacities), Some(best.prices));
            spec.class.insert(class.clone(), ClassSpec { capacities, prices, ..ClassSpec::default() });
            node.cores.push(CoresSpec { class, cpus });
        }
        spec.node.push(node);
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::operations::Operations;

    fn core(core: usize, mac_per_s: f64) -> MeasuredCore {
        let prices = Prices(Operations::from_array([1e9 / mac_per_s; 15]));
        MeasuredCore { core, capacities: Capacities { mac_per_s, work_per_s: None }, prices }
    }

    #[test]
    fn cores_of_two_kinds_become_two_classes() {
        let cores = [core(0, 1.0e9), core(1, 4.0e9), core(2, 3.9e9), core(3, 1.1e9)];
        let spec = PlatformSpec::measured("big", &cores);
        let of = |class: &str| spec.node[0].cores.iter().find(|cores| cores.class == class).map(|c| c.cpus.clone());
        assert_eq!((of("big"), of("slower-1")), (Some(vec![1, 2]), Some(vec![0, 3])));
        assert_eq!(spec.class["slower-1"].capacities.map(|c| c.mac_per_s), Some(1.1e9));
        assert_eq!(spec.class["slower-1"].prices.map(|prices| prices.0.load), Some(1.0 / 1.1));
        spec.check().expect("a platform");
    }
}
