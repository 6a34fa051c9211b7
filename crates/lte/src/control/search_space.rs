//! The addressee of a grant, and the elements at which a terminal looks for it: TS 36.321 section 7.1, TS 36.213 section 9.1.1.

use std::ops::RangeInclusive;

use crate::Tti;

/// The radio network temporary identifier that a grant is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rnti(pub u16);

impl Rnti {
    /// System information.
    pub const SI: Rnti = Rnti(0xFFFF);
    /// Paging.
    pub const P: Rnti = Rnti(0xFFFE);
    /// Answers to random access, in FDD.
    pub const RA: RangeInclusive<u16> = 1..=10;

    /// The first that a terminal can have: those below answer random access.
    pub const FIRST: Rnti = Rnti(0x003D);
    /// The last that a terminal can have.
    pub const LAST: Rnti = Rnti(0xFFF3);

    /// The identifier of the answer to a preamble that was sent in this subframe, modulo 10 (TS 36.321 section 5.1.4).
    #[must_use]
    pub fn of_random_access(subframe: usize) -> Rnti {
        Rnti(1 + (subframe % 10) as u16)
    }

    /// Whether a terminal can have it for its own.
    #[must_use]
    pub fn is_own(self) -> bool {
        (Self::FIRST..=Self::LAST).contains(&self)
    }

    /// Whether all terminals listen to it, so that it never grants an uplink.
    #[must_use]
    pub fn is_common(self) -> bool {
        self == Rnti::SI || self == Rnti::P || Rnti::RA.contains(&self.0)
    }
}

/// Which control channel elements a terminal looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchSpace {
    /// The same for all, with 4 or 8 elements.
    Common,
    /// By identifier and subframe, with 1, 2, 4 or 8.
    Own,
}

impl SearchSpace {
    /// How many candidates there are of each aggregation level, the smallest first.
    pub(super) fn levels(self) -> &'static [(u8, usize)] {
        match self {
            SearchSpace::Common => &[(4, 4), (8, 2)],
            SearchSpace::Own => &[(1, 6), (2, 6), (4, 2), (8, 2)],
        }
    }

    /// The first elements of the candidates with `aggregation` elements each, of `elements` in all. None twice.
    pub(super) fn candidates(
        self,
        rnti: Rnti,
        tti: Tti,
        aggregation: u8,
        elements: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let level = self.levels().iter().find(|level| level.0 == aggregation);
        let size = usize::from(aggregation);
        let places = elements.checked_div(size).unwrap_or(0);
        let count = level.map_or(0, |level| level.1).min(places);
        let start = match self {
            SearchSpace::Common => 0,
            SearchSpace::Own => start_of(rnti, tti.subframe()),
        };
        (0..count).map(move |m| size * ((start + m) % places))
    }
}

/// Y_k.
fn start_of(rnti: Rnti, subframe: usize) -> usize {
    (0..=subframe).fold(usize::from(rnti.0), |y, _| 39_827 * y % 65_537)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_those_of_the_table() {
        let of = |space: SearchSpace, subframe, aggregation, elements| {
            space.candidates(Rnti(0x1234), Tti::of(0, subframe), aggregation, elements).collect::<Vec<_>>()
        };
        assert_eq!(of(SearchSpace::Common, 3, 4, 50), [0, 4, 8, 12]);
        assert_eq!(of(SearchSpace::Common, 3, 8, 50), [0, 8]);
        assert_eq!(of(SearchSpace::Common, 0, 4, 3), [0; 0]);
        assert_eq!(of(SearchSpace::Common, 0, 4, 12), [0, 4, 8]);
        assert_eq!(of(SearchSpace::Common, 0, 1, 50), [0; 0]);
        assert_eq!(of(SearchSpace::Own, 0, 3, 50), [0; 0]);
        // 39827 * 0x1234 mod 65537 = 60003, and again 5793.
        assert_eq!(
            (start_of(Rnti(0x1234), 0), start_of(Rnti(0x1234), 1)),
            (39_827 * 4660 % 65_537, 39_827 * (39_827 * 4660 % 65_537) % 65_537)
        );
        let y = start_of(Rnti(0x1234), 7);
        assert_eq!(of(SearchSpace::Own, 7, 2, 25), [0, 1, 2, 3, 4, 5].map(|m| 2 * ((y + m) % 12)));
        assert_eq!(of(SearchSpace::Own, 7, 8, 9), [0]);
    }
}
