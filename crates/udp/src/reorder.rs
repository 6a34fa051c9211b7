//! How far out of order: the metrics of RFC 4737 beside the plain count.
//!
//! A datagram is reordered if one with a higher number came before it (section 3.3). Its *extent* (4.2.1) is how many
//! arrivals ago the first such one came, its *late time* (4.2.2) how long ago; it is *n-reordered* (5.2) if each of the
//! last n arrivals has a higher number: a TCP without selective acknowledgement takes n = 3 for a loss. Repeated
//! datagrams count for nothing here.
//!
//! The first one with a higher number is always one that skipped numbers, so only those are remembered: nothing is
//! stored while datagrams come in order.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::MonoNs;

/// Arrivals that skipped numbers, of which so many are remembered.
const REMEMBERED: usize = 1024;
/// Extent that a TCP takes for a loss.
const N: usize = 3;

/// How far out of order the datagrams of one or more flows came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Arrivals between the first datagram with a higher number and the reordered one, at most.
    pub extent_max: u64,
    /// The sum of extents, to make a mean of.
    pub extent_sum: u64,
    /// The time between them, at most, ns.
    pub late_max_ns: u64,
    /// Reordered by three or more: each of the last three arrivals had a higher number.
    pub three_reordered: u64,
    /// Reordered so far that its extent is not known (more than 1024 gaps ago); in the sum and the maximum with what is.
    pub beyond_memory: u64,
}

impl Extents {
    #[must_use]
    pub fn and(self, other: Extents) -> Extents {
        Extents {
            extent_max: self.extent_max.max(other.extent_max),
            extent_sum: self.extent_sum + other.extent_sum,
            late_max_ns: self.late_max_ns.max(other.late_max_ns),
            three_reordered: self.three_reordered + other.three_reordered,
            beyond_memory: self.beyond_memory + other.beyond_memory,
        }
    }
}

/// Finds the extents of one flow. Memory is fixed: 24 KiB.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// The oldest is overwritten; by number as by arrival in rising order.
    skips: Box<[Skip]>,
    /// Skips so far.
    count: usize,
    arrivals: u64,
    /// The numbers that came last, the last one first.
    recent: [u64; N],
    pub extents: Extents,
}

#[derive(Clone, Copy, Debug, Default)]
struct Skip {
    sequence: u64,
    arrival: u64,
    at: MonoNs,
}

impl Default for Reordering {
    fn default() -> Reordering {
        let skips = vec![Skip::default(); REMEMBERED].into();
        Reordering { skips, count: 0, arrivals: 0, recent: [0; N], extents: Extents::default() }
    }
}

impl Reordering {
    /// One came with a higher number than all before; `skipped`: not with the next one.
    pub fn in_order(&mut self, sequence: u64, skipped: bool, at: MonoNs) {
        if skipped && let Some(place) = self.skips.get_mut(self.count % REMEMBERED) {
            *place = Skip { sequence, arrival: self.arrivals, at };
            self.count += 1;
        }
        self.arrived(sequence);
    }

    /// One came after a higher number, for the first time.
    pub fn late(&mut self, sequence: u64, at: MonoNs) {
        let forgotten = self.count.saturating_sub(REMEMBERED);
        if let Some(n) = first(forgotten..self.count, |n| self.skip(n).sequence > sequence) {
            let skip = self.skip(n);
            let extent = self.arrivals - skip.arrival;
            let late = at.saturating_since(skip.at);
            self.extents.extent_max = self.extents.extent_max.max(extent);
            self.extents.extent_sum += extent;
            self.extents.late_max_ns = self.extents.late_max_ns.max(ns(late));
            // Whether an earlier one had skipped it too is forgotten where the oldest remembered one did.
            self.extents.beyond_memory += u64::from(n == forgotten && forgotten > 0);
        }
        let all_higher = self.arrivals >= N as u64 && self.recent.iter().all(|&recent| recent > sequence);
        self.extents.three_reordered += u64::from(all_higher);
        self.arrived(sequence);
    }

    fn skip(&self, n: usize) -> Skip {
        self.skips.get(n % REMEMBERED).copied().unwrap_or_default()
    }

    fn arrived(&mut self, sequence: u64) {
        self.arrivals += 1;
        self.recent.rotate_right(1);
        self.recent[0] = sequence;
    }
}

fn ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The first place of a range for which `holds`, if it holds for all after it.
fn first(places: Range<usize>, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (places.start, places.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    (low < places.end).then_some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::window::{Arrival, Window};
    use super::*;

    /// As the receiver does it.
    fn measured(arrivals: &[(u64, u64)]) -> Extents {
        let (mut window, mut reordering) = (Window::default(), Reordering::default());
        for &(sequence, at) in arrivals {
            let expected = window.next();
            match window.record(sequence) {
                Arrival::Next => reordering.in_order(sequence, sequence > expected, MonoNs(at)),
                Arrival::Reordered => reordering.late(sequence, MonoNs(at)),
                Arrival::Duplicate | Arrival::TooOld => {}
            }
        }
        reordering.extents
    }

    /// RFC 4737, sections 4.2 and 5.2, word for word.
    fn defined(arrivals: &[(u64, u64)]) -> Extents {
        let mut extents = Extents::default();
        let mut unique: Vec<(u64, u64)> = Vec::new();
        for &(sequence, at) in arrivals {
            if unique.iter().any(|&(s, _)| s == sequence) {
                continue;
            }
            if let Some(j) = unique.iter().position(|&(s, _)| s > sequence) {
                let (extent, late) = ((unique.len() - j) as u64, at - unique[j].1);
                extents.extent_max = extents.extent_max.max(extent);
                extents.extent_sum += extent;
                extents.late_max_ns = extents.late_max_ns.max(late);
                let last = unique.len().checked_sub(3).map(|from| &unique[from..]);
                extents.three_reordered += u64::from(last.is_some_and(|l| l.iter().all(|&(s, _)| s > sequence)));
            }
            unique.push((sequence, at));
        }
        extents
    }

    #[test]
    fn the_examples_of_rfc_4737() {
        // Section 7, table 1: 4 arrives after 5, 6, 7 and 8 (numbers from 1 there).
        let arrivals = [1, 2, 3, 5, 6, 7, 8, 4, 9, 10].map(|s| (s - 1, s * 10));
        let at = |n: usize, t| [&arrivals[..n], &[(3, t)], &arrivals[n + 1..]].concat();
        let extents = measured(&at(7, 95));
        assert_eq!((extents.extent_max, extents.late_max_ns, extents.three_reordered), (4, 45, 1));
        assert_eq!(measured(&[(0, 1), (1, 2), (2, 3)]), Extents::default());
    }

    #[test]
    fn what_skipped_long_ago_is_reported_as_forgotten() {
        let skips = (0..2000).map(|n| (2 * n + 1, n));
        let extents = measured(&skips.chain([(0, 5000)]).collect::<Vec<_>>());
        assert_eq!((extents.beyond_memory, extents.extent_max), (1, 1024));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(steps in prop::collection::vec((0..60_u64, 1..9_u64), 0..200)) {
            let mut at = 0;
            let arrivals: Vec<(u64, u64)> = steps.iter().enumerate().map(|(n, &(near, wait))| {
                at += wait;
                (n as u64 / 2 + near, at)
            }).collect();
            prop_assert_eq!(measured(&arrivals), defined(&arrivals));
        }
    }
}
