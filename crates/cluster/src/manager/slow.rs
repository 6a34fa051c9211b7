//! Which node is too slow for its run: its processor, or its way to the others.
//!
//! Fixed before any data are seen: windows of [`WINDOW`] and at least [`LEAST_SLOTS`] slots; a node that missed [`SHARE`] of the
//! slots of a window is slow; so is one that answered no question in it, though its heartbeats come; and so is one that every link on which that share was lost begins or ends at; of two such nodes the one
//! that left more questions unanswered. If no single node explains it, none is slow. Two windows, one after the other,
//! must name the same node: one that has died is found by its heartbeats before that.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::message::Progress;

/// How long slots are counted.
const WINDOW: Duration = Duration::from_secs(2);

/// Fewer slots say nothing.
const LEAST_SLOTS: u64 = 20;

/// Share of a window's slots, missed by a node or lost on a link.
const SHARE: f64 = 0.2;

/// Slots counted since the begin of a window.
#[derive(Debug, Default)]
pub(super) struct Slowness {
    begun: Option<(Instant, BTreeMap<String, Counts>)>,
    /// No window begins before this slot: until then a change of placing is under way.
    from: u64,
    /// The node that the last window named.
    named: Option<String>,
}

/// Counts of a node so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    slot: u64,
    slow: u64,
    lost: BTreeMap<String, u64>,
    /// Questions that it has not answered in time.
    unanswered: u64,
}

/// A node that is too slow, and how that was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slow {
    pub(super) node: String,
    pub(super) why: String,
}

impl Slowness {
    /// Another placing begins in this slot.
    pub(super) fn restart(&mut self, from: u64) {
        *self = Slowness { begun: None, from, named: None };
    }

    /// The node that was too slow in the window that ends now and in the one before, if one does and one was.
    pub(super) fn look(
        &mut self,
        nodes: &BTreeMap<String, Progress>,
        unanswered: &BTreeMap<String, u64>,
        now: Instant,
    ) -> Option<Slow> {
        let counts = |(name, node): (&String, &Progress)| {
            let unanswered = unanswered.get(name).copied().unwrap_or(0);
            let counts = Counts { slot: node.slot, slow: node.slow_slots, lost: node.lost_slots.clone(), unanswered };
            (name.clone(), counts)
        };
        let present: BTreeMap<String, Counts> = nodes.iter().map(counts).collect();
        let slot = present.values().map(|counts| counts.slot).max().unwrap_or(0);
        let Some((since, before)) = &self.begun else {
            if slot >= self.from {
                self.begun = Some((now, present));
            }
            return None;
        };
        let began = before.values().map(|counts| counts.slot).max().unwrap_or(0);
        let slots = slot.saturating_sub(began);
        if now.duration_since(*since) < WINDOW || slots < LEAST_SLOTS {
            return None;
        }
        let found = slowest(before, &present, slots);
        self.begun = Some((now, present));
        let before = std::mem::replace(&mut self.named, found.as_ref().map(|slow| slow.node.clone()));
        found.filter(|slow| before.as_ref() == Some(&slow.node))
    }
}

fn slowest(before: &BTreeMap<String, Counts>, after: &BTreeMap<String, Counts>, slots: u64) -> Option<Slow> {
    let share = |count: u64| count as f64 / slots as f64;
    let none = Counts::default();
    let began = |name: &String| before.get(name).unwrap_or(&none);
    let unanswered = |name: &String| after.get(name).map_or(0, |counts| counts.unanswered) - began(name).unanswered;
    // Such a node can't report its losses.
    let unresponsive =
        |name: &&String| unanswered(name) > 0 && after.get(*name).map(|now| now.slot) == Some(began(name).slot);
    match &after.keys().filter(unresponsive).collect::<Vec<_>>()[..] {
        [] => {}
        [node] if after.len() > 1 => {
            return Some(Slow { node: (*node).clone(), why: "it answered no question".to_owned() });
        }
        _ => return None,
    }
    let missed =
        |(name, counts): (&String, &Counts)| (name.clone(), share(counts.slow.saturating_sub(began(name).slow)));
    let missed: Vec<(String, f64)> = after.iter().map(missed).filter(|(_, share)| *share >= SHARE).collect();
    match &missed[..] {
        [] => {}
        // A node that can't keep up sends nothing in time either: what is lost on links follows from it.
        [(node, share)] if after.len() > 1 => {
            return Some(Slow { node: node.clone(), why: format!("it missed {} of its slots", percent(*share)) });
        }
        _ => return None,
    }
    let lossy = |(to, counts): (&String, &Counts)| {
        let links = counts.lost.iter().map(|(from, lost)| {
            let earlier = began(to).lost.get(from).copied().unwrap_or(0);
            ((from.clone(), to.clone()), share(lost.saturating_sub(earlier)))
        });
        links.collect::<Vec<_>>()
    };
    let links: Vec<((String, String), f64)> =
        after.iter().flat_map(lossy).filter(|(_, share)| *share >= SHARE).collect();
    let worst = links.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let ends = |((from, to), _): &((String, String), f64)| BTreeSet::from([from.clone(), to.clone()]);
    let common = links.iter().map(ends).reduce(|all, ends| all.intersection(&ends).cloned().collect())?;
    // Either end of one link may be it: without one of them there is no such link. A cable that carries no samples in
    // time carries no answers in time either.
    let node = common.into_iter().max_by_key(unanswered)?;
    Some(Slow { node, why: format!("{} of the slots to or from it were lost", percent(worst)) })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share.min(1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, u64, &'a [(&'a str, u64)]);

    fn nodes(slot: u64, rows: &[Row<'_>]) -> BTreeMap<String, Progress> {
        let node = |&(name, slow_slots, lost): &Row<'_>| {
            let lost_slots = lost.iter().map(|&(from, lost)| (from.to_owned(), lost)).collect();
            let (slot_ns, manager) = (1_000_000, "m".to_owned());
            let (offset_ns, offset_bound_ns, end) = (0, 0, None);
            let clock = crate::clock::ClockFacts::default();
            let progress =
                Progress { slot, slot_ns, offset_ns, offset_bound_ns, clock, manager, slow_slots, lost_slots, end };
            (name.to_owned(), progress)
        };
        rows.iter().map(node).collect()
    }

    /// The node found slow by two windows of 1000 slots in which nodes counted so much.
    fn found(rows: &[Row<'_>]) -> Option<String> {
        let (mut slowness, begin) = (Slowness::default(), Instant::now());
        let names: Vec<Row<'_>> = rows.iter().map(|&(name, ..)| (name, 7, &[][..])).collect();
        let silent = BTreeMap::new();
        assert_eq!(slowness.look(&nodes(100, &names), &silent, begin), None);
        let with = |windows: u64, slowness: &mut Slowness| {
            let mut nodes = nodes(100 + 1000 * windows, rows);
            nodes.values_mut().for_each(|node| {
                node.slow_slots = 7 + windows * node.slow_slots;
                node.lost_slots.values_mut().for_each(|lost| *lost *= windows);
            });
            let now = begin + WINDOW * u32::try_from(windows).unwrap();
            slowness.look(&nodes, &silent, now).map(|slow| slow.node)
        };
        assert_eq!(with(1, &mut slowness), None, "one window is not enough");
        with(2, &mut slowness)
    }

    #[test]
    fn the_node_that_explains_what_was_missed_is_slow() {
        let b = Some("b".to_owned());
        assert_eq!(found(&[("a", 0, &[]), ("b", 900, &[]), ("c", 0, &[])]), b, "its processor");
        assert_eq!(found(&[("a", 0, &[("b", 300)]), ("b", 0, &[("a", 250)]), ("c", 0, &[("b", 400)])]), b, "its way");
        assert_eq!(found(&[("a", 0, &[("b", 300)]), ("b", 0, &[])]), b, "one of two ends");
        assert_eq!(found(&[("a", 0, &[("b", 300)]), ("b", 500, &[])]), b, "slow, and late on its way for that reason");
    }

    #[test]
    fn nobody_is_slow_where_little_is_missed_or_nobody_explains_it() {
        assert_eq!(found(&[("a", 100, &[("b", 190)]), ("b", 199, &[])]), None, "below the share");
        assert_eq!(found(&[("a", 900, &[]), ("b", 900, &[]), ("c", 0, &[])]), None, "two at once");
        assert_eq!(found(&[("a", 900, &[])]), None, "nobody else is there");
        let two_links: [Row<'_>; 4] = [("a", 0, &[("b", 900)]), ("b", 0, &[]), ("c", 0, &[("d", 900)]), ("d", 0, &[])];
        assert_eq!(found(&two_links), None, "two links that share no node");
    }

    #[test]
    fn of_the_two_ends_of_a_link_the_one_that_does_not_answer_is_slow() {
        for (silent, other) in [("a", "b"), ("b", "a")] {
            let (mut slowness, begin) = (Slowness::default(), Instant::now());
            let mut look = |window: u64| {
                let nodes = nodes(1000 * window, &[("a", 0, &[]), ("b", 0, &[("a", 500 * window)])]);
                let unanswered = BTreeMap::from([(silent.to_owned(), 3 * window), (other.to_owned(), 7)]);
                slowness.look(&nodes, &unanswered, begin + WINDOW * u32::try_from(window).unwrap())
            };
            assert_eq!((look(0), look(1)), (None, None));
            assert_eq!(look(2).map(|slow| slow.node), Some(silent.to_owned()));
        }
    }

    #[test]
    fn a_node_that_answers_nothing_is_slow_whatever_others_say() {
        let (mut slowness, begin) = (Slowness::default(), Instant::now());
        let mut look = |window: u64| {
            let mut nodes = nodes(1000 * window, &[("a", 0, &[]), ("b", 0, &[]), ("c", 0, &[("a", 900 * window)])]);
            nodes.get_mut("b").unwrap().slot = 0;
            let unanswered = BTreeMap::from([("b".to_owned(), 3 * window)]);
            slowness.look(&nodes, &unanswered, begin + WINDOW * u32::try_from(window).unwrap())
        };
        assert_eq!((look(0), look(1)), (None, None));
        assert_eq!(look(2).map(|slow| slow.node), Some("b".to_owned()));
    }

    #[test]
    fn windows_are_long_enough_and_begin_after_a_change() {
        let (mut slowness, begin) = (Slowness::default(), Instant::now());
        slowness.restart(50);
        let at = |slowness: &mut Slowness, slot, slow, seconds| {
            let nodes = nodes(slot, &[("a", 0, &[]), ("b", slow, &[])]);
            let silent = BTreeMap::from([("a".to_owned(), seconds)]);
            slowness.look(&nodes, &silent, begin + Duration::from_secs(seconds)).map(|slow| slow.node)
        };
        assert_eq!(at(&mut slowness, 40, 0, 0), None);
        assert_eq!(at(&mut slowness, 50, 1000, 4), None, "the window begins here");
        assert_eq!(at(&mut slowness, 69, 1019, 8), None, "too few slots");
        assert_eq!(at(&mut slowness, 70, 1020, 8), None, "one window is not enough");
        assert_eq!(at(&mut slowness, 90, 1020, 12), None, "it has recovered");
        assert_eq!(at(&mut slowness, 110, 1040, 16), None);
        assert_eq!(at(&mut slowness, 130, 1060, 20), Some("b".to_owned()));
    }
}
