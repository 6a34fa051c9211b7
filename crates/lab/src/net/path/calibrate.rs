//! What a path can carry before anything is measured on it: is it the path that sets the limit, or this machine?

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};

use super::super::PathError;
use super::Path;

/// What crossed from host to radio, flat out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Bytes of each datagram.
    pub payload_bytes: usize,
    /// Datagrams a second that arrived.
    pub datagrams_per_s: f64,
    /// Datagrams a second that were offered, refused ones not counted.
    pub offered_per_s: f64,
    /// What the specification says; `None`: no limit.
    pub specified_per_s: Option<f64>,
    /// Who sets it.
    pub set_by: SetBy,
}

/// Who sets a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The path: what crossed is within three per cent of what its specification says.
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
/// What had arrived in time may be read until then.
const LINGER: Duration = Duration::from_millis(50);
/// Queues are full, and the first burst is through, after a third of the time.
const SETTLE: u32 = 3;

impl Path {
    /// Sends datagrams of that size from the host's namespace to the radio's for `span`, flat out, and counts.
    ///
    /// # Errors
    /// A socket can't be opened.
    pub fn ceiling(&self, payload_bytes: usize, span: Duration) -> Result<Ceiling, PathError> {
        let any = SocketAddr::from((self.radio.address, 0));
        let mut receiver = self.radio.namespace.inside(|| open(any, None, payload_bytes))?.map_err(failed)?;
        let to = receiver.local(PortIndex(0)).unwrap_or(any);
        let here = SocketAddr::from((self.host.address, 0));
        let sender = self.host.namespace.inside(|| open(here, Some(to), payload_bytes))?.map_err(failed)?;
        let stop = Stop::new();
        let flag = stop.clone();
        let begun = WallClock.now();
        let (from, until) = (begun + span / SETTLE, begun + span);
        let sending = thread::spawn(move || send(sender, payload_bytes, from, until, &flag));
        let got = count(&mut *receiver, from, until);
        stop.request();
        let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let seconds = until.saturating_since(from).as_secs_f64();
        let datagrams_per_s = got.map_err(failed)? as f64 / seconds;
        let specified_per_s = self.spec.ceiling_datagrams_per_s(payload_bytes);
        // A processor whose speed wanders is within its own bounds.
        let spread = self.spec.hardware().and_then(|hardware| hardware.processor).map_or(0.0, |p| p.spread);
        let tolerance = TOLERANCE + spread;
        let set_by = match specified_per_s {
            Some(most) if datagrams_per_s > most * (1.0 + tolerance) => SetBy::Nobody,
            Some(most) if datagrams_per_s > most * (1.0 - tolerance) => SetBy::Path,
            _ => SetBy::Machine,
        };
        let offered_per_s = sent.map_err(failed)? as f64 / seconds;
        Ok(Ceiling { payload_bytes, datagrams_per_s, offered_per_s, specified_per_s, set_by })
    }
}

fn failed(source: EngineError) -> PathError {
    PathError::Calibration(source)
}

fn open(bind: SocketAddr, peer: Option<SocketAddr>, payload_bytes: usize) -> Result<Box<dyn Engine>, EngineError> {
    let config = Config {
        recv_buffer_bytes: BUFFER_BYTES,
        send_buffer_bytes: SEND_BUFFER_BYTES,
        max_payload_bytes: payload_bytes.max(64),
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

/// Datagrams the kernel took between two instants.
fn send(
    mut engine: Box<dyn Engine>,
    payload_bytes: usize,
    from: MonoNs,
    until: MonoNs,
    stop: &Stop,
) -> Result<u64, EngineError> {
    let mut sent = 0;
    while !stop.requested() && WallClock.now() < until {
        let mut batch = engine.reserve(64);
        while batch.push(PortIndex(0), None, |frame| {
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
