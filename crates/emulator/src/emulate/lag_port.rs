//! Says how late a radio was itself, on a port beside those of an N200, to hosts to which it may send.
//!
//! On a thread of its own. Its answers come from the radio's thread, which it asks at most once in [`PACE`], so that
//! nobody makes that thread late by asking. A reply is never longer than its request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, TickRate, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};
use takt_wire::lag::{self, LagReply, LagRequest, LagSpans};

use super::model::Model;
use super::questions::Questions;
use crate::drive::wall::{LagReport, RadioTime, Tempo};
use crate::policy::Destinations;

/// The radio's thread gets one request in this span at most.
const PACE: Duration = Duration::from_millis(20);
const LOOK: Duration = Duration::from_millis(20);
/// How long a full send buffer is waited for.
const SEND_WAIT: Duration = Duration::from_millis(2);
/// Questions that may wait; the rest may ask again.
const BUFFER_BYTES: usize = 32 << 10;
const PORT: PortIndex = PortIndex(0);

pub(super) struct LagPort {
    engine: Box<dyn Engine>,
    rule: Destinations,
}

impl LagPort {
    pub(super) fn open(addr: Ipv4Addr, rule: Destinations) -> Result<LagPort, EngineError> {
        let bind = SocketAddr::new(IpAddr::V4(addr), lag::PORT);
        let config = Config {
            batch: 1,
            max_payload_bytes: LagRequest::BYTES,
            recv_buffer_bytes: BUFFER_BYTES,
            send_buffer_bytes: BUFFER_BYTES,
            stamps: false,
            ..Config::new(vec![PortSpec { bind, peer: None }])
        };
        Ok(LagPort { engine: takt_packet::open(EngineKind::Socket, &config)?, rule })
    }

    pub(super) fn serve<M: Model>(
        mut self,
        radio: &Questions<M>,
        tempo: &Tempo,
        stop: &Stop,
    ) -> Result<(), EngineError> {
        while !stop.requested() {
            let batch = self.engine.recv(Wait::Until(WallClock.now() + LOOK))?;
            let received = batch.get(0).and_then(|datagram| {
                let request = accept(datagram.bytes, datagram.source, &self.rule)?;
                Some((request, datagram.source))
            });
            let Some((request, host)) = received else { continue };
            let time = tempo.time();
            let reply = radio.ask(move |device, lag, counters| {
                let clock = (device.device().clock_hz(), device.device().clock_offset_ticks());
                reply(request, WallClock.now(), (clock, time), &lag, counters.receive_buffer_drops)
            });
            let Ok(reply) = reply else { return Ok(()) };
            let mut batch = self.engine.reserve(1);
            batch.push(PORT, Some(host), |frame| reply.write(frame).unwrap_or(0));
            batch.send(Wait::Until(WallClock.now() + SEND_WAIT))?;
            std::thread::sleep(PACE);
        }
        Ok(())
    }
}

/// The request in a datagram, if it is one and from an address to which the radio may send.
fn accept(bytes: &[u8], host: SocketAddr, rule: &Destinations) -> Option<LagRequest> {
    LagRequest::parse(bytes).ok().filter(|_| rule.permits(host.ip()))
}

fn reply(
    request: LagRequest,
    now: MonoNs,
    ((clock_hz, offset_ticks), time): ((NonZeroU32, u64), RadioTime),
    lag: &LagReport,
    receive_buffer_drops: Option<u64>,
) -> LagReply {
    let mut spans = lag.late_spans.iter().filter(|span| span.to_ns >= request.since_ns);
    let first = LagSpans::first_of(spans.by_ref().map(|span| [span.from_ns, span.to_ns]));
    LagReply {
        id: request.id,
        limit_us: u32::try_from(lag.limit_us).unwrap_or(u32::MAX),
        now_ns: now.0,
        clock_hz,
        clock_offset_ticks: offset_ticks.wrapping_add(time.offset_ticks(TickRate::from(clock_hz))),
        speed_millionths: time.speed().millionths(),
        datagrams: lag.datagrams,
        over_limit: lag.over_limit,
        max_us: lag.max_us,
        receive_buffer_drops,
        more: spans.next().is_some(),
        spans: first,
    }
}

#[cfg(test)]
mod tests {
    use takt_base::{Speed, Tick};

    use super::*;
    use crate::drive::wall::LateSpan;

    fn clock() -> ((NonZeroU32, u64), RadioTime) {
        ((NonZeroU32::MIN, 0), RadioTime::steady(Speed::WALL))
    }

    fn span(n: u64) -> LateSpan {
        LateSpan { from_ns: n * 100, to_ns: n * 100 + 50, ..LateSpan::default() }
    }

    #[test]
    fn all_spans_since_an_instant_are_reported_page_by_page() {
        let late_spans: Vec<LateSpan> = (1..=70).map(span).collect();
        let report = LagReport { late_spans, limit_us: 1000, ..LagReport::default() };
        let (mut since_ns, mut begins, mut pages) = (1050, Vec::new(), Vec::new());
        loop {
            let page = reply(LagRequest { id: 1, since_ns }, MonoNs(1), clock(), &report, None);
            let spans = page.spans.as_slice();
            begins.extend(spans.iter().map(|span| span[0]));
            pages.push(spans.len());
            match spans.last() {
                Some(last) if page.more => since_ns = last[1] + 1,
                _ => break,
            }
        }
        // The one that ends at that instant is reported, those before are not.
        assert_eq!(begins, (10..=70).map(|n| n * 100).collect::<Vec<u64>>());
        assert_eq!(pages, [27, 27, 7]);
    }

    #[test]
    fn a_last_page_that_is_full_is_the_last() {
        let late_spans: Vec<LateSpan> = (1..=27).map(span).collect();
        let report = LagReport { late_spans, ..LagReport::default() };
        let page = reply(LagRequest { id: 1, since_ns: 0 }, MonoNs(1), clock(), &report, None);
        assert_eq!((page.spans.as_slice().len(), page.more), (27, false));
    }

    /// A host knows the radio's time for each instant from speed and offset, also after the speed has changed.
    #[test]
    fn a_host_can_tell_the_radios_time_at_any_speed() {
        let hz = NonZeroU32::new(100_000_000).unwrap();
        let slow: Speed = "0.1".parse().unwrap();
        let changed = RadioTime::steady(slow).changed(MonoNs(7_000_000_000), "0.25".parse().unwrap());
        for time in [RadioTime::steady(Speed::WALL), RadioTime::steady(slow), changed] {
            let own_offset = u64::MAX - 41;
            let request = LagRequest { id: 1, since_ns: 0 };
            let said = reply(request, MonoNs(1), ((hz, own_offset), time), &LagReport::default(), None);
            let speed = Speed::from_millionths(said.speed_millionths).unwrap();
            let at = MonoNs(9_000_000_000);
            let passed = speed.ticks_in_ns(said.clock_hz.into(), at.0.into()).0;
            let Tick(tick) = time.tick_of(hz.into(), at);
            assert_eq!(passed.wrapping_add(said.clock_offset_ticks), tick.wrapping_add(own_offset), "{time:?}");
        }
    }

    #[test]
    fn only_hosts_to_which_the_radio_may_send_are_answered() {
        let rule = Destinations::allowing(["192.168.10.0/24".parse().unwrap()]);
        let mut bytes = [0; LagRequest::BYTES];
        let request = LagRequest { id: 3, since_ns: 4 };
        request.write(&mut bytes).unwrap();
        let accepted = |host: &str, bytes: &[u8]| accept(bytes, host.parse().unwrap(), &rule);
        assert_eq!(accepted("192.168.10.9:40000", &bytes), Some(request));
        assert_eq!(accepted("127.0.0.1:40000", &bytes), Some(request));
        assert_eq!(accepted("192.168.11.9:40000", &bytes), None);
        assert_eq!(accepted("127.0.0.1:40000", &bytes[..LagRequest::BYTES - 1]), None, "shorter than a reply may be");
    }
}
