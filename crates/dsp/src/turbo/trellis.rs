//! Steps through the trellis of the constituent code (TS 25.212 section 4.2.3.2.1, TS 36.212 section 5.1.3.2.1), for all
//! states at once.
//!
//! A state is 4 s1 + 2 s2 + s3, s1 the newest register. A branch (u, z) costs `x` if u = 1 and `p` if z = 1, where x is the
//! LLR of the systematic bit with what is known a priori and p that of the parity bit; the branch (0, 0) costs nothing. That is
//! the usual metric, up to a common offset that no difference sees, and spares a third of the sums.

use super::lanes::Lanes;
use super::row::States;

/// The metric of each state.
pub(super) type Metrics<L> = [<L as Lanes>::Group; 8];

/// The metrics behind a step from those before it.
#[inline(always)]
pub(super) fn forward<L: Lanes>(l: L, a: Metrics<L>, x: L::Group, p: L::Group) -> Metrics<L> {
    let both = l.add(x, p);
    [
        l.max(a[0], l.sub(a[1], both)),
        l.max(l.sub(a[2], x), l.sub(a[3], p)),
        l.max(l.sub(a[4], p), l.sub(a[5], x)),
        l.max(a[7], l.sub(a[6], both)),
        l.max(a[1], l.sub(a[0], both)),
        l.max(l.sub(a[2], p), l.sub(a[3], x)),
        l.max(l.sub(a[4], x), l.sub(a[5], p)),
        l.max(a[6], l.sub(a[7], both)),
    ]
}

/// The metrics before a step from those behind it.
#[inline(always)]
pub(super) fn backward<L: Lanes>(l: L, b: Metrics<L>, x: L::Group, p: L::Group) -> Metrics<L> {
    let both = l.add(x, p);
    [
        l.max(b[0], l.sub(b[4], both)),
        l.max(b[4], l.sub(b[0], both)),
        l.max(l.sub(b[5], p), l.sub(b[1], x)),
        l.max(l.sub(b[1], p), l.sub(b[5], x)),
        l.max(l.sub(b[2], p), l.sub(b[6], x)),
        l.max(l.sub(b[6], p), l.sub(b[2], x)),
        l.max(b[7], l.sub(b[3], both)),
        l.max(b[3], l.sub(b[7], both)),
    ]
}

/// A step's extrinsic value of its systematic bit beyond `x`, from the metrics before it (`a`) and behind it (`b`). The
/// four maxima are over the branches of one (u, z) each.
#[inline(always)]
pub(super) fn extrinsic<L: Lanes>(l: L, a: Metrics<L>, b: Metrics<L>, p: L::Group) -> L::Group {
    let zero = l.max(best(l, a, b, [0, 1, 6, 7], [0, 4, 7, 3]), l.sub(best(l, a, b, [2, 3, 4, 5], [5, 1, 2, 6]), p));
    let one = l.max(best(l, a, b, [2, 3, 4, 5], [1, 5, 6, 2]), l.sub(best(l, a, b, [0, 1, 6, 7], [4, 0, 3, 7]), p));
    l.sub(zero, one)
}

/// The best of four branches.
#[inline(always)]
pub(super) fn best<L: Lanes>(l: L, a: Metrics<L>, b: Metrics<L>, from: [usize; 4], to: [usize; 4]) -> L::Group {
    let one = l.max(l.add(a[from[0]], b[to[0]]), l.add(a[from[1]], b[to[1]]));
    let other = l.max(l.add(a[from[2]], b[to[2]]), l.add(a[from[3]], b[to[3]]));
    l.max(one, other)
}

/// The same metrics with that of state 0 at 0.
#[inline(always)]
pub(super) fn normalised<L: Lanes>(l: L, m: Metrics<L>) -> Metrics<L> {
    let mut out = m;
    for metric in &mut out {
        *metric = l.sub(*metric, m[0]);
    }
    out
}

#[inline(always)]
pub(super) fn load<L: Lanes>(l: L, g: usize, states: &States) -> Metrics<L> {
    std::array::from_fn(|s| l.load(&states[s], g))
}

#[inline(always)]
pub(super) fn store<L: Lanes>(l: L, g: usize, m: Metrics<L>, states: &mut States) {
    for (row, metrics) in states.iter_mut().zip(m) {
        l.store(row, g, metrics);
    }
}
