//! The thread that carries parcels to the wire and back.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_graph::Direction;
use takt_host::policy::{Policy, set_policy};
use takt_packet::{Engine, EngineError, PortIndex, Wait};
use takt_wire::bridge::{BridgeData, BridgeHead, Part};

use super::assemble::{Assembler, Layout};
use super::ends::{Tally, count};
use super::lane::{End, Parcel};
use super::links::LinkReader;
use super::order;
use crate::clock::SlotTime;

/// A worker can't wake this thread: that would be a system call in the slot loop. So it looks for parcels after this part of a slot
/// at the latest: a parcel has a whole slot to travel at least. Between these bounds: a wait below the shortest is no rest, and the
/// longest is enough of one.
const LOOKS_A_SLOT: u32 = 16;
const LOOK: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(1));

/// How long the kernel may take to take a datagram.
const PATIENCE: Duration = Duration::from_millis(1);

/// A stream that comes in.
pub(super) struct Incoming {
    pub(super) stream_id: u32,
    /// The producer's worker.
    pub(super) other: usize,
    pub(super) assembler: Assembler,
}

/// A stream that goes out.
pub(super) struct Outgoing {
    stream_id: u32,
    other: usize,
    layout: Layout,
    lane: End,
    tally: Arc<Tally>,
    /// Datagrams, modulo 16.
    count: u8,
}

impl Outgoing {
    pub(super) fn new(stream_id: u32, other: usize, layout: Layout, lane: End, tally: Arc<Tally>) -> Outgoing {
        Outgoing { stream_id, other, layout, lane, tally, count: 0 }
    }
}

/// Everything the thread needs.
pub(super) struct Pass {
    engine: Box<dyn Engine>,
    incoming: Vec<Incoming>,
    outgoing: Vec<Outgoing>,
    links: Vec<LinkReader>,
}

/// Bridges that send and receive. Dropped, they end.
pub struct Running {
    stop: Stop,
    thread: Option<JoinHandle<Result<(), EngineError>>>,
    links: Vec<LinkReader>,
}

impl Running {
    /// Slots of each stream that comes in that were not there when they were needed, with the producer's worker.
    pub fn lost_slots(&self) -> impl Iterator<Item = (usize, u64)> {
        let incoming = self.links.iter().filter(|link| link.direction == Direction::Receive);
        incoming.map(|link| (link.worker, link.tally.lost_slots.load(Ordering::Relaxed)))
    }

    /// Fate of the slots of each stream, one end each.
    #[must_use]
    pub fn links(&self) -> &[LinkReader] {
        &self.links
    }

    /// Ends the thread.
    ///
    /// # Errors
    /// The engine was gone before: since then nothing was sent or received.
    pub fn finish(mut self) -> Result<(), EngineError> {
        self.stop.request();
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
        // Its breakage, or its panic, is of no use to a caller that does not ask.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Pass {
    pub(super) fn new(
        engine: Box<dyn Engine>,
        incoming: Vec<Incoming>,
        outgoing: Vec<Outgoing>,
        links: Vec<LinkReader>,
    ) -> Pass {
        Pass { engine, incoming, outgoing, links }
    }

    pub(super) fn start(
        mut self,
        peers: &BTreeMap<usize, SocketAddr>,
        time: SlotTime,
        fifo_priority: Option<u8>,
        stop: Stop,
    ) -> std::io::Result<Running> {
        let (peers, own_stop, links) = (peers.clone(), stop.clone(), std::mem::take(&mut self.links));
        let run = move || {
            if let Some(priority) = fifo_priority {
                // If it is refused the workers' is, too, and the report says so.
                let _ = set_policy(0, Policy::Fifo { priority });
            }
            while !stop.requested() {
                self.receive(&peers, &time)?;
                self.send(&peers)?;
            }
            // The workers' last packets are there by now.
            self.send(&peers)
        };
        let thread = std::thread::Builder::new().name("takt-bridge".to_owned()).spawn(run)?;
        Ok(Running { stop: own_stop, thread: Some(thread), links })
    }

    fn receive(&mut self, peers: &BTreeMap<usize, SocketAddr>, time: &SlotTime) -> Result<(), EngineError> {
        let until = WallClock.now() + look(time.slot_ns());
        let batch = self.engine.recv(Wait::Until(until))?;
        if batch.is_empty() {
            return Ok(());
        }
        // An edge may fall between the clocks of two machines.
        let newest = time.slot_at(WallClock.now()).saturating_add(1);
        for datagram in batch.iter() {
            let Ok(data) = BridgeData::parse(datagram.bytes) else { continue };
            let from = |stream: &&mut Incoming| {
                stream.stream_id == data.head.stream_id && peers.get(&stream.other) == Some(&datagram.source)
            };
            if let Some(stream) = self.incoming.iter_mut().find(from) {
                stream.assembler.take(&data, newest);
            }
        }
        Ok(())
    }

    fn send(&mut self, peers: &BTreeMap<usize, SocketAddr>) -> Result<(), EngineError> {
        for stream in &mut self.outgoing {
            let to = peers.get(&stream.other).copied();
            while let Ok(mut parcel) = stream.lane.from.pop() {
                if let Some(to) = to {
                    let len = parcel.len;
                    order::turn(stream.layout.item, parcel.bytes.get_mut(..len).unwrap_or_default());
                    stream.post(self.engine.as_mut(), to, &parcel)?;
                }
                // As many places as parcels.
                let _ = stream.lane.to.push(parcel);
            }
        }
        Ok(())
    }
}

/// How long the thread waits for datagrams before it looks for parcels.
fn look(slot_ns: u64) -> Duration {
    (Duration::from_nanos(slot_ns) / LOOKS_A_SLOT).clamp(LOOK.0, LOOK.1)
}

impl Outgoing {
    /// Sends a slot, in as many batches as it needs.
    fn post(&mut self, engine: &mut dyn Engine, to: SocketAddr, parcel: &Parcel) -> Result<(), EngineError> {
        let items = if parcel.valid { parcel.items() } else { &[] };
        let parts = self.layout.parts(items.len());
        let mut next = 0;
        while next < parts {
            let mut batch = engine.reserve(parts - next);
            let first = next;
            while next < parts && batch.room() > 0 {
                let at = next * self.layout.part_bytes;
                let end = at + self.layout.items_bytes(items.len(), next);
                let head = BridgeHead {
                    count: self.count,
                    stream_id: self.stream_id,
                    slot: parcel.slot as u32,
                    first_item: (at / self.layout.item.bytes()) as u64,
                    part: Part::of(next, parts),
                    valid: parcel.valid,
                };
                let data = BridgeData { head, payload: items.get(at..end).unwrap_or_default() };
                batch.push(PortIndex(0), Some(to), |frame| data.write(frame).unwrap_or(0));
                self.count = self.count.wrapping_add(1) & 15;
                next += 1;
            }
            let sent = batch.send(Wait::Until(WallClock.now() + PATIENCE))?;
            let bytes = |part| Layout::datagram_bytes(self.layout.items_bytes(items.len(), part)) as u64;
            count(&self.tally.datagrams, sent as u64);
            count(&self.tally.bytes, (first..first + sent).map(bytes).sum());
            count(&self.tally.unsent_datagrams, (next - first).saturating_sub(sent) as u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use takt_packet::{Config, EngineKind, PortSpec};

    use super::*;

    #[test]
    fn bridges_that_are_dropped_end_and_give_back_their_port() {
        let config =
            Config::new(vec![PortSpec { bind: SocketAddr::new(takt_testing::loopback(1).into(), 0), peer: None }]);
        let engine = takt_packet::open(EngineKind::Socket, &config).unwrap();
        let at = engine.local(PortIndex(0)).unwrap();
        let pass = Pass::new(engine, Vec::new(), Vec::new(), Vec::new());
        let running = pass.start(&BTreeMap::new(), SlotTime::new(1_000_000), None, Stop::new()).unwrap();
        assert!(std::net::UdpSocket::bind(at).is_err(), "they have it");
        drop(running);
        std::net::UdpSocket::bind(at).unwrap();
    }

    #[test]
    fn parcels_are_looked_for_within_a_sixteenth_of_a_slot_and_no_more_often_than_is_of_use() {
        let looks = [10_000, 3_200_000, 10_000_000, 60_000_000_000].map(|slot_ns| look(slot_ns).as_micros());
        assert_eq!(looks, [200, 200, 625, 1000]);
    }
}
