//! [`output_hash`]: one value for all that a waveform gives.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Hash of what one input of a sink received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SinkHash {
    /// The sink.
    pub component: String,
    /// Its input.
    pub port: usize,
    /// Hash of all its packets, in order.
    pub hash: u64,
}

/// One hash of all that the sinks received, by name: independent of where and in which order they ran. 16 hexadecimal digits;
/// `None` of no sinks.
///
/// ```
/// use takt_runtime::{SinkHash, output_hash};
/// let sink = |component: &str, hash| SinkHash { component: component.to_owned(), port: 0, hash };
/// let (a, b) = (sink("a", 1), sink("b", 2));
/// assert_eq!(output_hash(&[a.clone(), b.clone()]), output_hash(&[b, a]));
/// assert_eq!(output_hash(&[]), None);
/// ```
#[must_use]
pub fn output_hash(sinks: &[SinkHash]) -> Option<String> {
    let mut sorted: Vec<&SinkHash> = sinks.iter().collect();
    sorted.sort();
    let fold = |all, sink: &&SinkHash| {
        let line = format!("{}.{}={:016x}", sink.component, sink.port, sink.hash);
        xxh3_64_with_seed(line.as_bytes(), all)
    };
    (!sorted.is_empty()).then(|| format!("{:016x}", sorted.iter().fold(0, fold)))
}
