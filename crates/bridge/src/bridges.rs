//! The bridges of a share: one port for all of its streams, and a component at the end of each.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use takt_base::Stop;
use takt_graph::{Bridge, Direction, Kind, Params, Share};
use takt_packet::{Config, EngineError, EngineKind, PortIndex, PortSpec};
use takt_runtime::{Component, MakeError, Registry};

use crate::assemble::{Assembler, Layout};
use crate::clock::SlotTime;
use crate::ends::{Receive, Send, Tally};
use crate::lane::{lane, lane_bytes};
use crate::links::LinkReader;
use crate::thread::{Incoming, Outgoing, Pass, Running};

/// Payload of a datagram: an Ethernet frame's.
const PAYLOAD_BYTES: usize = 1472;

/// All bridges of one share: bound, not yet connected.
pub struct Bridges {
    pass: Pass,
    at: SocketAddr,
    parts: Parts,
}

type Parts = Arc<Mutex<BTreeMap<i64, Box<dyn Component>>>>;

impl Bridges {
    /// Memory of a share's streams, bytes: known before they are opened.
    #[must_use]
    pub fn memory_bytes(share: &Share) -> u64 {
        let of = |bridge: &Bridge| lane_bytes(Layout::new(bridge.item, bridge.lengths.max, PAYLOAD_BYTES).most_bytes);
        share.bridges.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Binds a port on `address` for all streams of a share.
    ///
    /// # Errors
    /// The engine can't be opened there.
    pub fn open(share: &Share, engine: EngineKind, address: IpAddr) -> Result<Bridges, EngineError> {
        let config = Config {
            max_payload_bytes: PAYLOAD_BYTES,
            stamps: false,
            ..Config::new(vec![PortSpec { bind: SocketAddr::new(address, 0), peer: None }])
        };
        let engine = takt_packet::open(engine, &config)?;
        let at = engine.local(PortIndex(0)).unwrap_or(SocketAddr::new(address, 0));
        let payload_bytes = engine.limits().max_payload_bytes;
        let (mut incoming, mut outgoing, mut parts) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut links = Vec::new();
        for bridge in &share.bridges {
            let layout = Layout::new(bridge.item, bridge.lengths.max, payload_bytes);
            let (fill, empty) = lane(layout.most_bytes);
            let tally = Arc::new(Tally::default());
            let name = share.graph.components()[bridge.component].name.clone();
            links.push(LinkReader {
                name,
                worker: bridge.other,
                direction: bridge.direction,
                tally: Arc::clone(&tally),
            });
            let stream_id = u32::try_from(bridge.stream).unwrap_or(u32::MAX);
            let stream = i64::try_from(bridge.stream).unwrap_or(i64::MAX);
            let component: Box<dyn Component> = match bridge.direction {
                Direction::Send => {
                    outgoing.push(Outgoing::new(stream_id, bridge.other, layout, empty, Arc::clone(&tally)));
                    Box::new(Send { lane: fill, tally })
                }
                Direction::Receive => {
                    let assembler = Assembler::new(layout, fill, Arc::clone(&tally));
                    incoming.push(Incoming { stream_id, other: bridge.other, assembler });
                    Box::new(Receive::new(empty, bridge.item.bytes(), tally))
                }
            };
            parts.insert(stream, component);
        }
        let parts = Arc::new(Mutex::new(parts));
        Ok(Bridges { pass: Pass::new(engine, incoming, outgoing, links), at, parts })
    }

    /// Lets a registry make the components at the ends of the streams, each once.
    pub fn give(&self, registry: &mut Registry) {
        let kinds = [
            Kind::new(Share::SEND, "Sends a link's packets to another machine."),
            Kind::new(Share::RECEIVE, "Gives what another machine sent."),
        ];
        for kind in kinds {
            let parts = Arc::clone(&self.parts);
            registry.give(kind, Arc::new(move |params: &Params| taken(&parts, params)));
        }
    }

    /// Address at which the other machines reach it.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }

    /// Begins to send and receive, on a thread of its own. `peers` says where the bridges of each worker of the whole plan are;
    /// `fifo_priority` is requested and not required.
    ///
    /// # Errors
    /// The thread is not made.
    pub fn start(
        self,
        peers: &BTreeMap<usize, SocketAddr>,
        time: SlotTime,
        fifo_priority: Option<u8>,
        stop: Stop,
    ) -> std::io::Result<Running> {
        self.pass.start(peers, time, fifo_priority, stop)
    }
}

/// The UDP payloads of the datagrams that the longest packet of a slot takes, bytes.
pub fn datagrams(bridge: &Bridge) -> impl Iterator<Item = usize> {
    let layout = Layout::new(bridge.item, bridge.lengths.max, PAYLOAD_BYTES);
    let bytes = move |part| Layout::datagram_bytes(layout.items_bytes(layout.most_bytes, part));
    (0..layout.parts(layout.most_bytes)).map(bytes)
}

fn taken(parts: &Parts, params: &Params) -> Result<Box<dyn Component>, MakeError> {
    let stream = params.int(Share::STREAM).unwrap_or(-1);
    let part = parts.lock().unwrap_or_else(PoisonError::into_inner).remove(&stream);
    part.ok_or_else(|| MakeError {
        what: format!("stream {stream} has no end here"),
        fix: "use a share of the same waveform".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use takt_graph::{Item, Lengths};

    use super::*;

    #[test]
    fn a_packet_takes_full_datagrams_and_one_with_the_rest() {
        let of = |most| {
            let lengths = Lengths::exactly(most);
            let bridge =
                Bridge { component: 0, stream: 1, direction: Direction::Send, other: 1, item: Item::I16, lengths };
            datagrams(&bridge).collect::<Vec<_>>()
        };
        assert_eq!((of(724), of(725)), (vec![1472], vec![1472, 28]));
        assert_eq!(of(0), [24], "an empty packet is a datagram, too");
    }
}
