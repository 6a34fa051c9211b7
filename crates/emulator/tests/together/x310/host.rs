//! A scripted host: each of its sockets is an endpoint, as UHD's are.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_emulator::drive::sim::{SimEngine, World};
use takt_emulator::fault::Faulty;
use takt_emulator::x310::{CLOCK, Signals, Uhd, X310, X310Options, X310Report};
use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait};
use takt_wire::chdr::{
    Control, ControlData, ControlOperation, ControlStatus, Data, DataHead, Management, Operation, Operations, Packet,
    Protocol, Status, StreamCommand, StreamOperation, StreamStatus, counted_bytes,
};
use takt_wire::x310::registers::{ddc, radio};
use takt_wire::x310::{Firmware, FirmwareAction, RadioLayout, ports};

use crate::support::ramps;

pub const DEVICE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 10, 2));
/// A quarter of a second after a PPS edge.
pub const START: MonoNs = MonoNs(5_250_000_000);
/// One way.
pub const LATENCY: Duration = Duration::from_micros(1);
/// Ticks of the master clock.
pub const SECOND: u64 = 200_000_000;
pub const MS: u64 = SECOND / 1000;

/// Sockets of the host, by their place in its engine.
pub const FIRMWARE: u8 = 0;
pub const PROBE: u8 = 1;
pub const CONTROL: u8 = 2;
/// Endpoints of the receive channels A:0, A:1, B:0, B:1.
pub const RX: [u8; 4] = [3, 4, 5, 6];
/// Endpoints of the transmitters.
pub const TX: [u8; 2] = [7, 8];

/// Endpoint ids: of the host's sockets, and of the device's endpoints.
pub fn id_of(socket: u8) -> u16 {
    u16::from(socket) - 1
}
pub const ENDPOINTS: [u16; 4] = [20, 21, 22, 23];

/// Control ports.
pub const DUC: [u16; 2] = [2, 5];
pub const DDC: [u16; 2] = [3, 6];
pub const RADIO: [u16; 2] = [4, 7];

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// A sample packet as a host received it.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    pub arrived: MonoNs,
    pub head: DataHead,
    /// I and Q.
    pub samples: Vec<(i16, i16)>,
}

/// Counts of a receiver, for its credits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub bytes: u64,
    pub packets: u64,
    told: u64,
}

pub struct Host {
    pub world: World,
    /// Address of the radio it is in front of.
    pub device: IpAddr,
    /// How it speaks, and where it looks for the registers of a radio block.
    pub protocol: Protocol,
    pub layout: RadioLayout,
    engine: SimEngine,
    next_request: u32,
    next_management: u16,
    next_control: [u8; 16],
    next_data: [u16; 2],
    /// Set up and giving credit by itself.
    pub gives_credit: bool,
    pub capacity_bytes: u64,
    pub counted: [Counted; 4],
    pub rx: [Vec<Incoming>; 4],
    pub commands: Vec<StreamCommand>,
    pub statuses: Vec<StreamStatus>,
    /// Register writes from radios: when, and what.
    pub messages: Vec<Control>,
    pub acks: Vec<(MonoNs, Control)>,
    pub replies: Vec<Firmware>,
    pub managed: Vec<Management>,
    pub probes: Vec<Vec<u8>>,
}

impl Host {
    pub fn new() -> Host {
        Host::with(X310Options::default(), [ramps(), ramps()], &[])
    }

    pub fn with(options: X310Options, signals: [Signals; 2], faults: &[&str]) -> Host {
        let world = World::starting_at(START, LATENCY);
        let born = Tick(START.0);
        let device = X310::new(X310Options { born, ..options }, signals).unwrap();
        let faults = faults.iter().map(|text| text.parse().unwrap()).collect();
        world.add(DEVICE, CLOCK, Faulty::new(device, faults, born, CLOCK));
        Host::in_world(&world)
    }

    pub fn in_world(world: &World) -> Host {
        Host::at(world, DEVICE)
    }

    /// In front of a device at another address.
    pub fn at(world: &World, device: IpAddr) -> Host {
        let peers = [ports::FIRMWARE, ports::FRAME_PROBE].into_iter().chain([ports::CHDR; 7]);
        let spec = |port| PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: Some(SocketAddr::new(device, port)) };
        let mut config = Config::new(peers.map(spec).collect());
        config.max_payload_bytes = 9000;
        config.recv_buffer_bytes = 64 << 20;
        Host {
            engine: world.engine(&config).unwrap(),
            world: world.clone(),
            device,
            protocol: Protocol::V1,
            layout: RadioLayout::V0,
            next_request: 1,
            next_management: 0,
            next_control: [0; 16],
            next_data: [0; 2],
            gives_credit: true,
            capacity_bytes: 1 << 20,
            counted: Default::default(),
            rx: Default::default(),
            commands: vec![],
            statuses: vec![],
            messages: vec![],
            acks: vec![],
            replies: vec![],
            managed: vec![],
            probes: vec![],
        }
    }

    /// A host of the release that its device has the image of.
    pub fn of(uhd: Uhd) -> Host {
        Host::of_with(uhd, &[])
    }

    pub fn of_with(uhd: Uhd, faults: &[&str]) -> Host {
        let host = Host::with(X310Options::serving(uhd), [ramps(), ramps()], faults);
        Host { protocol: uhd.image().protocol(), layout: uhd.image().radio(), ..host }
    }

    /// With ids given to all endpoints, and control ready.
    pub fn ready() -> Host {
        let mut host = Host::new();
        host.prepare();
        host
    }

    pub fn prepare(&mut self) {
        // So that there is a time before now.
        self.run(ms(200));
        self.advertise(CONTROL);
        for (n, id) in ENDPOINTS.into_iter().enumerate() {
            let hops: [&[Operation]; 4] = [
                &[Operation::Nop],
                &[Operation::Select { port: n as u16 + 1 }],
                &[
                    Operation::Write { address: 0x04, data: 7 },
                    Operation::Write { address: 0x00, data: id.into() },
                    Operation::Return,
                ],
                &[Operation::Nop],
            ];
            self.manage(CONTROL, &hops).expect("an answer");
        }
    }

    pub fn send(&mut self, socket: u8, bytes: &[u8]) {
        let mut batch = self.engine.reserve(1);
        assert!(batch.push(PortIndex(socket), None, |frame| {
            frame[..bytes.len()].copy_from_slice(bytes);
            bytes.len()
        }));
        assert_eq!(batch.send(Wait::Poll).unwrap(), 1);
    }

    pub fn send_packet(&mut self, socket: u8, write: impl Fn(&mut [u8]) -> Result<usize, takt_wire::WireError>) {
        let mut bytes = vec![0; 9000];
        let length = write(&mut bytes).unwrap();
        self.send(socket, &bytes[..length]);
    }

    /// Lets time pass and keeps what is received.
    pub fn run(&mut self, span: Duration) {
        let end = self.world.now() + span;
        loop {
            let batch = self.engine.recv(Wait::Until(end)).unwrap();
            let received: Vec<_> = batch.iter().map(|d| (d.port.0, d.arrived.unwrap(), d.bytes.to_vec())).collect();
            if received.is_empty() && self.world.now() >= end {
                return;
            }
            for (socket, arrived, bytes) in received {
                self.receive(socket, arrived, &bytes);
            }
        }
    }

    fn receive(&mut self, socket: u8, arrived: MonoNs, bytes: &[u8]) {
        match socket {
            FIRMWARE => return self.replies.push(Firmware::parse(bytes).unwrap()),
            PROBE => return self.probes.push(bytes.to_vec()),
            _ => {}
        }
        let channel = RX.iter().position(|&rx| rx == socket);
        match Packet::parse_as(self.protocol, bytes).unwrap() {
            Packet::Management(answer) => self.managed.push(answer),
            Packet::Status(status) => self.statuses.push(status),
            Packet::Control(control) if control.is_ack => self.acks.push((arrived, control)),
            Packet::Control(message) => self.messages.push(message),
            Packet::Command(command) => self.hear_command(channel, command),
            Packet::Data(data) => self.hear_data(channel.expect("samples on a receive socket"), arrived, &data, bytes),
        }
    }

    fn hear_command(&mut self, channel: Option<usize>, command: StreamCommand) {
        self.commands.push(command);
        let Some(channel) = channel else { return };
        match command.operation {
            StreamOperation::Init => self.counted[channel] = Counted::default(),
            _ => {
                // Its counts, and then the command itself (10.2).
                self.counted[channel] = Counted { bytes: command.bytes + 24, packets: command.packets + 1, told: 0 };
            }
        }
        if self.gives_credit {
            self.give_credit(channel, command.source);
        }
    }

    fn hear_data(&mut self, channel: usize, arrived: MonoNs, data: &Data<'_>, bytes: &[u8]) {
        let samples = data.payload.as_chunks::<4>().0.iter();
        let samples = samples.map(|&[a, b, c, d]| (i16::from_le_bytes([a, b]), i16::from_le_bytes([c, d])));
        self.rx[channel].push(Incoming { arrived, head: data.head, samples: samples.collect() });
        let counted = &mut self.counted[channel];
        counted.bytes += counted_bytes(bytes.len());
        counted.packets += 1;
        if self.gives_credit && counted.bytes - counted.told > self.capacity_bytes / 32 {
            self.give_credit(channel, ENDPOINTS[channel]);
        }
    }

    /// Says what a receiver has taken.
    pub fn give_credit(&mut self, channel: usize, endpoint: u16) {
        let Counted { bytes, packets, .. } = self.counted[channel];
        self.counted[channel].told = bytes;
        let status = StreamStatus {
            destination: endpoint,
            sequence: 0,
            source: id_of(RX[channel]),
            status: Status::Okay,
            capacity_bytes: self.capacity_bytes,
            capacity_packets: 0xFF_FFFF,
            taken_packets: packets,
            taken_bytes: bytes,
            buffer: 0,
            info: 0,
        };
        self.send_packet(RX[channel], |out| status.write(out));
    }

    pub fn firmware(&mut self, action: FirmwareAction, address: u32, data: u32) -> Firmware {
        let request = Firmware { action, ack: true, error: false, sequence: self.next_request, address, data };
        self.next_request += 1;
        self.send_packet(FIRMWARE, |out| request.write(out));
        self.run(2 * LATENCY);
        self.replies.pop().expect("a reply")
    }

    pub fn peek(&mut self, address: u32) -> u32 {
        self.firmware(FirmwareAction::Peek, address, 0).data
    }

    pub fn poke(&mut self, address: u32, data: u32) {
        self.firmware(FirmwareAction::Poke, address, data);
    }

    pub fn manage(&mut self, socket: u8, hops: &[&[Operation]]) -> Option<Management> {
        let mut operations = Operations::NONE;
        hops.iter().for_each(|hop| operations.push_hop(hop).unwrap());
        let sequence = self.next_management;
        self.next_management += 1;
        let protocol = self.protocol;
        let request = Management { protocol, destination: 0, sequence, source: id_of(socket), operations };
        self.send_packet(socket, |out| request.write(out));
        self.run(2 * LATENCY);
        let answer = self.managed.pop()?;
        assert_eq!((answer.protocol, answer.sequence, answer.destination), (protocol, sequence, id_of(socket)));
        Some(answer)
    }

    pub fn advertise(&mut self, socket: u8) {
        let advertise: &[Operation] = &[Operation::Advertise, Operation::Return];
        self.manage(socket, &[advertise, &[Operation::Nop]]).expect("an answer");
    }

    /// Writes to endpoint n, and reads.
    pub fn at_endpoint(&mut self, socket: u8, n: u16, what: &[Operation]) -> Vec<u32> {
        let what = [what, &[Operation::Return]].concat();
        let hops: [&[Operation]; 4] =
            [&[Operation::Nop], &[Operation::Select { port: n + 1 }], &what, &[Operation::Nop]];
        let answer = self.manage(socket, &hops).expect("an answer");
        let said = answer.operations.hops().flatten().filter_map(|operation| match operation {
            Operation::ReadResponse { data, .. } => Some(data),
            _ => None,
        });
        said.collect()
    }

    pub fn request(&mut self, port: u16, operation: ControlOperation, address: u32, data: u32, tick: Option<u64>) {
        let reads = operation == ControlOperation::Read;
        let data = if reads { ControlData::request(1) } else { ControlData::one(data) };
        self.request_words(port, operation, address, data, tick);
    }

    pub fn request_words(
        &mut self,
        port: u16,
        operation: ControlOperation,
        address: u32,
        data: ControlData,
        tick: Option<u64>,
    ) {
        let protocol = self.protocol;
        let sequence = &mut self.next_control[usize::from(port)];
        let request = Control {
            destination: ENDPOINTS[0],
            chdr_sequence: 0,
            to_port: port,
            from_port: 0,
            sequence: *sequence,
            tick,
            is_ack: false,
            source: id_of(CONTROL),
            address,
            byte_enables: 15,
            operation,
            status: ControlStatus::Okay,
            data,
        };
        *sequence = protocol.next_sequence(*sequence);
        self.send_packet(CONTROL, |out| request.write_as(protocol, out));
    }

    pub fn write(&mut self, port: u16, address: u32, data: u32) {
        self.request(port, ControlOperation::Write, address, data, None);
        self.run(2 * LATENCY);
        assert!(self.acks.pop().is_some(), "an acknowledgement");
    }

    pub fn read(&mut self, port: u16, address: u32) -> u32 {
        self.request(port, ControlOperation::Read, address, 0, None);
        self.run(2 * LATENCY);
        self.acks.pop().expect("an acknowledgement").1.data.first()
    }

    /// Device time now.
    pub fn time(&self) -> u64 {
        let now = Tick(self.world.now().0);
        self.world.device(self.device, |radio: &mut Faulty<X310>| radio.device().device_time(now))
    }

    pub fn report(&self) -> X310Report {
        self.world.device(self.device, |radio: &mut Faulty<X310>| radio.device().report())
    }

    /// Sets up a receive channel (0 to 3): rate, packet size, messages, and the stream itself.
    pub fn open_rx(&mut self, channel: usize, decimation: u32, samples_per_packet: u32) {
        let (slot, n) = (channel / 2, channel as u32 % 2);
        self.write(DDC[slot], ddc::STRIDE * n + ddc::N, decimation);
        let layout = self.layout;
        self.write(RADIO[slot], layout.address_of(n, radio::RX_SAMPLES_PER_PACKET), samples_per_packet);
        let remote = [RADIO[slot].into(), id_of(CONTROL).into(), 0x1000 + 64 * n];
        for (register, data) in radio::RX_REMOTE.into_iter().zip(remote) {
            self.write(RADIO[slot], layout.address_of(n, register), data);
        }
        self.set_up_rx(channel);
    }

    /// The stream of a receive channel (10.1).
    pub fn set_up_rx(&mut self, channel: usize) {
        self.advertise(RX[channel]);
        let interval = (self.capacity_bytes / 32) as u32;
        let writes = [(0x0C, id_of(RX[channel]).into()), (0x10, interval), (0x14, 0), (0x18, 0xFF_FFFF), (0x08, 0x0B)];
        let writes = writes.map(|(address, data)| Operation::Write { address, data });
        self.at_endpoint(RX[channel], channel as u16, &writes);
        self.run(us(10));
    }

    /// Gives a receive channel a command: 0 stop, 1 so many samples, 2 until stopped.
    pub fn stream(&mut self, channel: usize, action: u32, samples: u64, tick: Option<u64>) {
        let (slot, n) = (channel / 2, channel as u32 % 2);
        let decimation = u64::from(self.read(DDC[slot], ddc::STRIDE * n + ddc::N));
        let layout = self.layout;
        let words = [samples * decimation, tick.unwrap_or(0)];
        for ([low, high], word) in [radio::RX_COUNT, radio::RX_TIME].into_iter().zip(words) {
            self.write(RADIO[slot], layout.address_of(n, low), word as u32);
            self.write(RADIO[slot], layout.address_of(n, high), (word >> 32) as u32);
        }
        let timed = if tick.is_some() { radio::RX_TIMED } else { 0 };
        self.write(RADIO[slot], layout.address_of(n, radio::RX_COMMAND), action | timed);
    }

    /// Sets up a transmitter: rate, messages, and the stream (10.3). `interval`: bytes between statuses.
    pub fn open_tx(&mut self, slot: usize, interpolation: u32, interval: u64) {
        self.write(DUC[slot], ddc::M, interpolation);
        let remote = [RADIO[slot].into(), id_of(CONTROL).into(), 0];
        for (register, data) in radio::TX_REMOTE.into_iter().zip(remote) {
            self.write(RADIO[slot], self.layout.address_of(0, register), data);
        }
        self.advertise(TX[slot]);
        self.at_endpoint(TX[slot], 2 * slot as u16, &[Operation::Write { address: 0x38, data: 8 }]);
        for bytes in [0, interval] {
            self.command(slot, StreamOperation::Init, bytes, 0);
        }
        self.next_data[slot] = 0;
        self.run(us(10));
    }

    pub fn command(&mut self, slot: usize, operation: StreamOperation, bytes: u64, packets: u64) {
        let command = StreamCommand {
            destination: ENDPOINTS[2 * slot],
            sequence: 0,
            source: id_of(TX[slot]),
            operation,
            operation_data: 0,
            packets,
            bytes,
        };
        self.send_packet(TX[slot], |out| command.write(out));
    }

    /// Sends samples; returns the length of the packet.
    pub fn transmit(&mut self, slot: usize, tick: Option<u64>, end_of_burst: bool, samples: &[(i16, i16)]) -> usize {
        let payload: Vec<u8> = samples.iter().flat_map(|(i, q)| [i.to_le_bytes(), q.to_le_bytes()]).flatten().collect();
        let sequence = self.next_data[slot];
        self.next_data[slot] = sequence.wrapping_add(1);
        let head = DataHead { destination: ENDPOINTS[2 * slot], sequence, tick, end_of_burst, end_of_vector: false };
        self.send_packet(TX[slot], |out| Data { head, payload: &payload }.write(out));
        head.payload_at() + payload.len()
    }

    /// As if a packet had been lost on its way.
    pub fn skip(&mut self, slot: usize) {
        self.next_data[slot] = self.next_data[slot].wrapping_add(1);
    }

    /// Codes of messages, with the address they are for and their times.
    pub fn told(&self) -> Vec<(u32, u32, u64)> {
        self.messages.iter().map(|m| (m.address, m.data.first(), m.tick.expect("a time"))).collect()
    }
}
