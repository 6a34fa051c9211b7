//! The end that serves: one thread, one engine, one session at a time.
//!
//! It consents to load by running; it sends load only to an address that has answered with a cookie, has requested it,
//! and has sent something within the last three seconds. A datagram from anywhere else costs it a look at the first bytes.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_packet::{Config, Engine, PortSpec, Wait, open};

use super::end::{
    GONE, HEAD_START, PORT, ReadUntil, SETTLE_TRIES, SILENCE, boot_id, config, send_message, spawn_for_load,
};
use super::error::UdpError;
use super::options::{PAYLOAD_BYTES, ServeOptions};
use super::protocol::cookie::Cookies;
use super::protocol::data::{Data, MAX_FLOWS};
use super::protocol::message::{Body, CHUNK_BYTES, HELLO_BYTES, Message, Reason, other_version};
use super::session::{Round, Session};
use super::side::{Notice, ServeSummary};

/// How often it looks whether it is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Batches that are read at most before a session is ended: more than a socket's buffer holds.
const LAST_BATCHES: usize = 4096;
/// Control messages it takes from one batch; more are as if lost.
const MOST_CONTROL: usize = 64;

/// Serves until `stop` is requested, or the first session is over where [`ServeOptions::once`] says so. The calling
/// thread waits; the work is done on a thread of its own, which inherits the caller's network namespace.
///
/// # Errors
/// The port can't be had, or the engine ends.
pub fn serve(
    options: &ServeOptions,
    notice: &mut (dyn FnMut(Notice) + Send),
    stop: &Stop,
) -> Result<ServeSummary, UdpError> {
    thread::scope(|scope| {
        let work = || Server::open(options, notice)?.run(stop);
        let worker = spawn_for_load(scope, "takt-udp-server", options.placement(), work)?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

struct Server<'a> {
    options: &'a ServeOptions,
    notice: &'a mut (dyn FnMut(Notice) + Send),
    engine: Box<dyn Engine>,
    cookies: Cookies,
    boot_id: [u8; 16],
    session: Option<Session>,
    read_until: ReadUntil,
    summary: ServeSummary,
}

struct ControlMessage {
    from: SocketAddr,
    arrived: MonoNs,
    bytes: Vec<u8>,
}

impl<'a> Server<'a> {
    fn open(options: &'a ServeOptions, notice: &'a mut (dyn FnMut(Notice) + Send)) -> Result<Server<'a>, UdpError> {
        let ports = vec![PortSpec { bind: options.bind, peer: None }];
        let ServeOptions { aggregate, busy_poll, .. } = *options;
        let any_size = config(ports, options.buffer_bytes, *PAYLOAD_BYTES.end());
        let engine = open(options.engine, &Config { shorter_payloads: true, aggregate, busy_poll, ..any_size })?;
        notice(Notice::Ready(engine.local(PORT).unwrap_or(options.bind)));
        Ok(Server {
            options,
            notice,
            engine,
            cookies: Cookies::default(),
            boot_id: boot_id(),
            session: None,
            read_until: ReadUntil::begin(WallClock.now()),
            summary: ServeSummary::default(),
        })
    }

    fn run(mut self, stop: &Stop) -> Result<ServeSummary, UdpError> {
        while !stop.requested() {
            if self.options.once && self.summary.sessions > 0 && self.session.is_none() {
                break;
            }
            let now = WallClock.now();
            let mut next = now + LOOK_EVERY;
            if let Some(session) =
                self.session.as_mut().filter(|session| self.read_until.since(session.last_received) < SILENCE)
            {
                next = next.min(session.pump(&mut *self.engine, now)?);
            }
            self.serve(Wait::Until(next))?;
            self.conclude()?;
            if self.session.as_ref().is_some_and(|session| self.is_given_up(session)) {
                self.close(false);
            }
            self.end_if_refused()?;
        }
        self.end_session()?;
        Ok(self.summary)
    }

    /// Whether nothing came from a client for so long. One that is sent no load may have stood still, and come back for its
    /// result.
    fn is_given_up(&self, session: &Session) -> bool {
        self.read_until.since(session.last_received) >= if session.is_sending() { SILENCE } else { GONE }
    }

    /// Makes the result of a round that is over.
    fn conclude(&mut self) -> Result<(), UdpError> {
        for attempt in 1..=SETTLE_TRIES {
            let Some(session) = self.session.as_ref().filter(|session| session.is_over(self.read_until)) else { break };
            let Some(net) = session.net() else { break };
            // Datagrams that the kernel counted until now have been received, unless something sends without end.
            if self.serve(Wait::Poll)? > 0 && attempt < SETTLE_TRIES {
                continue;
            }
            let Some(session) = &mut self.session else { break };
            if let Some((received, sent)) = session.conclude(&*self.engine, self.options.engine.name(), &net)? {
                self.summary.rounds += 1;
                self.summary.received += received;
                self.summary.sent += sent;
                (self.notice)(Notice::Round { client: session.client, received, sent });
            }
            break;
        }
        Ok(())
    }

    /// Ends the session of a client whose host answered that nobody listens there any more: the client was killed. A client
    /// that is gone with its host is noticed by its silence.
    fn end_if_refused(&mut self) -> Result<(), UdpError> {
        let mut gone = false;
        while let Some(refusal) = self.engine.refused() {
            gone |= self.session.as_ref().is_some_and(|session| session.is_reached_at(refusal.to));
        }
        if gone { self.end_session() } else { Ok(()) }
    }

    /// Ends the session. The client's last message, perhaps good-bye, may still lie in the socket, and is read first.
    fn end_session(&mut self) -> Result<(), UdpError> {
        for _ in 0..LAST_BATCHES {
            if self.session.is_none() || self.serve(Wait::Poll)? == 0 {
                break;
            }
        }
        self.close(false);
        Ok(())
    }

    /// Receives once and answers. Returns how many datagrams came.
    fn serve(&mut self, wait: Wait) -> Result<usize, UdpError> {
        let (datagrams, control) = self.listen(wait)?;
        for message in control {
            self.answer(&message)?;
        }
        Ok(datagrams)
    }

    /// Receives once. Load of the session is counted; control comes back, behind the number of all datagrams.
    fn listen(&mut self, wait: Wait) -> Result<(usize, Vec<ControlMessage>), UdpError> {
        let began = WallClock.now();
        let batch = self.engine.recv(wait)?;
        let datagrams = batch.len();
        let now = WallClock.now();
        let mut control = Vec::new();
        if datagrams == 0 {
            self.read_until.found_nothing(began, wait, now);
        }
        for datagram in batch.iter() {
            let arrived = datagram.arrived.unwrap_or(now);
            self.read_until.found(arrived);
            if let Some(data) = Data::parse(datagram.bytes) {
                let session = self.session.as_mut().filter(|s| s.flow(data.flow) == Some(datagram.source));
                match session {
                    Some(session) => session.data(&data, datagram.bytes.len(), arrived, now),
                    None => self.summary.strangers += 1,
                }
            } else if let Some(Message { flow, session, body: Body::Alive { .. }, .. }) = Message::parse(datagram.bytes)
                && let Some(known) = self.session.as_mut().filter(|s| s.is(session))
                && known.flow(flow) == Some(datagram.source)
            {
                // The only control there is under load: nothing is allocated for it.
                known.last_received = now;
            } else if datagram.bytes.starts_with(b"TAKT") && control.len() < MOST_CONTROL {
                control.push(ControlMessage { from: datagram.source, arrived, bytes: datagram.bytes.to_vec() });
            } else {
                self.summary.strangers += 1;
            }
        }
        Ok((datagrams, control))
    }

    fn reply(&mut self, to: SocketAddr, question: &Message<'_>, body: Body<'_>) -> Result<(), UdpError> {
        send_message(&mut *self.engine, PORT, Some(to), &Message { body, ..*question })?;
        Ok(())
    }

    fn answer(&mut self, received: &ControlMessage) -> Result<(), UdpError> {
        let (now, from) = (WallClock.now(), received.from);
        let Some(message) = Message::parse(&received.bytes) else {
            self.summary.strangers += 1;
            // Answered only where the answer is shorter than the question.
            if let Some(session) = other_version(&received.bytes).filter(|_| received.bytes.len() >= HELLO_BYTES) {
                let refusal = Message { flow: 0, round: 0, session, body: Body::Refused(Reason::Version) };
                send_message(&mut *self.engine, PORT, Some(from), &refusal)?;
            }
            return Ok(());
        };
        match message.body {
            Body::Hello => {
                let cookie = self.cookies.bake(from, message.session, now);
                self.reply(from, &message, Body::Cookie(cookie))
            }
            Body::Open { cookie, flows } => {
                if !self.cookies.accepts(cookie, from, message.session, now) {
                    self.summary.strangers += 1;
                    return Ok(());
                }
                let answer = self.admit(from, &message, flows, now);
                self.reply(from, &message, answer)
            }
            _ if self.session.as_ref().is_some_and(|s| s.is(message.session) && s.flow(message.flow) == Some(from)) => {
                self.converse(received, &message, now)
            }
            _ => {
                self.summary.strangers += 1;
                Ok(())
            }
        }
    }

    /// An address has shown that it is reached: a flow of the session, of a new one, or one too many.
    fn admit(&mut self, from: SocketAddr, message: &Message<'_>, flows: u8, now: MonoNs) -> Body<'static> {
        if !(1..=MAX_FLOWS).contains(&flows) || message.flow >= flows {
            return Body::Refused(Reason::Plan);
        }
        let other = self.session.as_ref().filter(|session| !session.is(message.session));
        if other.is_some_and(|other| now.saturating_since(other.last_received) >= SILENCE) {
            // Its next look would have found so.
            self.close(false);
        }
        let session = match &mut self.session {
            Some(session) if !session.is(message.session) => return Body::Refused(Reason::Busy),
            Some(session) => session,
            none => {
                self.summary.sessions += 1;
                (self.notice)(Notice::Opened(from));
                none.insert(Session::new(message.session, flows, from, now))
            }
        };
        let admitted = session.admit(message.flow, from, now);
        if admitted { Body::Opened { boot_id: self.boot_id } } else { Body::Refused(Reason::Plan) }
    }

    /// A message of the session, from the address it should come from.
    fn converse(&mut self, received: &ControlMessage, message: &Message<'_>, now: MonoNs) -> Result<(), UdpError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        session.last_received = now;
        let answer = match message.body {
            Body::Ping { sent_ns } => {
                Body::Pong { sent_ns, arrived_ns: received.arrived.0, answered_ns: WallClock.now().0 }
            }
            Body::Start(plan) => match session.start(&*self.engine, message.round, plan, now) {
                Ok(()) => Body::Started,
                Err(UdpError::Accounting(error)) => return Err(error.into()),
                Err(_) => Body::Refused(Reason::Plan),
            },
            Body::Finish { .. } => Body::Finished { bytes: session.finish(message.round, now) },
            Body::Get { chunk } => match session.chunk(message.round, chunk) {
                Some(piece) => {
                    let piece = piece.to_vec();
                    return self.reply(received.from, message, Body::Chunk { chunk, bytes: &piece });
                }
                None => return Ok(()),
            },
            Body::Close => {
                self.close(true);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.reply(received.from, message, answer)
    }

    fn close(&mut self, in_order: bool) {
        if let Some(session) = self.session.take() {
            self.summary.abandoned += u64::from(session.round.as_ref().is_some_and(Round::is_open));
            (self.notice)(Notice::Closed(session.client, in_order));
        }
    }
}

const _: () = assert!(CHUNK_BYTES + 20 <= super::protocol::message::MESSAGE_BYTES);
const _: () = assert!(HEAD_START.as_millis() < SILENCE.as_millis());
