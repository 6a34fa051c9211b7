//! One constituent decoder over one block: max-log-MAP with the block cut into windows, a lane each.
//!
//! All windows are gone through together: row t holds step t of each. Metrics at their borders are not known and are found by
//! training: the recursion starts [`Pass::training`] steps before a border, in the neighbouring window, from what the last
//! iteration had there (all states alike in the first).
//!
//! # No sum overflows
//! Inputs are at most [`MAX_INPUT`] and what is handed from one decoder to the other at most [`MAX_EXTRINSIC`], so x is at
//! most 895, p at most 128, and two branches of a step differ by w = 1023 at most. Any state is reached from any other
//! in three steps, so metrics of one place differ by 3 w = 3069 at most; at the ends of the block the impossible states stand
//! at -[`IMPOSSIBLE`], which three steps cannot make up for. With state 0 put to 0 every [`STRIDE`] = 8 steps, metrics stay
//! within 4000 + 8 w = 12 184, and the sum of two and a parity within 24 496, below 2^15.

use super::exchange::{Carry, Form};
use super::lanes::{Lanes, Plain, Task};
use super::row::{LANES, Row, States};
use super::trellis::{Metrics, backward, extrinsic, forward, load, normalised, store};

/// Soft inputs are limited to this by their type.
const MAX_INPUT: i16 = 128;
/// Values that one constituent decoder passes to the other are limited to this.
pub(super) const MAX_EXTRINSIC: i16 = 767;
/// The metric of a state that cannot be, beside 0.
const IMPOSSIBLE: i16 = 4000;
/// Steps from one normalisation to the next.
const STRIDE: usize = 8;

/// A row is carried through the interleaver this many steps after it was written: where that goes cell by cell, its values
/// would be read before they have left for the cache, which costs a tenth of the speed.
const BEHIND: usize = 2;

const _: () = {
    let w = 2 * MAX_INPUT + MAX_EXTRINSIC;
    assert!(3 * w < IMPOSSIBLE && 2 * (IMPOSSIBLE as i32 + STRIDE as i32 * w as i32) + (MAX_INPUT as i32) < 1 << 15);
};

/// State 0, for sure.
const KNOWN: [i16; 8] = {
    let mut metrics = [-IMPOSSIBLE; 8];
    metrics[0] = 0;
    metrics
};

/// Values that a constituent decoder keeps from one iteration to the next.
#[derive(Clone, Debug)]
pub(super) struct Borders {
    /// Metrics where training towards the right starts, and where training towards the left does.
    forward: States,
    backward: States,
    /// Behind the last step of the block.
    end: [i16; 8],
}

impl Borders {
    pub(super) const NEW: Borders = Borders { forward: [Row::ZERO; 8], backward: [Row::ZERO; 8], end: KNOWN };

    /// Forgets the last block. The next one ends with `tail`, the LLRs x and z of three steps that lead to state 0.
    pub(super) fn start(&mut self, tail: [(i8, i8); 3]) {
        (self.forward, self.backward) = ([Row::ZERO; 8], [Row::ZERO; 8]);
        let rows = tail.map(|(x, p)| (Row([x.into(); LANES]), Row([p.into(); LANES])));
        let states = KNOWN.map(|metric| Row([metric; LANES]));
        let mut m = load(Plain, 0, &states);
        for (x, p) in rows.iter().rev() {
            m = backward(Plain, m, Plain.load(x, 0), Plain.load(p, 0));
        }
        self.end = normalised(Plain, m).map(|metric| metric[0]);
    }
}

/// A pass of one constituent decoder.
pub(super) struct Pass<'a, C, F> {
    /// Systematic LLRs with what the other decoder passed on.
    pub(super) x: &'a [Row],
    /// LLRs of the parity.
    pub(super) p: &'a [Row],
    /// In which form what is found beyond x is passed on.
    pub(super) form: F,
    /// Store of that, row by row.
    pub(super) output: &'a mut [Row],
    /// How it goes through the interleaver, and to where.
    pub(super) carry: C,
    pub(super) carried: &'a mut [Row],
    /// Room for the metrics before each step.
    pub(super) kept: &'a mut [States],
    pub(super) borders: &'a mut Borders,
    /// How many windows there are, and how many places of the first are not used.
    pub(super) windows: usize,
    pub(super) unused: usize,
    /// Steps of training.
    pub(super) training: usize,
}

impl<'a, F> Pass<'a, (), F> {
    /// With a way through the interleaver.
    pub(super) fn carried_by<C>(self, carry: C) -> Pass<'a, C, F> {
        let Pass { x, p, form, output, carried, kept, borders, windows, unused, training, .. } = self;
        Pass { x, p, form, output, carry, carried, kept, borders, windows, unused, training }
    }
}

impl<C: Carry, F: Form> Task for Pass<'_, C, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let steps = self.x.len();
        self.training = self.training.min(steps);
        let (mut left, mut right) = ([Row::ZERO; 8], [Row::ZERO; 8]);
        if self.windows > 1 {
            self.train(l, &mut left, &mut right);
        }
        self.meet(&mut left, &mut right);
        let (x, p) = (self.x, &self.p[..steps]);
        let stretches = stretches(self.unused, steps);
        for g in 0..L::GROUPS {
            let mut m = load(l, g, &left);
            for Stretch { from, to, kept } in stretches {
                if from == self.unused {
                    store(l, g, m, &mut left);
                    for (row, known) in left.iter_mut().zip(KNOWN) {
                        row.0[0] = known;
                    }
                    m = load(l, g, &left);
                }
                m = advance_kept(l, g, &x[from..to], &p[from..to], m, &mut self.kept[kept..]);
            }
        }
        for g in 0..L::GROUPS {
            let mut m = load(l, g, &right);
            for stretch in stretches.into_iter().rev() {
                m = self.retreat_with_output(l, g, stretch, m);
            }
        }
        // The rows that were written last.
        for t in (0..BEHIND.min(steps)).rev() {
            self.carry.carry(l, t, &self.output[t], self.carried);
        }
        let t = steps - self.training;
        for Stretch { from, to, kept } in stretches {
            if (from..to).contains(&t) {
                for g in 0..L::GROUPS {
                    let mut m = load(l, g, &self.kept[kept + (t - from) / 2]);
                    if (t - from) % 2 == 1 {
                        m = forward(l, m, l.load(&x[t - 1], g), l.load(&p[t - 1], g));
                    }
                    store(l, g, m, &mut self.borders.forward);
                }
            }
        }
    }
}

/// Steps `from` to `to`. Metrics are kept before the first and each second after it, from place `kept` on: what is between them is
/// computed twice, as then they fit the nearest cache.
#[derive(Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    kept: usize,
}

/// The last begins where the first window does; if that is odd, the first is one step.
#[inline(always)]
fn stretches(unused: usize, steps: usize) -> [Stretch; 3] {
    let odd = unused % 2;
    [
        Stretch { from: 0, to: odd, kept: 0 },
        Stretch { from: odd, to: unused, kept: odd },
        Stretch { from: unused, to: steps, kept: odd + (unused - odd) / 2 },
    ]
}

impl<C: Carry, F: Form> Pass<'_, C, F> {
    /// The metrics behind the last step of each window, and before the first.
    #[inline(always)]
    fn train<L: Lanes>(&self, l: L, behind: &mut States, before: &mut States) {
        let (x, p) = (self.x, &self.p[..self.x.len()]);
        let (training, from) = (self.training, x.len() - self.training);
        for g in 0..L::GROUPS {
            let m = advance(l, g, &x[from..], &p[from..], load(l, g, &self.borders.forward));
            store(l, g, normalised(l, m), behind);
            let m = retreat(l, g, &x[..training], &p[..training], load(l, g, &self.borders.backward));
            store(l, g, normalised(l, m), before);
        }
    }

    /// The metrics that a window ends with are those that its neighbour starts with.
    #[inline(always)]
    fn meet(&self, left: &mut States, right: &mut States) {
        for ((left, right), end) in left.iter_mut().zip(right).zip(self.borders.end) {
            left.0.copy_within(..LANES - 1, 1);
            right.0.copy_within(1.., 0);
            right.0[self.windows - 1] = end;
        }
    }

    /// Backward through a stretch, passing on what each step says of its bit.
    #[inline(always)]
    fn retreat_with_output<L: Lanes>(&mut self, l: L, g: usize, stretch: Stretch, mut m: Metrics<L>) -> Metrics<L> {
        let Stretch { from, to, kept } = stretch;
        for pair in (0..(to - from).div_ceil(2)).rev() {
            let t = from + 2 * pair;
            if pair % (STRIDE / 2) == STRIDE / 2 - 1 || t + 2 >= to {
                m = normalised(l, m);
            }
            if t + 1 < to {
                let before = load(l, g, &self.kept[kept + pair]);
                let (x, p) = (l.load(&self.x[t], g), l.load(&self.p[t], g));
                m = self.step_back(l, g, t + 1, forward(l, before, x, p), m);
            }
            let before = load(l, g, &self.kept[kept + pair]);
            m = self.step_back(l, g, t, before, m);
        }
        m
    }

    /// Back to before step t, where forward the metrics are `before`.
    #[inline(always)]
    fn step_back<L: Lanes>(&mut self, l: L, g: usize, t: usize, before: Metrics<L>, m: Metrics<L>) -> Metrics<L> {
        let (x, p) = (l.load(&self.x[t], g), l.load(&self.p[t], g));
        let found = extrinsic(l, before, m, p);
        l.store(&mut self.output[t], g, self.form.form(l, g, t, found));
        if g == L::GROUPS - 1 {
            self.carry_behind(l, t);
        }
        let m = backward(l, m, x, p);
        if t == self.training {
            store(l, g, normalised(l, m), &mut self.borders.backward);
        }
        m
    }

    /// Carries the row that was written [`BEHIND`] steps before row t.
    #[inline(always)]
    fn carry_behind<L: Lanes>(&mut self, l: L, t: usize) {
        if let Some(row) = self.output.get(t + BEHIND) {
            self.carry.carry(l, t + BEHIND, row, self.carried);
        }
    }
}

/// Forward through all rows.
#[inline(always)]
fn advance<L: Lanes>(l: L, g: usize, x: &[Row], p: &[Row], mut m: Metrics<L>) -> Metrics<L> {
    for (x, p) in x.chunks(STRIDE).zip(p.chunks(STRIDE)) {
        m = normalised(l, m);
        for (x, p) in x.iter().zip(p) {
            m = forward(l, m, l.load(x, g), l.load(p, g));
        }
    }
    m
}

/// The same, keeping the metrics before each second step.
#[inline(always)]
fn advance_kept<L: Lanes>(l: L, g: usize, x: &[Row], p: &[Row], mut m: Metrics<L>, kept: &mut [States]) -> Metrics<L> {
    for ((x, p), kept) in x.chunks(STRIDE).zip(p.chunks(STRIDE)).zip(kept.chunks_mut(STRIDE / 2)) {
        m = normalised(l, m);
        for ((x, p), kept) in x.chunks(2).zip(p.chunks(2)).zip(kept) {
            store(l, g, m, kept);
            for (x, p) in x.iter().zip(p) {
                m = forward(l, m, l.load(x, g), l.load(p, g));
            }
        }
    }
    m
}

/// Backward through all rows.
#[inline(always)]
fn retreat<L: Lanes>(l: L, g: usize, x: &[Row], p: &[Row], mut m: Metrics<L>) -> Metrics<L> {
    for (x, p) in x.rchunks(STRIDE).zip(p.rchunks(STRIDE)) {
        m = normalised(l, m);
        for (x, p) in x.iter().zip(p).rev() {
            m = backward(l, m, l.load(x, g), l.load(p, g));
        }
    }
    m
}
