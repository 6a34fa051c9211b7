//! Does a waveform hold its slot on two machines? Each executes its share with one worker; what crosses goes over the cable
//! between them, by takt's bridges, and every slot begins on both at one instant of the first one's clock.
//!
//! ```text
//!  first node (the workload)                             second node (a service)
//!  what can you do?            ── JSON lines, TCP ──>    class, capacities, prices
//!  open your share             ────────────────────>    workers wait at their core; where its bridges are
//!  begin then, by this clock   ────────────────────>    it follows the clock
//!  worker, bridges             ══ slots, VITA-49 ═══>    bridges, worker
//!  end                         ────────────────────>    its half of the outcome
//! ```
//!
//! The cut is named, or the mapper's choice: it knows what components cost, what both nodes can do, and what the cable
//! carries. Nothing of control is sent while slots are executed, but a question a tenth of a second for the time.

mod cable;
mod cut;
mod error;
mod joined;
mod lead;
mod line;
mod message;
mod part;
mod serve;
pub(crate) mod workload;

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use takt_base::Stop;

pub use self::cable::{BRIDGE, CABLE, Cable};
pub use self::cut::{Cut, Mapped};
pub use self::error::NodesError;
use self::lead::Pair;
pub use self::message::NodeFacts;
pub use self::serve::{Serve, ServeOptions};
use crate::longest_packet::{Longest, half_of_a_core, longest_by};
use crate::waveform::{self, WaveformOutcome};

/// Slots that a packet takes from one node to the other: one in which it is made, one to travel.
pub const HOP_SLOTS: u32 = 2;

/// Port on which the second node listens.
pub const PORT: u16 = 5204;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodesOptions {
    /// The second node.
    pub second: Ipv4Addr,
    /// Rate of the cable each way, bits a second, preamble and gap counted; `None`: nothing but the machines limits it.
    pub cable_bps: Option<f64>,
    /// The last component on the first node, of a chain; `None`: the mapper decides, with the sources on the first node and the
    /// sinks on the second.
    pub last_on_first: Option<String>,
    pub waveform: waveform::WaveformOptions,
}

/// Facts about the two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nodes {
    pub first: NodeFacts,
    pub second: NodeFacts,
    pub cut: Cut,
    pub cable: Cable,
    /// The first one's clock less the second's, as the second last estimated it, ns.
    pub offset_ns: i64,
    /// How far off that is at most, ns.
    pub offset_bound_ns: u64,
}

/// A waveform on two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnNodes {
    /// Outcome of both together; misses that come from the way between them are attributed to `cable` or `bridge`.
    #[serde(flatten)]
    pub outcome: WaveformOutcome,
    pub nodes: Nodes,
    /// Hash of what its sinks receive in as many slots on one node.
    pub output_hash_on_one: Option<String>,
}

/// The longest packet on two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongestOnNodes {
    #[serde(flatten)]
    pub longest: Longest,
    /// With the length that was found.
    pub nodes: Nodes,
}

/// Runs a waveform on both nodes. `stop` ends it early, and what was measured until then is the outcome.
///
/// # Errors
/// The second node does not answer or refuses; the waveform can't be run, or can't be cut in two.
pub fn run(options: &NodesOptions, stop: &Stop) -> Result<OnNodes, NodesError> {
    let mut pair = Pair::open(options)?;
    let waveform = waveform::WaveformOptions { hash: true, ..options.waveform.clone() };
    let output_hash_on_one = pair.hash_on_one(&waveform, stop)?;
    let outcome = pair.execute(&waveform, stop)?;
    Ok(OnNodes { outcome, nodes: pair.nodes(&waveform)?, output_hash_on_one })
}

/// Searches for the longest packet that the source can make in a slot.
///
/// # Errors
/// As [`run`]; not even the shortest packet holds.
pub fn longest(options: &NodesOptions, stop: &Stop) -> Result<LongestOnNodes, NodesError> {
    let mut pair = Pair::open(options)?;
    let by_core = half_of_a_core(&options.waveform)?;
    let first = pair.most_on_cable(&options.waveform)?.map_or(by_core, |by_cable| by_core.min(by_cable));
    let longest = longest_by(&options.waveform, first, &mut |options| pair.execute(options, stop), stop)?;
    let nodes = pair.nodes(&longest.confirmed.options)?;
    Ok(LongestOnNodes { longest, nodes })
}
