//! Tells apart exactly what arrives in order, late, twice and never: a bitmap that slides over sequence numbers.

/// Sequence numbers it remembers: the span within which a late datagram can be told from a repeated one.
pub const SPAN: u64 = 1 << 17;

const WORDS: usize = (SPAN / 64) as usize;

/// Kind of a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than all before.
    Next,
    /// Received for the first time, after a higher one: reordered (RFC 4737, type P).
    Reordered,
    Duplicate,
    /// More than [`SPAN`] behind the highest: late or repeated, nobody can tell. Not counted as received.
    TooOld,
}

/// The sequence numbers of one flow. Memory is fixed: 16 KiB.
#[derive(Clone, Debug)]
pub struct Window {
    received: Box<[u64]>,
    /// The lowest number higher than all received.
    next: u64,
    unique: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window { received: vec![0; WORDS].into(), next: 0, unique: 0 }
    }
}

impl Window {
    pub fn record(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next {
            // The places that the window slides over now stand for new numbers, none of them received.
            for passed in self.next.max((sequence + 1).saturating_sub(SPAN))..sequence {
                self.mark(passed, false);
            }
            self.mark(sequence, true);
            (self.next, self.unique) = (sequence + 1, self.unique + 1);
            return Arrival::Next;
        }
        if self.next - sequence > SPAN {
            return Arrival::TooOld;
        }
        if self.marked(sequence) {
            return Arrival::Duplicate;
        }
        self.mark(sequence, true);
        self.unique += 1;
        Arrival::Reordered
    }

    /// Whether a number is so far ahead that all which are due would be too old once it was recorded.
    pub fn is_far_ahead(&self, sequence: u64) -> bool {
        sequence.saturating_sub(self.next) > SPAN
    }

    pub fn unique(&self) -> u64 {
        self.unique
    }

    /// One more than the highest number received: so many were sent at least.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn place(sequence: u64) -> (usize, u64) {
        ((sequence % SPAN / 64) as usize, 1 << (sequence % 64))
    }

    fn marked(&self, sequence: u64) -> bool {
        let (word, bit) = Window::place(sequence);
        self.received.get(word).is_some_and(|word| word & bit != 0)
    }

    fn mark(&mut self, sequence: u64, received: bool) {
        let (word, bit) = Window::place(sequence);
        if let Some(word) = self.received.get_mut(word) {
            *word = if received { *word | bit } else { *word & !bit };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_reordering_repetition_and_age_are_told_apart() {
        let mut window = Window::default();
        let arrivals: Vec<_> = [0, 1, 4, 2, 4, 2, 3, 5].into_iter().map(|n| window.record(n)).collect();
        use Arrival::{Duplicate, Next, Reordered};
        assert_eq!(arrivals, [Next, Next, Next, Reordered, Duplicate, Duplicate, Reordered, Next]);
        assert_eq!((window.unique(), window.next()), (6, 6));
        window.record(SPAN + 5);
        assert_eq!(window.record(5), Arrival::TooOld);
        assert_eq!(window.record(6), Reordered);
        assert_eq!(window.record(6), Duplicate);
        assert_eq!(window.record(SPAN + 5), Duplicate);
    }

    #[test]
    fn what_is_further_ahead_than_the_window_reaches_back_is_far() {
        let mut window = Window::default();
        assert!(!window.is_far_ahead(SPAN) && window.is_far_ahead(SPAN + 1));
        window.record(9);
        assert!(!window.is_far_ahead(SPAN + 10) && window.is_far_ahead(SPAN + 11) && !window.is_far_ahead(3));
    }

    #[test]
    fn a_jump_to_the_end_of_numbers_costs_one_turn_of_the_window() {
        let mut window = Window::default();
        window.record(0);
        assert_eq!(window.record((1 << 48) - 1), Arrival::Next);
        assert_eq!(window.unique(), 2);
        assert_eq!(window.record(1), Arrival::TooOld);
    }

    proptest! {
        #[test]
        fn agrees_with_a_memory_that_forgets_nothing(
            steps in prop::collection::vec((0_u64..400, prop_oneof![8 => Just(0_u64), 1 => 0..3 * SPAN]), 0..400),
        ) {
            let (mut window, mut all, mut next, mut base) = (Window::default(), HashSet::new(), 0_u64, 0_u64);
            for (near, jump) in steps {
                base += jump;
                let sequence = base + near;
                let expected = if sequence >= next {
                    Arrival::Next
                } else if next - sequence > SPAN {
                    Arrival::TooOld
                } else if all.contains(&sequence) {
                    Arrival::Duplicate
                } else {
                    Arrival::Reordered
                };
                prop_assert_eq!(window.record(sequence), expected);
                if expected != Arrival::TooOld {
                    all.insert(sequence);
                }
                next = next.max(sequence + 1);
                prop_assert_eq!((window.unique(), window.next()), (all.len() as u64, next));
            }
        }
    }
}
