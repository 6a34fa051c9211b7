#![no_main]
//! A whole radio, and a host that sends it anything at any time.

use std::net::{Ipv4Addr, SocketAddr};

use takt_base::{Tick, Ticks};
use takt_emulator::n200::{N200, N200Options, Signals};
use takt_emulator::sink::Null;
use takt_emulator::source::Silence;
use takt_emulator::{Device, Outbox, Port, Sent};

/// Datagrams a run may cause: a radio told to stream fast would otherwise fill the time.
const ENOUGH: usize = 20_000;

struct Wire {
    frame: Vec<u8>,
    sent: usize,
    latest: Tick,
}

impl Outbox for Wire {
    fn send(&mut self, due: Tick, _: Port, _: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let bytes = fill(&mut self.frame);
        assert!(bytes <= self.frame.len());
        assert!(due <= self.latest, "sent {due:?} at {:?}", self.latest);
        self.sent += 1;
        Sent::Taken
    }
}

libfuzzer_sys::fuzz_target!(|script: &[u8]| {
    let signals = Signals { sources: [Box::new(Silence), Box::new(Silence)], sink: Box::new(Null) };
    let mut radio = N200::new(N200Options::default(), signals).expect("the defaults are a radio");
    let ports = radio.ports().to_vec();
    let host = SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000));
    let mut wire = Wire { frame: vec![0; 9000], sent: 0, latest: Tick(0) };
    let mut script = script;
    // A step: the port, how long to wait, how many bytes, the bytes.
    while let [port, wait, bytes, rest @ ..] = script {
        let (datagram, rest) = rest.split_at(usize::from(*bytes).min(rest.len()));
        script = rest;
        let now = wire.latest + Ticks(1 << (wait % 28));
        while let Some(due) = radio.deadline().filter(|due| *due <= now) {
            assert!(due > wire.latest, "a deadline lies ahead");
            wire.latest = due;
            radio.advance(due, &mut wire);
            if wire.sent > ENOUGH {
                return;
            }
        }
        wire.latest = now;
        radio.advance(now, &mut wire);
        let port = ports[usize::from(*port) % ports.len()];
        if port.0 & 1 == 1 && *wait > 250 {
            radio.refused(now, port, host);
        }
        radio.datagram(now, port, host, datagram, &mut wire);
    }
});
