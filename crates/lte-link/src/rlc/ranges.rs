//! Which bytes of a packet: ranges that neither overlap nor touch, in order.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u16, u16)>);

impl Ranges {
    /// Adds bytes `begin` to `end`, exclusive; says whether any was new.
    pub(crate) fn add(&mut self, begin: u16, end: u16) -> bool {
        if begin >= end || self.0.iter().any(|&(from, to)| from <= begin && end <= to) {
            return false;
        }
        let (mut begin, mut end) = (begin, end);
        self.0.retain(|&(from, to)| {
            let apart = to < begin || end < from;
            if !apart {
                (begin, end) = (begin.min(from), end.max(to));
            }
            apart
        });
        let at = self.0.partition_point(|&(from, _)| from < begin);
        self.0.insert(at, (begin, end));
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes up to `most` bytes of the first range.
    pub(crate) fn take(&mut self, most: usize) -> Option<(u16, u16)> {
        let first = self.0.first_mut()?;
        let (begin, whole) = *first;
        let end = whole.min(begin.saturating_add(most.min(0xffff) as u16));
        if end == whole {
            self.0.remove(0);
        } else {
            first.0 = end;
        }
        Some((begin, end))
    }

    /// The first range.
    pub(crate) fn first(&self) -> Option<(u16, u16)> {
        self.0.first().copied()
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|&(begin, end)| usize::from(end - begin)).sum()
    }

    /// The end of the last range, 0 without one.
    pub(crate) fn end(&self) -> u16 {
        self.0.last().map_or(0, |&(_, end)| end)
    }

    /// Whether it is one range from 0 to `end`.
    pub(crate) fn is_whole(&self, end: u16) -> bool {
        self.0 == [(0, end)]
    }

    /// The bytes that are missing from 0 to `end`.
    pub(crate) fn gaps(&self, end: u16) -> Vec<(u16, u16)> {
        let (mut gaps, mut at) = (Vec::new(), 0);
        for &(from, to) in &self.0 {
            if at < from {
                gaps.push((at, from));
            }
            at = to;
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_a_set_of_bytes(parts in prop::collection::vec((0u16..60, 0u16..60), 0..12)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 64]);
            for (begin, end) in parts {
                let new = (begin..end).any(|n| !bytes[usize::from(n)]);
                prop_assert_eq!(ranges.add(begin, end), new);
                (begin..end).for_each(|n| bytes[usize::from(n)] = true);
            }
            prop_assert_eq!(ranges.len(), bytes.iter().filter(|&&one| one).count());
            let missing: usize = ranges.gaps(64).iter().map(|&(from, to)| usize::from(to - from)).sum();
            prop_assert_eq!(missing, 64 - ranges.len());
        }
    }
}
