//! Whatever arrives, in whatever order: nothing panics, nothing runs away, nothing is sent where it may not be; and the
//! same inputs at the same ticks give the same outputs, bit for bit.

use std::net::{IpAddr, SocketAddr};

use proptest::collection::vec;
use proptest::prelude::*;
use takt_base::{Tick, Ticks};
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200, N200Options};
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_wire::n200::registers::{firmware, i2c, settings, settings_address};
use takt_wire::n200::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, Destination, FifoAction, FifoCommand, I2cBytes,
    RegisterAction, TxHead, ports,
};

use crate::support::{self, Recorder};

/// One thing that happens to a device.
#[derive(Clone, Debug)]
enum Event {
    /// Time passes and the driver calls.
    Pass(u32),
    /// A datagram.
    Datagram { port: u16, bytes: Vec<u8>, host: u8 },
    /// A host does not listen any more.
    Refused { port: u16, host: u8 },
}

const PORTS: [u16; 9] = [49152, 49156, 49157, 49158, 49159, 49170, 49171, 49172, 49173];

/// Hosts 0 and 1 are on loopback, host 2 is not.
fn host(host: u8) -> SocketAddr {
    let ip: IpAddr = ["127.0.0.1", "127.0.0.9", "203.0.113.7"][usize::from(host)].parse().unwrap();
    SocketAddr::new(ip, 4000 + u16::from(host))
}

fn garbage() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (proptest::sample::select(PORTS.to_vec()), vec(any::<u8>(), 0..80))
}

/// Registers that do something, with values that are sometimes sensible.
fn poke() -> impl Strategy<Value = FifoAction> {
    let register = prop_oneof![
        3 => 32..=40u8,
        3 => 48..=51u8,
        1 => 80..=88u8,
        1 => 96..=99u8,
        3 => 144..=149u8,
        2 => 160..=162u8,
        2 => 8..=28u8,
        1 => 128..=132u8,
        1 => 184..=188u8,
        1 => any::<u8>(),
    ];
    let data = prop_oneof![
        4 => 0..1000u32,
        2 => proptest::sample::select(vec![0xE000_0001, 0x8000_0010, 0xC000_0010, 0x9000_0000, 0x6000_0001, 1 << 31]),
        1 => proptest::sample::select(vec![0x301, 0x201, 0x319, 0x1410_0000, 0x1364E, 0x8000_0059, 0x804C_4B40]),
        1 => any::<u32>(),
    ];
    (register, data).prop_map(|(register, data)| FifoAction::Poke { register, data })
}

fn command() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let action = prop_oneof![8 => poke(), 1 => any::<u8>().prop_map(|word| FifoAction::Peek { word })];
    let tick = proptest::option::weighted(0.1, 0..2_000_000u64);
    (any::<u16>(), tick, action).prop_map(|(sequence, tick, action)| {
        let mut bytes = vec![0; FifoCommand::MAX_BYTES];
        let len = FifoCommand { sequence, tick, action }.write(&mut bytes).unwrap();
        bytes.truncate(len);
        (ports::FIFO, bytes)
    })
}

fn request() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let ask = prop_oneof![
        Just(ControlAsk::Hello),
        (any::<u32>()).prop_map(|reply_bytes| ControlAsk::Echo { reply_bytes }),
        (any::<u8>(), 0..=20u8).prop_map(|(address, count)| ControlAsk::I2cRead { address, count }),
        (0x50..0x56u8, vec(any::<u8>(), 0..20))
            .prop_map(|(address, data)| { ControlAsk::I2cWrite { address, data: I2cBytes::new(&data).unwrap() } }),
        (any::<u8>(), prop_oneof![0x5C00..0x5C40u32, 0x7000..0x7400u32, 0..10u32, any::<u32>()], any::<u32>())
            .prop_map(|(code, address, data)| {
                ControlAsk::Register { action: RegisterAction::from_code(code % 8), address, data }
            }),
    ];
    (proptest::sample::select(vec![12, 12, 12, 0, 77]), any::<u32>(), ask).prop_map(|(version, sequence, ask)| {
        let mut bytes = vec![0; 36];
        ControlRequest { version, sequence, ask }.write(&mut bytes).unwrap();
        (ports::CONTROL, bytes)
    })
}

fn sample_packet() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let tick = proptest::option::weighted(0.3, 0..2_000_000u64);
    (0..40u32, 0..16u8, tick, any::<bool>(), 0..400usize).prop_map(|(sequence, count, tick, end, words)| {
        let count = if count < 12 { (sequence & 15) as u8 } else { count };
        let head = TxHead { sequence, count, tick, start_of_burst: false, end_of_burst: end, odd: end };
        let mut bytes = vec![0x5A; 4 * words + TxHead::MAX_OVERHEAD_BYTES];
        let len = head.frame(4 * words, &mut bytes).unwrap();
        bytes.truncate(len);
        (ports::TX, bytes)
    })
}

fn destination() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let named = (any::<[u8; 4]>(), any::<u16>())
        .prop_map(|(address, port)| Destination::Named { address: address.into(), port });
    let destination = prop_oneof![3 => Just(Destination::Sender), 1 => named];
    let port = proptest::sample::select(vec![ports::RX0, ports::RX1, ports::TX, ports::FIFO]);
    (port, destination).prop_map(|(port, destination)| {
        let mut bytes = vec![0; 16];
        let len = destination.write(&mut bytes).unwrap();
        bytes.truncate(len);
        (port, bytes)
    })
}

fn event() -> impl Strategy<Value = Event> {
    let datagram = prop_oneof![
        1 => garbage(),
        6 => command(),
        1 => request(),
        4 => sample_packet(),
        2 => destination(),
    ];
    prop_oneof![
        8 => (datagram, prop_oneof![8 => Just(0u8), 1 => Just(1), 1 => Just(2)])
            .prop_map(|((port, bytes), host)| Event::Datagram { port, bytes, host }),
        4 => (0..30_000u32).prop_map(Event::Pass),
        1 => (proptest::sample::select(PORTS.to_vec()), 0..3u8).prop_map(|(port, host)| Event::Refused { port, host }),
    ]
}

/// A datagram that left.
#[derive(Clone, Debug, PartialEq)]
struct Left {
    due: Tick,
    from: Port,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// Keeps all that leaves; blocked now and then if `blocks`.
#[derive(Default)]
struct Keep {
    left: Vec<Left>,
    calls: u64,
    blocks: bool,
}

impl Outbox for Keep {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        self.calls += 1;
        if self.blocks && self.calls.is_multiple_of(7) {
            return Sent::NoRoom;
        }
        let mut frame = [0xA5; 9000];
        let len = fill(&mut frame);
        assert!(len <= frame.len());
        self.left.push(Left { due, from, to, bytes: frame[..len].to_vec() });
        Sent::Taken
    }
}

fn device(faults: &[&str]) -> (Faulty<N200>, Recorder) {
    let (signals, recorder) = support::recorded();
    let device = N200::new(N200Options { gpsdo: true, ..N200Options::default() }, signals).unwrap();
    let faults = faults.iter().map(|f| f.parse().unwrap()).collect();
    (Faulty::new(device, faults, Tick(0), CLOCK), recorder)
}

/// Plays the events as a driver would: at each deadline, and at each event.
fn play(events: &[Event], faults: &[&str], blocks: bool) -> (Vec<Left>, Vec<support::Block>) {
    let (mut device, recorder) = device(faults);
    let mut out = Keep { blocks, ..Keep::default() };
    let mut now = Tick(0);
    for event in events {
        match event {
            Event::Pass(ticks) => {
                let end = now + Ticks((*ticks).into());
                while let Some(deadline) = device.deadline().filter(|&d| d <= end) {
                    assert!(deadline >= now, "a deadline in the past: {deadline} at {now}");
                    let before = (deadline, out.calls);
                    device.advance(deadline, &mut out);
                    let next = device.deadline();
                    assert!(next.is_none_or(|next| next > before.0), "the deadline does not move: {before:?}");
                    now = deadline;
                }
                now = end;
                device.advance(now, &mut out);
            }
            Event::Datagram { port, bytes, host: from } => {
                device.datagram(now, Port(*port), host(*from), bytes, &mut out);
            }
            Event::Refused { port, host: by } => device.refused(now, Port(*port), host(*by)),
        }
    }
    (out.left, recorder.blocks())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_nothing_runs_away_and_nothing_leaves_for_strangers(events in vec(event(), 1..120)) {
        let (left, _) = play(&events, &[], false);
        for datagram in &left {
            prop_assert!(datagram.to.ip().is_loopback(), "{datagram:?}");
            prop_assert!(PORTS.contains(&datagram.from.0));
        }
    }

    #[test]
    fn a_blocked_output_is_survived(events in vec(event(), 1..120)) {
        play(&events, &[], true);
    }

    #[test]
    fn the_same_inputs_give_the_same_outputs(events in vec(event(), 1..120)) {
        let faults = ["lose:rx,p=0.1,seed=3", "delay:all,p=0.05,by=20us", "reorder:tx,p=0.1", "corrupt:all,p=0.1",
            "reboot:at=2ms,for=1ms", "overflow:rx,p=0.01,for=10us", "duplicate:acks,every=5", "stall:all,at=3ms,for=1ms"];
        prop_assert_eq!(play(&events, &faults, false), play(&events, &faults, false));
    }

    /// A driver that comes late, or twice, changes what is sent by nothing.
    #[test]
    fn when_the_driver_calls_does_not_matter(events in vec(event(), 1..120)) {
        let (mut lazy, recorder) = device(&[]);
        let mut out = Keep::default();
        let mut now = Tick(0);
        for event in &events {
            match event {
                Event::Pass(ticks) => now += Ticks((*ticks).into()),
                Event::Datagram { port, bytes, host: from } => {
                    lazy.datagram(now, Port(*port), host(*from), bytes, &mut out);
                }
                // It takes effect at once, so the device must be there.
                Event::Refused { port, host: by } => {
                    lazy.advance(now, &mut out);
                    lazy.refused(now, Port(*port), host(*by));
                }
            }
        }
        lazy.advance(now, &mut out);
        lazy.advance(now, &mut out);
        let (left, blocks) = play(&events, &[], false);
        prop_assert_eq!(&out.left, &left);
        prop_assert_eq!(recorder.blocks(), blocks);
    }
}

fn asked(ask: ControlAsk) -> [u8; ControlRequest::BYTES] {
    let mut bytes = [0; ControlRequest::BYTES];
    ControlRequest::new(1, ask).write(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_stranger_is_not_answered_and_changes_nothing() {
    let (mut device, recorder) = device(&[]);
    let mut out = Keep::default();
    let stranger = host(2);
    let register = |action, address, data| ControlAsk::Register { action, address, data };
    let before = device.device().eeproms().clone();
    for ask in [
        ControlAsk::Hello,
        ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data: I2cBytes::new(&[0x21, b'X']).unwrap() },
        register(RegisterAction::FirmwarePoke, firmware::LOCK_OWNER, 99),
        register(RegisterAction::Poke32, settings_address(settings::TX_MUX), 0xFF),
    ] {
        device.datagram(Tick(1), Port(ports::CONTROL), stranger, &asked(ask), &mut out);
    }
    let mut command = [0; FifoCommand::MAX_BYTES];
    let poke = FifoAction::Poke { register: settings::RX_CONTROL[0], data: 0xE000_0001 };
    let len = FifoCommand { sequence: 1, tick: None, action: poke }.write(&mut command).unwrap();
    device.datagram(Tick(1), Port(ports::FIFO), stranger, &command[..len], &mut out);
    let mut samples = [0; 64];
    let head = TxHead { sequence: 0, count: 0, tick: None, start_of_burst: true, end_of_burst: true, odd: false };
    let len = head.frame(4, &mut samples).unwrap();
    device.datagram(Tick(1), Port(ports::TX), stranger, &samples[..len], &mut out);
    device.advance(Tick(1_000_000), &mut out);

    assert_eq!(out.left, []);
    assert_eq!(recorder.blocks(), [], "nothing is played");
    assert_eq!(device.device().eeproms(), &before);
    let report = device.device().report();
    let received = (report.control.requests, report.control.commands, report.tx.packets, report.control.eeprom_writes);
    assert_eq!(received, (0, 0, 0, 0));
    assert_eq!(report.hosts.refused_destinations, 6);
    let owner = asked(register(RegisterAction::FirmwarePeek, firmware::LOCK_OWNER, 0));
    device.datagram(Tick(1_000_001), Port(ports::CONTROL), host(0), &owner, &mut out);
    assert_eq!(ControlReply::parse(&out.left[0].bytes).unwrap().answer, ControlAnswer::Register { data: 0 });
}

#[test]
fn a_flood_of_stream_commands_is_bounded() {
    let (mut device, _) = device(&[]);
    let mut out = Keep::default();
    let from = host(0);
    let direct = |device: &mut Faulty<N200>, out: &mut Keep, port| {
        device.datagram(Tick(0), Port(port), from, &[0; 8], out);
    };
    direct(&mut device, &mut out, ports::RX0);
    direct(&mut device, &mut out, ports::FIFO);
    let poke = |device: &mut Faulty<N200>, out: &mut Keep, register, data| {
        let mut bytes = [0; FifoCommand::MAX_BYTES];
        let command = FifoCommand { sequence: 1, tick: None, action: FifoAction::Poke { register, data } };
        let len = command.write(&mut bytes).unwrap();
        device.datagram(Tick(1), Port(ports::FIFO), from, &bytes[..len], out);
    };
    // The fastest rate there is, one sample a packet, for ever.
    poke(&mut device, &mut out, settings::RX_DSP[0] + 2, 1);
    poke(&mut device, &mut out, settings::RX_CONTROL[0] + 7, 1);
    poke(&mut device, &mut out, settings::RX_CONTROL[0], 0xE000_0001);
    poke(&mut device, &mut out, settings::RX_CONTROL[0] + 2, 0);
    device.advance(Tick(100_000_000), &mut out);
    assert!(out.left.len() < 10, "{}", out.left.len());
}
