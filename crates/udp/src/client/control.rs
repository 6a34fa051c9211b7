//! The client's side of the conversation: it asks until it gets an answer or has waited long enough.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_packet::{Config, Engine, EngineError, PortIndex, PortSpec, Wait, open};

use super::super::clock::{Probe, Relation, relate};
use super::super::end::{ASK_EVERY, GONE, ReadUntil, SILENCE, boot_id, config, send_message};
use super::super::error::UdpError;
use super::super::options::UdpOptions;
use super::super::protocol::data::Data;
use super::super::protocol::message::{Body, Message, Reason, VERSION, other_version};
use super::super::receiver::Receiver;

/// Times both clocks are read to compare them.
const PROBES: usize = 32;
/// A session's engine, and what was received by it.
pub(super) struct ControlChannel<'a> {
    pub(super) options: &'a UdpOptions,
    pub(super) stop: &'a Stop,
    pub(super) engine: Box<dyn Engine>,
    session: u64,
    pub(super) round: u8,
    last_received: MonoNs,
    read_until: ReadUntil,
    pub(super) receiver: Option<Receiver>,
    pub(super) received_by_server: u64,
}

pub(super) struct ControlMessage {
    flow: u8,
    round: u8,
    arrived: MonoNs,
    pub(super) bytes: Vec<u8>,
}

impl<'a> ControlChannel<'a> {
    pub(super) fn open(options: &'a UdpOptions, stop: &'a Stop) -> Result<ControlChannel<'a>, UdpError> {
        let any: IpAddr = if options.server.is_ipv4() { [0, 0, 0, 0].into() } else { [0; 16].into() };
        let spec = PortSpec { bind: SocketAddr::new(any, 0), peer: Some(options.server) };
        let ports = vec![spec; usize::from(options.flows)];
        let largest = options.sizes.iter().copied().max().unwrap_or(0).max(options.payload_bytes);
        let UdpOptions { aggregate, busy_poll, .. } = *options;
        let longest = config(ports, options.buffer_bytes, largest);
        let engine = open(options.engine, &Config { aggregate, busy_poll, ..longest })?;
        let session = RandomState::new().hash_one(WallClock.now().0);
        let last_received = WallClock.now();
        let read_until = ReadUntil::begin(last_received);
        Ok(ControlChannel {
            options,
            stop,
            engine,
            session,
            round: 0,
            last_received,
            read_until,
            receiver: None,
            received_by_server: 0,
        })
    }

    pub(super) fn send(&mut self, flow: u8, body: Body<'_>) -> Result<(), EngineError> {
        let message = Message { flow, round: self.round, session: self.session, body };
        send_message(&mut *self.engine, PortIndex(flow), None, &message)
    }

    /// Shows the server that each flow's address is ours; returns the number of its machine's boot.
    pub(super) fn open_flows(&mut self) -> Result<[u8; 16], UdpError> {
        let mut server_boot = [0; 16];
        for flow in 0..self.options.flows {
            let cookie = self.ask(flow, Body::Hello, "before it answered", |body, _| match body {
                Body::Cookie(cookie) => Some(cookie),
                _ => None,
            })?;
            let open = Body::Open { cookie, flows: self.options.flows };
            server_boot = self.ask(flow, open, "while the session was opened", |body, _| match body {
                Body::Opened { boot_id } => Some(boot_id),
                _ => None,
            })?;
        }
        Ok(server_boot)
    }

    pub(super) fn compare_clocks(&mut self, server_boot: [u8; 16]) -> Result<Relation, UdpError> {
        let mut probes = Vec::with_capacity(PROBES);
        for _ in 0..PROBES {
            let origin = WallClock.now().0;
            let ping = Body::Ping { sent_ns: origin };
            let probe = self.ask(0, ping, "while clocks were compared", |body, arrived| match body {
                Body::Pong { sent_ns, arrived_ns: receive, answered_ns: transmit } if sent_ns == origin => {
                    Some(Probe { origin, receive, transmit, destination: arrived.0 })
                }
                _ => None,
            })?;
            probes.push(probe);
        }
        let ours = boot_id();
        let known = relate(ours == server_boot && ours != [0; 16], &probes);
        known.ok_or(UdpError::Silent { server: self.options.server, during: "while clocks were compared" })
    }

    /// Fails unless the server has sent something within `limit`.
    pub(super) fn check_alive(&mut self, limit: Duration, during: &'static str) -> Result<(), UdpError> {
        let server = self.options.server;
        if self.engine.refused().is_some() || self.read_until.since(self.last_received) >= limit {
            return Err(UdpError::Silent { server, during });
        }
        Ok(())
    }

    /// Asks until an answer is accepted. Load that arrives meanwhile is counted as always. The server is silent if it leaves
    /// so many questions in a row without an answer, each waited for: this end may have stood still meanwhile, which
    /// says nothing of the server. A server that reports that it is busy gets the request again for as long as its other client may be
    /// dead without the server knowing. It is busy for good if it reports so to a request that was sent after that.
    pub(super) fn ask<T>(
        &mut self,
        flow: u8,
        body: Body<'_>,
        during: &'static str,
        mut accept: impl FnMut(Body<'_>, MonoNs) -> Option<T>,
    ) -> Result<T, UdpError> {
        let server = self.options.server;
        let (begin, round) = (WallClock.now(), self.round);
        let mut next = begin;
        // Questions sent, those of them while another client may be dead, and how often the server was busy.
        let (mut questions, mut early, mut busy) = (0_u32, 0_u32, 0_u32);
        loop {
            let now = WallClock.now();
            // As often as it answered that, or, where answers are lost, after twice that time.
            let waited = now.saturating_since(begin);
            if busy > early || busy > 0 && waited >= 2 * SILENCE {
                return Err(UdpError::Busy { server });
            }
            if busy == 0 && questions >= questions_max(&body) && now >= next {
                return Err(match body {
                    Body::Hello => UdpError::NoAnswer { server },
                    _ => UdpError::Silent { server, during },
                });
            }
            if round == 0 && self.stop.requested() {
                return Err(UdpError::Stopped);
            }
            if now >= next {
                self.send(flow, body)?;
                questions += 1;
                early += u32::from(waited <= SILENCE);
                next = now + ASK_EVERY;
            }
            let (mut answer, mut refused) = (None, None);
            self.listen(Wait::Until(next), &mut |received| match Message::parse(&received.bytes).map(|m| m.body) {
                _ if received.flow != flow || received.round != round => {}
                Some(Body::Refused(Reason::Busy)) => busy += 1,
                Some(Body::Refused(reason)) => refused = Some(reason),
                Some(body) => answer = answer.take().or_else(|| accept(body, received.arrived)),
                None => {}
            })?;
            if let Some(answer) = answer {
                return Ok(answer);
            }
            match refused {
                Some(Reason::Version) => return Err(UdpError::Version { server, ours: VERSION }),
                Some(Reason::Plan | Reason::Busy) => return Err(UdpError::Refused { server }),
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

    /// Receives once: load goes to the receiver, signs of life are noted, other control of this session goes to `each`.
    /// Returns how many datagrams came.
    pub(super) fn listen(&mut self, wait: Wait, each: &mut dyn FnMut(&ControlMessage)) -> Result<usize, UdpError> {
        let began = WallClock.now();
        let batch = self.engine.recv(wait)?;
        let datagrams = batch.len();
        let now = WallClock.now();
        if datagrams == 0 {
            self.read_until.found_nothing(began, wait, now);
        }
        // Only questions bring answers, so that nothing is allocated under load.
        let mut control = Vec::new();
        for datagram in batch.iter() {
            let arrived = datagram.arrived.unwrap_or(now);
            self.read_until.found(arrived);
            if let (Some(data), Some(receiver)) = (Data::parse(datagram.bytes), &mut self.receiver)
                && data.flow == datagram.port.0
            {
                receiver.data(&data, datagram.bytes.len(), arrived);
                self.last_received = now;
                continue;
            }
            if other_version(datagram.bytes).is_some() {
                return Err(UdpError::Version { server: self.options.server, ours: VERSION });
            }
            let message = Message::parse(datagram.bytes).filter(|message| message.session == self.session);
            let Some(message) = message else { continue };
            self.last_received = now;
            match message.body {
                Body::Alive { received } => self.received_by_server = received,
                _ => control.push(ControlMessage {
                    flow: message.flow,
                    round: message.round,
                    arrived,
                    bytes: datagram.bytes.to_vec(),
                }),
            }
        }
        control.iter().for_each(each);
        Ok(datagrams)
    }
}

/// Questions without an answer, one after the other, that make a server silent: [`SILENCE`] where nothing stands still, and
/// [`GONE`] when all load has been sent.
fn questions_max(body: &Body<'_>) -> u32 {
    let limit = if matches!(body, Body::Get { .. }) { GONE } else { SILENCE };
    (limit.as_millis() / ASK_EVERY.as_millis()) as u32
}
