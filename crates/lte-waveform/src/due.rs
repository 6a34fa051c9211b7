//! Which subframe is due in a slot: also where the packet that would say so is missing.

/// Follows the distance between slots and subframes, which never changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubframeDue {
    /// A subframe's number less its slot's.
    offset: Option<i64>,
}

impl SubframeDue {
    /// The subframe of this slot, of which the packet said `seen`. `None`: no packet has said anything yet.
    pub(crate) fn in_slot(&mut self, slot: u64, seen: Option<u64>) -> Option<u64> {
        if let Some(number) = seen {
            self.offset = Some(number.wrapping_sub(slot) as i64);
        }
        self.offset.and_then(|offset| slot.checked_add_signed(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_does_not_move_later_subframes() {
        let mut due = SubframeDue::default();
        assert_eq!(due.in_slot(0, None), None);
        assert_eq!([due.in_slot(2, Some(1)), due.in_slot(5, None), due.in_slot(9, Some(8))], [1, 4, 8].map(Some));
    }
}
