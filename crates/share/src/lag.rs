//! The port on which takt's own radios say how fast their time passes, and how late they were: of shared radios it is the front
//! end that knows. A question to a shared radio is passed on, and the answer is put into the shared radio's clock.
//!
//! Behind hardware nobody answers, as hardware does not.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_emulator::n200::CLOCK;
use takt_emulator::policy::Destinations;
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};
use takt_wire::lag::{self, LagReply, LagRequest};

/// How long the front end may take to answer. It takes its time on purpose, up to 20 ms.
const PATIENCE: Duration = Duration::from_millis(40);
/// How long a full send buffer is waited for.
const SEND_WAIT: Duration = Duration::from_millis(2);
/// Questions that may wait; the rest may ask again.
const BUFFER_BYTES: usize = 32 << 10;
/// Ports of one engine, which numbers them by a byte.
const PORTS: usize = 64;

/// The ports of all shared radios, and the way to the front end's.
pub(crate) struct LagPorts {
    front_end: SocketAddr,
    rule: Destinations,
    addrs: Vec<Ipv4Addr>,
    /// Each has the ports of so many radios.
    engines: Vec<Box<dyn Engine>>,
}

/// A question, who asks, and where it came.
struct Asked {
    request: LagRequest,
    engine: usize,
    port: PortIndex,
    host: SocketAddr,
}

impl LagPorts {
    pub(crate) fn new(front_end: IpAddr, rule: Destinations) -> LagPorts {
        let front_end = SocketAddr::new(front_end, lag::PORT);
        LagPorts { front_end, rule, addrs: Vec::new(), engines: Vec::new() }
    }

    /// Listens at these addresses from now on.
    ///
    /// # Errors
    /// An address is taken.
    pub(crate) fn listen(&mut self, addrs: Vec<Ipv4Addr>) -> Result<(), EngineError> {
        if addrs == self.addrs {
            return Ok(());
        }
        // The ports close before they are opened again.
        self.engines.clear();
        let spec = |addr: &Ipv4Addr| PortSpec { bind: SocketAddr::new(IpAddr::V4(*addr), lag::PORT), peer: None };
        let open =
            |addrs: &[Ipv4Addr]| takt_packet::open(EngineKind::Socket, &config(addrs.iter().map(spec).collect()));
        self.engines = addrs.chunks(PORTS).map(open).collect::<Result<_, _>>()?;
        self.addrs = addrs;
        Ok(())
    }

    /// Answers one question, if there is one. `offset_ticks` says how far a radio's clock is ahead of the front end's: its program
    /// may have set it.
    ///
    /// # Errors
    /// A port is lost.
    pub(crate) fn attend(&mut self, offset_ticks: impl FnOnce(Ipv4Addr) -> u64) -> Result<(), EngineError> {
        let Some(asked) = self.asked()? else { return Ok(()) };
        let number = asked.engine * PORTS + usize::from(asked.port.0);
        let Some(addr) = self.addrs.get(number) else { return Ok(()) };
        let Some(reply) = self.ask(&asked.request) else { return Ok(()) };
        let Some(reply) = as_shared(reply, offset_ticks(*addr)) else { return Ok(()) };
        let Some(engine) = self.engines.get_mut(asked.engine) else { return Ok(()) };
        let mut batch = engine.reserve(1);
        batch.push(asked.port, Some(asked.host), |frame| reply.write(frame).unwrap_or(0));
        batch.send(Wait::Until(WallClock.now() + SEND_WAIT)).map(|_| ())
    }

    fn asked(&mut self) -> Result<Option<Asked>, EngineError> {
        for (number, engine) in self.engines.iter_mut().enumerate() {
            let batch = engine.recv(Wait::Poll)?;
            let datagram = batch.get(0).filter(|datagram| self.rule.permits(datagram.source.ip()));
            let asked = datagram.and_then(|datagram| {
                let request = LagRequest::parse(datagram.bytes).ok()?;
                Some(Asked { request, engine: number, port: datagram.port, host: datagram.source })
            });
            if asked.is_some() {
                return Ok(asked);
            }
        }
        Ok(None)
    }

    /// The front end's answer; `None`: it is hardware, or too busy.
    fn ask(&self, request: &LagRequest) -> Option<LagReply> {
        let unspecified = Ipv4Addr::UNSPECIFIED.into();
        let port = PortSpec { bind: SocketAddr::new(unspecified, 0), peer: Some(self.front_end) };
        let mut engine = takt_packet::open(EngineKind::Socket, &config(vec![port])).ok()?;
        let until = WallClock.now() + PATIENCE;
        let mut batch = engine.reserve(1);
        batch.push(PortIndex(0), None, |frame| request.write(frame).unwrap_or(0));
        batch.send(Wait::Until(until)).ok()?;
        while WallClock.now() < until {
            let batch = engine.recv(Wait::Until(until)).ok()?;
            let reply = LagReply::parse(batch.get(0)?.bytes).ok();
            if let Some(reply) = reply.filter(|reply| reply.id == request.id) {
                return Some(reply);
            }
        }
        None
    }
}

fn config(ports: Vec<PortSpec>) -> Config {
    Config {
        batch: 1,
        max_payload_bytes: LagRequest::BYTES,
        recv_buffer_bytes: BUFFER_BYTES,
        send_buffer_bytes: BUFFER_BYTES,
        stamps: false,
        ..Config::new(ports)
    }
}

/// The front end's answer in a shared radio's clock, which is that many ticks ahead; `None`: its clock is no multiple of an N200's.
fn as_shared(reply: LagReply, ahead_ticks: u64) -> Option<LagReply> {
    let clock_hz = NonZeroU32::new(CLOCK.hz())?;
    let ratio = i64::from(reply.clock_hz.get() / clock_hz);
    if ratio == 0 || reply.clock_hz.get() % clock_hz != 0 {
        return None;
    }
    // Modulo 2^64: a clock that is behind has an offset below zero.
    let offset_ticks = (reply.clock_offset_ticks.cast_signed() / ratio).cast_unsigned().wrapping_add(ahead_ticks);
    Some(LagReply { clock_hz, clock_offset_ticks: offset_ticks, ..reply })
}

#[cfg(test)]
mod tests {
    use takt_wire::lag::LagSpans;

    use super::*;

    fn reply(clock_hz: u32, clock_offset_ticks: u64) -> LagReply {
        LagReply {
            id: 1,
            limit_us: 1000,
            now_ns: 5,
            clock_hz: NonZeroU32::new(clock_hz).expect("a clock"),
            clock_offset_ticks,
            speed_millionths: 100_000,
            datagrams: 1,
            over_limit: 0,
            max_us: 0,
            receive_buffer_drops: None,
            more: false,
            spans: LagSpans::first_of(std::iter::empty()),
        }
    }

    #[test]
    fn an_answer_is_in_the_shared_radios_clock() {
        let of = |clock_hz, offset, ahead| {
            let reply = as_shared(reply(clock_hz, offset), ahead)?;
            Some((reply.clock_hz.get(), reply.clock_offset_ticks))
        };
        assert_eq!(of(100_000_000, 1000, 7), Some((100_000_000, 1007)));
        assert_eq!(of(200_000_000, 1000, 7), Some((100_000_000, 507)), "an X310 counts twice as fast");
        assert_eq!(of(200_000_000, 10_u64.wrapping_neg(), 0), Some((100_000_000, 5_u64.wrapping_neg())));
        assert_eq!(of(184_320_000, 0, 0), None, "no shared radio stands behind such a clock");
    }
}
