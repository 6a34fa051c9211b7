//! [`Marks`]: which slots something was said of, in memory that is fixed.

/// Groups of 64 slots.
const GROUPS: usize = 64;

/// Remembers marked slots: those of the 4032 before the latest for certain, and at most 64 more. One that is too old to be
/// remembered can't be marked, so none that stays marked is ever new again.
pub(super) struct Marks {
    groups: [Group; GROUPS],
}

/// 64 slots, one bit each; `number`: the first of them by 64. A later group takes the place of an earlier one.
#[derive(Clone, Copy, Default)]
struct Group {
    number: u64,
    marks: u64,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { groups: [Group::default(); GROUPS] }
    }
}

impl Marks {
    /// Whether it is marked now and was not before.
    pub(super) fn mark(&mut self, slot: u64) -> bool {
        let (number, bit) = (slot / 64, 1 << (slot % 64));
        let group = self.group(number);
        if group.number < number {
            *group = Group { number, marks: 0 };
        }
        let new = group.number == number && group.marks & bit == 0;
        if new {
            group.marks |= bit;
        }
        new
    }

    /// Takes the mark away. Whether there was one.
    pub(super) fn unmark(&mut self, slot: u64) -> bool {
        let (number, bit) = (slot / 64, 1 << (slot % 64));
        let group = self.group(number);
        let marked = group.number == number && group.marks & bit != 0;
        if marked {
            group.marks &= !bit;
        }
        marked
    }

    /// The place of a group.
    fn group(&mut self, number: u64) -> &mut Group {
        &mut self.groups[number as usize % GROUPS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_marked_once_and_remembered_for_4032_slots() {
        for first in [0, 63, 1 << 32, u64::MAX - 5000] {
            let mut marks = Marks::default();
            assert!(!marks.unmark(first));
            assert!(marks.mark(first) && !marks.mark(first));
            assert!((first + 1..first + 4033).all(|slot| marks.mark(slot)));
            assert!(marks.unmark(first) && !marks.unmark(first));
        }
    }

    #[test]
    fn what_is_too_old_is_neither_marked_nor_remembered() {
        let mut marks = Marks::default();
        assert!(marks.mark(5) && marks.mark(4096));
        assert!(!marks.unmark(5) && !marks.mark(5) && !marks.mark(6));
        assert!(marks.unmark(4096));
    }
}
