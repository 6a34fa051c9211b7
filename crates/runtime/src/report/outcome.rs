//! [`Outcome`]: what is left to say of a component, without itself and its packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use takt_graph::Value;

use crate::isolated::Remote;
use crate::port::Losses;
use crate::stats::Live;
use crate::table::Entry;

/// Outcome of a component. It is taken when another waveform has left the component behind, so that its memory can be
/// given back while the run goes on.
pub(crate) struct Outcome {
    pub(crate) id: usize,
    pub(crate) depth: u64,
    pub(crate) live: Arc<Live>,
    pub(crate) degraded: bool,
    pub(crate) restarts: u64,
    pub(crate) missing_packets: u64,
    /// By output.
    pub(crate) losses: Vec<Losses>,
    /// Hashes of what inputs received, if they were wanted: the port, and the hash.
    pub(crate) hashes: Vec<(usize, u64)>,
    pub(crate) results: BTreeMap<String, Value>,
}

impl Outcome {
    pub(crate) fn of(entry: &Entry) -> Outcome {
        let hash = |(port, hash): (usize, Option<u64>)| Some((port, hash?));
        Outcome {
            id: entry.id,
            depth: entry.depth,
            live: Arc::clone(&entry.stats.live),
            degraded: entry.stats.degraded,
            restarts: entry.remote().map_or(0, |remote: &Remote| remote.restarts),
            missing_packets: entry.inputs.iter().map(|input| input.missing).sum(),
            losses: entry.outputs.iter().map(|output| output.losses).collect(),
            hashes: entry.inputs.iter().map(|input| input.hash).enumerate().filter_map(hash).collect(),
            results: entry.component.results().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}
