//! Facts about nodes for the mapper.

use std::collections::BTreeMap;

use takt_mapper::{ClassSpec, CoresSpec, LinkSpec, NodeSpec, Platform, PlatformError, PlatformSpec};

use crate::message::NodeFacts;

/// The nodes as a platform: their free cores, and a link between any two, as fast as the slower end, that takes `hop_slots`.
///
/// # Errors
/// No core is free, or a node says what can't be.
pub fn platform(cluster: &str, nodes: &[NodeFacts], hop_slots: u32) -> Result<Platform, PlatformError> {
    let class: BTreeMap<String, ClassSpec> = nodes.iter().map(|node| (node.class.clone(), node.capacities)).collect();
    let free =
        |node: &NodeFacts| node.cores.iter().copied().filter(|core| !node.busy.contains(core)).collect::<Vec<_>>();
    let with_cores: Vec<&NodeFacts> = nodes.iter().filter(|node| !free(node).is_empty()).collect();
    let spec = |node: &&NodeFacts| NodeSpec {
        name: node.node.clone(),
        bytes_per_s: None,
        cores: vec![CoresSpec { class: node.class.clone(), cpus: free(node) }],
    };
    let link = |a: &NodeFacts, b: &NodeFacts| LinkSpec {
        between: [a.node.clone(), b.node.clone()],
        bytes_per_s: a.bytes_per_s.min(b.bytes_per_s),
        delay_slots: hop_slots,
    };
    let pairs =
        with_cores.iter().enumerate().flat_map(|(at, &a)| with_cores[at + 1..].iter().map(move |&b| link(a, b)));
    let link = pairs.collect();
    let used: BTreeMap<String, ClassSpec> =
        class.into_iter().filter(|(name, _)| with_cores.iter().any(|node| node.class == *name)).collect();
    PlatformSpec { name: cluster.to_owned(), class: used, node: with_cores.iter().map(spec).collect(), link }.check()
}
