//! What a path can carry before anything is measured on it: is it the path that sets the limit, or this machine?

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};

use super::super::PathError;
use super::Path;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    #[serde(default)]
    pub towards: Towards,
    pub payload_bytes: usize,
    pub datagrams_per_s: f64,
    /// Datagrams a second that were offered, refused ones not counted.
    pub offered_per_s: f64,
    pub specified_per_s: Option<f64>,
    pub set_by: SetBy,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Towards {
    #[default]
    Radio,
    Host,
}

impl Towards {
    pub const BOTH: [Towards; 2] = [Towards::Radio, Towards::Host];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The path: what crossed is within three per cent of what its specification says, or its router used up its share of a
    /// CPU.
    Path,
    /// This machine: less crossed, or there is no limit to reach.
    Machine,
    /// Nobody: more crossed than the specification allows, so a limiter is not in force.
    Nobody,
}

/// Neither end of the flow may be the one that is full.
const BUFFER_BYTES: usize = 4 << 20;
/// Short, so that little of one calibration still waits before a cable when the next one begins.
const SEND_BUFFER_BYTES: usize = 256 << 10;
const TOLERANCE: f64 = 0.03;
/// A limit is used up: the threads' time counts over the lingering as well.
const FULL: f64 = 0.7;
/// Datagrams that had arrived in time may be read until then.
const LINGER: Duration = Duration::from_millis(50);
/// Queues are full, and the first burst is through, after a third of the time.
const SETTLE: u32 = 3;

impl Path {
    /// Sends datagrams of that size from one end's namespace to the other's for `span`, flat out, and counts. If
    /// nothing crosses at all, nothing is offered either.
    pub fn ceiling(&self, towards: Towards, payload_bytes: usize, span: Duration) -> Result<Ceiling, PathError> {
        let specified_per_s = self.spec.ceiling_datagrams_per_s(payload_bytes);
        let ends = match towards {
            Towards::Radio => Some(self.way_forth(payload_bytes)?),
            Towards::Host => self.way_back(payload_bytes)?,
        };
        let crossed = || ends.map_or(Ok((0.0, 0.0)), |ends| offer(ends, payload_bytes, span, Duration::ZERO));
        let ((datagrams_per_s, offered_per_s), limit_used) = self.limit_used(crossed)?;
        // A processor whose speed wanders is within its own bounds.
        let spread = self.spec.hardware().and_then(|hardware| hardware.processor).map_or(0.0, |p| p.spread);
        let tolerance = TOLERANCE + spread;
        let set_by = match specified_per_s {
            Some(most) if datagrams_per_s > most * (1.0 + tolerance) => SetBy::Nobody,
            Some(most) if datagrams_per_s > most * (1.0 - tolerance) => SetBy::Path,
            _ if limit_used.is_some_and(|used| used > FULL) => SetBy::Path,
            _ => SetBy::Machine,
        };
        Ok(Ceiling { towards, payload_bytes, datagrams_per_s, offered_per_s, specified_per_s, set_by })
    }

    pub(super) fn way_forth(&self, payload_bytes: usize) -> Result<Ends, PathError> {
        let any = SocketAddr::from((self.radio.address, 0));
        let to = self.radio.namespace.inside(|| open(any, None, payload_bytes))?.map_err(failed)?;
        let peer = to.local(PortIndex(0)).unwrap_or(any);
        let here = SocketAddr::from((self.host.address, 0));
        let from = self.host.namespace.inside(|| open(here, Some(peer), payload_bytes))?.map_err(failed)?;
        Ok(Ends { from, to, caller: None })
    }

    /// A router that hides the host lets in only what answers: so the host calls first, and the radio sends to where the
    /// call came from, out of the socket it came to: one that is closed and bound anew may still be held by a child of this
    /// process that is about to execute another program. `None`: no call arrived.
    fn way_back(&self, payload_bytes: usize) -> Result<Option<Ends>, PathError> {
        let (any, here) = (SocketAddr::from((self.radio.address, 0)), SocketAddr::from((self.host.address, 0)));
        let mut called = self.radio.namespace.inside(|| open(any, None, payload_bytes))?.map_err(failed)?;
        let at = called.local(PortIndex(0)).unwrap_or(any);
        let mut to = self.host.namespace.inside(|| open(here, Some(at), payload_bytes))?.map_err(failed)?;
        let until = WallClock.now() + PATIENCE;
        while WallClock.now() < until {
            let mut call = to.reserve(1);
            call.push(PortIndex(0), None, |frame| frame.len().min(16));
            call.send(Wait::Until(until)).map_err(failed)?;
            let answer = called.recv(Wait::Until(WallClock.now() + RETRY)).map_err(failed)?;
            let caller = answer.iter().next().map(|datagram| datagram.source);
            if caller.is_some() {
                return Ok(Some(Ends { from: called, to, caller }));
            }
        }
        Ok(None)
    }
}

/// A call may be lost, as the path may be set to lose frames; and the first waits for addresses to be resolved.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(50);

pub(super) struct Ends {
    from: Box<dyn Engine>,
    to: Box<dyn Engine>,
    /// Destination of each datagram, if the sender's socket has no peer of its own.
    caller: Option<SocketAddr>,
}

/// Sends a datagram each `gap`, zero for flat out. Datagrams a second that arrived, and that were offered.
pub(super) fn offer(ends: Ends, payload_bytes: usize, span: Duration, gap: Duration) -> Result<(f64, f64), PathError> {
    let Ends { from: sender, to: mut receiver, caller } = ends;
    let stop = Stop::new();
    let flag = stop.clone();
    let begun = WallClock.now();
    let (from, until) = (begun + span / SETTLE, begun + span);
    let sending = thread::spawn(move || send(sender, caller, payload_bytes, gap, (from, until), &flag));
    let got = count(&mut *receiver, from, until);
    stop.request();
    let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let seconds = until.saturating_since(from).as_secs_f64();
    Ok((got.map_err(failed)? as f64 / seconds, sent.map_err(failed)? as f64 / seconds))
}

fn failed(source: EngineError) -> PathError {
    PathError::Calibration(source)
}

fn open(bind: SocketAddr, peer: Option<SocketAddr>, payload_bytes: usize) -> Result<Box<dyn Engine>, EngineError> {
    let config = Config {
        recv_buffer_bytes: BUFFER_BYTES,
        send_buffer_bytes: SEND_BUFFER_BYTES,
        max_payload_bytes: payload_bytes.max(64),
        force_buffers: true,
        ..Config::new(vec![PortSpec { bind, peer }])
    };
    takt_packet::open(EngineKind::Mmsg, &config)
}

/// Datagrams that arrive between two instants, by the kernel's stamps: that this thread is late changes nothing.
fn count(engine: &mut dyn Engine, from: MonoNs, until: MonoNs) -> Result<u64, EngineError> {
    let (mut got, end) = (0, until + LINGER);
    while WallClock.now() < end {
        let arrived = engine.recv(Wait::Until(end))?;
        let within = |at: Option<MonoNs>| at.is_some_and(|at| (from..until).contains(&at));
        got += arrived.iter().filter(|datagram| within(datagram.arrived)).count() as u64;
    }
    Ok(got)
}

/// Datagrams sent at once, at most. A ring holds several times as many.
const BATCH: usize = 64;

/// Waits for the next datagram of a stream with one each `gap`. Returns how many are due: more than one after this thread
/// was delayed, and what exceeds a batch is never sent.
fn owed(due: &mut MonoNs, gap: Duration) -> usize {
    if gap.is_zero() {
        return BATCH;
    }
    while WallClock.now() < *due {
        std::hint::spin_loop();
    }
    let late = WallClock.now().saturating_since(*due);
    let owed = 1 + (late.as_nanos() / gap.as_nanos()) as usize;
    *due += gap * owed as u32;
    owed.min(BATCH)
}

/// Datagrams the kernel took between two instants.
fn send(
    mut engine: Box<dyn Engine>,
    to: Option<SocketAddr>,
    payload_bytes: usize,
    gap: Duration,
    (from, until): (MonoNs, MonoNs),
    stop: &Stop,
) -> Result<u64, EngineError> {
    let (mut sent, mut due) = (0, WallClock.now());
    while !stop.requested() && WallClock.now() < until {
        let mut batch = engine.reserve(owed(&mut due, gap));
        while batch.push(PortIndex(0), to, |frame| {
            frame.iter_mut().take(payload_bytes).for_each(|byte| *byte = 0x55);
            payload_bytes.min(frame.len())
        }) {}
        let taken = batch.send(Wait::Until(until))?;
        if WallClock.now() >= from {
            sent += taken as u64;
        }
    }
    Ok(sent)
}
