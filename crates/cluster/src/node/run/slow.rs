//! [`Slow`]: how many slots a node was too slow for.

use std::collections::BTreeMap;

/// Slots from one look to the next, at least. Misses of two components count twice where a look falls between the one
/// and the other. So looks are rare: one slot of so many, or a stall once, which a worker adds as a whole when it is
/// over.
const APART_SLOTS: u64 = 10;

/// Counted from look to look: in each the slots of the component that missed most of them. A component that missed many in the
/// past hides none that misses slots now.
#[derive(Debug, Default)]
pub(super) struct Slow {
    slots: u64,
    /// The slot of the last look.
    looked_in: u64,
    /// Misses of each component by then.
    last: BTreeMap<String, u64>,
}

impl Slow {
    /// Whether it is time for a look in this slot.
    pub(super) fn is_due(&self, slot: u64) -> bool {
        slot.saturating_sub(self.looked_in) >= APART_SLOTS
    }

    /// Takes the misses of each component by this slot.
    pub(super) fn look<'a>(&mut self, slot: u64, components: impl Iterator<Item = (&'a str, u64)>) {
        let now: BTreeMap<String, u64> = components.map(|(name, missed)| (name.to_owned(), missed)).collect();
        // One that begins afresh counts from nothing.
        let since = |(name, missed): (&String, &u64)| missed.saturating_sub(self.last.get(name).copied().unwrap_or(0));
        self.slots += now.iter().map(since).max().unwrap_or(0);
        (self.looked_in, self.last) = (slot, now);
    }

    /// Slots so far.
    pub(super) fn slots(&self) -> u64 {
        self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // the most of all totals stood still where the slower component was another one than before
    fn a_component_that_missed_much_hides_no_other() {
        let mut slow = Slow::default();
        slow.look(20_000, [("a", 10_000), ("b", 0)].into_iter());
        slow.look(21_000, [("a", 10_000), ("b", 900)].into_iter());
        assert_eq!(slow.slots(), 10_900);
        slow.look(21_200, [("a", 10_100), ("b", 950)].into_iter());
        assert_eq!(slow.slots(), 11_000, "of one time, the one that missed most");
        slow.look(21_300, [("a", 5), ("c", 7)].into_iter());
        assert_eq!(slow.slots(), 11_007, "begun afresh");
    }

    #[test]
    fn looks_are_ten_slots_apart_however_often_the_node_is_asked() {
        let mut slow = Slow::default();
        assert_eq!([0, 9, 10].map(|slot| slow.is_due(slot)), [false, false, true]);
        slow.look(1000, std::iter::empty());
        assert_eq!([3, 1009, 1010].map(|slot| slow.is_due(slot)), [false, false, true]);
    }
}
