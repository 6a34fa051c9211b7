//! The cable between two nodes: what a slot's packets take of it, and whether it was what a packet was late for.

use serde::{Deserialize, Serialize};
use takt_graph::{Direction, Share};
use takt_path::ethernet::datagram_wire_bytes;

use crate::waveform::WaveformOutcome;

/// A miss is laid to the cable where a slot's packets need as good as all that it carries in a slot: beside them it carries the
/// questions for the time.
const FULL: f64 = 0.95;

/// Blamed for a miss if a packet did not come in time and the cable was full.
pub const CABLE: &str = "cable";
/// The same where the cable had room: the threads that send and receive, and their sockets.
pub const BRIDGE: &str = "bridge";

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cable {
    /// Its rate each way, bits a second; `None`: not limited.
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
    pub(super) fn blame(&self, outcome: &mut WaveformOutcome) {
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

#[cfg(test)]
mod tests {
    use takt_base::Stop;

    use super::*;
    use crate::waveform::{Blamed, Clock, ComponentOutcome, Slots, WaveformOptions, run};

    /// A run that waited for packets of another node, and for its own host.
    fn waited() -> WaveformOutcome {
        let options =
            WaveformOptions { clock: Clock::Free, slots: Slots::Count(2), workers: 1, ..WaveformOptions::default() };
        let mut outcome = run(&options, &Stop::new()).unwrap();
        let end = ComponentOutcome {
            name: "modulator.out<0".to_owned(),
            kind: Share::RECEIVE.to_owned(),
            ..outcome.components[0].clone()
        };
        outcome.components.push(end);
        let blamed = |component: Option<&str>| Blamed { component: component.map(str::to_owned), misses: 1 };
        outcome.blamed = [Some("modulator.out<0"), Some("demodulator"), None].map(blamed).into();
        outcome
    }

    #[test]
    fn a_late_packet_is_laid_to_the_cable_only_where_it_was_full() {
        for (used_share, who) in [(Some(0.96), CABLE), (Some(0.94), BRIDGE), (None, BRIDGE)] {
            let mut outcome = waited();
            Cable { used_share, ..Cable::default() }.blame(&mut outcome);
            let blamed: Vec<Option<&str>> = outcome.blamed.iter().map(|one| one.component.as_deref()).collect();
            assert_eq!(blamed, [Some(who), Some("demodulator"), None]);
        }
    }
}
