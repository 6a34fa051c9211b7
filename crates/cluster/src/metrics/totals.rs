//! Counts of components and links over all runs since the node began. A run goes, what it did stays: so counters never go back.
//!
//! A component is known by its tenant, its waveform and its name, a link by its node at the other end as well. There are as many
//! of each as [`MOST`] at most, whatever tenants call their waveforms: what comes later is counted together.

use std::collections::BTreeMap;

use takt_bridge::LinkTally;
use takt_runtime::ComponentTally;

/// Series of a kind.
const MOST: usize = 512;

/// Waveform and component of what came later; no name has brackets.
const OTHERS: &str = "(others)";

/// Subject of a count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    pub(crate) tenant: String,
    pub(crate) waveform: String,
    /// Name of the component, or of the output whose packets a link carries.
    pub(crate) name: String,
    /// The node at the other end of a link.
    pub(crate) peer: String,
}

/// Counts that can be added up.
pub(crate) trait Sum: Clone + Default {
    /// Adds what another one counted.
    fn add(&mut self, more: &Self);
}

/// Sums by series.
#[derive(Clone, Debug)]
pub(crate) struct Totals<T>(BTreeMap<Series, T>);

impl<T> Default for Totals<T> {
    fn default() -> Self {
        Totals(BTreeMap::new())
    }
}

impl<T: Sum> Totals<T> {
    /// Adds to a series; nothing as yet, if it only begins.
    pub(crate) fn add(&mut self, series: Series, more: &T) {
        let is_known = self.0.contains_key(&series);
        let series = if is_known || self.0.len() < MOST { series } else { others() };
        self.0.entry(series).or_default().add(more);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Series, &T)> {
        self.0.iter()
    }
}

fn others() -> Series {
    let [tenant, waveform, name, peer] = [OTHERS; 4].map(str::to_owned);
    Series { tenant, waveform, name, peer }
}

impl Sum for ComponentTally {
    fn add(&mut self, more: &ComponentTally) {
        self.executions += more.executions;
        self.within.resize(self.within.len().max(more.within.len()), 0);
        self.within.iter_mut().zip(&more.within).for_each(|(sum, more)| *sum += more);
        self.sum_ns = self.sum_ns.saturating_add(more.sum_ns);
        self.missed += more.missed;
        self.lost += more.lost;
        self.late += more.late;
        self.faults += more.faults;
    }
}

impl Sum for LinkTally {
    fn add(&mut self, more: &LinkTally) {
        self.slots += more.slots;
        self.crowded_slots += more.crowded_slots;
        self.lost_slots += more.lost_slots;
        self.late_slots += more.late_slots;
        self.missed_slots += more.missed_slots;
        self.datagrams += more.datagrams;
        self.bytes += more.bytes;
        self.late_datagrams += more.late_datagrams;
        self.broken_datagrams += more.broken_datagrams;
        self.unsent_datagrams += more.unsent_datagrams;
    }
}

/// How a run ended on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// All its slots are executed.
    Complete,
    /// It was ordered to.
    Stopped,
    /// Its lease was over.
    CutOff,
}

impl How {
    /// As in the label `how`, by the order of the variants.
    pub(super) const NAMES: [&str; 3] = ["complete", "stopped", "cut_off"];
}

/// All that runs count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) components: Totals<ComponentTally>,
    pub(crate) sent: Totals<LinkTally>,
    pub(crate) received: Totals<LinkTally>,
    /// Runs that were started.
    pub(crate) started: u64,
    /// Runs that have ended, by [`How`].
    pub(crate) ended: [u64; How::NAMES.len()],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str) -> Series {
        Series { tenant: "blue".to_owned(), waveform: "w".to_owned(), name: name.to_owned(), peer: String::new() }
    }

    #[test]
    fn counts_of_one_name_are_one_sum_and_there_are_as_many_names_as_fit() {
        let mut totals = Totals::<LinkTally>::default();
        let one = LinkTally { slots: 1, bytes: 10, ..LinkTally::default() };
        for at in 0..2 * MOST {
            totals.add(series(&format!("c{at}")), &one);
            totals.add(series("c0"), &one);
        }
        assert_eq!(totals.iter().count(), MOST + 1);
        let of =
            |name: &str| totals.iter().find(|(series, _)| series.name == name).map(|(_, sum)| (sum.slots, sum.bytes));
        assert_eq!((of("c0"), of("c1")), (Some((2 * MOST as u64 + 1, 20 * MOST as u64 + 10)), Some((1, 10))));
        assert_eq!(of(OTHERS), Some((MOST as u64, 10 * MOST as u64)));
        assert_eq!(of("c600"), None);
    }

    #[test]
    fn a_component_that_was_only_begun_has_counts_of_its_own_from_the_first() {
        let mut totals = Totals::default();
        totals.add(series("c"), &ComponentTally::default());
        let did = ComponentTally { executions: 3, within: vec![1, 2], sum_ns: 7, lost: 1, ..ComponentTally::default() };
        totals.add(series("c"), &did);
        totals.add(series("c"), &did);
        let (_, sum) = totals.iter().next().expect("one");
        assert_eq!((sum.executions, &sum.within[..], sum.sum_ns, sum.lost), (6, &[2, 4][..], 14, 2));
    }
}
