//! While samples flow, an X310 allocates nothing: both slots, both ways, with credits and control between.

use std::net::SocketAddr;

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::fault::Faulty;
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Tone;
use takt_emulator::x310::{CLOCK, MASTER_CLOCK, Signals, X310, X310Options};
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_wire::WireError;
use takt_wire::chdr::{
    Control, ControlData, ControlOperation, ControlStatus, Data, DataHead, Management, Operation, Operations, Protocol,
    Status, StreamCommand, StreamOperation, StreamStatus,
};
use takt_wire::x310::ports;
use takt_wire::x310::registers::{ddc, radio};

use crate::allocations;

/// Takes samples and forgets them.
struct Listening;

impl Sink for Listening {
    fn take(&mut self, _: Tick, _: u32, _: &[Complex32], _: BurstEdges) {}
}

fn signals() -> Signals {
    let source = || Box::new(Tone::new(MASTER_CLOCK, 100e3, 0.5));
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

struct Host {
    device: Faulty<X310>,
    wire: Wire,
    now: Tick,
    bytes: Box<[u8; 9000]>,
}

const HOST: u16 = 1;
/// Ids of the endpoints with control and of slot B.
const ENDPOINTS: [(u16, u16); 2] = [(0, 20), (2, 22)];
/// A microsecond, in the driver's ticks.
const MICROSECOND: u64 = 1000;
/// From the first sample of a packet to a change.
const MIDDLE: u64 = 7 * MICROSECOND;

impl Host {
    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Result<usize, WireError>) {
        let length = write(&mut self.bytes[..]).unwrap();
        let from: SocketAddr = "127.0.0.1:4000".parse().unwrap();
        self.device.datagram(self.now, Port(ports::CHDR), from, &self.bytes[..length], &mut self.wire);
    }

    fn manage(&mut self, hops: &[&[Operation]]) {
        let mut operations = Operations::NONE;
        hops.iter().for_each(|hop| operations.push_hop(hop).unwrap());
        let protocol = Protocol::V1;
        self.send(|out| Management { protocol, destination: 0, sequence: 0, source: HOST, operations }.write(out));
    }

    fn control(&mut self, to_port: u16, operation: ControlOperation, address: u32, word: u32) {
        let control = Control {
            destination: ENDPOINTS[0].1,
            chdr_sequence: 0,
            to_port,
            from_port: 0,
            sequence: 0,
            tick: None,
            is_ack: false,
            source: HOST,
            address,
            byte_enables: 15,
            operation,
            status: ControlStatus::Okay,
            data: ControlData::one(word),
        };
        self.send(|out| control.write(out));
    }

    /// Sets up slot n both ways at 25 MS/s, and starts its receiver.
    fn open(&mut self, n: usize) {
        let (instance, id) = ENDPOINTS[n];
        let write = |address, data: u16| Operation::Write { address, data: data.into() };
        let at = |what: &[Operation]| [what, &[Operation::Return]].concat();
        let select = [Operation::Select { port: instance + 1 }];
        for what in [vec![write(0, id)], vec![write(0x0C, HOST), write(0x10, 0x7FFF), write(0x08, 0x0B)]] {
            self.manage(&[&[Operation::Nop], &select, &at(&what), &[Operation::Nop]]);
        }
        self.credit(n, 0, 0);
        self.command(n, StreamOperation::Init, 100_000, 0);
        let [duc, ddc_port, radio_port] = [2, 3, 4].map(|port| port + 3 * n as u16);
        let base = radio::CHANNELS;
        let remotes =
            radio::RX_REMOTE.into_iter().chain(radio::TX_REMOTE).zip([4, HOST.into(), 0x1000, 4, HOST.into(), 0]);
        self.control(duc, ControlOperation::Write, ddc::M, 8);
        self.control(ddc_port, ControlOperation::Write, ddc::N, 8);
        for (address, word) in remotes {
            self.control(radio_port, ControlOperation::Write, base + address, word);
        }
        self.control(radio_port, ControlOperation::Write, base + radio::RX_SAMPLES_PER_PACKET, 1996);
        self.control(radio_port, ControlOperation::Write, base + radio::RX_COMMAND, 2);
    }

    fn credit(&mut self, n: usize, taken_bytes: u64, taken_packets: u64) {
        let status = StreamStatus {
            destination: ENDPOINTS[n].1,
            sequence: 0,
            source: HOST,
            status: Status::Okay,
            capacity_bytes: 1 << 20,
            capacity_packets: 0xFF_FFFF,
            taken_packets,
            taken_bytes,
            buffer: 0,
            info: 0,
        };
        self.send(|out| status.write(out));
    }

    fn command(&mut self, n: usize, operation: StreamOperation, bytes: u64, packets: u64) {
        let destination = ENDPOINTS[n].1;
        self.send(|out| {
            StreamCommand { destination, sequence: 0, source: HOST, operation, operation_data: 0, packets, bytes }
                .write(out)
        });
    }

    fn transmit(&mut self, n: usize, sequence: u16) {
        let destination = ENDPOINTS[n].1;
        let head = DataHead { destination, sequence, tick: None, end_of_burst: false, end_of_vector: false };
        self.send(|out| Data { head, payload: &[0x11; 7984] }.write(out));
    }
}

fn host() -> Host {
    let device = X310::new(X310Options::default(), [signals(), signals()]).unwrap();
    let device = Faulty::new(device, vec![], Tick(0), CLOCK);
    let wire = Wire { frame: Box::new([0; 9000]), datagrams: 0, bytes: 0 };
    let mut host = Host { device, wire, now: Tick(MICROSECOND), bytes: Box::new([0; 9000]) };
    host.manage(&[&[Operation::Advertise, Operation::Return], &[Operation::Nop]]);
    host
}

#[test]
fn an_x310_that_streams_both_ways_from_both_slots_allocates_nothing() {
    let mut host = host();
    host.open(0);
    host.open(1);

    let before = allocations::count();
    for packet in 0..3000u64 {
        for n in [0, 1] {
            host.transmit(n, packet as u16);
            // As far as the host can have taken it: 8000 bytes each 79.84 us.
            host.credit(n, 8000 * packet, packet);
            // In the middle of a packet of either direction.
            host.now += Ticks(MIDDLE);
            host.control(2 + 3 * n as u16, ControlOperation::Write, ddc::FREQUENCY, (packet as u32) << 16);
            host.control(3 + 3 * n as u16, ControlOperation::Write, ddc::FREQUENCY, (packet as u32) << 16);
            if packet.is_multiple_of(100) {
                host.command(n, StreamOperation::Resync, 7992 * (packet + 1), packet + 1);
                host.control(4 + 3 * n as u16, ControlOperation::Read, radio::TIME_LOW, 0);
                host.control(9, ControlOperation::Read, 0, 0);
                host.send(|out| {
                    out[..8].copy_from_slice(&[0xFF; 8]);
                    Ok(8)
                });
            }
        }
        // The first packets come ahead of the play head, as a host sends them.
        if packet > 10 {
            host.now += Ticks(79_840 - 2 * MIDDLE);
            host.device.advance(host.now, &mut host.wire);
        }
    }
    assert_eq!(allocations::count() - before, 0, "in {} datagrams", host.wire.datagrams);

    let report = host.device.device().report();
    for n in [0, 1] {
        assert!(report.rx[2 * n].packets > 2900 && report.tx[n].samples > 1996 * 2900, "{report:?}");
        assert_eq!((report.rx[2 * n].overflows, report.tx[n].underflows, report.tx[n].overrun_packets), (0, 0, 0));
    }
    assert!(report.control.malformed_datagrams >= 60 && host.wire.bytes > 2 * 2900 * 8000);
}

/// Its memory would be filled by any host that starts and stops, and never says that it took anything.
#[test]
fn an_x310_that_is_started_and_stopped_without_credit_allocates_nothing() {
    let mut host = host();
    host.open(0);
    // A megabyte of credit, 20 ms of patience, and an overrun.
    for _ in 0..50 {
        host.now += Ticks(1000 * MICROSECOND);
        host.device.advance(host.now, &mut host.wire);
    }
    assert_eq!(host.device.device().report().rx[0].overflows, 1);
    let before = allocations::count();
    for _ in 0..20_000 {
        for word in [2, 0, 0] {
            host.control(4, ControlOperation::Write, radio::CHANNELS + radio::RX_COMMAND, word);
            host.now += Ticks(MICROSECOND);
            host.device.advance(host.now, &mut host.wire);
        }
    }
    assert_eq!(allocations::count() - before, 0);
    let report = host.device.device().report().rx[0];
    assert!(report.overflows > 1 && report.commands >= 60_000, "{report:?}");
}
