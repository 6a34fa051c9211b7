//! Which components are on which node.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_graph::Graph;
use takt_mapper::{CoresSpec, LinkSpec, NodeSpec, Objective, PlatformSpec, map};
use takt_runtime::Registry;
use takt_runtime::costs::{for_elsewhere, known};

use super::message::NodeFacts;
use super::{HOP_SLOTS, NodesError, NodesOptions};

/// Place at which a waveform is cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Components of either node, in order.
    pub first: Vec<String>,
    pub second: Vec<String>,
    /// The mapper's findings, where it decided.
    pub mapped: Option<Mapped>,
}

/// The mapper's own account of its choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapped {
    /// The busiest core or link, ns a slot: the shortest slot this keeps up with if nothing is ever late.
    pub period_ns: u64,
    /// No placement with the same pins has a shorter one, ns.
    pub bound_ns: u64,
    pub optimal: bool,
    /// Times of the components of either node, ns a slot.
    pub core_ns: [u64; 2],
    /// Time of the cable, ns a slot.
    pub link_ns: u64,
}

const NAMES: [&str; 2] = ["first", "second"];

/// After the component that is named; of a chain.
pub(super) fn after(graph: &Graph, name: &str) -> Result<Cut, NodesError> {
    let names: Vec<String> = graph.components().iter().map(|component| component.name.clone()).collect();
    let at = names.iter().position(|other| other == name);
    let at = at.ok_or_else(|| NodesError::NoComponent { name: name.to_owned() })?;
    let (first, second) = names.split_at(at + 1);
    if second.is_empty() {
        return Err(NodesError::NothingLeft { name: name.to_owned() });
    }
    Ok(Cut { first: first.to_vec(), second: second.to_vec(), mapped: None })
}

/// The mapper's cut, with the sources on the first node and the sinks on the second. Else one node would have all,
/// where it is fast enough for it.
pub(super) fn mapped(
    graph: &Graph,
    registry: &Registry,
    options: &NodesOptions,
    nodes: [&NodeFacts; 2],
) -> Result<Cut, NodesError> {
    let classes = nodes.map(|node| node.class.clone());
    let class = classes.iter().cloned().zip(nodes.map(|node| node.spec)).collect::<BTreeMap<_, _>>();
    let node = |index: usize| NodeSpec {
        name: NAMES[index].to_owned(),
        bytes_per_s: None,
        cores: vec![CoresSpec { class: classes[index].clone(), cpus: vec![0] }],
    };
    let bytes_per_s = options.cable_bps.map_or(1e12, |bps| bps / 8.0);
    let link = LinkSpec { between: NAMES.map(str::to_owned), bytes_per_s, delay_slots: HOP_SLOTS };
    let platform =
        PlatformSpec { name: "two-nodes".to_owned(), class, node: vec![node(0), node(1)], link: vec![link] }.check()?;
    let mut costs = known(graph, registry, None)?.with_capacities_of(&platform);
    if classes[0] != classes[1] {
        costs = for_elsewhere(costs, graph, registry)?;
    }
    let ends = graph.components().iter().enumerate();
    let is_sink = |index: usize| graph.sinks().any(|sink| sink == index);
    let pins = ends.filter_map(|(index, component)| {
        let node = if component.shape.inputs.is_empty() { 0 } else { usize::from(is_sink(index)) };
        let is_end = component.shape.inputs.is_empty() || is_sink(index);
        is_end.then(|| (component.name.clone(), NAMES[node].to_owned()))
    });
    let objective = Objective { pins: pins.collect(), ..Objective::best_effort(options.waveform.latency) };
    let found = map(graph, &costs, &platform, &objective)?;
    let mut cut = Cut::default();
    for (components, &core) in found.plan.workers().iter().zip(&found.cores) {
        let names = components.iter().map(|&component| graph.components()[component].name.clone());
        let node = if platform.cores()[core].node == 0 { &mut cut.first } else { &mut cut.second };
        node.extend(names);
    }
    if cut.first.is_empty() || cut.second.is_empty() {
        return Err(NodesError::OneNode);
    }
    let of_node = |name: &str| {
        let own = found.core_loads.iter().filter(|load| load.core.split(':').next() == Some(name));
        own.map(|load| load.load_ns).sum()
    };
    let core_ns = NAMES.map(of_node);
    let link_ns = found.link_loads.iter().map(|load| load.load_ns).max().unwrap_or(0);
    let (period_ns, bound_ns, optimal) = (found.period_ns, found.bound_ns, found.optimal);
    cut.mapped = Some(Mapped { period_ns, bound_ns, optimal, core_ns, link_ns });
    Ok(cut)
}
