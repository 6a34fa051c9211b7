//! Sums of a component's work, in numbers that only grow: as monitoring systems add it up, over any number of runs.

use std::sync::Arc;

use super::live::{Count, Live, StatsReader, highest, middle};

/// Sums of one component since its first slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentTally {
    /// Its name.
    pub name: String,
    /// Executions.
    pub executions: u64,
    /// Those that took no longer than each of the times asked for; a time up to 1/128 shorter may count as longer.
    pub within: Vec<u64>,
    /// All execution times together, to 1/128.
    pub sum_ns: u64,
    /// As in [`ComponentSnapshot`](super::ComponentSnapshot).
    pub missed: u64,
    /// The same.
    pub lost: u64,
    /// The same.
    pub late: u64,
    /// The same.
    pub faults: u64,
}

impl StatsReader {
    /// Sums of each component; `times_ns` in ascending order.
    #[must_use]
    pub fn tally(&self, times_ns: &[u64]) -> Vec<ComponentTally> {
        self.components.iter().map(|(name, _, live)| live.tally(name, times_ns)).collect()
    }

    /// Reads what a later reader of the same run does as well: components that the waveform had before stay.
    pub fn extend(&mut self, later: StatsReader) {
        for one in later.components {
            if !self.components.iter().any(|(_, _, live)| Arc::ptr_eq(live, &one.2)) {
                self.components.push(one);
            }
        }
    }
}

impl Live {
    fn tally(&self, name: &str, times_ns: &[u64]) -> ComponentTally {
        let (mut executions, mut sum_ns, mut within) = (0_u64, 0_u64, vec![0; times_ns.len()]);
        for (index, count) in self.counts().map(Count::get).enumerate().filter(|&(_, count)| count > 0) {
            executions += count;
            sum_ns = sum_ns.saturating_add(middle(index).saturating_mul(count));
            let first = times_ns.partition_point(|&time_ns| time_ns < highest(index));
            within.iter_mut().skip(first).for_each(|so_many| *so_many += count);
        }
        ComponentTally {
            name: name.to_owned(),
            executions,
            within,
            sum_ns,
            missed: self.missed.get(),
            lost: self.lost.get(),
            late: self.late.get(),
            faults: self.faults.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(name: &str, live: &Arc<Live>) -> StatsReader {
        StatsReader { components: vec![(name.to_owned(), "kind".to_owned(), Arc::clone(live))] }
    }

    #[test]
    fn executions_are_counted_up_to_each_time_and_summed_to_one_part_in_128() {
        let live = Arc::new(Live::default());
        let times = [0, 1_000, 1_001, 999_500, 1_000_001, 60_000_000_000];
        times.iter().for_each(|&ns| live.record(ns, 2));
        live.missed.add(3);
        let all = reader("a", &live).tally(&[0, 1_000, 1_003, 1_000_000, 2_000_000]);
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.executions, one.missed, one.lost), (12, 3, 0));
        // 1000 lies in a bucket that ends at 1003, 999 500 in one that ends above a million.
        assert_eq!(one.within, [2, 2, 6, 6, 10]);
        let sum_ns: u64 = times.iter().sum::<u64>() * 2;
        assert!(one.sum_ns.abs_diff(sum_ns) <= sum_ns / 128, "{} {sum_ns}", one.sum_ns);
    }

    #[test]
    fn a_component_that_stays_is_read_once_and_one_that_has_gone_still_is() {
        let [gone, stays] = [0, 1].map(|_| Arc::new(Live::default()));
        let mut first = reader("gone", &gone);
        first.extend(reader("stays", &stays));
        first.extend(reader("stays", &stays));
        gone.record(5, 1);
        stays.record(5, 7);
        let executions: Vec<(String, u64)> =
            first.tally(&[]).into_iter().map(|one| (one.name, one.executions)).collect();
        assert_eq!(executions, [("gone".to_owned(), 1), ("stays".to_owned(), 7)]);
    }
}
