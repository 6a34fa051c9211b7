//! One constituent decoder over 32 blocks, a lane each: max-log-MAP on bytes.
//!
//! A block is gone through in windows of [`WINDOW`] steps, so that the metrics kept fit the nearest cache. Forward nothing is lost by
//! that; backward, metrics behind a window come from [`TRAINING`] steps through the next, which start from what the last iteration
//! had there.
//!
//! # No sum of metrics wraps
//! Before each step the best metric is put to [`TOP`], and those below [`LEAST`] to that: paths so far behind the best are nobody's
//! second choice. A step adds at most X + P to a metric or takes as much, X being the most that x is ([`MOST_X`]) and P the most
//! that a parity is ([`MOST_INPUT`]), and a sum of two metrics and a parity still fits.
//! Tried before: metrics relative to state 0, which waste half of the range, and sums that saturate, which take twice as long.

use super::lanes::{BLOCKS, ByteLanes, ByteRow};
use crate::turbo::lanes::{Arithmetic, Lanes, Task};
use crate::turbo::trellis::{Metrics, backward, best, forward, load, store};

/// Soft inputs are limited to this.
pub(super) const MOST_INPUT: i8 = 20;
/// What is found is limited to this before 3/4 of it are passed on.
const MOST_FOUND: i8 = 45;
/// Thus what a decoder takes beside the parity is limited to this.
const MOST_X: i8 = MOST_INPUT + 34;
/// The best metric.
const TOP: i8 = 53;
/// The least metric, also of states in which a block can't begin or end.
const LEAST: i8 = i8::MIN + MOST_X + MOST_INPUT;

const _: () = {
    let (top, least, p, w) = (TOP as i32, LEAST as i32, MOST_INPUT as i32, MOST_X as i32 + MOST_INPUT as i32);
    assert!(top + w <= 127 && least - w >= -128 && 2 * top + p <= 127 && 2 * least >= -128);
};

/// Steps of a window: 28 KiB of metrics.
const WINDOW: usize = 112;
/// Steps through the next window.
const TRAINING: usize = 16;

pub(super) type States = [ByteRow; 8];

/// State 0, for sure.
const KNOWN: States = {
    let mut states = [ByteRow([LEAST; BLOCKS]); 8];
    states[0] = ByteRow([TOP; BLOCKS]);
    states
};
/// Nothing is known.
const ANY: States = [ByteRow([TOP; BLOCKS]); 8];

/// What a constituent decoder keeps from one iteration to the next.
#[derive(Clone, Debug)]
pub(super) struct Borders {
    /// Metrics where training for a window starts.
    backward: Box<[States]>,
    /// Behind the last step of the block.
    pub(super) end: States,
}

impl Borders {
    pub(super) fn new(steps: usize) -> Borders {
        Borders { backward: vec![ANY; steps.div_ceil(WINDOW)].into(), end: KNOWN }
    }

    /// Forgets the last blocks.
    pub(super) fn clear(&mut self) {
        self.backward.fill(ANY);
    }
}

/// Room for a window.
#[derive(Clone, Debug)]
pub(super) struct Room {
    kept: Box<[States]>,
    x: Box<[ByteRow]>,
}

impl Room {
    pub(super) fn new() -> Room {
        Room { kept: vec![ANY; WINDOW].into(), x: vec![ByteRow::ZERO; WINDOW].into() }
    }
}

/// The metrics before three steps that lead to state 0: the tail.
pub(super) struct Tail<'a> {
    /// x and z of each.
    pub(super) tail: [(ByteRow, ByteRow); 3],
    pub(super) end: &'a mut States,
}

impl Task for Tail<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let l = l.bytes();
        for g in 0..L::Bytes::GROUPS {
            let mut m = load(l, g, &KNOWN);
            for (x, p) in self.tail.iter().rev() {
                m = topped(l, backward(l, m, l.load(x, g), l.load(p, g)));
            }
            store(l, g, m, self.end);
        }
    }
}

/// Which row step t of a pass is about.
pub(super) trait Order: Copy {
    /// Whether bits are decided on in passing: the second decoder does.
    const DECIDES: bool;

    fn row(self, t: usize) -> usize;
}

/// The first decoder's.
#[derive(Clone, Copy)]
pub(super) struct InOrder;

impl Order for InOrder {
    const DECIDES: bool = false;

    #[inline(always)]
    fn row(self, t: usize) -> usize {
        t
    }
}

/// The second decoder's.
#[derive(Clone, Copy)]
pub(super) struct Interleaved<'a>(pub(super) &'a [u16]);

impl Order for Interleaved<'_> {
    const DECIDES: bool = true;

    #[inline(always)]
    fn row(self, t: usize) -> usize {
        self.0[t].into()
    }
}

/// One of the streams of coded blocks.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    pub(super) rows: &'a [ByteRow],
    pub(super) stride: usize,
}

impl Stream<'_> {
    #[inline(always)]
    fn load<L: ByteLanes>(self, l: L, g: usize, t: usize) -> L::Group {
        l.load(&self.rows[t * self.stride], g)
    }
}

/// A pass of one constituent decoder.
pub(super) struct Pass<'a, O> {
    pub(super) order: O,
    /// Systematic LLRs, in the order of the block.
    pub(super) systematic: Stream<'a>,
    /// The same with what the other decoder passed on; afterwards with what this one does.
    pub(super) x: &'a mut [ByteRow],
    /// LLRs of the parity, in the order of the pass.
    pub(super) p: Stream<'a>,
    /// The bits that both decoders together decide on, a lane each, in the order of the block.
    pub(super) decided: &'a mut [u32],
    pub(super) room: &'a mut Room,
    pub(super) borders: &'a mut Borders,
}

impl<O: Order> Task for Pass<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let l = l.bytes();
        for g in 0..L::Bytes::GROUPS {
            let steps = self.x.len();
            let mut m = load(l, g, &KNOWN);
            for (n, from) in (0..steps).step_by(WINDOW).enumerate() {
                let to = steps.min(from + WINDOW);
                m = self.advance(l, g, from, to, m);
                let behind = if to == steps { load(l, g, &self.borders.end) } else { self.train(l, g, n + 1, to) };
                self.retreat(l, g, n, from, to, behind);
            }
        }
    }
}

impl<O: Order> Pass<'_, O> {
    /// Forward through a window, keeping x and the metrics before each step.
    #[inline(always)]
    fn advance<L: ByteLanes>(&mut self, l: L, g: usize, from: usize, to: usize, mut m: Metrics<L>) -> Metrics<L> {
        let room = self.room.kept.iter_mut().zip(&mut self.room.x);
        for (t, (kept, row)) in (from..to).zip(room) {
            let x = l.load(&self.x[self.order.row(t)], g);
            l.store(row, g, x);
            store(l, g, m, kept);
            m = topped(l, forward(l, m, x, self.p.load(l, g, t)));
        }
        m
    }

    /// The metrics before window n, which begins at `from`.
    #[inline(always)]
    fn train<L: ByteLanes>(&self, l: L, g: usize, n: usize, from: usize) -> Metrics<L> {
        let to = self.x.len().min(from + TRAINING);
        let start = if to == self.x.len() { &self.borders.end } else { &self.borders.backward[n] };
        let mut m = load(l, g, start);
        for t in (from..to).rev() {
            let x = l.load(&self.x[self.order.row(t)], g);
            m = topped(l, backward(l, m, x, self.p.load(l, g, t)));
        }
        m
    }

    /// Backward through window n, with what each step says of its bit.
    #[inline(always)]
    fn retreat<L: ByteLanes>(&mut self, l: L, g: usize, n: usize, from: usize, to: usize, mut m: Metrics<L>) {
        let room = self.room.kept[..to - from].iter().zip(&self.room.x[..to - from]);
        for (t, (kept, x)) in (from..to).zip(room).rev() {
            if t + 1 == from + TRAINING {
                store(l, g, m, &mut self.borders.backward[n]);
            }
            let (x, p, row) = (l.load(x, g), self.p.load(l, g, t), self.order.row(t));
            let found = extrinsic(l, load(l, g, kept), m, p);
            let extrinsic = l.three_quarters(found, l.all(MOST_FOUND));
            l.store(&mut self.x[row], g, l.add(self.systematic.load(l, g, row), extrinsic));
            if O::DECIDES {
                let bits = l.negative(l.sum(x, found)) << (g * BLOCKS / L::GROUPS);
                self.decided[row] = if g == 0 { bits } else { self.decided[row] | bits };
            }
            m = topped(l, backward(l, m, x, p));
        }
    }
}

/// What a step says of its systematic bit beyond x: the best path with 0 less the best with 1, over the branches of one (u, z) each.
#[inline(always)]
fn extrinsic<L: ByteLanes>(l: L, a: Metrics<L>, b: Metrics<L>, p: L::Group) -> L::Group {
    let other = l.difference(best(l, a, b, [2, 3, 4, 5], [5, 1, 2, 6]), p);
    let zero = l.max(best(l, a, b, [0, 1, 6, 7], [0, 4, 7, 3]), other);
    let other = l.difference(best(l, a, b, [0, 1, 6, 7], [4, 0, 3, 7]), p);
    let one = l.max(best(l, a, b, [2, 3, 4, 5], [1, 5, 6, 2]), other);
    l.difference(zero, one)
}

/// The same metrics with the best at [`TOP`], and none below [`LEAST`].
#[inline(always)]
fn topped<L: ByteLanes>(l: L, mut m: Metrics<L>) -> Metrics<L> {
    let best = l.max(l.max(l.max(m[0], m[1]), l.max(m[2], m[3])), l.max(l.max(m[4], m[5]), l.max(m[6], m[7])));
    let (lift, least) = (l.sub(l.all(TOP), best), l.sub(best, l.all(TOP - LEAST)));
    for metric in &mut m {
        *metric = l.add(l.max(*metric, least), lift);
    }
    m
}
