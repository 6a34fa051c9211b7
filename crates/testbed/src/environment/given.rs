//! A radio that is there already. How late it was itself is requested from it, which only takt's emulator answers.
//!
//! Before a round and after it, never during one. No answer is no error: a real radio has none to give.

use std::net::Ipv4Addr;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Speed, WallClock};
use takt_emulator::drive::wall::LateSpan;
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};
use takt_wire::lag::{self, LagReply, LagRequest};

use crate::lateness::{Lateness, OwnLag, RadioLateness, Unread};

/// How often an unanswered request is sent, and how long each time is waited.
const TRIES: usize = 3;
const PATIENCE: Duration = Duration::from_millis(100);
/// Replies that a radio's spans fill at most; an emulator keeps 4096.
const PAGES: usize = 160;
/// The only port of this end.
const PORT: PortIndex = PortIndex(0);
/// Room for replies; there is one at a time.
const BUFFER_BYTES: usize = 32 << 10;

#[derive(Debug)]
pub(super) struct GivenRadio {
    addr: Ipv4Addr,
    /// It has answered: it is takt's emulator.
    is_emulator: bool,
    before: Option<LagReply>,
    next_id: u32,
}

impl GivenRadio {
    pub(super) fn at(addr: Ipv4Addr) -> GivenRadio {
        GivenRadio { addr, is_emulator: false, before: None, next_id: 0 }
    }

    /// Before a round; whether it is takt's emulator, as far as it has answered yet.
    pub(super) fn begin(&mut self) -> bool {
        // No spans are requested: none ends so late.
        self.before = self.open().ok().and_then(|mut engine| self.ask(&mut *engine, u64::MAX));
        self.is_emulator |= self.before.is_some();
        self.is_emulator
    }

    /// After it: how late it was since [`GivenRadio::begin`]; `None`: it has not answered.
    pub(super) fn end(&mut self) -> Option<Lateness> {
        let before = self.before.take()?;
        let mut engine = self.open().ok()?;
        let mut spans: Vec<LateSpan> = Vec::new();
        let mut since_ns = before.now_ns;
        for _ in 0..PAGES {
            let page = self.ask(&mut *engine, since_ns)?;
            for &[from_ns, to_ns] in page.spans.as_slice() {
                // The last one may have gone on meanwhile.
                spans.pop_if(|last| last.from_ns == from_ns);
                spans.push(LateSpan { from_ns, to_ns, ..LateSpan::default() });
            }
            if !page.more {
                return since(&before, &page, spans);
            }
            since_ns = spans.last()?.to_ns.checked_add(1)?;
        }
        None
    }

    /// Warning for a reader of a round in which it reported nothing, though it can.
    pub(super) fn silence(&self) -> String {
        format!(
            "the emulator at {} did not say after a round how late it was, so takt excludes nothing of the round",
            self.addr
        )
    }

    fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        let spec = PortSpec { bind: (Ipv4Addr::UNSPECIFIED, 0).into(), peer: Some((self.addr, lag::PORT).into()) };
        let config = Config {
            batch: 1,
            max_payload_bytes: LagRequest::BYTES,
            recv_buffer_bytes: BUFFER_BYTES,
            send_buffer_bytes: BUFFER_BYTES,
            stamps: false,
            ..Config::new(vec![spec])
        };
        takt_packet::open(EngineKind::Socket, &config)
    }

    fn ask(&mut self, engine: &mut dyn Engine, since_ns: u64) -> Option<LagReply> {
        self.next_id = self.next_id.wrapping_add(1);
        let request = LagRequest { id: self.next_id, since_ns };
        (0..TRIES).find_map(|_| exchange(engine, &request, WallClock.now() + PATIENCE))
    }
}

/// Asks once; an answer to something else is not waited for longer.
fn exchange(engine: &mut dyn Engine, request: &LagRequest, until: MonoNs) -> Option<LagReply> {
    let mut batch = engine.reserve(1);
    batch.push(PORT, None, |frame| request.write(frame).unwrap_or(0));
    batch.send(Wait::Until(until)).ok()?;
    while WallClock.now() < until {
        // Empty: the time is up, or nobody listens there.
        let datagram = engine.recv(Wait::Until(until)).ok()?.get(0)?;
        if let Some(reply) = LagReply::parse(datagram.bytes).ok().filter(|reply| reply.id == request.id) {
            return Some(reply);
        }
    }
    None
}

/// Its lateness between two replies; `None` where its counts went back, which are another emulator's then.
fn since(before: &LagReply, after: &LagReply, late_spans: Vec<LateSpan>) -> Option<Lateness> {
    after.datagrams.checked_sub(before.datagrams)?;
    let longest_us = late_spans.iter().map(|span| span.to_ns.saturating_sub(span.from_ns).div_ceil(1000)).max();
    let limit_us = u64::from(after.limit_us);
    let lag = OwnLag {
        limit_us,
        over_limit: after.over_limit.checked_sub(before.over_limit)?,
        // The largest of its life, if it was in this round; no datagram of the round was later than a span is long.
        max_us: after.max_us.min(longest_us.unwrap_or(0).max(limit_us)),
        late_spans,
    };
    let receive_buffer_drops = match (before.receive_buffer_drops, after.receive_buffer_drops) {
        (Some(before), Some(after)) => Some(after.checked_sub(before)?),
        _ => None,
    };
    let unread = Unread { receive_buffer_drops };
    let LagReply { clock_hz, clock_offset_ticks, .. } = *after;
    let speed = Speed::from_millionths(after.speed_millionths).unwrap_or_default().seconds();
    let radio = RadioLateness { lag: lag.clone(), clock_hz, clock_offset_ticks, speed, datagrams: unread };
    Some(Lateness { lag, devices: vec![radio] })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread::{self, JoinHandle};

    use takt_testing::{HANG, loopback};
    use takt_wire::lag::LagSpans;

    use std::num::NonZeroU32;

    use super::*;

    const REPLY: LagReply = LagReply {
        id: 0,
        limit_us: 1000,
        now_ns: 50,
        clock_hz: NonZeroU32::new(100_000_000).unwrap(),
        clock_offset_ticks: 7,
        speed_millionths: 100_000,
        datagrams: 100,
        over_limit: 1,
        max_us: 9000,
        receive_buffer_drops: Some(3),
        more: false,
        spans: LagSpans::NONE,
    };

    /// Answers one request after the other with what `answers` say of it, then no more; gives back since when it was requested.
    fn answering(addr: Ipv4Addr, answers: Vec<LagReply>) -> JoinHandle<Vec<u64>> {
        let socket = UdpSocket::bind((addr, lag::PORT)).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        let answer = move |answer: LagReply| {
            let mut bytes = [0; LagRequest::BYTES];
            let (len, from) = socket.recv_from(&mut bytes).unwrap();
            let request = LagRequest::parse(&bytes[..len]).unwrap();
            let len = LagReply { id: request.id, ..answer }.write(&mut bytes).unwrap();
            for other in [&b"nothing of the kind"[..], &[0; 100], &bytes[..len]] {
                socket.send_to(other, from).unwrap();
            }
            request.since_ns
        };
        thread::spawn(move || answers.into_iter().map(answer).collect())
    }

    fn ms(span: [u64; 2]) -> [u64; 2] {
        span.map(|ms| ms * 1_000_000)
    }

    #[test]
    fn a_radio_that_does_not_answer_is_no_emulator_and_no_error() {
        let mut nobody = GivenRadio::at(loopback(141));
        assert!(!nobody.begin());
        assert_eq!(nobody.end(), None);
        let silent = UdpSocket::bind((loopback(142), lag::PORT)).unwrap();
        let mut radio = GivenRadio::at(loopback(142));
        assert!(!radio.begin());
        silent.set_read_timeout(Some(HANG)).unwrap();
        for _ in 0..TRIES {
            assert_eq!(silent.recv(&mut [0; 1000]).unwrap(), LagRequest::BYTES, "the request came");
        }
    }

    #[test]
    fn the_lateness_of_a_round_is_what_came_after_its_begin() {
        let first: Vec<[u64; 2]> = (0..27).map(|n| ms([10 * n + 10, 10 * n + 13])).collect();
        let page = LagReply { more: true, spans: LagSpans::first_of(first.clone()), ..REPLY };
        // The last span has gone on, and another one has come.
        let rest = LagSpans::first_of([ms([270, 275]), ms([300, 302])]);
        let last = LagReply {
            now_ns: 90,
            datagrams: 900,
            over_limit: 41,
            receive_buffer_drops: Some(5),
            spans: rest,
            ..REPLY
        };
        let emulator = answering(loopback(143), vec![REPLY, page, last]);
        let mut radio = GivenRadio::at(loopback(143));
        assert!(radio.begin());
        let said = radio.end().unwrap();
        assert_eq!(emulator.join().unwrap(), [u64::MAX, 50, 273_000_001]);
        let [device] = said.devices.as_slice() else { panic!("{said:?}") };
        let spans: Vec<[u64; 2]> = device.lag.late_spans.iter().map(|span| [span.from_ns, span.to_ns]).collect();
        assert_eq!(spans, [&first[..26], &[ms([270, 275]), ms([300, 302])]].concat());
        assert_eq!((said.lag.limit_us, said.lag.over_limit, said.lag.max_us), (1000, 40, 5000), "9 ms were before it");
        assert_eq!((device.clock_offset_ticks, device.datagrams.receive_buffer_drops), (7, Some(2)));
        assert_eq!(device.speed, 0.1);
        assert_eq!(Lateness::of(&serde_json::json!(said)), Some(said), "a record holds it");
    }

    #[test]
    fn an_emulator_that_says_no_more_after_a_round_is_told_from_a_radio_that_never_did() {
        let emulator = answering(loopback(144), vec![REPLY]);
        let mut radio = GivenRadio::at(loopback(144));
        assert!(radio.begin());
        emulator.join().unwrap();
        assert_eq!(radio.end(), None);
        assert!(radio.begin(), "it did answer once");
        assert_eq!(radio.end(), None);
    }

    #[test]
    fn counts_that_go_back_and_pages_without_end_say_nothing() {
        let back = answering(loopback(145), vec![REPLY, LagReply { datagrams: 99, ..REPLY }]);
        let mut radio = GivenRadio::at(loopback(145));
        radio.begin();
        assert_eq!(radio.end(), None);
        back.join().unwrap();
        let endless = LagReply { more: true, spans: LagSpans::first_of([[1, 2]]), ..REPLY };
        let asked = answering(loopback(146), [vec![REPLY], vec![endless; PAGES]].concat());
        let mut radio = GivenRadio::at(loopback(146));
        radio.begin();
        assert_eq!(radio.end(), None);
        assert_eq!(asked.join().unwrap().len(), 1 + PAGES);
    }
}
