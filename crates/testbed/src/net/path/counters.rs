//! What the kernel has counted along a path: with the hops' own counters it shows where every frame ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::{Namespace, PathError, Rtnetlink};
use super::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCounters {
    pub node: String,
    /// Processes and kernel threads that do its work, in this machine's numbering; none where the sender does it.
    #[serde(default)]
    pub pids: Vec<u32>,
    pub interfaces: BTreeMap<String, InterfaceCounters>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceCounters {
    pub rx_frames: u64,
    pub rx_dropped: u64,
    pub tx_frames: u64,
    pub tx_dropped: u64,
    /// Frames that its queue had no room for: a rate's buffer was full.
    pub queue_dropped: u64,
}

impl Path {
    /// What the kernel has counted in each namespace, from the host to the radio.
    pub fn counters(&self) -> Result<Vec<NodeCounters>, PathError> {
        let namespaces = [&self.host.namespace].into_iter().chain(&self.between).chain([&self.radio.namespace]);
        let named = self.topology.nodes.iter().zip(namespaces);
        named
            .map(|(node, namespace)| {
                let (name, pids) = (node.name.clone(), self.pids_of(&node.name));
                Ok(NodeCounters { node: name, pids, interfaces: read(namespace)? })
            })
            .collect()
    }
}

fn read(namespace: &Namespace) -> Result<BTreeMap<String, InterfaceCounters>, PathError> {
    let (text, drops) = namespace.inside(|| {
        let text = std::fs::read_to_string("/proc/thread-self/net/dev");
        let drops = Rtnetlink::open().and_then(|mut netlink| {
            let drops = netlink.queue_drops()?;
            let name = |(index, dropped): (i32, u64)| Some((netlink.name(index).ok()?, dropped));
            Ok(drops.into_iter().filter_map(name).collect::<BTreeMap<_, _>>())
        });
        (text, drops)
    })?;
    let text = text.map_err(PathError::file("counters of", namespace.name()))?;
    let drops = drops?;
    let interface = |line: &str| {
        let (name, counters) = parse(line).filter(|(name, _)| name != "lo")?;
        let queue_dropped = drops.get(&name).copied().unwrap_or(0);
        Some((name, InterfaceCounters { queue_dropped, ..counters }))
    };
    Ok(text.lines().filter_map(interface).collect())
}

/// Eight numbers received, eight sent; of both the first four are bytes, frames, errors, dropped.
fn parse(line: &str) -> Option<(String, InterfaceCounters)> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> = numbers.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let &[_, rx_frames, _, rx_dropped, _, _, _, _, _, tx_frames, _, tx_dropped, ..] = numbers.as_slice() else {
        return None;
    };
    Some((name.trim().into(), InterfaceCounters { rx_frames, rx_dropped, tx_frames, tx_dropped, queue_dropped: 0 }))
}
