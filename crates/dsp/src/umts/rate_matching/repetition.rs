//! Sending bits more than once, and summing what was received of them.

/// How often each bit of a block is sent, one copy after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    /// Which bit is sent at each place.
    sources: Box<[u32]>,
    /// Where the copies of each bit begin, and where the last ends.
    starts: Box<[u32]>,
    /// No bit is sent more than twice.
    twice_at_most: bool,
}

impl Repetition {
    pub(super) fn new(copies: impl Iterator<Item = usize>) -> Repetition {
        let (mut sources, mut starts, mut twice_at_most) = (Vec::new(), vec![0], true);
        for (bit, copies) in (0..).zip(copies) {
            sources.extend(std::iter::repeat_n(bit, copies));
            starts.push(sources.len() as u32);
            twice_at_most &= copies <= 2;
        }
        Repetition { sources: sources.into(), starts: starts.into(), twice_at_most }
    }

    pub(super) fn sent(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn apply<T: Copy>(&self, block: &[T], sent: &mut [T]) {
        for (place, &source) in sent.iter_mut().zip(&self.sources) {
            *place = block[source as usize];
        }
    }

    pub(super) fn invert(&self, sent: &[i8], block: &mut [i8]) {
        if self.twice_at_most {
            for (llr, span) in block.iter_mut().zip(self.starts.windows(2)) {
                // The last copy counts if it is not the first: without a branch, the pattern being hard to foresee.
                let (first, last) = (span[0] as usize, span[1] as usize - 1);
                let again = i8::from(first != last).wrapping_neg();
                *llr = sent[first].saturating_add(sent[last] & again);
            }
        } else {
            for (llr, span) in block.iter_mut().zip(self.starts.windows(2)) {
                let sum: i32 = sent[span[0] as usize..span[1] as usize].iter().map(|&llr| i32::from(llr)).sum();
                *llr = sum.clamp(-128, 127) as i8;
            }
        }
    }
}
