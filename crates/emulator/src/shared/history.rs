//! Values and since when they hold: samples leave some time after they were taken, and belong to what held at their own ticks.
//!
//! ```text
//!   set at      T                 U
//!   samples  . . . . | . . . . . . . | . .        a packet in three pieces
//! ```

use std::collections::VecDeque;

use takt_base::{Tick, Ticks};

/// Changes that are remembered: a host that makes more of them while samples wait has the oldest forgotten.
const REMEMBERED: usize = 1024;

/// A value that changes at ticks. It never allocates again.
#[derive(Debug)]
pub(crate) struct History<T> {
    /// In order; never empty.
    list: VecDeque<(Tick, T)>,
}

/// Samples for which one value holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece<T> {
    /// The tick of the first.
    pub(crate) first: Tick,
    /// The number of the sample behind the last.
    pub(crate) end: usize,
    pub(crate) value: T,
}

impl<T: Copy + PartialEq> History<T> {
    /// This value has always held.
    pub(crate) fn new(value: T) -> History<T> {
        let mut list = VecDeque::with_capacity(REMEMBERED + 1);
        list.push_back((Tick(0), value));
        History { list }
    }

    /// From a tick on this holds, whatever was to hold then or later.
    pub(crate) fn set(&mut self, from: Tick, value: T) {
        let mut last = self.list.back().copied();
        while last.is_some_and(|(since, _)| since >= from) {
            self.list.pop_back();
            last = self.list.back().copied();
        }
        if last.is_none_or(|(_, held)| held != value) {
            self.list.push_back((from, value));
        }
        if self.list.len() > REMEMBERED {
            self.list.pop_front();
        }
    }

    /// The value after the last change.
    pub(crate) fn last(&self) -> T {
        self.list[self.list.len() - 1].1
    }

    /// The value at a tick, and all later ones.
    pub(crate) fn since(&self, tick: Tick) -> impl Iterator<Item = T> {
        self.list.range(self.later(tick) - 1..).map(|(_, value)| *value)
    }

    /// The piece of the samples of ticks `first`, `first + step`, ... that begins with sample `at`, within the first `len`.
    pub(crate) fn piece(&self, first: Tick, step: u32, at: usize, len: usize) -> Piece<T> {
        let step = u64::from(step.max(1));
        let first = first + Ticks((at as u64).saturating_mul(step));
        let later = self.later(first);
        let left = len.saturating_sub(at) as u64;
        let held = self.list.get(later).map_or(left, |(until, _)| (*until - first).0.div_ceil(step));
        Piece { first, end: at + held.clamp(1, left.max(1)) as usize, value: self.list[later - 1].1 }
    }

    /// The number of the first change after a tick. Before the first that is known, that one holds.
    fn later(&self, tick: Tick) -> usize {
        self.list.partition_point(|(from, _)| *from <= tick).max(1)
    }
}

impl<T: Copy + PartialEq> Clone for History<T> {
    /// With room for as many changes.
    fn clone(&self) -> History<T> {
        let mut list = VecDeque::with_capacity(REMEMBERED + 1);
        list.extend(&self.list);
        History { list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(history: &History<u32>, tick: u64) -> u32 {
        history.piece(Tick(tick), 1, 0, 1).value
    }

    #[test]
    fn each_tick_has_what_held_then() {
        let mut history = History::new(7);
        history.set(Tick(100), 1);
        history.set(Tick(200), 2);
        assert_eq!([0, 99, 100, 199, 200, 500].map(|tick| at(&history, tick)), [7, 7, 1, 1, 2, 2]);
        assert_eq!(history.since(Tick(150)).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(history.last(), 2);
    }

    #[test]
    fn what_is_set_again_replaces_what_was_to_hold_from_there_on() {
        let mut history = History::new(7);
        history.set(Tick(100), 1);
        history.set(Tick(200), 2);
        history.set(Tick(100), 3);
        assert_eq!([99, 100, 300].map(|tick| at(&history, tick)), [7, 3, 3]);
        history.set(Tick(0), 4);
        assert_eq!(history.list, [(Tick(0), 4)]);
        history.set(Tick(50), 4);
        assert_eq!(history.list.len(), 1, "nothing has changed");
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut history = History::new(0);
        let last = 3 * REMEMBERED as u32;
        (1..=last).for_each(|n| history.set(Tick(n.into()), n));
        assert_eq!(at(&history, u64::from(last) - 1), last - 1);
        assert_eq!(at(&history, 3), last + 1 - REMEMBERED as u32, "the oldest still known");
        assert_eq!(history.list.capacity(), History::new(0).list.capacity());
        assert_eq!(history.clone().list.capacity(), history.list.capacity());
    }

    proptest! {
        #[test]
        fn pieces_cover_all_samples_and_each_has_what_holds_at_its_tick(
            first in 0u64..2000, step in 1u32..50, len in 1usize..100, mut changes in prop::collection::vec((0u64..5000, 0u32..4), 0..12),
        ) {
            changes.sort_by_key(|change| change.0);
            let mut history = History::new(9);
            changes.iter().for_each(|(from, value)| history.set(Tick(*from), *value));
            let held = |tick: u64| changes.iter().rev().find(|change| change.0 <= tick).map_or(9, |change| change.1);
            let mut next = 0;
            while next < len {
                let piece = history.piece(Tick(first), step, next, len);
                prop_assert_eq!(piece.first, Tick(first + next as u64 * u64::from(step)));
                prop_assert!(piece.end > next && piece.end <= len);
                for n in next..piece.end {
                    prop_assert_eq!(held(first + n as u64 * u64::from(step)), piece.value, "sample {}", n);
                }
                next = piece.end;
            }
        }
    }
}
