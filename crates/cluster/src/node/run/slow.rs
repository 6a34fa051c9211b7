//! [`Slow`]: how many slots a node was too slow for.

use std::collections::BTreeMap;

/// Counted from look to look: in each the slots of the component that missed most of them. A component that missed many in the
/// past hides none that misses slots now.
#[derive(Debug, Default)]
pub(super) struct Slow {
    slots: u64,
    /// What each component had missed at the last look.
    last: BTreeMap<String, u64>,
}

impl Slow {
    /// What each component has missed by now.
    pub(super) fn look<'a>(&mut self, components: impl Iterator<Item = (&'a str, u64)>) {
        let now: BTreeMap<String, u64> = components.map(|(name, missed)| (name.to_owned(), missed)).collect();
        // One that begins afresh counts from nothing.
        let since = |(name, missed): (&String, &u64)| missed.saturating_sub(self.last.get(name).copied().unwrap_or(0));
        self.slots += now.iter().map(since).max().unwrap_or(0);
        self.last = now;
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
        slow.look([("a", 10_000), ("b", 0)].into_iter());
        slow.look([("a", 10_000), ("b", 900)].into_iter());
        assert_eq!(slow.slots(), 10_900);
        slow.look([("a", 10_100), ("b", 950)].into_iter());
        assert_eq!(slow.slots(), 11_000, "of one time, the one that missed most");
        slow.look([("a", 5), ("c", 7)].into_iter());
        assert_eq!(slow.slots(), 11_007, "begun afresh");
    }
}
