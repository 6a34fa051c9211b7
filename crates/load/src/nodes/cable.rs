//! The cable between two nodes: what a slot's packets take of it, and whether it was what a packet was late for.

use serde::{Deserialize, Serialize};
use takt_graph::{Direction, Share};
use takt_path::ethernet::datagram_wire_bytes;

use crate::waveform::Outcome;

/// A miss is laid to the cable where a slot's packets need as good as all that it carries in a slot: beside them it carries the
/// questions for the time.
const FULL: f64 = 0.95;

/// What a miss is laid to where a packet did not come in time and the cable was full.
pub const CABLE: &str = "cable";
/// The same where the cable had room: the threads that send and receive, and their sockets.
pub const BRIDGE: &str = "bridge";

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cable {
    /// What it carries each way, bits a second; `None`: not limited.
    pub rate_bps: Option<f64>,
    /// Bits on the wire that the packets of a slot take at most, of the fuller way.
    pub bits_per_slot: u64,
    /// Share of what it carries in a slot.
    pub used_share: Option<f64>,
}

impl Cable {
    /// With the packets of a share, either one.
    pub(super) fn of(share: &Share, slot_ns: u64, rate_bps: Option<f64>) -> Cable {
        let bits = |direction: Direction| -> u64 {
            let bridges = share.bridges.iter().filter(|bridge| bridge.direction == direction);
            bridges.flat_map(takt_bridge::datagrams).map(|bytes| 8 * datagram_wire_bytes(bytes) as u64).sum()
        };
        let bits_per_slot = bits(Direction::Send).max(bits(Direction::Receive));
        let used_share = rate_bps.map(|rate| bits_per_slot as f64 * 1e9 / rate / slot_ns.max(1) as f64);
        Cable { rate_bps, bits_per_slot, used_share }
    }

    /// Says whether cable or bridges made packets late, in place of the component that waited for them.
    pub(super) fn blame(&self, outcome: &mut Outcome) {
        let waits: Vec<&str> = outcome
            .components
            .iter()
            .filter(|component| component.kind == Share::RECEIVE)
            .map(|component| component.name.as_str())
            .collect();
        let who = if self.used_share.is_some_and(|used| used >= FULL) { CABLE } else { BRIDGE };
        for blamed in &mut outcome.blamed {
            if blamed.component.as_deref().is_some_and(|name| waits.contains(&name)) {
                blamed.component = Some(who.to_owned());
            }
        }
    }
}
