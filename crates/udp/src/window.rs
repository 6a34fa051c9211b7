//! Telling apart, exactly, what arrives in order, late, twice and never: a bitmap that slides over sequence numbers.

/// Sequence numbers it remembers: the span within which a late datagram can be told from a repeated one.
pub const SPAN: u64 = 1 << 17;

const WORDS: usize = (SPAN / 64) as usize;

/// What a sequence number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than all before.
    Next,
    /// First seen now, after a higher one: reordered (RFC 4737, type P).
    Reordered,
    /// Seen before.
    Duplicate,
    /// More than [`SPAN`] behind the highest: late or repeated, nobody can tell. Not counted as received.
    TooOld,
}

/// The sequence numbers of one flow. Memory is fixed: 16 KiB.
#[derive(Clone, Debug)]
pub struct Window {
    seen: Box<[u64]>,
    /// The lowest number higher than all seen.
    next: u64,
    unique: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window { seen: vec![0; WORDS].into(), next: 0, unique: 0 }
    }
}

impl Window {
    /// A datagram with this number arrived.
    pub fn see(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next {
            // What the window slides over now stands for new numbers, none of them seen.
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

    /// Different numbers seen.
    #[must_use]
    pub fn unique(&self) -> u64 {
        self.unique
    }

    /// One more than the highest number seen: so many were sent at least.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    fn place(sequence: u64) -> (usize, u64) {
        ((sequence % SPAN / 64) as usize, 1 << (sequence % 64))
    }

    fn marked(&self, sequence: u64) -> bool {
        let (word, bit) = Window::place(sequence);
        self.seen.get(word).is_some_and(|seen| seen & bit != 0)
    }

    fn mark(&mut self, sequence: u64, seen: bool) {
        let (word, bit) = Window::place(sequence);
        if let Some(word) = self.seen.get_mut(word) {
            *word = if seen { *word | bit } else { *word & !bit };
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
        let seen: Vec<_> = [0, 1, 4, 2, 4, 2, 3, 5].into_iter().map(|n| window.see(n)).collect();
        use Arrival::{Duplicate, Next, Reordered};
        assert_eq!(seen, [Next, Next, Next, Reordered, Duplicate, Duplicate, Reordered, Next]);
        assert_eq!((window.unique(), window.next()), (6, 6));
        window.see(SPAN + 5);
        assert_eq!(window.see(5), Arrival::TooOld);
        assert_eq!(window.see(6), Reordered);
        assert_eq!(window.see(6), Duplicate);
        assert_eq!(window.see(SPAN + 5), Duplicate);
    }

    #[test]
    fn a_jump_to_the_end_of_numbers_costs_one_turn_of_the_window() {
        let mut window = Window::default();
        window.see(0);
        assert_eq!(window.see((1 << 48) - 1), Arrival::Next);
        assert_eq!(window.unique(), 2);
        assert_eq!(window.see(1), Arrival::TooOld);
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
                prop_assert_eq!(window.see(sequence), expected);
                if expected != Arrival::TooOld {
                    all.insert(sequence);
                }
                next = next.max(sequence + 1);
                prop_assert_eq!((window.unique(), window.next()), (all.len() as u64, next));
            }
        }
    }
}
