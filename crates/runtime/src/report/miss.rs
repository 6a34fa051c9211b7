//! Causes of late slots, apart from what only suffered from them.

use serde::Serialize;
use takt_graph::{Component, Share};

use super::run::ComponentReport;
use crate::stats::{MissKind, RawMiss, TraceEvent};
use crate::worker::Worker;

/// A missed slot, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// The component that missed it.
    pub component: String,
    /// Its worker.
    pub worker: usize,
    /// How.
    pub kind: MissKind,
    /// First logical slot missed.
    pub logical_slot: u64,
    /// How many in a row.
    pub count: u64,
    /// Physical slot in which it was found.
    pub slot: u64,
    /// How late the worker began this slot.
    pub release_ns: u64,
    /// How long the component took, where it was executed.
    pub execution_ns: u64,
    /// Its cause.
    pub culprit: Culprit,
    /// Executions of the worker before, oldest first: component, physical slot, start from its edge, execution time.
    pub before: Vec<Before>,
}

/// Cause of a late slot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "who", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Culprit {
    /// A component that took longer than its budget, or than it usually does.
    Component {
        component: String,
        /// The worker it ran on.
        worker: usize,
        /// The physical slot in which it did.
        slot: u64,
        execution_ns: u64,
        /// Time that it is allowed, or usually takes.
        usual_ns: u64,
    },
    /// A radio, or the way to it: the samples of the slot did not arrive, or not all of them.
    Radio {
        /// The component that was to bring them.
        component: String,
        slot: u64,
    },
    /// Another machine, or the way from it: the packet of the slot did not arrive in time.
    Bridge {
        /// The component that was to bring it.
        component: String,
        slot: u64,
    },
    /// The host let the worker begin late, or took the processor away from it.
    Release { worker: usize, slot: u64, late_ns: u64 },
}

/// One execution before a miss.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Before {
    pub component: String,
    pub slot: u64,
    /// From the edge of the slot.
    pub start_ns: u64,
    pub execution_ns: u64,
}

pub(crate) fn explain(known: &[Component], components: &[ComponentReport], workers: &[Worker]) -> Vec<Miss> {
    let usual: Vec<u64> = components.iter().zip(known).map(|(report, known)| usual_ns(known, report)).collect();
    let name = |id: usize| known[id].name.clone();
    let mut all = Vec::new();
    for (worker, Worker { stats, timer, .. }) in workers.iter().enumerate() {
        let mut last: Option<Culprit> = None;
        for raw in &stats.misses {
            let events: Vec<TraceEvent> = raw.window().iter().map(|event| event.in_ns(timer)).collect();
            let culprit = blame((raw, &events, worker), &usual, known, last.as_ref());
            last = Some(culprit.clone());
            let before = events.iter().map(|event| Before {
                component: name(event.component),
                slot: event.slot,
                start_ns: event.start_ns,
                execution_ns: event.execution_ns,
            });
            all.push(Miss {
                component: name(raw.component),
                worker,
                kind: raw.kind,
                logical_slot: raw.logical,
                count: raw.count,
                slot: raw.slot,
                release_ns: raw.release_ns,
                execution_ns: raw.execution_ns,
                culprit,
                before: before.collect(),
            });
        }
    }
    all
}

/// Time that a component is allowed a slot: its budget, or what it takes in 99 of 100 slots. With fewer than 200
/// executions one outlier would be its own measure: then the median is.
fn usual_ns(known: &Component, report: &ComponentReport) -> u64 {
    let share = if report.executions >= 200 { 0.99 } else { 0.5 };
    let measured = || report.histogram.quantile(share).unwrap_or(0);
    known.budget_ns.unwrap_or_else(measured)
}

/// The largest excess: of the release over the edge, or of an execution over what is usual, among those that led to the
/// miss. A slot that began late because an earlier one overran has the culprit of that.
pub(crate) fn blame(
    (raw, events, worker): (&RawMiss, &[TraceEvent], usize),
    usual: &[u64],
    known: &[Component],
    last: Option<&Culprit>,
) -> Culprit {
    let name = |id: usize| known.get(id).map_or_else(String::new, |node| node.name.clone());
    if matches!(raw.kind, MissKind::Fault | MissKind::Unanswered) {
        let usual_ns = usual.get(raw.component).copied().unwrap_or(0);
        let (component, execution_ns) = (name(raw.component), raw.execution_ns);
        return Culprit::Component { component, worker, slot: raw.slot, execution_ns, usual_ns };
    }
    if raw.kind == MissKind::Lost {
        let (component, slot) = (name(raw.component), raw.logical);
        let is_bridge = known.get(raw.component).is_some_and(|node| node.kind == Share::RECEIVE);
        return if is_bridge { Culprit::Bridge { component, slot } } else { Culprit::Radio { component, slot } };
    }
    let excess =
        |event: &TraceEvent| event.execution_ns.saturating_sub(usual.get(event.component).copied().unwrap_or(0));
    // A skipped slot is the work of an earlier one: of all that is remembered since.
    let since = if raw.carried || raw.kind == MissKind::Skipped { 0 } else { raw.slot };
    let worst =
        events.iter().filter(|event| event.slot >= since && event.slot <= raw.slot).max_by_key(|event| excess(event));
    let overrun = worst.map(|event| Culprit::Component {
        component: name(event.component),
        worker,
        slot: event.slot,
        execution_ns: event.execution_ns,
        usual_ns: usual.get(event.component).copied().unwrap_or(0),
    });
    let release = Culprit::Release { worker, slot: raw.slot, late_ns: raw.release_ns };
    // A slot late because of an earlier one has that one's culprit, unless something worse happened since.
    let otherwise = last.filter(|_| raw.carried).cloned().unwrap_or(release);
    overrun
        .filter(|overrun| overrun.excess_ns() > 0 && overrun.excess_ns() >= otherwise.excess_ns())
        .unwrap_or(otherwise)
}

impl Culprit {
    /// How much later than usual it made things.
    fn excess_ns(&self) -> u64 {
        match self {
            Culprit::Component { execution_ns, usual_ns, .. } => execution_ns.saturating_sub(*usual_ns),
            Culprit::Release { late_ns, .. } => *late_ns,
            Culprit::Radio { .. } | Culprit::Bridge { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_a_late_release_carried_away_are_not_blamed_on_a_component_that_was_a_little_slow() {
        let raw = RawMiss {
            kind: MissKind::Skipped,
            component: 0,
            logical: 9,
            count: 3,
            slot: 12,
            release_ns: 180_000,
            carried: true,
            execution_ns: 0,
            window: Default::default(),
            window_len: 0,
        };
        let release = Culprit::Release { worker: 0, slot: 8, late_ns: 4_180_000 };
        let blamed = |events: &[TraceEvent]| blame((&raw, events, 0), &[0, 430], &[], Some(&release));
        let event = |slot, component, execution_ns| TraceEvent { slot, component, start_ns: 0, execution_ns };
        assert_eq!(blamed(&[event(3, 1, 610)]), release);
        // A stall of a component since then outweighs it.
        let culprit = blamed(&[event(11, 0, 0), event(11, 0, 6_100_000)]);
        assert!(matches!(culprit, Culprit::Component { slot: 11, execution_ns: 6_100_000, .. }), "{culprit:?}");
    }
}
