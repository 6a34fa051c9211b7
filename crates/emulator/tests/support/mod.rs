//! A scripted host in front of an N200 on a virtual clock: it speaks the protocol by hand and keeps what it hears.
#![allow(dead_code)] // each test file uses its part

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use takt_base::{Complex32, MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::{SimEngine, World};
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200, N200Report, Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait};
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{dsp, rx_control, settings, tx_policy};
use takt_wire::n200::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, Destination, FifoAck, FifoAction, FifoCommand,
    RegisterAction, RxEvent, RxPacket, StreamAction, StreamCommand, TxEvent, TxHead, TxReport, ports, registers,
};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

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

/// A sample packet or a message on a receive port.
#[derive(Clone, Debug, PartialEq)]
pub enum Rx {
    Data { arrived: MonoNs, count: u8, stream: u32, time: u64, samples: Vec<(i16, i16)>, end_of_burst: bool },
    Message { arrived: MonoNs, count: u8, time: u64, event: RxEvent },
}

/// A report of the transmit DSP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tx {
    pub arrived: MonoNs,
    pub report: TxReport,
}

pub struct Host {
    pub world: World,
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

/// Sample n of tick t is t / step, as a 16-bit pattern: gaps and doubles show.
pub struct Ramp;

impl Source for Ramp {
    fn raw(&self) -> bool {
        true
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        for (n, sample) in out.iter_mut().enumerate() {
            let value = (first.0 / u64::from(step) + n as u64) as u16 as i16;
            *sample = Complex32::new(f32::from(value) / 32768.0, 0.0);
        }
    }
}

/// The same value for ever.
pub struct Constant(pub Complex32);

impl Source for Constant {
    fn fill(&mut self, _first: Tick, _step: u32, out: &mut [Complex32]) {
        out.fill(self.0);
    }
}

/// What a sink was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub first: Tick,
    pub step: u32,
    pub samples: Vec<Complex32>,
    pub edges: BurstEdges,
}

/// Remembers everything.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<Mutex<Vec<Block>>>);

impl Sink for Recorder {
    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        self.0.lock().unwrap().push(Block { first, step, samples: samples.to_vec(), edges });
    }
}

impl Recorder {
    pub fn blocks(&self) -> Vec<Block> {
        self.0.lock().unwrap().clone()
    }
}

pub fn ramps() -> Signals {
    Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) }
}

impl Host {
    /// An N200 with ramps, freshly switched on; the host has said where its answers go.
    pub fn new() -> Host {
        Host::with(Options::default(), ramps(), &[])
    }

    pub fn with_faults(faults: &[&str]) -> Host {
        Host::with(Options::default(), ramps(), faults)
    }

    pub fn with(options: Options, signals: Signals, faults: &[&str]) -> Host {
        let world = World::starting_at(START, LATENCY);
        let born = tick_at(START);
        let device = N200::new(Options { born, ..options }, signals).unwrap();
        let faults = faults.iter().map(|text| text.parse().unwrap()).collect();
        world.add(DEVICE, CLOCK, Faulty::new(device, faults, born, CLOCK));
        let mut host = Host::in_world(&world);
        for port in [ports::RX0, ports::RX1, ports::TX, ports::FIFO] {
            host.direct(port, Destination::Sender);
        }
        host.run(us(10));
        host
    }

    /// Another host in the same world; it has said nothing yet.
    pub fn in_world(world: &World) -> Host {
        let specs = PORTS
            .map(|port| PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: Some(SocketAddr::new(DEVICE, port)) });
        let mut config = Config::new(specs.to_vec());
        config.max_payload_bytes = 9000;
        config.recv_buffer_bytes = 64 << 20;
        Host {
            engine: world.engine(&config).unwrap(),
            world: world.clone(),
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

    /// Lets time pass and keeps what is heard.
    pub fn run(&mut self, span: Duration) {
        let end = self.world.now() + span;
        self.run_until(end);
    }

    pub fn run_until(&mut self, end: MonoNs) {
        loop {
            let batch = self.engine.recv(Wait::Until(end)).unwrap();
            let heard: Vec<_> =
                batch.iter().map(|d| (PORTS[usize::from(d.port.0)], d.arrived.unwrap(), d.bytes.to_vec())).collect();
            if heard.is_empty() && self.world.now() >= end {
                return;
            }
            for (port, arrived, bytes) in heard {
                self.hear(port, arrived, bytes);
            }
        }
    }

    fn hear(&mut self, port: u16, arrived: MonoNs, bytes: Vec<u8>) {
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

    fn hear_rx(&mut self, dsp: usize, arrived: MonoNs, bytes: &[u8]) {
        let heard = match RxPacket::parse(bytes) {
            Ok(RxPacket::Data(data)) => {
                let mut samples = vec![takt_base::Complex::new(0i16, 0i16); data.samples()];
                match self.formats[dsp] {
                    Format::Sc16 => sc16::unpack_i16(data.payload, ByteOrder::Big, &mut samples),
                    Format::Sc8 => sc8::unpack_i16(data.payload, &mut samples),
                };
                Rx::Data {
                    arrived,
                    count: data.head.count,
                    stream: data.head.stream_id,
                    time: data.head.tick,
                    samples: samples.iter().map(|s| (s.re, s.im)).collect(),
                    end_of_burst: data.head.end_of_burst,
                }
            }
            Ok(RxPacket::Message(message)) => {
                Rx::Message { arrived, count: message.count, time: message.tick, event: message.event }
            }
            // What leaves before the stream is set up, and what a fault has damaged.
            Err(_) => return self.replies.push(bytes.to_vec()),
        };
        self.rx[dsp].push(heard);
    }

    // ---- registers ------------------------------------------------------------------------------------------------

    pub fn command(&mut self, tick: Option<u64>, action: FifoAction) -> FifoCommand {
        let command = FifoCommand { sequence: self.next_command, tick, action };
        self.next_command = self.next_command.wrapping_add(1);
        let mut bytes = [0; FifoCommand::MAX_BYTES];
        let len = command.write(&mut bytes).unwrap();
        self.send(ports::FIFO, &bytes[..len]);
        command
    }

    pub fn poke(&mut self, register: u8, data: u32) {
        self.command(None, FifoAction::Poke { register, data });
    }

    pub fn poke_at(&mut self, tick: u64, register: u8, data: u32) {
        self.command(Some(tick), FifoAction::Poke { register, data });
    }

    /// Reads a word over the FIFO: waits for its ack, at most 20 s.
    pub fn peek(&mut self, word: u8) -> u32 {
        let control = self.command(None, FifoAction::Peek { word }).control();
        for _ in 0..200_000 {
            if let Some(ack) = self.acks.iter().find(|ack| ack.control == control) {
                return ack.data;
            }
            self.run(us(100));
        }
        panic!("no ack of {control:#x} at {}", self.world.now());
    }

    /// Asks on the control port; `None` if nothing comes within 10 ms.
    pub fn ask(&mut self, ask: ControlAsk) -> Option<ControlReply> {
        let request = ControlRequest::new(self.next_request, ask);
        self.next_request += 1;
        let mut bytes = [0; ControlRequest::BYTES];
        request.write(&mut bytes).unwrap();
        self.send(ports::CONTROL, &bytes);
        self.replies.clear();
        self.run(ms(1));
        let reply = self.replies.iter().find_map(|bytes| ControlReply::parse(bytes).ok());
        reply.filter(|reply| reply.sequence == request.sequence)
    }

    pub fn register(&mut self, action: RegisterAction, address: u32, data: u32) -> u32 {
        match self.ask(ControlAsk::Register { action, address, data }).map(|reply| reply.answer) {
            Some(ControlAnswer::Register { data }) => data,
            other => panic!("{other:?}"),
        }
    }

    pub fn slow_poke(&mut self, register: u8, data: u32) {
        self.register(RegisterAction::Poke32, registers::settings_address(register), data);
    }

    /// Device time at this instant, by looking into the device.
    pub fn time(&self) -> u64 {
        let now = tick_at(self.world.now());
        self.look(|device| device.device_time(now))
    }

    pub fn look<R>(&self, look: impl FnOnce(&N200) -> R) -> R {
        self.world.device(DEVICE, |radio: &mut Faulty<N200>| look(radio.device()))
    }

    pub fn report(&self) -> N200Report {
        self.look(N200::report)
    }

    pub fn injected(&self, fault: &str) -> u64 {
        self.world.device(DEVICE, |radio: &mut Faulty<N200>| radio.injected()[fault])
    }

    // ---- receive --------------------------------------------------------------------------------------------------

    /// As a host opens a receive stream.
    pub fn open_rx(&mut self, n: usize, factor: u32, format: Format, samples_per_packet: u32) {
        let factor = Factor::new(factor).unwrap();
        let (control, block) = (settings::RX_CONTROL[n], settings::RX_DSP[n]);
        self.formats[n] = format;
        self.poke(control + rx_control::SAMPLES_PER_PACKET, samples_per_packet);
        self.poke(control + rx_control::CLEAR, 0);
        self.poke(control + rx_control::VRT_HEADER, registers::RX_VRT_HEADER);
        self.poke(control + rx_control::STREAM_ID, registers::RX_STREAM_IDS[n]);
        self.poke(control + rx_control::VRT_TRAILER, 0);
        self.poke(control + rx_control::FORMAT, u32::from(format == Format::Sc8));
        self.poke(block + dsp::RATE, factor.rate_word(Direction::Rx).0);
        self.poke(block + dsp::SCALE, factor.scaling(Direction::Rx, format).word);
        self.direct(ports::RX[n], Destination::Sender);
        self.run(us(10));
    }

    pub fn stream(&mut self, n: usize, action: StreamAction, tick: Option<u64>) {
        let words = StreamCommand { action, tick }.words().unwrap();
        for (offset, word) in (0..).zip(words) {
            self.poke(settings::RX_CONTROL[n] + offset, word);
        }
    }

    /// Sample packets heard by DSP n: first tick, samples, end of burst.
    pub fn packets(&self, n: usize) -> Vec<(u64, usize, bool)> {
        let packets = self.rx[n].iter().filter_map(|heard| match heard {
            Rx::Data { time, samples, end_of_burst, .. } => Some((*time, samples.len(), *end_of_burst)),
            Rx::Message { .. } => None,
        });
        packets.collect()
    }

    /// Messages heard by DSP n.
    pub fn messages(&self, n: usize) -> Vec<RxEvent> {
        let messages = self.rx[n].iter().filter_map(|heard| match heard {
            Rx::Message { event, .. } => Some(*event),
            Rx::Data { .. } => None,
        });
        messages.collect()
    }

    /// Checks that sample packets of DSP n count without a gap and are contiguous in time within bursts, and returns
    /// how many samples there are.
    pub fn contiguous(&self, n: usize, step: u64) -> usize {
        let mut next: Option<(u8, u64)> = None;
        let mut total = 0;
        for heard in &self.rx[n] {
            let Rx::Data { count, time, samples, end_of_burst, .. } = heard else { continue };
            if let Some((expected, at)) = next {
                assert_eq!(*count, expected % 16, "packet count at {time}");
                if at != 0 {
                    assert_eq!(*time, at, "contiguous in time");
                }
            }
            total += samples.len();
            next = Some((count + 1, if *end_of_burst { 0 } else { time + step * samples.len() as u64 }));
        }
        total
    }

    // ---- transmit -------------------------------------------------------------------------------------------------

    /// As a host opens a transmit stream, flow control by time only if `packets_per_update` is `None`.
    pub fn open_tx(&mut self, factor: u32, format: Format) {
        let factor = Factor::new(factor).unwrap();
        self.direct(ports::TX, Destination::Sender);
        self.poke(settings::TX_CLEAR, 1);
        self.run(ms(10));
        self.poke(settings::TX_CLEAR, 0);
        self.poke(settings::TX_REPORT_STREAM_ID, registers::TX_STREAM_ID);
        self.poke(settings::TX_POLICY, tx_policy::NEXT_PACKET);
        self.poke(settings::TX_CYCLES_PER_UPDATE, registers::TX_CYCLES_DEFAULT);
        self.poke(settings::TX_PACKETS_PER_UPDATE, registers::TX_PACKETS_DEFAULT);
        self.poke(settings::TX_DSP + dsp::RATE, factor.rate_word(Direction::Tx).0);
        self.poke(settings::TX_DSP + dsp::SCALE, factor.scaling(Direction::Tx, format).word);
        self.poke(settings::TX_FORMAT, u32::from(format == Format::Sc8));
        self.run(us(10));
        self.next_packet = 0;
        self.tx.clear();
    }

    /// Sends a sample packet of zeros with the next number.
    pub fn packet(&mut self, samples: usize, tick: Option<u64>, end_of_burst: bool) {
        self.payload(&vec![0; 4 * samples], tick, end_of_burst);
    }

    pub fn payload(&mut self, payload: &[u8], tick: Option<u64>, end_of_burst: bool) {
        let head = TxHead {
            sequence: self.next_packet,
            count: (self.next_packet & 15) as u8,
            tick,
            start_of_burst: false,
            end_of_burst,
            odd: false,
        };
        self.next_packet = self.next_packet.wrapping_add(1);
        self.raw_packet(&head, payload);
    }

    pub fn raw_packet(&mut self, head: &TxHead, payload: &[u8]) {
        let mut bytes = vec![0; payload.len() + TxHead::MAX_OVERHEAD_BYTES];
        let at = head.payload_at();
        bytes[at..at + payload.len()].copy_from_slice(payload);
        let len = head.frame(payload.len(), &mut bytes).unwrap();
        self.send(ports::TX, &bytes[..len]);
    }

    /// Loses so many packets on the way: numbers are used up, nothing is sent.
    pub fn lose_packets(&mut self, count: u32) {
        self.next_packet += count;
    }

    /// Reports but flow control: event, device time, number.
    pub fn events(&self) -> Vec<(TxEvent, u64, u32)> {
        let reports = self.tx.iter().map(|tx| tx.report);
        let events = reports.filter(|report| report.event != TxEvent::FlowControl);
        events.map(|report| (report.event, report.tick, report.sequence)).collect()
    }

    pub fn updates(&self) -> Vec<Tx> {
        self.tx.iter().filter(|tx| tx.report.event == TxEvent::FlowControl).copied().collect()
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
