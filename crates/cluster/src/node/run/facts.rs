//! Facts of a run about itself: its progress for its manager, its facts for whoever asks, its counts for the metrics.

use std::collections::BTreeMap;

use takt_base::{Clock, WallClock};
use takt_graph::Direction;
use takt_runtime::ComponentTally;

use super::{Host, Run, State};
use crate::message::{Progress, RunFacts};
use crate::metrics::figures::{RunFigures, Stage};
use crate::metrics::page::TIMES_NS;
use crate::metrics::totals::{Series, Sums};

impl Run {
    pub(in crate::node) fn progress(&self) -> Progress {
        let end = if let State::Ended(end) = &self.state { Some((**end).clone()) } else { None };
        let offset = self.time.offset();
        let (slow_slots, lost_slots) = self.missed();
        Progress {
            slot: self.slot(),
            slot_ns: self.placed.graph.slot_ns(),
            offset_ns: offset.ns(),
            offset_bound_ns: offset.bound_ns(),
            clock: self.beat.facts(&self.time),
            manager: self.manager().to_owned(),
            slow_slots,
            lost_slots,
            end,
        }
    }

    /// Slots that the node was too slow for, and those that did not come in time from each other node.
    fn missed(&self) -> (u64, BTreeMap<String, u64>) {
        let State::Executing { bridges, .. } = &self.state else { return (0, BTreeMap::new()) };
        let mut lost = BTreeMap::new();
        for (worker, slots) in bridges.lost_slots() {
            let Some(from) = self.order.workers.get(worker) else { continue };
            let most: &mut u64 = lost.entry(from.node.clone()).or_default();
            *most = slots.max(*most);
        }
        (self.slow.slots(), lost)
    }

    pub(in crate::node) fn facts(&self, host: &Host) -> RunFacts {
        let components = self.placed.share.graph.components().iter().map(|component| component.name.clone()).collect();
        let waveform = self.placed.graph.name().to_owned();
        RunFacts {
            run: self.order.run.clone(),
            tenant: self.tenant.clone(),
            waveform,
            components,
            slot: self.slot(),
            manager: self.manager().to_owned(),
            watched: self.is_watched(host),
        }
    }

    /// Whether its slots pass.
    pub(in crate::node) fn is_executing(&self) -> bool {
        matches!(self.state, State::Executing { .. })
    }

    /// Name of its waveform.
    pub(in crate::node) fn waveform(&self) -> &str {
        &self.counters.waveform
    }

    /// Length of its slots, ns.
    pub(in crate::node) fn slot_ns(&self) -> u64 {
        self.placed.graph.slot_ns()
    }

    /// Counts of its components here.
    pub(in crate::node) fn tally(&self) -> Vec<ComponentTally> {
        self.counters.components.tally(&[])
    }

    /// Adds what it counts.
    pub(in crate::node) fn add_to(&self, sums: &mut Sums) {
        let series = |name: &str, peer: &str| Series {
            tenant: self.tenant.name().to_owned(),
            waveform: self.counters.waveform.clone(),
            name: name.to_owned(),
            peer: peer.to_owned(),
        };
        for tally in self.counters.components.tally(&TIMES_NS) {
            sums.components.add(series(&tally.name, ""), &tally);
        }
        for (peer, link) in &self.counters.links {
            // `output>worker` at the one end, `output<worker` at the other.
            let output = link.name().split(['<', '>']).next().unwrap_or_default();
            let of_direction = match link.direction() {
                Direction::Send => &mut sums.sent,
                Direction::Receive => &mut sums.received,
            };
            of_direction.add(series(output, peer), &link.tally());
        }
        if !self.reference.is_empty() {
            sums.started += 1;
        }
        if let Some(how) = self.counters.how {
            sums.ended[how as usize] += 1;
        }
    }

    /// How it is now.
    pub(in crate::node) fn figures(&self, facts: RunFacts) -> RunFigures {
        let stage = match &self.state {
            State::Opened { .. } | State::Changing => Stage::Opened,
            State::Executing { .. } => Stage::Executing,
            State::Ended(_) => Stage::Ended,
        };
        let offset = self.time.offset();
        RunFigures {
            facts,
            stage,
            slot_ns: self.time.slot_ns(),
            offset_ns: offset.ns(),
            offset_bound_ns: offset.bound_ns(),
            drift: offset.drift(),
            lease_ns: self.time.leased_until().0.saturating_sub(WallClock.now().0),
        }
    }
}
