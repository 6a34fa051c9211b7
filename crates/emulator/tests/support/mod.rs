//! A scripted host in front of an N200 on a virtual clock: it speaks the protocol by hand and keeps what it receives.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

mod receive;
mod registers;
mod signals;
mod transmit;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_base::{MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::{SimEngine, World};
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200, N200Options, Signals};
use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait};
use takt_wire::n200::{Destination, FifoAck, TxReport, ports};
use takt_wire::sample::Format;

pub use receive::Rx;
pub use signals::{Block, Constant, Ramp, Recorder, constant, ramps, recorded};
pub use transmit::Tx;

pub const DEVICE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 10, 2));
/// The world begins 5.25 s after tick 0, a quarter of a second after a PPS edge.
pub const START: MonoNs = MonoNs(5_250_000_000);
/// One way.
pub const LATENCY: Duration = Duration::from_micros(1);
pub const SECOND: u64 = 100_000_000;

/// The host's ports, in the order of its engine.
const PORTS: [u16; 6] = [ports::CONTROL, ports::FIFO, ports::RX0, ports::RX1, ports::TX, ports::GPSDO];

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

pub struct Host {
    pub world: World,
    /// Address of the radio it is in front of.
    pub device: IpAddr,
    engine: SimEngine,
    next_command: u16,
    next_request: u32,
    next_packet: u32,
    formats: [Format; 2],
    pub rx: [Vec<Rx>; 2],
    pub tx: Vec<Tx>,
    pub acks: Vec<FifoAck>,
    pub replies: Vec<Vec<u8>>,
    pub gps: Vec<u8>,
}

impl Host {
    /// An N200 with ramps, freshly switched on; the host has set where its answers go.
    pub fn new() -> Host {
        Host::with(N200Options::default(), ramps(), &[])
    }

    pub fn with_faults(faults: &[&str]) -> Host {
        Host::with(N200Options::default(), ramps(), faults)
    }

    pub fn with(options: N200Options, signals: Signals, faults: &[&str]) -> Host {
        let world = World::starting_at(START, LATENCY);
        let born = tick_at(START);
        let device = N200::new(N200Options { born, ..options }, signals).unwrap();
        let faults = faults.iter().map(|text| text.parse().unwrap()).collect();
        world.add(DEVICE, CLOCK, Faulty::new(device, faults, born, CLOCK));
        let mut host = Host::in_world(&world);
        for port in [ports::RX0, ports::RX1, ports::TX, ports::FIFO] {
            host.direct(port, Destination::Sender);
        }
        host.run(us(10));
        host
    }

    /// Another host in the same world; it has sent nothing yet.
    pub fn in_world(world: &World) -> Host {
        Host::at(world, DEVICE)
    }

    /// In front of a device at another address.
    pub fn at(world: &World, device: IpAddr) -> Host {
        let specs = PORTS
            .map(|port| PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: Some(SocketAddr::new(device, port)) });
        let mut config = Config::new(specs.to_vec());
        config.max_payload_bytes = 9000;
        config.recv_buffer_bytes = 64 << 20;
        Host {
            engine: world.engine(&config).unwrap(),
            world: world.clone(),
            device,
            next_command: 1,
            next_request: 1,
            next_packet: 0,
            formats: [Format::Sc16; 2],
            rx: [Vec::new(), Vec::new()],
            tx: Vec::new(),
            acks: Vec::new(),
            replies: Vec::new(),
            gps: Vec::new(),
        }
    }

    /// The address from which the host speaks to a device port.
    pub fn local(&self, port: u16) -> SocketAddr {
        self.engine.local(index(port)).unwrap()
    }

    pub fn send(&mut self, port: u16, bytes: &[u8]) {
        let mut batch = self.engine.reserve(1);
        assert!(batch.push(index(port), None, |frame| {
            frame[..bytes.len()].copy_from_slice(bytes);
            bytes.len()
        }));
        assert_eq!(batch.send(Wait::Poll).unwrap(), 1);
    }

    pub fn direct(&mut self, port: u16, destination: Destination) {
        let mut bytes = [0; Destination::MAX_BYTES];
        let len = destination.write(&mut bytes).unwrap();
        self.send(port, &bytes[..len]);
    }

    /// Lets time pass and keeps what is received.
    pub fn run(&mut self, span: Duration) {
        let end = self.world.now() + span;
        self.run_until(end);
    }

    pub fn run_until(&mut self, end: MonoNs) {
        loop {
            let batch = self.engine.recv(Wait::Until(end)).unwrap();
            let received: Vec<_> =
                batch.iter().map(|d| (PORTS[usize::from(d.port.0)], d.arrived.unwrap(), d.bytes.to_vec())).collect();
            if received.is_empty() && self.world.now() >= end {
                return;
            }
            for (port, arrived, bytes) in received {
                self.receive(port, arrived, bytes);
            }
        }
    }

    fn receive(&mut self, port: u16, arrived: MonoNs, bytes: Vec<u8>) {
        match port {
            ports::FIFO => self.acks.push(FifoAck::parse(&bytes).unwrap()),
            ports::RX0 => self.hear_rx(0, arrived, &bytes),
            ports::RX1 => self.hear_rx(1, arrived, &bytes),
            ports::TX if bytes.len() == TxReport::BYTES => {
                self.tx.push(Tx { arrived, report: TxReport::parse(&bytes).unwrap() });
            }
            ports::GPSDO => self.gps.extend(&bytes),
            _ => self.replies.push(bytes),
        }
    }
}

pub fn tick_at(at: MonoNs) -> Tick {
    Tick(CLOCK.ticks_in_ns(u128::from(at.0)).0)
}

/// The instant of a device time, in a world where the device counts from START and nobody set it.
pub fn instant_of(time: u64) -> MonoNs {
    START + CLOCK.duration_of(Ticks(time))
}

fn index(port: u16) -> PortIndex {
    PortIndex(PORTS.iter().position(|&p| p == port).unwrap() as u8)
}
