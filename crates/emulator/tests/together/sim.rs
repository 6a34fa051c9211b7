//! The virtual world keeps order, time and count, and never goes on for ever.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_base::{MonoNs, Tick, TickRate, Ticks};
use takt_emulator::drive::sim::{SimEngine, World};
use takt_emulator::{Device, Outbox, Port};
use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait};

const DEVICE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 10, 2));
const START: MonoNs = MonoNs(5_000_000_000);
const RATE: TickRate = TickRate::from_hz(100_000_000).unwrap();

/// Answers each datagram 300 ticks later with its own bytes; `stuck` makes it ask for the same instant for ever.
#[derive(Default)]
struct Parrot {
    due: Vec<(Tick, SocketAddr, Vec<u8>)>,
    refused: u32,
    stuck: bool,
}

impl Device for Parrot {
    fn ports(&self) -> &[Port] {
        &[Port(7)]
    }

    fn datagram(&mut self, now: Tick, _port: Port, from: SocketAddr, bytes: &[u8], _out: &mut dyn Outbox) {
        self.due.push((now + Ticks(300), from, bytes.to_vec()));
    }

    fn refused(&mut self, _now: Tick, _port: Port, _by: SocketAddr) {
        self.refused += 1;
    }

    fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
        if self.stuck {
            return;
        }
        for (due, to, bytes) in self.due.extract_if(.., |(due, ..)| *due <= now) {
            out.send(due, Port(7), to, &mut |frame| {
                frame[..bytes.len()].copy_from_slice(&bytes);
                bytes.len()
            });
        }
    }

    fn deadline(&self) -> Option<Tick> {
        self.due.iter().map(|d| d.0).min()
    }
}

fn world() -> World {
    let world = World::starting_at(START, Duration::from_micros(10));
    world.add(DEVICE, RATE, Parrot::default());
    world
}

fn host(world: &World) -> SimEngine {
    let spec = PortSpec { bind: "0.0.0.0:0".parse().unwrap(), peer: Some(SocketAddr::new(DEVICE, 7)) };
    world.engine(&Config::new(vec![spec])).unwrap()
}

fn say(engine: &mut SimEngine, text: &[u8]) {
    let mut batch = engine.reserve(1);
    assert!(batch.push(PortIndex(0), None, |frame| {
        frame[..text.len()].copy_from_slice(text);
        text.len()
    }));
    assert_eq!(batch.send(Wait::Poll).unwrap(), 1);
}

#[test]
fn an_answer_takes_two_flights_and_the_devices_own_time() {
    let world = world();
    let mut engine = host(&world);
    say(&mut engine, b"a");
    say(&mut engine, b"b");
    let batch = engine.recv(Wait::Until(MonoNs::NEVER)).unwrap();
    let received: Vec<&[u8]> = batch.iter().map(|d| d.bytes).collect();
    assert_eq!(received, [b"a", b"b"], "in order");
    // 10 us there, 300 ticks = 3 us, 10 us back.
    assert_eq!(batch.iter().next().unwrap().arrived, Some(START + Duration::from_micros(23)));
    assert_eq!(world.now(), START + Duration::from_micros(23));
}

#[test]
fn waiting_ends_at_its_time_when_nothing_comes() {
    let world = world();
    let mut engine = host(&world);
    let end = START + Duration::from_millis(3);
    assert!(engine.recv(Wait::Until(end)).unwrap().is_empty());
    assert_eq!(world.now(), end);
}

#[test]
fn a_closed_port_answers_on_both_sides() {
    let world = world();
    let mut engine = host(&world);
    say(&mut engine, b"gone");
    drop(engine);
    world.run_for(Duration::from_millis(1));
    world.device(DEVICE, |parrot: &mut Parrot| assert_eq!(parrot.refused, 1));

    let nobody = SocketAddr::new(DEVICE, 8);
    let spec = PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: Some(nobody) };
    let mut engine = world.engine(&Config::new(vec![spec])).unwrap();
    say(&mut engine, b"anyone?");
    assert!(engine.recv(Wait::Until(world.now() + Duration::from_millis(1))).unwrap().is_empty());
    assert_eq!(engine.refused().map(|r| r.to), Some(nobody));
    assert_eq!(engine.refused(), None);
}

#[test]
fn a_full_receive_buffer_drops_and_counts() {
    let world = world();
    let mut config =
        Config::new(vec![PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: Some(SocketAddr::new(DEVICE, 7)) }]);
    config.recv_buffer_bytes = 25;
    let mut engine = world.engine(&config).unwrap();
    for _ in 0..4 {
        say(&mut engine, &[7; 10]);
    }
    world.run_for(Duration::from_millis(1));
    assert_eq!(engine.recv(Wait::Poll).unwrap().len(), 2);
    assert_eq!(engine.counters().receive_buffer_drops, Some(2));
    say(&mut engine, &[7; 10]);
    world.run_for(Duration::from_millis(1));
    assert_eq!(engine.recv(Wait::Poll).unwrap().len(), 1, "room came back with reading");
}

#[test]
#[should_panic(expected = "livelock: the world does not get past")]
fn a_device_that_asks_for_the_same_instant_for_ever_is_found() {
    let world = world();
    world.device(DEVICE, |parrot: &mut Parrot| parrot.stuck = true);
    let mut engine = host(&world);
    say(&mut engine, b"stick");
    world.run_for(Duration::from_secs(1));
}

#[test]
#[should_panic(expected = "a host waits for ever")]
fn a_host_that_waits_for_nothing_is_found() {
    let world = world();
    let mut engine = host(&world);
    let _ = engine.recv(Wait::Until(MonoNs::NEVER));
}

#[test]
fn a_port_is_bound_once() {
    let world = world();
    let spec = PortSpec { bind: "127.0.0.1:5000".parse().unwrap(), peer: None };
    let first = world.engine(&Config::new(vec![spec])).unwrap();
    assert!(world.engine(&Config::new(vec![spec])).is_err());
    drop(first);
    assert!(world.engine(&Config::new(vec![spec])).is_ok(), "closing gives it back");
}
