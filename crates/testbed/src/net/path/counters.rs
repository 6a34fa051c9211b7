//! The kernel's counts along a path: with the hops' own counters they show where every frame ended.

use std::collections::BTreeMap;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use takt_host::proc::net::{self, InterfaceCounts};

use super::super::{Namespace, PathError};
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
    #[serde(flatten)]
    pub counts: InterfaceCounts,
    /// Frames that its queue had no room for: a rate's buffer was full. `None`: the kernel tells nothing of queues.
    pub queue_dropped: Option<u64>,
}

impl Path {
    /// The kernel's counts in each namespace, from the host to the radio.
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
        (text, takt_udp::queue_drops())
    })?;
    let text = text.map_err(PathError::file("reading counters of", namespace.name()))?;
    let drops = match drops {
        Ok(drops) => Some(drops),
        // A kernel without CONFIG_NET_SCHED, or an emulator between it and this program.
        Err(source) if Errno::from_io_error(&source) == Some(Errno::OPNOTSUPP) => None,
        Err(source) => return Err(PathError::Netlink { what: "counters of queues".into(), source }),
    };
    let interfaces = net::interfaces(&text).into_iter().filter(|(name, _)| name != "lo");
    let with_queue = |(name, counts): (String, InterfaceCounts)| {
        let queue_dropped = drops.as_ref().map(|drops| drops.get(&name).copied().unwrap_or(0));
        (name, InterfaceCounters { counts, queue_dropped })
    };
    Ok(interfaces.map(with_queue).collect())
}
