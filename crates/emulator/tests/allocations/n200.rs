//! While samples flow, neither the device nor its driver on the host's clock allocates.

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use takt_base::{Complex32, Stop, Tick, Ticks};
use takt_emulator::drive::wall::{BATCH, Driver, Question, Settings};
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200, N200Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_packet::{Config, EngineKind, PortSpec};
use takt_testing::{HANG, loopback};
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{self, dsp, rx_control, settings};
use takt_wire::n200::{
    ControlAsk, ControlRequest, FifoAction, FifoCommand, RegisterAction, StreamAction, StreamCommand, TxHead, ports,
};

use crate::allocations;
use crate::support::{self, Constant, SECOND};

/// Takes samples and forgets them.
struct Listening;

impl Sink for Listening {
    fn take(&mut self, _: Tick, _: u32, _: &[Complex32], _: BurstEdges) {}
}

fn signals() -> Signals {
    let source = || Box::new(Constant(Complex32::new(0.5, 0.0)));
    Signals { sources: [source(), source()], sink: Box::new(Listening) }
}

struct Wire {
    frame: Box<[u8; 9000]>,
    datagrams: u64,
    bytes: u64,
}

impl Outbox for Wire {
    fn send(&mut self, _: Tick, _: Port, _: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        self.datagrams += 1;
        self.bytes += fill(&mut self.frame[..]) as u64;
        Sent::Taken
    }
}

/// The pokes by which a host starts receiving at 25 MS/s, and opens transmitting.
fn opening() -> Vec<(u8, u32)> {
    let factor = Factor::new(4).unwrap();
    let control = settings::RX_CONTROL[0];
    let start = StreamCommand { action: StreamAction::Start, tick: None }.words().unwrap();
    let mut pokes = vec![
        (control + rx_control::SAMPLES_PER_PACKET, 363),
        (control + rx_control::VRT_HEADER, registers::RX_VRT_HEADER),
        (control + rx_control::STREAM_ID, 3),
        (settings::RX_DSP[0] + dsp::RATE, factor.rate_word(Direction::Rx).0),
        (settings::RX_DSP[0] + dsp::SCALE, 0x1364E),
        (settings::TX_REPORT_STREAM_ID, 2),
        (settings::TX_CYCLES_PER_UPDATE, registers::TX_CYCLES_DEFAULT),
        (settings::TX_PACKETS_PER_UPDATE, registers::TX_PACKETS_DEFAULT),
        (settings::TX_DSP + dsp::RATE, factor.rate_word(Direction::Tx).0),
        (settings::TX_DSP + dsp::SCALE, 0x1364E),
    ];
    pokes.extend((0..).zip(start).map(|(offset, word)| (control + offset, word)));
    pokes
}

/// Other frequencies and scales, now and then.
fn changes(sequence: u32) -> impl Iterator<Item = (u8, u32)> {
    let blocks = [settings::TX_DSP, settings::RX_DSP[0]].into_iter().filter(move |_| sequence.is_multiple_of(10));
    blocks.flat_map(move |block| [(block + dsp::FREQUENCY, sequence << 16), (block + dsp::SCALE, 0x1364E - sequence)])
}

fn command(sequence: u16, action: FifoAction, bytes: &mut [u8]) -> usize {
    FifoCommand { sequence, tick: None, action }.write(bytes).unwrap()
}

#[test]
fn a_device_that_streams_both_ways_allocates_nothing() {
    let device = N200::new(N200Options { gpsdo: true, ..N200Options::default() }, signals()).unwrap();
    let mut device = Faulty::new(device, vec![], Tick(0), CLOCK);
    let mut wire = Wire { frame: Box::new([0; 9000]), datagrams: 0, bytes: 0 };
    let from: SocketAddr = "127.0.0.1:4000".parse().unwrap();
    for port in [ports::RX0, ports::TX, ports::FIFO, ports::GPSDO] {
        device.datagram(Tick(1), Port(port), from, &[0; 8], &mut wire);
    }
    let mut bytes = [0; 1472];
    for (register, data) in opening() {
        let len = command(0, FifoAction::Poke { register, data }, &mut bytes);
        device.datagram(Tick(2), Port(ports::FIFO), from, &bytes[..len], &mut wire);
    }

    let before = allocations::count();
    let mut now = Tick(1000);
    for sequence in 0..20_000u32 {
        let head = TxHead {
            sequence,
            count: (sequence & 15) as u8,
            tick: None,
            start_of_burst: false,
            end_of_burst: false,
            odd: false,
        };
        let len = head.frame(1452, &mut bytes).unwrap();
        device.datagram(now, Port(ports::TX), from, &bytes[..len], &mut wire);
        if sequence.is_multiple_of(100) {
            let len = command(sequence as u16, FifoAction::Peek { word: 11 }, &mut bytes);
            device.datagram(now, Port(ports::FIFO), from, &bytes[..len], &mut wire);
            let ask = ControlAsk::Register { action: RegisterAction::Peek32, address: 0x5C2C, data: 0 };
            let len = ControlRequest::new(sequence, ask).write(&mut bytes).unwrap();
            device.datagram(now, Port(ports::CONTROL), from, &bytes[..len], &mut wire);
            device.datagram(now, Port(ports::CONTROL), from, b"nonsense", &mut wire);
        }
        // The first packets come ahead of the play head, as a host sends them.
        if sequence > 10 {
            // In the middle of a packet of either direction.
            for (register, data) in changes(sequence) {
                let len = command(sequence as u16, FifoAction::Poke { register, data }, &mut bytes);
                device.datagram(now + Ticks(701), Port(ports::FIFO), from, &bytes[..len], &mut wire);
            }
            now += Ticks(1452);
            device.advance(now, &mut wire);
        }
    }
    assert_eq!(allocations::count() - before, 0, "in {} datagrams", wire.datagrams);

    let report = device.device().report();
    assert!(report.rx[0].packets > 19_000 && report.tx.samples > 363 * 19_000, "{report:?}");
    assert_eq!((report.tx.underflows, report.tx.overrun_packets), (0, 0));
    assert!(now > Tick(SECOND / 4));
}

#[test]
fn a_driver_on_the_hosts_clock_allocates_nothing_between_two_questions() {
    let addr: std::net::IpAddr = loopback(77).into();
    let born = support::tick_at(takt_base::Clock::now(&takt_base::WallClock));
    let device = N200::new(N200Options { born, ..N200Options::default() }, signals()).unwrap();
    let device = Faulty::new(device, vec![], born, CLOCK);
    let device_ports: Vec<Port> = device.ports().to_vec();
    let specs = device_ports.iter().map(|port| PortSpec { bind: SocketAddr::new(addr, port.0), peer: None }).collect();
    let config = Config { batch: BATCH, max_payload_bytes: 9000, ..Config::new(specs) };
    let engine = takt_packet::open(EngineKind::Mmsg, &config).unwrap();
    let mut driver = Driver::new(device, CLOCK, engine, device_ports, Settings::default());
    let stop = Stop::new();
    let (questions, asked) = mpsc::channel::<Question<Faulty<N200>>>();
    let thread = {
        let stop = stop.clone();
        thread::spawn(move || driver.run(&stop, &asked).unwrap())
    };
    let ask = || {
        let (answers, answer) = mpsc::channel();
        let question = move |device: &Faulty<N200>, _, _| {
            answers.send((allocations::count(), device.device().report().rx[0].packets)).unwrap();
        };
        questions.send(Box::new(question)).unwrap();
        answer.recv_timeout(HANG).unwrap()
    };

    let host = UdpSocket::bind((loopback(78), 0)).unwrap();
    host.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    for port in [ports::RX0, ports::FIFO] {
        host.send_to(&[0; 8], (addr, port)).unwrap();
    }
    let mut bytes = [0; 1472];
    for (register, data) in opening() {
        let len = command(0, FifoAction::Poke { register, data }, &mut bytes);
        host.send_to(&bytes[..len], (addr, ports::FIFO)).unwrap();
    }
    let mut frame = [0; 2000];
    let receive = |frame: &mut [u8]| {
        for _ in 0..1000 {
            takt_testing::wait_for("a datagram", || {
                let received = host.recv(frame).ok().filter(|bytes| *bytes > 0);
                // A device sends to hosts that give a sign.
                received.or_else(|| host.send_to(&[0; 8], (addr, ports::RX0)).err().map(|error| panic!("{error}")))
            });
        }
    };
    receive(&mut frame);
    // The first answers fill the channels' own memory.
    ask();
    let (before, packets) = ask();
    receive(&mut frame);
    let (after, more) = ask();
    stop.request();
    thread.join().unwrap();
    assert!(more > packets, "it was streaming");
    // The question itself: its box, its answer, the lag histogram it is shown.
    assert!(after - before <= 40, "{} allocations in {} packets", after - before, more - packets);
}
