//! Meaning of a placement for time: whether its cycles can be run, and how many slots the waveform takes.
//!
//! `takt_graph::Plan` says the same for one machine. Here a hop between machines may take more than one slot, and a
//! placement may be half done.

use takt_graph::{Graph, Latency};

use crate::platform::Platform;

pub(crate) const NOWHERE: usize = usize::MAX;

struct Hop {
    from: usize,
    to: usize,
    delay: i64,
    in_cycle: bool,
    /// Whether the consumer comes first in topological order, so that even on one worker the packet waits a slot.
    backward: bool,
    /// A slot, where the producer is isolated: what it makes in a slot comes back in the next.
    lag: i64,
}

pub(crate) struct Hops {
    /// For each component the slots until what it makes is there: one of an isolated component, 0 of others.
    lags: Vec<i64>,
    /// In topological order of their producers, so that one pass settles all that is no cycle.
    hops: Vec<Hop>,
    /// Links on cycles; none if every cycle is inside one group, which no placement can break.
    cyclic: Vec<usize>,
    node_of: Vec<usize>,
    /// `[node * nodes + node]`
    slots: Vec<i64>,
    nodes: usize,
}

impl Hops {
    pub fn new(graph: &Graph, platform: &Platform, order: &[usize], group_of: &[usize]) -> Hops {
        let lags: Vec<i64> = graph.components().iter().map(|component| component.isolated.into()).collect();
        let mut position = vec![0; lags.len()];
        for (at, &component) in order.iter().enumerate() {
            position[component] = at;
        }
        let mut hops: Vec<Hop> = graph
            .links()
            .iter()
            .map(|link| {
                let (from, to) = (link.from.component, link.to.component);
                let backward = position[from] >= position[to];
                Hop { from, to, delay: i64::from(link.delay), in_cycle: link.in_cycle, backward, lag: lags[from] }
            })
            .collect();
        hops.sort_by_key(|hop| position[hop.from]);
        let open = hops.iter().any(|hop| hop.in_cycle && group_of[hop.from] != group_of[hop.to]);
        let cyclic = (0..hops.len()).filter(|&index| open && hops[index].in_cycle).collect();
        let nodes = platform.nodes().len();
        let mut slots = vec![1; nodes * nodes];
        for link in platform.links() {
            let [a, b] = link.nodes;
            slots[a * nodes + b] = i64::from(link.delay_slots);
            slots[b * nodes + a] = i64::from(link.delay_slots);
        }
        let node_of = platform.cores().iter().map(|core| core.node).collect();
        Hops { lags, hops, cyclic, node_of, slots, nodes }
    }

    /// Whether any cycle lies open: only then can a placement be illegal.
    pub fn any_cycle(&self) -> bool {
        !self.cyclic.is_empty()
    }

    /// Whether no cycle among what is placed needs more delay than it has.
    pub fn legal(&self, core_of: impl Fn(usize) -> usize) -> bool {
        let cyclic = self.cyclic.iter().map(|&index| &self.hops[index]);
        self.cyclic.is_empty() || self.settle(cyclic, &core_of, Latency::Compact).is_some()
    }

    /// Slots from a source to the last that it reaches; `None` if a cycle can't be run.
    pub fn latency(&self, core_of: impl Fn(usize) -> usize, latency: Latency) -> Option<u32> {
        let depth = self.settle(self.hops.iter(), &core_of, latency)?;
        let known = depth.into_iter().zip(&self.lags).map(|(depth, lag)| depth + lag);
        Some(u32::try_from(known.max().unwrap_or(0)).unwrap_or(u32::MAX))
    }

    /// Least depths, by raising what is too low; on a cycle that asks for more than it has this never ends, so it is cut
    /// off after as many rounds as there are components.
    fn settle<'a>(
        &'a self,
        hops: impl Iterator<Item = &'a Hop> + Clone,
        core_of: &impl Fn(usize) -> usize,
        latency: Latency,
    ) -> Option<Vec<i64>> {
        let mut depth = vec![0_i64; self.lags.len()];
        for _ in 0..=self.lags.len() {
            let mut raised = false;
            for hop in hops.clone() {
                let (from, to) = (core_of(hop.from), core_of(hop.to));
                if from == NOWHERE || to == NOWHERE {
                    continue;
                }
                let need = if from == to {
                    i64::from(hop.backward || (latency == Latency::Fixed && !hop.in_cycle))
                } else {
                    self.slots[self.node_of[from] * self.nodes + self.node_of[to]]
                };
                let wanted = depth[hop.from] + need + hop.lag - hop.delay;
                if wanted > depth[hop.to] {
                    depth[hop.to] = wanted;
                    raised = true;
                }
            }
            if !raised {
                return Some(depth);
            }
        }
        None
    }
}
