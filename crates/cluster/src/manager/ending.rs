//! When a run is so near its end that nobody takes over from a node that is lost: the others go on without it, and what they did
//! is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::watched::{Watched, cut_off, first_slot};
use crate::message::Progress;

/// When no node that is asked answers for so long there is nothing more to wait for.
const SILENCE: Duration = Duration::from_secs(10);

/// Since when no node that is asked answers.
pub(super) struct Silence(Instant);

impl Silence {
    pub(super) fn new(since: Instant) -> Silence {
        Silence(since)
    }

    /// Whether it has lasted too long. `asked`: from `begun` on, all nodes that neither are lost nor have ended; `silent` are those
    /// that have not answered.
    pub(super) fn is_too_long(
        &mut self,
        begun: Instant,
        asked: &[String],
        silent: &BTreeSet<String>,
        now: Instant,
    ) -> bool {
        // That others have ended before says nothing about those that are left.
        if asked.is_empty() || asked.iter().any(|name| !silent.contains(name)) {
            self.0 = begun;
            return false;
        }
        now.duration_since(self.0) > SILENCE
    }
}

impl Watched<'_> {
    /// Whether nobody takes over any more. `stops`: the run was asked to.
    pub(super) fn is_over(&self, stops: bool) -> bool {
        is_over(stops, self.order.slots, self.names.len(), &self.last)
    }

    /// Whether another placing would come too late for a node: it is about to end by itself.
    pub(super) fn is_too_late(&self, progress: &Progress) -> bool {
        is_too_late(self.order.slots, self.names.len(), progress)
    }
}

/// Whether another placing of so many nodes would come too late: one of them has ended by itself, as all others are about to,
/// or the placing could not begin before the last slot. `slots`: those of the run.
fn is_over(stops: bool, slots: Option<u64>, nodes: usize, last: &BTreeMap<String, Progress>) -> bool {
    let has_ended = |progress: &Progress| progress.end.is_some() && !cut_off(progress);
    stops || last.values().any(|progress| has_ended(progress) || is_too_late(slots, nodes, progress))
}

/// Whether another placing of so many nodes could not begin before the last slot.
fn is_too_late(slots: Option<u64>, nodes: usize, progress: &Progress) -> bool {
    slots.is_some_and(|slots| first_slot(progress, nodes) >= slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockFacts;
    use crate::message::End;

    /// A node whose slots take 10 ms. `cut_off`: it has ended, and whether for that reason.
    fn node(slot: u64, cut_off: Option<bool>) -> Progress {
        let end = |cut_off| End { report: serde_json::Value::Null, sinks: Vec::new(), bridges_broke: None, cut_off };
        Progress {
            slot,
            slot_ns: 10_000_000,
            offset_ns: 0,
            offset_bound_ns: 0,
            clock: ClockFacts::default(),
            manager: "m".to_owned(),
            slow_slots: 0,
            lost_slots: BTreeMap::new(),
            end: cut_off.map(end),
        }
    }

    #[test]
    fn a_node_that_says_nothing_is_not_waited_for_because_others_have_ended() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let silent = BTreeSet::from(["b".to_owned()]);
        let mut silence = Silence::new(begin);
        assert!(!silence.is_too_long(at(1), &names(&["a", "b", "c"]), &silent, at(6)), "two stop");
        assert!(!silence.is_too_long(at(6), &names(&["b"]), &silent, at(11)));
        assert!(silence.is_too_long(at(11), &names(&["b"]), &silent, at(16)));
        assert!(!silence.is_too_long(at(16), &names(&["b", "c"]), &silent, at(60)), "one of many answered");
        assert!(!silence.is_too_long(at(80), &[], &silent, at(80)), "nobody was asked");
    }

    #[test]
    fn nobody_takes_over_from_a_node_that_is_lost_near_the_end() {
        let over = |stops, slots, nodes: &[Progress]| {
            let name = |(n, node): (usize, &Progress)| (format!("n{n}"), node.clone());
            let last: BTreeMap<String, Progress> = nodes.iter().enumerate().map(name).collect();
            is_over(stops, slots, 2, &last)
        };
        let running = [node(717, None), node(600, None)];
        // A lease, and the time to tell two nodes, are 280 slots; the edges at both ends two more.
        assert!(!over(false, Some(1000), &running));
        assert!(over(false, Some(999), &running), "no slot is left for another placing");
        assert!(!over(false, None, &running));
        assert!(over(true, None, &running), "it stops");
        assert!(over(false, None, &[node(717, None), node(720, Some(false))]), "one has ended");
        assert!(!over(false, None, &[node(717, None), node(720, Some(true))]), "one was cut off");
    }
}
