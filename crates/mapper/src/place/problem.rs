//! [`Problem`]: a graph, costs and a platform as dense tables, what every algorithm works on.
//!
//! Components that no legal plan can part are one *group*: on a cycle of one slot of delay, being on two workers would need
//! two. Cores of one class on one machine are one *kind*: what holds for one of them holds for all.
//!
//! An isolated component works in a process of its own. Its work is a group by itself, behind all others, on any core
//! of the machine that the component's worker is on. The worker is left with the call.

use takt_graph::{Graph, Latency};

use super::depth;
use crate::platform::Platform;

/// Cost of a group on a kind of core it must not be on.
pub(crate) const NEVER: u64 = u64::MAX;
/// Longer than any slot; sums of as many as there can be components do not overflow.
pub(crate) const LONGEST_NS: u64 = 1 << 50;

pub(crate) struct Problem {
    pub latency: Latency,
    /// Components of each group, in topological order; groups in that of their first. From `processes` on: the processes of
    /// isolated components, one each.
    pub groups: Vec<Vec<usize>>,
    pub processes: usize,
    pub group_of: Vec<usize>,
    /// Groups of each strongly connected part.
    pub parts: Vec<Vec<usize>>,
    pub kind_of: Vec<usize>,
    pub kinds: Vec<CoreKind>,
    /// `[group * kinds + kind]`, ns.
    costs: Vec<u64>,
    pub flows: Vec<Flow>,
    pub flows_of: Vec<Vec<usize>>,
    pub channels: Vec<Channel>,
    /// `[kind * kinds + kind]`: what traffic between two cores goes over.
    ways: Vec<Way>,
    pub hops: depth::Hops,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoreKind {
    pub node: usize,
    pub class: usize,
    /// Time that a worker takes of each slot by itself, ns.
    pub base_ns: u64,
}

/// Bytes a slot from one group to another.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
    /// Through memory that both share: never from machine to machine.
    pub shared: bool,
}

/// A way of limited bandwidth: one direction of a link, or the inside of a machine.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub from: usize,
    pub to: usize,
    pub bytes_per_s: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Inside a machine, no limit known.
    Free,
    Over(usize),
    /// No link joins the machines.
    None,
}

impl Problem {
    /// `cost(component, class)`: ns on that class, call not included. `pinned(component)`: the machine it must be on.
    pub fn new(
        graph: &Graph,
        platform: &Platform,
        latency: Latency,
        cost: impl Fn(usize, usize) -> u64,
        pinned: impl Fn(usize) -> Option<usize>,
    ) -> Problem {
        let order = graph.topological_order();
        let (mut groups, group_of) = super::group::groups(graph, &order);
        let mut parts = super::group::parts(graph, &group_of, groups.len());
        let processes = groups.len();
        let isolated = |c: usize| graph.components()[c].isolated;
        groups.extend(order.iter().filter(|&&c| isolated(c)).map(|&c| vec![c]));
        parts.extend((processes..groups.len()).map(|process| vec![process]));
        let (kinds, kind_of) = kinds(platform);
        let on = |(index, group): (usize, &Vec<usize>), kind: &CoreKind| {
            let barred = group.iter().filter_map(|&c| pinned(c)).any(|node| node != kind.node);
            let call_ns = platform.classes()[kind.class].spec.call_ns;
            let time = |&c: &usize| match (index < processes, isolated(c)) {
                (true, true) => call_ns,
                (true, false) => cost(c, kind.class).saturating_add(call_ns),
                (false, _) => cost(c, kind.class),
            };
            let sum = group.iter().map(|c| time(c).min(LONGEST_NS)).sum();
            if barred { NEVER } else { sum }
        };
        let (on, of) = (&on, &kinds);
        let costs = groups.iter().enumerate().flat_map(|group| of.iter().map(move |kind| on(group, kind))).collect();
        let mut flows = flows(graph, &group_of);
        let call = |to: usize| Flow { from: group_of[groups[to][0]], to, bytes: 0, shared: true };
        flows.extend((processes..groups.len()).map(call));
        let mut flows_of = vec![Vec::new(); groups.len()];
        for (index, flow) in flows.iter().enumerate() {
            flows_of[flow.from].push(index);
            flows_of[flow.to].push(index);
        }
        let (channels, ways) = channels(platform, &kinds);
        let hops = depth::Hops::new(graph, platform, &order, &group_of);
        Problem {
            latency,
            groups,
            processes,
            group_of,
            parts,
            kind_of,
            kinds,
            costs,
            flows,
            flows_of,
            channels,
            ways,
            hops,
        }
    }

    /// Cost of a group on a kind of core, ns; [`NEVER`] where it must not be.
    pub fn cost(&self, group: usize, kind: usize) -> u64 {
        self.costs[group * self.kinds.len() + kind]
    }

    /// On the kind that is best for it.
    pub fn least(&self, group: usize) -> u64 {
        (0..self.kinds.len()).map(|kind| self.cost(group, kind)).min().unwrap_or(NEVER)
    }

    /// Way of a flow between two different cores.
    pub fn way(&self, flow: &Flow, from_core: usize, to_core: usize) -> Way {
        let (from, to) = (self.kind_of[from_core], self.kind_of[to_core]);
        match self.ways[from * self.kinds.len() + to] {
            _ if flow.shared && self.kinds[from].node == self.kinds[to].node => Way::Free,
            _ if flow.shared => Way::None,
            way => way,
        }
    }

    /// Whether every two cores can hand each other whatever they like.
    pub fn all_free(&self) -> bool {
        self.ways.iter().all(|&way| way == Way::Free)
    }

    /// Time that so many bytes take, ns, rounded up.
    pub fn channel_ns(&self, channel: usize, bytes: u64) -> u64 {
        // Saturates.
        (bytes as f64 * 1e9 / self.channels[channel].bytes_per_s).ceil() as u64
    }

    pub fn core_of(&self, placed: &[usize]) -> Vec<usize> {
        self.group_of.iter().map(|&group| placed[group]).collect()
    }
}

fn kinds(platform: &Platform) -> (Vec<CoreKind>, Vec<usize>) {
    let mut kinds: Vec<CoreKind> = Vec::new();
    let kind_of = platform.cores().iter().map(|core| {
        let base_ns = platform.classes()[core.class].spec.slot_ns;
        let kind = CoreKind { node: core.node, class: core.class, base_ns };
        kinds.iter().position(|other| *other == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        })
    });
    let kind_of = kind_of.collect();
    (kinds, kind_of)
}

/// Flows between groups; several links between two add up.
fn flows(graph: &Graph, group_of: &[usize]) -> Vec<Flow> {
    let mut flows = std::collections::BTreeMap::<(usize, usize), u64>::new();
    for link in graph.links() {
        let ends = (group_of[link.from.component], group_of[link.to.component]);
        if ends.0 != ends.1 {
            let bytes = flows.entry(ends).or_default();
            *bytes = bytes.saturating_add(link.bytes_max());
        }
    }
    flows.into_iter().map(|((from, to), bytes)| Flow { from, to, bytes, shared: false }).collect()
}

fn channels(platform: &Platform, kinds: &[CoreKind]) -> (Vec<Channel>, Vec<Way>) {
    let mut channels = Vec::new();
    let mut inside = Vec::new();
    for (node, spec) in platform.nodes().iter().enumerate() {
        inside.push(spec.bytes_per_s.map_or(Way::Free, |bytes_per_s| {
            channels.push(Channel { from: node, to: node, bytes_per_s });
            Way::Over(channels.len() - 1)
        }));
    }
    let mut between = std::collections::BTreeMap::new();
    for link in platform.links() {
        let [a, b] = link.nodes;
        for (from, to) in [(a, b), (b, a)] {
            channels.push(Channel { from, to, bytes_per_s: link.bytes_per_s });
            between.insert((from, to), Way::Over(channels.len() - 1));
        }
    }
    let way = |from: &CoreKind, to: &CoreKind| {
        if from.node == to.node {
            inside[from.node]
        } else {
            between.get(&(from.node, to.node)).copied().unwrap_or(Way::None)
        }
    };
    let way = &way;
    let ways = kinds.iter().flat_map(|from| kinds.iter().map(move |to| way(from, to))).collect();
    (channels, ways)
}
