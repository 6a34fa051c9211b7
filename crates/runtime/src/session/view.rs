//! [`RunView`]: what a running waveform shows to who watches it, read by another thread.
//!
//! The workers notice nothing of it: it reads their counters, and takes misses out of rings that drop what does not fit. A change
//! of plan or waveform puts a new [`Layout`] in its place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use takt_base::MonoNs;
use takt_graph::{Component, Graph, Plan};
use takt_live::{Constellation, Spectrum};

use super::taps::Taps;
use crate::report::{Culprit, blame};
use crate::slot::Timer;
use crate::stats::{ComponentSnapshot, Live, Watching};

/// Misses that are remembered.
const MISSES: usize = 32;

/// Which components run where, and their counters.
#[derive(Debug)]
pub(crate) struct Layout {
    slot_ns: u64,
    components: Vec<Placed>,
    /// All components there ever were, by id, and the counters of each.
    known: Vec<Component>,
    live: Vec<Arc<Live>>,
}

#[derive(Debug)]
struct Placed {
    name: String,
    kind: String,
    core: Option<usize>,
    feeds: Vec<String>,
    live: Arc<Live>,
}

/// The parts of a run that make its layout.
pub(crate) struct Parts<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) plan: &'a Plan,
    pub(crate) cores: &'a [usize],
    /// Ids of the graph's components.
    pub(crate) ids: &'a [usize],
    pub(crate) known: &'a [Component],
    pub(crate) live: &'a [Arc<Live>],
}

impl Layout {
    pub(crate) fn of(parts: &Parts<'_>) -> Layout {
        let Parts { graph, plan, cores, ids, known, live } = *parts;
        let placed = |(index, node): (usize, &Component)| {
            let links = graph.links().iter().filter(|link| link.from.component == index);
            let feeds = links.map(|link| graph.components()[link.to.component].name.clone());
            let id = ids[index];
            Placed {
                name: node.name.clone(),
                kind: node.kind.clone(),
                core: cores.get(plan.worker_of(index)).copied(),
                feeds: feeds.collect(),
                live: Arc::clone(&live[id]),
            }
        };
        Layout {
            slot_ns: graph.slot_ns(),
            components: graph.components().iter().enumerate().map(placed).collect(),
            known: known.to_vec(),
            live: live.to_vec(),
        }
    }
}

/// A look at a waveform that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLook {
    /// Physical slots that every worker has ended.
    pub slots: u64,
    /// Length of a slot, ns.
    pub slot_ns: u64,
    /// Slots that components missed, were late with, or panicked in.
    pub misses: u64,
    /// Lateness of releases: the upper end of each bar, ns, and how many. Empty: there is no clock.
    pub lateness: Vec<(u64, u64)>,
    /// The last misses, the newest last.
    pub recent: Vec<SeenMiss>,
    /// In the order of the waveform.
    pub components: Vec<SeenComponent>,
}

/// A miss as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenMiss {
    /// Component that missed it.
    pub component: String,
    /// Its slot.
    pub slot: u64,
    /// Its cause, as far as the slots before tell.
    pub culprit: Culprit,
}

/// A component that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenComponent {
    /// Its counts.
    pub counts: ComponentSnapshot,
    /// Mean execution time, ns; `None`: before the first.
    pub mean_ns: Option<f64>,
    /// Core of its worker; `None`: any.
    pub core: Option<usize>,
    /// Names of the components that it feeds.
    pub feeds: Vec<String>,
}

/// Reads what a running waveform shows. Made by [`Running::view`](crate::Running::view).
#[derive(Debug)]
pub struct RunView {
    pub(crate) layout: Arc<Mutex<Layout>>,
    pub(crate) workers: Vec<Watching>,
    pub(crate) timer: Timer,
    /// The last cause of each worker: a slot that an earlier one carried away has that one's.
    pub(crate) last: Vec<Option<Culprit>>,
    pub(crate) recent: VecDeque<SeenMiss>,
    taps: Taps,
}

impl RunView {
    pub(crate) fn new(layout: Arc<Mutex<Layout>>, workers: Vec<Watching>, timer: Timer, taps: Taps) -> RunView {
        let last = workers.iter().map(|_| None).collect();
        RunView { layout, workers, timer, last, recent: VecDeque::new(), taps }
    }

    /// Outputs of components whose packets can be looked at, as `COMPONENT.OUTPUT`.
    #[must_use]
    pub fn outputs(&self) -> Vec<String> {
        self.taps.names()
    }

    /// From now on [`signals`](RunView::signals) has these outputs.
    pub fn show(&mut self, outputs: &[String]) {
        self.taps.want(outputs);
    }

    /// Spectrum and points of the newest packets of each output that is shown.
    pub fn signals(&mut self, now: MonoNs) -> (Vec<Spectrum>, Vec<Constellation>) {
        self.taps.look(now)
    }

    /// Takes in the misses that have come. Without it, the rings drop what comes when they are full.
    pub fn catch_up(&mut self) {
        let RunView { layout, workers, timer, last, recent, .. } = self;
        let layout = layout.lock().unwrap_or_else(PoisonError::into_inner);
        let mut usual = None;
        for (index, (worker, last)) in workers.iter_mut().zip(last).enumerate() {
            while let Ok(raw) = worker.misses.pop() {
                let usual = usual.get_or_insert_with(|| usual_ns(&layout));
                let events: Vec<_> = raw.window().iter().map(|event| event.in_ns(timer)).collect();
                let culprit = blame((&raw, &events, index), usual, &layout.known, last.as_ref());
                *last = Some(culprit.clone());
                let component = layout.known.get(raw.component).map_or_else(String::new, |node| node.name.clone());
                if recent.len() == MISSES {
                    recent.pop_front();
                }
                recent.push_back(SeenMiss { component, slot: raw.slot, culprit });
            }
        }
    }

    /// The state now.
    #[must_use]
    pub fn look(&mut self) -> RunLook {
        self.catch_up();
        let layout = self.layout.lock().unwrap_or_else(PoisonError::into_inner);
        let components: Vec<SeenComponent> = layout.components.iter().map(seen).collect();
        let misses = components.iter().map(|one| one.counts.missed + one.counts.late + one.counts.faults).sum();
        RunLook {
            slots: self.workers.iter().map(|worker| worker.seen.slots.get()).min().unwrap_or(0),
            slot_ns: layout.slot_ns,
            misses,
            lateness: bars(self.workers.iter().map(|worker| &worker.seen.lateness)),
            recent: self.recent.iter().cloned().collect(),
            components,
        }
    }
}

fn seen(placed: &Placed) -> SeenComponent {
    let Placed { name, kind, core, feeds, live } = placed;
    SeenComponent { counts: live.snapshot(name, kind), mean_ns: live.mean_ns(), core: *core, feeds: feeds.clone() }
}

/// Time that each component is allowed a slot, or usually takes, by id.
fn usual_ns(layout: &Layout) -> Vec<u64> {
    let usual = |(node, live): (&Component, &Arc<Live>)| {
        let measured = || {
            let counts = live.snapshot(&node.name, &node.kind);
            if counts.executions >= 200 { counts.p99_ns } else { counts.p50_ns }.unwrap_or(0)
        };
        node.budget_ns.unwrap_or_else(measured)
    };
    layout.known.iter().zip(&layout.live).map(usual).collect()
}

/// The sum of these histograms: two bars to each doubling of the lateness, from the first that is not empty to the last.
fn bars<'a>(all: impl Iterator<Item = &'a Live>) -> Vec<(u64, u64)> {
    let mut bars: Vec<(u64, u64)> = (0..2 * u64::BITS).map(|half| (upper_ns(half), 0)).collect();
    for (ns, count) in all.flat_map(Live::buckets) {
        let at = bars.partition_point(|(upper, _)| *upper < ns);
        if let Some((_, sum)) = bars.get_mut(at) {
            *sum += count;
        }
    }
    let first = bars.iter().position(|(_, count)| *count > 0);
    let last = bars.iter().rposition(|(_, count)| *count > 0);
    first.zip(last).map_or_else(Vec::new, |(first, last)| bars[first..=last].to_vec())
}

/// 2, 3, 4, 6, 8, 12, …
fn upper_ns(half: u32) -> u64 {
    let octave = half / 2;
    let low = 1_u64 << octave.min(62);
    if half.is_multiple_of(2) { low.saturating_mul(2) } else { low.saturating_mul(3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_each_lateness_once_and_no_empty_ends() {
        let (a, b) = (Live::default(), Live::default());
        assert_eq!(bars([&a, &b].into_iter()), []);
        [1, 2, 3, 1000, 1001].into_iter().for_each(|ns| a.record(ns, 1));
        b.record(4000, 7);
        let bars = bars([&a, &b].into_iter());
        assert_eq!(bars.iter().map(|(_, count)| count).sum::<u64>(), 12);
        assert_eq!((bars.first(), bars.last().map(|bar| bar.1)), (Some(&(2, 2)), Some(7)));
        assert!(bars.windows(2).all(|pair| pair[0].0 < pair[1].0), "{bars:?}");
        let at = bars.iter().find(|bar| bar.0 >= 1000).expect("a bar");
        assert_eq!(*at, (1024, 2), "{bars:?}");
    }
}
