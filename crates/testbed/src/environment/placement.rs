//! Which cores the radio gets, and which the host side.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use takt_host::topology::Topology;

/// CPUs of the two sides. They share no core where there are two cores to share out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub host: Vec<usize>,
    /// CPUs of the emulator; empty without one.
    pub radio: Vec<usize>,
    pub how: String,
}

impl Placement {
    /// The emulator is one thread, so it gets the last core that this process may use, and the host side all others. A
    /// real radio takes no core.
    #[must_use]
    pub fn of(topology: &Topology, allowed: &[usize], emulated: bool) -> Placement {
        let cores = topology.cores(allowed).len();
        if !emulated {
            let how = format!("{cores} cores, all for the host side");
            return Placement { host: allowed.to_vec(), radio: Vec::new(), how };
        }
        match topology.split(allowed, 1) {
            Some((host, radio)) => {
                let how = match cores {
                    2 => "2 cores: one for the host side, one for the emulator".into(),
                    cores => format!("{cores} cores: the last for the emulator, {} for the host side", cores - 1),
                };
                Placement { host, radio, how }
            }
            None => {
                let how = "1 core, shared: the emulator takes time from the host side".into();
                Placement { host: allowed.to_vec(), radio: allowed.to_vec(), how }
            }
        }
    }

    #[must_use]
    pub fn cpus(&self) -> BTreeSet<usize> {
        self.host.iter().chain(&self.radio).copied().collect()
    }

    /// Whether the emulator takes time from the host side.
    #[must_use]
    pub fn shared(&self) -> bool {
        self.host.iter().any(|cpu| self.radio.contains(cpu))
    }
}

#[cfg(test)]
mod tests {
    use takt_host::topology::Cpu;

    use super::*;

    fn machine(cores: &[&[usize]]) -> Topology {
        let cpus = cores.iter().flat_map(|core| core.iter().map(|&id| (id, core.to_vec())));
        let cpu = |(id, core)| Cpu { id, core, package: None, node: 0, last_level_cache: Vec::new(), isolated: false };
        let mut cpus: Vec<Cpu> = cpus.map(cpu).collect();
        cpus.sort_by_key(|cpu| cpu.id);
        Topology { cpus }
    }

    #[test]
    fn the_emulator_has_a_core_of_its_own_where_there_are_two() {
        let four = Placement::of(&machine(&[&[0], &[1], &[2], &[3]]), &[0, 1, 2, 3], true);
        assert!(!four.shared());
        assert_eq!((four.host, four.radio), (vec![0, 1, 2], vec![3]));
        let threads = Placement::of(&machine(&[&[0, 2], &[1, 3]]), &[0, 1, 2, 3], true);
        assert_eq!((threads.host, threads.radio), (vec![0, 2], vec![1, 3]), "hardware threads are not parted");
        assert_eq!(threads.how, "2 cores: one for the host side, one for the emulator");
    }

    #[test]
    fn one_core_is_shared_and_reported_so() {
        let one = Placement::of(&machine(&[&[0, 1]]), &[0, 1], true);
        assert_eq!((&one.host, &one.radio), (&vec![0, 1], &vec![0, 1]));
        assert!(one.how.contains("shared") && one.shared());
    }

    #[test]
    fn a_real_radio_takes_no_core() {
        let real = Placement::of(&machine(&[&[0], &[1]]), &[1], false);
        assert_eq!((real.host, real.radio), (vec![1], vec![]));
    }
}
