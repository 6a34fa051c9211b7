//! Choosing some items of a block, and putting them back to their places: what puncturing and its inverse do.

#[cfg(target_arch = "x86_64")]
mod simd;

use crate::bits;

/// Which items of a block are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// A bit an item, the first lowest; bits behind the last item are 0.
    words: Box<[u64]>,
    items: usize,
    chosen: usize,
}

impl Selection {
    /// From an answer an item, 1 or 0.
    pub(crate) fn new(chosen: &[u8]) -> Selection {
        let mut words = vec![0; chosen.len().div_ceil(64)];
        bits::pack(chosen, &mut words);
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Selection { words: words.into(), items: chosen.len(), chosen: count }
    }

    /// How many items there are.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// How many items are chosen.
    pub(crate) fn chosen(&self) -> usize {
        self.chosen
    }

    /// Copies the chosen items of `from` to `to`, one after the other.
    ///
    /// # Panics
    /// If `from` does not hold all items, or `to` the chosen ones.
    pub(crate) fn take(&self, from: &[u8], to: &mut [u8]) {
        assert_eq!((from.len(), to.len()), (self.items, self.chosen), "all items in, the chosen ones out");
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = simd::Level::best() {
            return level.take(&self.words, from, to);
        }
        take_scalar(&self.words, from, to);
    }

    /// Copies the items of `from` to the places of the chosen items of `to`; the others become 0.
    ///
    /// # Panics
    /// If `from` does not hold the chosen items, or `to` all.
    pub(crate) fn put(&self, from: &[u8], to: &mut [u8]) {
        assert_eq!((from.len(), to.len()), (self.chosen, self.items), "the chosen items in, all out");
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = simd::Level::best() {
            return level.put(&self.words, from, to);
        }
        put_scalar(&self.words, from, to);
    }
}

fn take_scalar(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (word, items) in words.iter().zip(from.chunks(64)) {
        for (i, item) in items.iter().enumerate() {
            if let Some(place) = to.get_mut(at) {
                *place = *item; // overwritten by the next if it is not chosen
            }
            at += (word >> i & 1) as usize;
        }
    }
}

fn put_scalar(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (word, items) in words.iter().zip(to.chunks_mut(64)) {
        for (i, item) in items.iter_mut().enumerate() {
            let chosen = (word >> i & 1) as u8;
            *item = from.get(at).map_or(0, |item| item & chosen.wrapping_neg());
            at += usize::from(chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chosen_items_are_taken_and_put_back(
            items in proptest::collection::vec((any::<u8>(), prop::bool::weighted(0.8)), 0..500),
        ) {
            let (from, chosen): (Vec<u8>, Vec<u8>) = items.iter().map(|&(item, chosen)| (item, u8::from(chosen))).unzip();
            let selection = Selection::new(&chosen);
            let expected: Vec<u8> = items.iter().filter(|item| item.1).map(|item| item.0).collect();
            let (mut taken, mut scalar) = (vec![7; expected.len()], vec![7; expected.len()]);
            selection.take(&from, &mut taken);
            take_scalar(&selection.words, &from, &mut scalar);
            prop_assert_eq!(&taken, &expected);
            prop_assert_eq!(&scalar, &expected);
            let spread: Vec<u8> = items.iter().map(|&(item, chosen)| if chosen { item } else { 0 }).collect();
            let (mut put, mut scalar) = (vec![7; from.len()], vec![7; from.len()]);
            selection.put(&taken, &mut put);
            put_scalar(&selection.words, &taken, &mut scalar);
            prop_assert_eq!(&put, &spread);
            prop_assert_eq!(&scalar, &spread);
            #[cfg(target_arch = "x86_64")]
            for level in simd::Level::all() {
                taken.fill(7);
                level.take(&selection.words, &from, &mut taken);
                prop_assert_eq!(&taken, &expected);
                put.fill(7);
                level.put(&selection.words, &taken, &mut put);
                prop_assert_eq!(&put, &spread);
            }
        }
    }
}
