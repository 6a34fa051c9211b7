//! The end that asks: opens a session, runs the rounds, joins both halves into the report.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_packet::{Engine, EngineError, PortIndex, PortSpec, Wait, open};

use super::clock::{Probe, Relation, relate};
use super::end::{ALIVE_EVERY, ASK_EVERY, HEAD_START, QUIET, SILENCE, boot_id, config, tell};
use super::error::UdpError;
use super::join::report;
use super::measure::Measure;
use super::options::{Options, Plan};
use super::protocol::data::Data;
use super::protocol::message::{Body, CHUNK_BYTES, Message, Reason, VERSION, other_version};
use super::receiver::Receiver;
use super::report::{Side, UdpReport};
use super::sender::Sender;

/// Where a load stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Since the round began.
    pub elapsed: Duration,
    /// How long it will be.
    pub planned: Duration,
    /// Whether this is the warm-up.
    pub warm_up: bool,
    /// Datagrams this end has sent.
    pub sent: u64,
    /// Datagrams the server has received, as it last said.
    pub received_by_server: u64,
    /// Datagrams this end has received.
    pub received: u64,
}

/// Runs a load against a server that consents to it. The calling thread waits; the load has a thread of its own, which
/// inherits the caller's network namespace.
///
/// `progress` is told about five times a second. When `stop` is requested the load ends early and what was measured is
/// reported, with `complete` false.
///
/// # Errors
/// An option is out of range; nobody answers; the server is busy, falls silent or refuses.
pub fn run(options: &Options, progress: &mut (dyn FnMut(Progress) + Send), stop: &Stop) -> Result<UdpReport, UdpError> {
    options.check()?;
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("takt-udp-client".into());
        let work = || {
            takt_host::slack::set_timer_slack_ns(NonZeroU64::MIN);
            if !options.cpus.is_empty() {
                takt_host::affinity::pin_self(&options.cpus)?;
            }
            Client::open(options, progress, stop)?.run()
        };
        let thread = worker.spawn_scoped(scope, work).map_err(|source| UdpError::Thread { source })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

struct Client<'a> {
    options: &'a Options,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    stop: &'a Stop,
    engine: Box<dyn Engine>,
    session: u64,
    round: u8,
    /// When the server was last heard.
    heard: MonoNs,
    receiver: Option<Receiver>,
    received_by_server: u64,
}

/// A control message, owned.
struct Heard {
    flow: u8,
    round: u8,
    arrived: MonoNs,
    bytes: Vec<u8>,
}

impl<'a> Client<'a> {
    fn open(
        options: &'a Options,
        progress: &'a mut (dyn FnMut(Progress) + Send),
        stop: &'a Stop,
    ) -> Result<Client<'a>, UdpError> {
        let any: IpAddr = if options.server.is_ipv4() { [0, 0, 0, 0].into() } else { [0; 16].into() };
        let spec = PortSpec { bind: SocketAddr::new(any, 0), peer: Some(options.server) };
        let ports = vec![spec; usize::from(options.flows)];
        let engine =
            open(options.engine, &config(ports, options.aggregate, options.buffer_bytes, options.payload_bytes))?;
        let session = RandomState::new().hash_one(WallClock.now().0);
        let heard = WallClock.now();
        Ok(Client { options, progress, stop, engine, session, round: 0, heard, receiver: None, received_by_server: 0 })
    }

    fn run(mut self) -> Result<UdpReport, UdpError> {
        let mut server_boot = [0; 16];
        for flow in 0..self.options.flows {
            server_boot = self.open_flow(flow)?;
        }
        let clock = self.compare_clocks(server_boot)?;
        let outcome = self.rounds(&clock);
        // Whatever became of it, the server is free for others.
        self.say(0, Body::Close)?;
        let (plan, mine, theirs, complete) = outcome?;
        report(self.options, &plan, (mine, theirs), clock, complete)
    }

    fn rounds(&mut self, clock: &Relation) -> Result<(Plan, Side, Side, bool), UdpError> {
        if !self.options.warm_up.is_zero() {
            self.round += 1;
            self.run_round(&Plan::of(self.options, clock.offset_ns, Some(self.options.warm_up)), true)?;
        }
        self.round += 1;
        let plan = Plan::of(self.options, clock.offset_ns, None);
        let (mine, theirs, complete) = self.run_round(&plan, false)?;
        Ok((plan, mine, theirs, complete))
    }

    fn say(&mut self, flow: u8, body: Body<'_>) -> Result<(), EngineError> {
        let message = Message { flow, round: self.round, session: self.session, body };
        tell(&mut *self.engine, PortIndex(flow), None, &message)
    }

    /// Shows the server that this flow's address is ours.
    fn open_flow(&mut self, flow: u8) -> Result<[u8; 16], UdpError> {
        let cookie = self.ask(flow, Body::Hello, "before it answered", |body| match body {
            Body::Cookie(cookie) => Some(cookie),
            _ => None,
        })?;
        let flows = self.options.flows;
        self.ask(flow, Body::Open { cookie, flows }, "while the session was opened", |body| match body {
            Body::Opened { boot_id } => Some(boot_id),
            _ => None,
        })
    }

    fn compare_clocks(&mut self, server_boot: [u8; 16]) -> Result<Relation, UdpError> {
        let mut probes = Vec::new();
        for _ in 0..32 {
            let asked = WallClock.now();
            let mut told = asked;
            let ping = Body::Ping { sent_ns: asked.0 };
            let probe = self.ask_at(0, ping, "while clocks were compared", |body, arrived| match body {
                Body::Pong { sent_ns, arrived_ns, answered_ns } if sent_ns == asked.0 => {
                    told = arrived;
                    Some((arrived_ns, answered_ns))
                }
                _ => None,
            })?;
            probes.push(Probe { asked: asked.0, heard: probe.0, answered: probe.1, told: told.0 });
        }
        let ours = boot_id();
        let known = relate(ours == server_boot && ours != [0; 16], &probes);
        known.ok_or(UdpError::Silent { server: self.options.server, during: "while clocks were compared" })
    }

    /// One round: start, load, finish, fetch.
    fn run_round(&mut self, plan: &Plan, warm_up: bool) -> Result<(Side, Side, bool), UdpError> {
        let text =
            serde_json::to_vec(plan).map_err(|source| UdpError::Result { server: self.options.server, source })?;
        self.receiver = plan
            .direction
            .from_server()
            .then(|| Receiver::new(plan, self.round, plan.server_ahead_ns.saturating_neg()));
        let measure = Measure::begin(&*self.engine, self.options.server.ip())?;
        self.ask(0, Body::Start(&text), "before the load began", |body| match body {
            Body::Started => Some(()),
            _ => None,
        })?;
        let (sent, complete) = self.load(plan, warm_up)?;
        let bytes = self.finish(sent.as_ref().map_or(0, Sender::done))?;
        self.drain()?;
        let received = self.receiver.take().map(|receiver| receiver.report());
        let sent = sent.map(|sender| sender.report());
        let mine = measure.end(&*self.engine, self.options.engine.name(), sent, received)?;
        Ok((mine, self.fetch(bytes)?, complete))
    }

    /// Sends and receives until the plan's time is over, or somebody wants it to stop.
    fn load(&mut self, plan: &Plan, warm_up: bool) -> Result<(Option<Sender>, bool), UdpError> {
        let begin = WallClock.now();
        let routes = (0..plan.flows).map(|flow| (PortIndex(flow), None)).collect();
        let mut sender = plan.direction.to_server().then(|| Sender::new(plan, self.round, begin + HEAD_START, routes));
        // The server's sender began when it heard `Start`, and has a head start as well.
        let end = begin + plan.duration() + 3 * HEAD_START;
        let (mut alive, mut told) = (begin, begin);
        loop {
            let now = WallClock.now();
            let next = match &mut sender {
                Some(sender) => sender.pump(&mut *self.engine, now)?,
                None => MonoNs::NEVER,
            };
            if now >= alive {
                let received = self.receiver.as_ref().map_or(0, Receiver::unique);
                self.say(0, Body::Alive { received })?;
                alive = now + ALIVE_EVERY;
            }
            if now >= told {
                self.tell_progress(plan, warm_up, now.saturating_since(begin), sender.as_ref());
                told = now + ASK_EVERY;
            }
            let stopped = self.stop.requested();
            if stopped && let Some(sender) = &mut sender {
                sender.end(now);
            }
            let sent_all = sender.as_ref().is_none_or(Sender::has_ended);
            if stopped || sent_all && (now >= end || !plan.direction.from_server()) {
                return Ok((sender, !stopped));
            }
            self.check_sign(now, "under load")?;
            self.listen(Wait::Until(next.min(alive).min(end)), &mut |_| {})?;
        }
    }

    fn tell_progress(&mut self, plan: &Plan, warm_up: bool, elapsed: Duration, sender: Option<&Sender>) {
        let progress = Progress {
            elapsed,
            planned: plan.duration(),
            warm_up,
            sent: sender.map_or(0, Sender::done),
            received_by_server: self.received_by_server,
            received: self.receiver.as_ref().map_or(0, Receiver::unique),
        };
        (self.progress)(progress);
    }

    /// Tells the server that all is sent; returns the size of its result when it has one.
    fn finish(&mut self, sent: u64) -> Result<u32, UdpError> {
        let (mut next, mut bytes) = (WallClock.now(), 0);
        while bytes == 0 {
            let now = WallClock.now();
            if now >= next {
                self.say(0, Body::Finish { sent })?;
                next = now + ALIVE_EVERY;
            }
            self.check_sign(now, "after the load")?;
            self.listen(Wait::Until(next), &mut |heard| {
                if let Some(Message { body: Body::Finished { bytes: told }, .. }) = Message::parse(&heard.bytes) {
                    bytes = told;
                }
            })?;
        }
        Ok(bytes)
    }

    /// Takes what is still on its way.
    fn drain(&mut self) -> Result<(), UdpError> {
        let begin = WallClock.now();
        while let Some(last) = self.receiver.as_ref().map(Receiver::last) {
            let now = WallClock.now();
            if now.saturating_since(last) >= QUIET || now.saturating_since(begin) >= SILENCE {
                break;
            }
            self.listen(Wait::Until(last + QUIET), &mut |_| {})?;
        }
        Ok(())
    }

    /// Gets the server's half, piece by piece.
    fn fetch(&mut self, bytes: u32) -> Result<Side, UdpError> {
        let mut text = Vec::new();
        let chunks = bytes.div_ceil(CHUNK_BYTES as u32).min(MAX_CHUNKS);
        for wanted in 0..chunks {
            let piece =
                self.ask(0, Body::Get { chunk: wanted }, "while the result was fetched", |body| match body {
                    Body::Chunk { chunk, bytes } if chunk == wanted => Some(bytes.to_vec()),
                    _ => None,
                })?;
            text.extend(piece);
        }
        serde_json::from_slice(&text).map_err(|source| UdpError::Result { server: self.options.server, source })
    }

    fn check_sign(&mut self, now: MonoNs, during: &'static str) -> Result<(), UdpError> {
        let server = self.options.server;
        if self.engine.refused().is_some() || now.saturating_since(self.heard) >= SILENCE {
            return Err(UdpError::Silent { server, during });
        }
        Ok(())
    }

    fn ask<T>(
        &mut self,
        flow: u8,
        body: Body<'_>,
        during: &'static str,
        mut accept: impl FnMut(Body<'_>) -> Option<T>,
    ) -> Result<T, UdpError> {
        self.ask_at(flow, body, during, |body, _| accept(body))
    }

    /// Asks until an answer is accepted. Load that arrives meanwhile is counted as always. A server with another client is
    /// asked for as long as that one may be dead without the server knowing.
    fn ask_at<T>(
        &mut self,
        flow: u8,
        body: Body<'_>,
        during: &'static str,
        mut accept: impl FnMut(Body<'_>, MonoNs) -> Option<T>,
    ) -> Result<T, UdpError> {
        let server = self.options.server;
        let (begin, round) = (WallClock.now(), self.round);
        let (mut next, mut busy) = (begin, false);
        loop {
            let now = WallClock.now();
            if busy && now.saturating_since(begin) >= SILENCE + 2 * ASK_EVERY {
                return Err(UdpError::Busy { server });
            }
            if !busy && now.saturating_since(begin) >= SILENCE {
                return Err(match body {
                    Body::Hello => UdpError::NoAnswer { server },
                    _ => UdpError::Silent { server, during },
                });
            }
            if self.stop.requested() && matches!(body, Body::Hello | Body::Open { .. } | Body::Ping { .. }) {
                return Err(UdpError::Stopped);
            }
            if now >= next {
                self.say(flow, body)?;
                next = now + ASK_EVERY;
            }
            let (mut answer, mut refused) = (None, None);
            self.listen(Wait::Until(next), &mut |heard| match Message::parse(&heard.bytes).map(|m| m.body) {
                _ if heard.flow != flow || heard.round != round => {}
                Some(Body::Refused(reason)) => refused = Some(reason),
                Some(body) => answer = answer.take().or_else(|| accept(body, heard.arrived)),
                None => {}
            })?;
            if let Some(answer) = answer {
                return Ok(answer);
            }
            match refused {
                Some(Reason::Busy) => busy = true,
                Some(Reason::Version) => return Err(UdpError::Version { server, ours: VERSION }),
                Some(Reason::Plan) => return Err(UdpError::Refused { server }),
                None if self.engine.refused().is_some() => {
                    return Err(match body {
                        Body::Hello => UdpError::NobodyThere { server },
                        _ => UdpError::Silent { server, during },
                    });
                }
                None => {}
            }
        }
    }

    /// Receives once: load goes to the receiver, control of this session to `each`.
    fn listen(&mut self, wait: Wait, each: &mut dyn FnMut(&Heard)) -> Result<(), UdpError> {
        let Client { engine, receiver, .. } = self;
        let batch = engine.recv(wait)?;
        let now = WallClock.now();
        let mut control = Vec::new();
        for datagram in batch.iter() {
            let arrived = datagram.arrived.unwrap_or(now);
            match (Data::parse(datagram.bytes), &mut *receiver) {
                (Some(data), Some(receiver)) if data.flow == datagram.port.0 => {
                    receiver.data(&data, datagram.bytes.len(), arrived);
                    self.heard = now;
                }
                _ if other_version(datagram.bytes).is_some() => {
                    return Err(UdpError::Version { server: self.options.server, ours: VERSION });
                }
                _ => {
                    let message = Message::parse(datagram.bytes).filter(|message| message.session == self.session);
                    control.extend(message.map(|m| Heard {
                        flow: m.flow,
                        round: m.round,
                        arrived,
                        bytes: datagram.bytes.to_vec(),
                    }));
                }
            }
        }
        for heard in control {
            self.heard = now;
            if let Some(Body::Alive { received }) = Message::parse(&heard.bytes).map(|message| message.body) {
                self.received_by_server = received;
            }
            each(&heard);
        }
        Ok(())
    }
}

/// 4 MiB: more than a hundred thousand intervals take.
const MAX_CHUNKS: u32 = 32 * 1024;
