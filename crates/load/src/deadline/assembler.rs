//! [`Assembler`]: from a stream of samples with gaps to whole subframes.

/// Gathers samples. Gaps cost the subframes they touch and no others, and no count is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Assembler {
    /// The subframe that is being gathered.
    pub(super) subframe: u64,
    /// Its samples so far: where in the buffer the next ones go, and so how many are wanted, up to the subframe's end.
    pub(super) fill: usize,
    /// Its beginning, or something in it, is missing.
    broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    Part,
    /// As before, but these belong at this place of the buffer instead of where they were put.
    Move {
        to: usize,
        /// The first of them that belongs there.
        from: usize,
    },
    Whole(u64),
}

impl Assembler {
    pub(super) fn is_intact(&self) -> bool {
        !self.broken
    }

    /// `count` samples came, the first of them sample `index` of the stream. `length` is a subframe's.
    pub(super) fn place(&mut self, index: u64, count: usize, length: usize) -> Placed {
        let expected = self.subframe * length as u64 + self.fill as u64;
        if index == expected {
            self.fill += count;
            return self.step(length);
        }
        let into = (index % length as u64) as usize;
        self.subframe = index / length as u64;
        let room = length - into;
        if count >= room && into > 0 {
            // They reach into the next one, which begins whole.
            self.subframe += 1;
            (self.fill, self.broken) = (count - room, false);
            return Placed::Move { to: 0, from: room };
        }
        (self.fill, self.broken) = (into + count, into > 0);
        if self.fill == length { self.step(length) } else { Placed::Move { to: into, from: 0 } }
    }

    fn step(&mut self, length: usize) -> Placed {
        if self.fill < length {
            return Placed::Part;
        }
        let (number, broken) = (self.subframe, self.broken);
        *self = Assembler { subframe: number + 1, fill: 0, broken: false };
        if broken { Placed::Part } else { Placed::Whole(number) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LENGTH: usize = 10;

    /// Feeds runs of samples, each sample being its own number, and returns the subframes that came out.
    fn gather(runs: &[(u64, usize)]) -> Vec<u64> {
        let mut assembler = Assembler::default();
        let mut buffer = [u64::MAX; 2 * LENGTH];
        let mut whole = Vec::new();
        for &(first, count) in runs {
            let (mut first, mut left) = (first, count);
            while left > 0 {
                let at = assembler.fill;
                let take = left.min(LENGTH - at);
                for n in 0..take {
                    buffer[at + n] = first + n as u64;
                }
                match assembler.place(first, take, LENGTH) {
                    Placed::Part => {}
                    Placed::Move { to, from } => buffer.copy_within(at + from..at + take, to),
                    Placed::Whole(number) => {
                        let expected: Vec<u64> = (0..LENGTH as u64).map(|n| number * LENGTH as u64 + n).collect();
                        assert_eq!(buffer[..LENGTH], expected, "subframe {number}");
                        whole.push(number);
                    }
                }
                first += take as u64;
                left -= take;
            }
        }
        whole
    }

    #[test]
    fn a_gap_costs_what_it_touches() {
        assert_eq!(gather(&[(0, 35)]), [0, 1, 2]);
        assert_eq!(gather(&[(0, 12), (14, 26)]), [0, 2, 3], "within a subframe");
        assert_eq!(gather(&[(0, 12), (47, 23)]), [0, 5, 6], "over several");
        assert_eq!(gather(&[(0, 10), (20, 10)]), [0, 2], "exactly one");
        assert_eq!(gather(&[(3, 27)]), [1, 2], "at the beginning");
    }

    proptest! {
        #[test]
        fn whole_subframes_and_only_those_come_out(
            runs in proptest::collection::vec((0_u64..25, 1_usize..30), 1..20),
        ) {
            let mut next = 0;
            let (mut fed, mut there) = (Vec::new(), std::collections::BTreeSet::new());
            for (gap, count) in runs {
                let first = next + gap;
                fed.push((first, count));
                there.extend(first..first + count as u64);
                next = first + count as u64;
            }
            let whole = |k: &u64| (k * 10..k * 10 + 10).all(|sample| there.contains(&sample));
            let expected: Vec<u64> = (0..next / 10 + 1).filter(whole).collect();
            prop_assert_eq!(gather(&fed), expected);
        }
    }
}
