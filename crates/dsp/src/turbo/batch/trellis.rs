//! Steps through the trellis (`turbo/trellis.rs`) on bytes that hold what a path costs: the least is the best.
//!
//! # No cost wraps
//! A branch (u, z) costs x if u = 1 and p if z = 1, less (x + p) / 2: at most [`STEP`] on either side of 0, and the cheaper of the two
//! that leave a state no more than 0. So the best metric never rises, and falls by [`STEP`] a step at most. No other is more than
//! [`SPREAD`] above it, which is what it costs to reach any state from any other. It is therefore enough to put the best to
//! [`BEST`] every second step: up to the next time no metric is below 0, and no branch leads above 255.
//!
//! Tried before: metrics put back and limited every step, which takes a quarter longer; metrics relative to state 0, which
//! waste half of the range; sums that saturate, which take twice as long.

use super::lanes::ByteLanes;

/// Soft inputs are limited to this.
pub(super) const MOST_INPUT: u8 = 20;
/// A decoder's inputs beside the parity are limited to this.
pub(super) const MOST_X: u8 = 52;
/// The most that a branch costs or brings.
const STEP: u8 = (MOST_X + MOST_INPUT) / 2;
/// The best metric after it was put back.
pub(super) const BEST: u8 = 2 * STEP;
/// The most that metrics of one place differ by.
const SPREAD: u8 = 2 * (MOST_X + MOST_INPUT);

const _: () = assert!((MOST_X + MOST_INPUT).is_multiple_of(2) && BEST as u32 + SPREAD as u32 + STEP as u32 <= 255);

/// The metrics of a block that begins in state 0, for sure: what it costs at most to come from there to any other.
pub(super) const BEGUN: [u8; 8] = detours(false);
/// The same of a block that ends in state 0: what it costs to come there.
pub(super) const ENDED: [u8; 8] = detours(true);

/// [`BEST`], and with the most that the way from state 0 to each costs, or back.
const fn detours(back: bool) -> [u8; 8] {
    let mut costs = [u8::MAX; 8];
    costs[0] = BEST;
    // No way is longer than the states are many.
    let mut n = 0;
    while n < 8 * 16 {
        let (s, u) = (n % 8, n / 8 % 2);
        let (s1, s2, s3) = (s >> 2, s >> 1 & 1, s & 1);
        let a = u ^ s2 ^ s3;
        let z = a ^ s1 ^ s3;
        let (from, to) = if back { (a << 2 | s >> 1, s) } else { (s, a << 2 | s >> 1) };
        let cost = costs[from].saturating_add(u as u8 * MOST_X + z as u8 * MOST_INPUT);
        costs[to] = if cost < costs[to] { cost } else { costs[to] };
        n += 1;
    }
    costs
}

/// The metric of each state.
pub(super) type Metrics<L> = [<L as ByteLanes>::Group; 8];

/// Costs of the branches (u, z) of a step.
#[derive(Clone, Copy)]
pub(super) struct Costs<L: ByteLanes> {
    l: L,
    /// Cost of (0, 0): to be taken away.
    gain: L::Group,
    x: L::Group,
    p: L::Group,
    both: L::Group,
}

impl<L: ByteLanes> Costs<L> {
    /// From soft values 128 above x and p. All are less if they are to put the best of `lifted` back to [`BEST`].
    #[inline(always)]
    pub(super) fn new(l: L, x: L::Group, p: L::Group, lifted: Option<Metrics<L>>) -> Costs<L> {
        let mut half = l.mean(x, p);
        if let Some(m) = lifted {
            half = l.add(half, l.sub(least(l, m), l.all(BEST)));
        }
        let (x, bare) = (l.sub(x, half), l.add(p, l.all(128)));
        Costs { l, gain: l.add(half, l.all(128)), x, p: l.sub(p, half), both: l.add(x, bare) }
    }

    /// After (0, 0) from or to one state, and after (1, 1) from or to the other.
    #[inline(always)]
    fn alike(&self, zero: L::Group, one: L::Group) -> [L::Group; 2] {
        [self.l.sub(zero, self.gain), self.l.add(one, self.both)]
    }

    /// After (0, 1), and after (1, 0).
    #[inline(always)]
    fn apart(&self, zero: L::Group, one: L::Group) -> [L::Group; 2] {
        [self.l.add(zero, self.p), self.l.add(one, self.x)]
    }
}

#[inline(always)]
fn least<L: ByteLanes>(l: L, m: Metrics<L>) -> L::Group {
    l.min(l.min(l.min(m[0], m[1]), l.min(m[2], m[3])), l.min(l.min(m[4], m[5]), l.min(m[6], m[7])))
}

/// The metrics behind a step from those before it.
#[inline(always)]
pub(super) fn forward<L: ByteLanes>(l: L, a: Metrics<L>, c: Costs<L>) -> Metrics<L> {
    let mut m = a;
    for (to, zero, one) in [(0, 0, 1), (4, 1, 0), (3, 7, 6), (7, 6, 7)] {
        let [zero, one] = c.alike(a[zero], a[one]);
        m[to] = l.min(zero, one);
    }
    for (to, zero, one) in [(1, 3, 2), (5, 2, 3), (2, 4, 5), (6, 5, 4)] {
        let [zero, one] = c.apart(a[zero], a[one]);
        m[to] = l.min(zero, one);
    }
    m
}

/// Targets of a state's branches with a 0 and with a 1.
const ALIKE: [(usize, usize, usize); 4] = [(0, 0, 4), (1, 4, 0), (6, 7, 3), (7, 3, 7)];
const APART: [(usize, usize, usize); 4] = [(2, 5, 1), (3, 1, 5), (4, 2, 6), (5, 6, 2)];

/// The metrics before a step from those behind it.
#[inline(always)]
pub(super) fn backward<L: ByteLanes>(l: L, b: Metrics<L>, c: Costs<L>) -> Metrics<L> {
    let mut m = b;
    for (from, zero, one) in ALIKE {
        let [zero, one] = c.alike(b[zero], b[one]);
        m[from] = l.min(zero, one);
    }
    for (from, zero, one) in APART {
        let [zero, one] = c.apart(b[zero], b[one]);
        m[from] = l.min(zero, one);
    }
    m
}

/// The same, and with the metrics `a` before the step also what the best path with a 1 costs more than the best with a 0, signed
/// and saturated: the LLR of the bit.
#[inline(always)]
pub(super) fn backward_with_llr<L: ByteLanes>(
    l: L,
    a: &Metrics<L>,
    b: Metrics<L>,
    c: Costs<L>,
) -> (Metrics<L>, L::Group) {
    let (mut m, mut best) = (b, [l.all(255); 2]);
    for (from, zero, one) in ALIKE {
        let [zero, one] = c.alike(b[zero], b[one]);
        best = [l.min(best[0], l.sum(zero, a[from])), l.min(best[1], l.sum(one, a[from]))];
        m[from] = l.min(zero, one);
    }
    for (from, zero, one) in APART {
        let [zero, one] = c.apart(b[zero], b[one]);
        best = [l.min(best[0], l.sum(zero, a[from])), l.min(best[1], l.sum(one, a[from]))];
        m[from] = l.min(zero, one);
    }
    (m, l.signed_difference(l.add(best[1], l.all(128)), l.add(best[0], l.all(128))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turbo::batch::OfBytes;
    use crate::turbo::lanes::Plain;
    use proptest::prelude::*;

    /// The least costs behind a step of the standard's register, or before it, in integers that do not wrap.
    fn by_the_register(m: [i32; 8], x: i32, p: i32, back: bool) -> [i32; 8] {
        let mut out = [i32::MAX; 8];
        for s in 0..8 {
            for u in 0..2 {
                let a = u ^ s >> 1 & 1 ^ s & 1;
                let z = a ^ s >> 2 ^ s & 1;
                let (from, to) = if back { (a << 2 | s >> 1, s) } else { (s, a << 2 | s >> 1) };
                out[to] = out[to].min(m[from] + u as i32 * x + z as i32 * p);
            }
        }
        out
    }

    /// Above the first.
    fn differences(m: [i32; 8]) -> [i32; 8] {
        m.map(|metric| metric - m[0])
    }

    /// Values up to `most`, mostly the loudest: they bring metrics to their limits.
    fn soft(most: u8) -> impl Strategy<Value = i32> {
        let most = i32::from(most);
        prop_oneof![Just(most), Just(-most), -most..=most]
    }

    proptest! {
        #[test]
        fn metrics_never_wrap(
            steps in proptest::collection::vec((soft(MOST_X), soft(MOST_INPUT)), 1..60),
            back in any::<bool>(),
        ) {
            let l = OfBytes(Plain);
            let start = if back { ENDED } else { BEGUN };
            let (mut m, mut exact) = (start.map(|metric| l.all(metric)), start.map(i32::from));
            for (t, (x, p)) in steps.into_iter().enumerate() {
                let costs = Costs::new(l, l.all((128 + x) as u8), l.all((128 + p) as u8), (t % 2 == 0).then_some(m));
                m = if back { backward(l, m, costs) } else { forward(l, m, costs) };
                exact = by_the_register(exact, x, p, back);
                prop_assert_eq!(differences(m.map(|metric| metric[0].into())), differences(exact));
            }
        }
    }
}
