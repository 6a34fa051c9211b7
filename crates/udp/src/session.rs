//! State of a server about the client it serves.

use std::net::SocketAddr;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::Engine;

use super::end::{ALIVE_EVERY, HEAD_START, PORT, QUIET, ReadUntil, send_message};
use super::error::UdpError;
use super::evidence::NetCounts;
use super::measure::Measure;
use super::plan::Plan;
use super::protocol::data::Data;
use super::protocol::message::{Body, CHUNK_BYTES, Message};
use super::receiver::Receiver;
use super::sender::Sender;
use super::side::Side;

#[derive(Debug)]
pub(super) struct Session {
    number: u64,
    pub(super) client: SocketAddr,
    flows: Vec<Option<SocketAddr>>,
    /// When the client last sent anything.
    pub(super) last_received: MonoNs,
    pub(super) round: Option<Round>,
}

#[derive(Debug)]
pub(super) struct Round {
    number: u8,
    receiver: Option<Receiver>,
    sender: Option<Sender>,
    measure: Option<Measure>,
    next_alive: MonoNs,
    /// When the client reported that it has sent all.
    finished: Option<MonoNs>,
    last_load: MonoNs,
    /// The server's half, as JSON; empty until it is known.
    result: Vec<u8>,
}

impl Round {
    /// Whether the client has not got its result yet.
    pub(super) fn is_open(&self) -> bool {
        self.result.is_empty()
    }
}

impl Session {
    /// A session of so many flows, none open yet.
    pub(super) fn new(number: u64, flows: u8, client: SocketAddr, now: MonoNs) -> Session {
        Session { number, client, flows: vec![None; usize::from(flows)], last_received: now, round: None }
    }

    pub(super) fn is(&self, number: u64) -> bool {
        self.number == number
    }

    pub(super) fn flow(&self, flow: u8) -> Option<SocketAddr> {
        self.flows.get(usize::from(flow)).copied().flatten()
    }

    pub(super) fn is_reached_at(&self, addr: SocketAddr) -> bool {
        self.flows.contains(&Some(addr))
    }

    /// Opens a flow; `false` if it is another's, or comes from another host than the first.
    pub(super) fn admit(&mut self, flow: u8, from: SocketAddr, now: MonoNs) -> bool {
        let Some(place) = self.flows.get_mut(usize::from(flow)) else { return false };
        if from.ip() != self.client.ip() || place.is_some_and(|open| open != from) {
            return false;
        }
        *place = Some(from);
        self.last_received = now;
        true
    }

    /// A datagram of load came on one of its flows.
    pub(super) fn data(&mut self, data: &Data, bytes: usize, arrived: MonoNs, now: MonoNs) {
        self.last_received = now;
        if let Some(round) = &mut self.round
            && let Some(receiver) = &mut round.receiver
        {
            receiver.data(data, bytes, arrived);
            round.last_load = now;
        }
    }

    /// Begins a round; does nothing when the same one is requested again.
    pub(super) fn start(&mut self, engine: &dyn Engine, number: u8, plan: &[u8], now: MonoNs) -> Result<(), UdpError> {
        if self.round.as_ref().is_some_and(|round| round.number == number) {
            return Ok(());
        }
        let plan = Plan::parse(plan)?;
        if plan.largest_payload_bytes() > engine.limits().max_payload_bytes {
            // They would be cut here, or none of them come.
            let got = format!("{} bytes", plan.largest_payload_bytes());
            return Err(UdpError::Option {
                what: "payload",
                got,
                want: "no more than a frame of the server's interface",
            });
        }
        let open: Vec<SocketAddr> = self.flows.iter().copied().flatten().collect();
        if open.len() != usize::from(plan.flows) || open.len() != self.flows.len() {
            let got = plan.flows.to_string();
            return Err(UdpError::Option { what: "flows", got, want: "as many as are open" });
        }
        let routes = open.into_iter().map(|to| (PORT, Some(to))).collect();
        let receiver = plan.direction.to_server().then(|| Receiver::new(&plan, number, plan.server_ahead_ns));
        let measure = Some(Measure::begin(engine, self.client.ip())?);
        // Reading the counters took a while: the sender's head start counts from here.
        let start = WallClock.now() + HEAD_START;
        let sender = plan.direction.from_server().then(|| Sender::new(&plan, number, start, routes));
        self.round = Some(Round {
            number,
            receiver,
            sender,
            measure,
            next_alive: now,
            finished: None,
            last_load: now,
            result: Vec::new(),
        });
        Ok(())
    }

    pub(super) fn is_sending(&self) -> bool {
        self.round.as_ref().and_then(|round| round.sender.as_ref()).is_some_and(|sender| !sender.has_ended())
    }

    /// Sends what is due: load, and a sign of life. Returns until when there is nothing to do.
    pub(super) fn pump(&mut self, engine: &mut dyn Engine, now: MonoNs) -> Result<MonoNs, UdpError> {
        let Some(round) = self.round.as_mut().filter(|round| round.is_open()) else { return Ok(MonoNs::NEVER) };
        let mut next = MonoNs::NEVER;
        if let Some(sender) = &mut round.sender {
            let was_sending = !sender.has_ended();
            next = sender.pump(engine, now)?;
            if was_sending {
                round.last_load = now;
            }
        }
        if now >= round.next_alive {
            round.next_alive = now + ALIVE_EVERY;
            let received = round.receiver.as_ref().map_or(0, Receiver::unique);
            let body = Body::Alive { received };
            let message = Message { flow: 0, round: round.number, session: self.number, body };
            send_message(engine, PORT, self.flows.first().copied().flatten(), &message)?;
        }
        Ok(next.min(round.next_alive))
    }

    /// The client has sent all it will send; returns the size of the result, 0 while there is none.
    pub(super) fn finish(&mut self, number: u8, now: MonoNs) -> u32 {
        let Some(round) = self.round.as_mut().filter(|round| round.number == number) else { return 0 };
        round.finished.get_or_insert(now);
        if let Some(sender) = &mut round.sender {
            sender.end(now);
        }
        u32::try_from(round.result.len()).unwrap_or(0)
    }

    /// Whether the client has finished and traffic has stopped, by what was read until then, and there is no result yet.
    pub(super) fn is_over(&self, read_until: ReadUntil) -> bool {
        let Some(round) = self.round.as_ref().filter(|round| round.is_open()) else { return false };
        let Some(finished) = round.finished else { return false };
        read_until.since(finished.max(round.last_load)) >= QUIET
    }

    pub(super) fn net(&self) -> Option<NetCounts> {
        Some(self.round.as_ref()?.measure.as_ref()?.net())
    }

    /// Makes the result of a round that is over; then says how much load was received and sent.
    pub(super) fn conclude(
        &mut self,
        engine: &dyn Engine,
        name: &str,
        net: &NetCounts,
    ) -> Result<Option<(u64, u64)>, UdpError> {
        let Some(round) = &mut self.round else { return Ok(None) };
        let Some(measure) = round.measure.take() else { return Ok(None) };
        let received = round.receiver.as_ref().map(Receiver::report);
        let sent = round.sender.as_ref().map(Sender::report);
        let counts = (received.as_ref().map_or(0, |r| r.datagrams), sent.as_ref().map_or(0, |s| s.datagrams));
        let side: Side = measure.end(net, engine, name, false, sent, received)?;
        round.result = serde_json::to_vec(&side).map_err(|source| UdpError::Result { server: self.client, source })?;
        Ok(Some(counts))
    }

    pub(super) fn chunk(&self, number: u8, chunk: u32) -> Option<&[u8]> {
        let round = self.round.as_ref().filter(|round| round.number == number)?;
        round.result.chunks(CHUNK_BYTES).nth(usize::try_from(chunk).ok()?)
    }
}
