//! Which resource blocks an allocation has: TS 36.213 section 7.1.6.

use crate::Bandwidth;

/// A set of resource blocks, numbered from the lowest frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockSet(u128);

impl BlockSet {
    /// `count` blocks from `first` on: resource allocation type 2, localised (TS 36.213 section 7.1.6.3). Blocks from 128 on,
    /// which no bandwidth has, are left out.
    #[must_use]
    pub fn from_range(first: usize, count: usize) -> BlockSet {
        let below = |end: usize| if end >= 128 { u128::MAX } else { (1 << end) - 1 };
        BlockSet(below(first.saturating_add(count)) & !below(first))
    }

    /// The groups of blocks in the `bitmap` of resource allocation type 0 (TS 36.213 section 7.1.6.1). Its lowest
    /// [`BlockSet::groups`] bits count, the highest of them for group 0, as the field of the control information has it.
    #[must_use]
    pub fn from_bitmap(bitmap: u32, bandwidth: Bandwidth) -> BlockSet {
        let (size, groups) = (Self::group_size(bandwidth), Self::groups(bandwidth));
        let chosen = (0..groups).filter(|group| bitmap >> (groups - 1 - group) & 1 == 1);
        let blocks = chosen.fold(0, |blocks, group| blocks | Self::from_range(group * size, size).0);
        BlockSet(blocks & Self::all(bandwidth).0)
    }

    /// All of a carrier.
    #[must_use]
    pub fn all(bandwidth: Bandwidth) -> BlockSet {
        Self::from_range(0, bandwidth.blocks())
    }

    /// P, the blocks of a group (TS 36.213 table 7.1.6.1-1). The last group may be smaller.
    #[must_use]
    pub fn group_size(bandwidth: Bandwidth) -> usize {
        match bandwidth.blocks() {
            ..=10 => 1,
            11..=26 => 2,
            27..=63 => 3,
            _ => 4,
        }
    }

    /// N_RBG, the groups of a carrier.
    #[must_use]
    pub fn groups(bandwidth: Bandwidth) -> usize {
        bandwidth.blocks().div_ceil(Self::group_size(bandwidth))
    }

    /// With one more. From 128 on there is none.
    #[must_use]
    pub fn with(self, block: usize) -> BlockSet {
        BlockSet(self.0 | Self::from_range(block, 1).0)
    }

    /// Whether `block` is in the set.
    #[must_use]
    pub fn contains(self, block: usize) -> bool {
        block < 128 && self.0 >> block & 1 == 1
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The blocks, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let block = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(block)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_are_those_of_the_standard() {
        assert_eq!(Bandwidth::ALL.map(BlockSet::groups), [6, 8, 13, 17, 19, 25]);
        let of = |bitmap, bandwidth| BlockSet::from_bitmap(bitmap, bandwidth).iter().collect::<Vec<_>>();
        assert_eq!(of(1 << 12, Bandwidth::Prb25), [0, 1]);
        assert_eq!(of(1, Bandwidth::Prb25), [24]);
        assert_eq!(of(0b101, Bandwidth::Prb6), [3, 5]);
        assert_eq!(of(1, Bandwidth::Prb50), [48, 49]);
        assert_eq!(of(1 << 24, Bandwidth::Prb100), [0, 1, 2, 3]);
        for bandwidth in Bandwidth::ALL {
            assert_eq!(BlockSet::from_bitmap(u32::MAX, bandwidth), BlockSet::all(bandwidth));
        }
    }

    proptest! {
        #[test]
        fn a_range_is_its_blocks(first in 0usize..140, count in 0usize..140) {
            let set = BlockSet::from_range(first, count);
            let expected: Vec<usize> = (first..first + count).filter(|&block| block < 128).collect();
            prop_assert_eq!(set.count(), expected.len());
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected);
            prop_assert!((0..300).all(|block| set.contains(block) == (block < 128 && (first..first + count).contains(&block))));
        }
    }

    #[test]
    fn the_largest_numbers_do_no_harm() {
        assert_eq!(BlockSet::from_range(usize::MAX, usize::MAX), BlockSet::default());
        assert_eq!(BlockSet::from_range(0, usize::MAX).count(), 128);
    }
}
