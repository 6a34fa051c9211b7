//! One round of a session: start, load, finish, fetch.

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Generator, PortIndex, Wait};

use super::super::end::{ALIVE_EVERY, GONE, HEAD_START, QUIET, SETTLE_TRIES, SILENCE};
use super::super::error::UdpError;
use super::super::evidence::NetCounts;
use super::super::measure::Measure;
use super::super::options::MadeBy;
use super::super::plan::Plan;
use super::super::protocol::message::{Body, CHUNK_BYTES, Message};
use super::super::receiver::Receiver;
use super::super::sender::Sender;
use super::super::side::Side;
use super::control::ControlChannel;
use super::gauge::Gauge;

impl ControlChannel<'_> {
    /// Runs it; returns this end's half, the server's, and whether it lasted as long as planned.
    pub(super) fn run_round(
        &mut self,
        plan: &Plan,
        warm_up: bool,
        gauge: &Gauge,
    ) -> Result<(Side, Side, bool), UdpError> {
        let server = self.options.server;
        let text = serde_json::to_vec(plan).map_err(|source| UdpError::Result { server, source })?;
        // 0 is what was reported before the first.
        self.round = self.round.checked_add(1).unwrap_or(1);
        self.received_by_server = 0;
        self.receiver = plan
            .direction
            .from_server()
            .then(|| Receiver::new(plan, self.round, plan.server_ahead_ns.saturating_neg()));
        let measure = Measure::begin(&*self.engine, server.ip())?;
        if let Err(error) = self.start(&text) {
            // The server has closed the session if this machine stood still for as long.
            if !matches!(error, UdpError::Silent { .. }) || self.open_flows().is_err() {
                return Err(error);
            }
            self.start(&text)?;
        }
        gauge.begin(WallClock.now(), plan.duration_ns, warm_up);
        let (sent, complete) = self.load(plan, gauge)?;
        let bytes = self.finish(sent.as_ref().map_or(0, Sender::done))?;
        self.drain()?;
        let net = self.settle(&measure)?;
        let received = self.receiver.take().map(|receiver| receiver.report());
        let generated = sent.as_ref().is_some_and(Sender::is_generated);
        let sent = sent.map(|sender| sender.report());
        let mine = measure.end(&net, &*self.engine, self.options.engine.name(), generated, sent, received)?;
        Ok((mine, self.fetch(bytes)?, complete))
    }

    fn start(&mut self, plan: &[u8]) -> Result<(), UdpError> {
        self.ask(0, Body::Start(plan), "before the load began", |body, _| match body {
            Body::Started => Some(()),
            _ => None,
        })
    }

    /// Sends and receives until the plan's time is over, or a stop is requested.
    fn load(&mut self, plan: &Plan, gauge: &Gauge) -> Result<(Option<Sender>, bool), UdpError> {
        let generators = if self.options.generator == MadeBy::Xdp { self.generators(plan)? } else { Vec::new() };
        let begin = WallClock.now();
        let routes = (0..plan.flows).map(|flow| (PortIndex(flow), None)).collect();
        let sender = plan.direction.to_server().then(|| Sender::new(plan, self.round, begin + HEAD_START, routes));
        let mut sender = sender.map(|sender| sender.generated_by(generators)).transpose()?;
        // The server's sender began when it received `Start`, and has a head start as well.
        let end = begin + plan.duration() + 3 * HEAD_START;
        let mut alive = begin;
        loop {
            let now = WallClock.now();
            let next = match &mut sender {
                Some(sender) => sender.pump(&mut *self.engine, now)?,
                None => MonoNs::NEVER,
            };
            if now >= alive {
                let received = self.receiver.as_ref().map_or(0, Receiver::unique);
                self.send(0, Body::Alive { received })?;
                gauge.show(sender.as_ref().map_or(0, Sender::done), self.received_by_server, received);
                alive = now + ALIVE_EVERY;
            }
            let stopped = self.stop.requested();
            if stopped && let Some(sender) = &mut sender {
                sender.end(now);
            }
            let sent_all = sender.as_ref().is_none_or(Sender::has_ended);
            if stopped || sent_all && (now >= end || self.has_all(plan, now)) {
                return Ok((sender, !stopped));
            }
            self.check_alive(SILENCE, "under load")?;
            self.listen(Wait::Until(next.min(alive).min(end)), &mut |_| {})?;
        }
    }

    /// One for each flow, from its port to the server, who has agreed to it.
    fn generators(&self, plan: &Plan) -> Result<Vec<Generator>, UdpError> {
        let ports = (0..plan.flows).filter_map(|flow| self.engine.local(PortIndex(flow)));
        let of = |port| Generator::open(port, self.options.server, plan.payload_bytes);
        Ok(ports.map(of).collect::<Result<_, _>>()?)
    }

    /// Whether nothing more is to come from the server: it does not send, or has sent as many as it was to, of which the
    /// last ones may be lost.
    fn has_all(&self, plan: &Plan, now: MonoNs) -> bool {
        let Some(receiver) = &self.receiver else { return true };
        let unique = receiver.unique();
        plan.datagrams.is_some_and(|all| unique >= all || unique > 0 && now.saturating_since(receiver.last()) >= QUIET)
    }

    /// Tells the server that all is sent; returns the size of its result when it has one.
    fn finish(&mut self, sent: u64) -> Result<u32, UdpError> {
        let (mut next, mut bytes) = (WallClock.now(), 0);
        while bytes == 0 {
            let now = WallClock.now();
            if now >= next {
                self.send(0, Body::Finish { sent })?;
                next = now + ALIVE_EVERY;
            }
            self.check_alive(GONE, "after the load")?;
            self.listen(Wait::Until(next), &mut |received| {
                if let Some(Message { body: Body::Finished { bytes: size }, .. }) = Message::parse(&received.bytes) {
                    bytes = size;
                }
            })?;
        }
        Ok(bytes)
    }

    fn drain(&mut self) -> Result<(), UdpError> {
        let begin = WallClock.now();
        while let Some(last) = self.receiver.as_ref().map(Receiver::last) {
            let now = WallClock.now();
            let over = now.saturating_since(last) >= QUIET || now.saturating_since(begin) >= SILENCE;
            let wait = if over { Wait::Poll } else { Wait::Until(last + QUIET) };
            // A thread that comes late to its socket reads what is in it all the same.
            if self.listen(wait, &mut |_| {})? == 0 && over {
                break;
            }
        }
        Ok(())
    }

    /// The kernel's counters at an instant until which everything has been received.
    fn settle(&mut self, measure: &Measure) -> Result<NetCounts, UdpError> {
        let mut net = measure.net();
        for _ in 0..SETTLE_TRIES {
            if self.listen(Wait::Poll, &mut |_| {})? == 0 {
                break;
            }
            net = measure.net();
        }
        Ok(net)
    }

    /// Gets the server's half, piece by piece.
    fn fetch(&mut self, bytes: u32) -> Result<Side, UdpError> {
        let mut text = Vec::new();
        let chunks = bytes.div_ceil(CHUNK_BYTES as u32).min(MAX_CHUNKS);
        for wanted in 0..chunks {
            let piece =
                self.ask(0, Body::Get { chunk: wanted }, "while the result was fetched", |body, _| match body {
                    Body::Chunk { chunk, bytes } if chunk == wanted => Some(bytes.to_vec()),
                    _ => None,
                })?;
            text.extend(piece);
        }
        serde_json::from_slice(&text).map_err(|source| UdpError::Result { server: self.options.server, source })
    }
}

/// 32 MiB: more than a hundred thousand intervals take.
const MAX_CHUNKS: u32 = 32 * 1024;
