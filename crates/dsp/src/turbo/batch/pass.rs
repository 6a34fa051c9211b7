//! One constituent decoder over a batch of blocks, a lane each: max-log-MAP on bytes.
//!
//! A block is gone through in windows of [`WINDOW`] steps, so that the metrics kept fit the nearest cache. Forward nothing is lost by
//! that; backward, metrics behind a window come from [`TRAINING`] steps through the next, which start from what the last iteration
//! had there. The best metric is put back in every second step (`trellis.rs`), and in the first of each stretch.
//!
//! Rows are memory for the widest vectors; narrower ones lie in them one after the other.

use super::lanes::ByteLanes;
use super::trellis::{BEGUN, BEST, Costs, ENDED, MOST_INPUT, MOST_X, Metrics, backward, backward_with_llr, forward};
use crate::turbo::lanes::{Lanes, Task};
use crate::turbo::row::{Row, States};
use bytemuck::{cast_slice, cast_slice_mut};

/// Findings are limited to this, and 3/4 of them are passed on.
const MOST_FOUND: u8 = 43;
/// Value for nothing found: with it, the most is the most of a signed byte.
pub(super) const NOTHING: u8 = 127 - MOST_FOUND;
/// Soft values are so far above what they say, as the mean is one of unsigned bytes.
pub(super) const ABOVE: u8 = 128;

const _: () = assert!(MOST_INPUT + (3 * MOST_FOUND + 1) / 4 <= MOST_X);

/// Steps of a window.
const WINDOW: usize = 96;
/// Steps through the next window.
const TRAINING: usize = 16;

/// Values that a constituent decoder keeps from one iteration to the next.
#[derive(Clone, Debug)]
pub(super) struct Borders {
    /// Metrics where training for a window starts.
    backward: Box<[States]>,
    /// Behind the last step of the block.
    pub(super) end: States,
}

impl Borders {
    pub(super) fn new(steps: usize) -> Borders {
        Borders { backward: vec![[Row::ZERO; 8]; steps.div_ceil(WINDOW)].into(), end: [Row::ZERO; 8] }
    }

    /// Forgets the last blocks: no state is better than any other.
    pub(super) fn clear(&mut self) {
        cast_slice_mut(&mut self.backward).fill(BEST);
    }
}

/// Room for what is kept of a window's steps: the metrics before each, and x.
#[derive(Clone, Debug)]
pub(super) struct Room(Box<[[Row; 9]]>);

impl Room {
    pub(super) fn new() -> Room {
        Room(vec![[Row::ZERO; 9]; WINDOW].into())
    }
}

/// The metrics before the tails: x and z three times for each decoder.
pub(super) struct Tails<'a> {
    pub(super) parities: &'a [Row],
    /// How many parities are before them.
    pub(super) skip: usize,
    pub(super) ends: [&'a mut States; 2],
}

impl Task for Tails<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (l, parities) = (l.bytes(), cast_slice(self.parities));
        for (tail, end) in parities[self.skip..].chunks_exact(6).zip(self.ends) {
            let mut m = ENDED.map(|metric| l.all(metric));
            for [x, p] in tail.as_chunks().0.iter().rev() {
                m = backward(l, m, Costs::new(l, *x, *p, Some(m)));
            }
            cast_slice_mut(end)[..8].copy_from_slice(&m);
        }
    }
}

/// Which rows the steps of a pass are about.
pub(super) trait Order: Copy {
    /// The same, of steps `from` to `to`.
    fn part(self, from: usize, to: usize) -> Self;
    fn row(self, t: usize) -> usize;
}

/// The first decoder's, from this row on.
#[derive(Clone, Copy)]
pub(super) struct InOrder(pub(super) usize);

impl Order for InOrder {
    #[inline(always)]
    fn part(self, from: usize, _to: usize) -> Self {
        InOrder(self.0 + from)
    }

    #[inline(always)]
    fn row(self, t: usize) -> usize {
        self.0 + t
    }
}

/// The second decoder's.
#[derive(Clone, Copy)]
pub(super) struct Interleaved<'a>(pub(super) &'a [u16]);

impl Order for Interleaved<'_> {
    #[inline(always)]
    fn part(self, from: usize, to: usize) -> Self {
        Interleaved(&self.0[from..to])
    }

    #[inline(always)]
    fn row(self, t: usize) -> usize {
        self.0[t].into()
    }
}

/// A pass of one constituent decoder; `DECIDES` if it keeps what both decoders together say of each bit.
pub(super) struct Pass<'a, O, const DECIDES: bool> {
    pub(super) order: O,
    pub(super) steps: usize,
    /// LLRs of the parity after so many others, in the order of the pass.
    pub(super) parities: &'a [Row],
    pub(super) skip: usize,
    /// Systematic LLRs, [`NOTHING`] less so that they need only be added to what is passed on; and the same with what the other
    /// decoder passed on, afterwards with what this one does. In the order of the block.
    pub(super) soft: &'a mut [[Row; 2]],
    /// Soft value of each bit by both decoders together, in the order of the block.
    pub(super) llrs: &'a mut [Row],
    pub(super) room: &'a mut Room,
    pub(super) borders: &'a mut Borders,
}

impl<O: Order, const DECIDES: bool> Task for Pass<'_, O, DECIDES> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Pass { order, steps, parities, skip, soft, llrs, room, borders } = self;
        let mut pass = OnBytes::<_, _, DECIDES> {
            l: l.bytes(),
            order,
            p: &cast_slice(parities)[skip..][..steps],
            soft: &mut cast_slice_mut(soft)[..steps],
            llrs: &mut cast_slice_mut(llrs)[..steps],
            kept: cast_slice_mut(&mut room.0),
        };
        pass.run(cast_slice_mut(&mut borders.backward), cast_slice(&borders.end)[0]);
    }
}

/// The same, with rows of as many blocks as there are lanes.
struct OnBytes<'a, L: ByteLanes, O, const DECIDES: bool> {
    l: L,
    order: O,
    p: &'a [L::Group],
    soft: &'a mut [[L::Group; 2]],
    llrs: &'a mut [L::Group],
    kept: &'a mut [[L::Group; 9]],
}

impl<L: ByteLanes, O: Order, const DECIDES: bool> OnBytes<'_, L, O, DECIDES> {
    /// `backward`: where training for a window starts; `end`: behind the last step.
    #[inline(always)]
    fn run(&mut self, backward: &mut [Metrics<L>], end: Metrics<L>) {
        let steps = self.p.len();
        let mut m = BEGUN.map(|metric| self.l.all(metric));
        for (n, from) in (0..steps).step_by(WINDOW).enumerate() {
            let to = steps.min(from + WINDOW);
            m = self.advance(from, to, m);
            let trained = steps.min(to + TRAINING);
            let behind = self.train(to, trained, if trained < steps { backward[n + 1] } else { end });
            let trained = to.min(from + TRAINING);
            backward[n] = self.retreat(from, trained, to, behind);
            self.retreat(from, from, trained, backward[n]);
        }
    }

    /// Forward through steps `from` to `to`, keeping x and the metrics before each.
    #[inline(always)]
    fn advance(&mut self, from: usize, to: usize, mut m: Metrics<L>) -> Metrics<L> {
        let (l, order, p) = (self.l, self.order.part(from, to), &self.p[from..to]);
        let (kept, mut t) = (&mut self.kept[..p.len()], 0);
        while t < p.len() {
            let x = self.soft[order.row(t)][1];
            kept[t] = [m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], x];
            m = forward(l, m, Costs::new(l, x, p[t], Some(m)));
            t += 1;
            if t < p.len() {
                let x = self.soft[order.row(t)][1];
                kept[t] = [m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], x];
                m = forward(l, m, Costs::new(l, x, p[t], None));
                t += 1;
            }
        }
        m
    }

    /// The metrics before step `from`, from those before step `to`.
    #[inline(always)]
    fn train(&self, from: usize, to: usize, mut m: Metrics<L>) -> Metrics<L> {
        let (l, order, p) = (self.l, self.order.part(from, to), &self.p[from..to]);
        let mut t = p.len();
        while t > 0 {
            t -= 1;
            m = backward(l, m, Costs::new(l, self.soft[order.row(t)][1], p[t], Some(m)));
            if t > 0 {
                t -= 1;
                m = backward(l, m, Costs::new(l, self.soft[order.row(t)][1], p[t], None));
            }
        }
        m
    }

    /// The same within a window, with what each step says of its bit.
    #[inline(always)]
    fn retreat(&mut self, window: usize, from: usize, to: usize, mut m: Metrics<L>) -> Metrics<L> {
        let (order, p) = (self.order.part(from, to), &self.p[from..to]);
        let (first, mut t) = (from - window, p.len());
        while t > 0 {
            t -= 1;
            m = self.step_with_output(first + t, order.row(t), p[t], true, m);
            if t > 0 {
                t -= 1;
                m = self.step_with_output(first + t, order.row(t), p[t], false, m);
            }
        }
        m
    }

    #[inline(always)]
    fn step_with_output(&mut self, t: usize, row: usize, p: L::Group, lifts: bool, m: Metrics<L>) -> Metrics<L> {
        let (l, kept) = (self.l, &self.kept[t]);
        let x = kept[8];
        let costs = Costs::new(l, x, p, if lifts { Some(m) } else { None });
        let (m, llr) = backward_with_llr(l, kept.first_chunk().unwrap(), m, costs);
        if DECIDES {
            self.llrs[row] = llr;
        }
        let soft = &mut self.soft[row];
        soft[1] = l.add(soft[0], passed_on(l, l.signed_difference(llr, l.add(x, l.all(ABOVE)))));
        m
    }
}

/// 3/4 of what is found, which is signed and is limited before: to the nearest, and [`NOTHING`] above it.
#[inline(always)]
pub(in super::super) fn passed_on<L: ByteLanes>(l: L, found: L::Group) -> L::Group {
    let limited = l.signed_max(l.signed_sum(found, l.all(NOTHING)), l.all(127 - 2 * MOST_FOUND));
    l.mean(l.mean(limited, l.all(NOTHING - 1)), limited)
}
