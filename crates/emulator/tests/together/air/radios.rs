//! Whole radios of both models that receive each other, on a virtual clock, in front of hosts that speak their protocols.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::air::{Air, Delay, End, Link, ModelName, Noise, Radio, Scene};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{self as n200_radio, N200, Signals};
use takt_emulator::sink::Null;
use takt_emulator::source::Silence;
use takt_emulator::x310::{self as x310_radio, X310};
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{settings, spi};
use takt_wire::n200::{Destination, StreamAction, ports};
use takt_wire::sample::{ByteOrder, Format, sc16};
use takt_wire::x310::registers::{board, radio};

use super::meant::{Tone, Way, off};
use super::n200::{self, LATENCY, START, ms, us};
use super::x310;

pub const A: End = End { radio: 0, channel: 0 };
pub const B: End = End { radio: 1, channel: 0 };

/// A radio in the world, and its host.
pub struct Place {
    pub world: World,
    air: Air,
    scene: Scene,
}

fn addr(radio: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, 10, radio as u8 + 2)
}

impl Place {
    pub fn new(models: &[ModelName], links: Vec<Link>) -> Place {
        let radio = |(n, &model): (usize, &ModelName)| Radio::new(&format!("r{n}"), model, addr(n));
        let radios = models.iter().enumerate().map(radio).collect();
        Place::of(Scene { radios, links, ..Scene::default() })
    }

    pub fn of(scene: Scene) -> Place {
        Place { world: World::starting_at(START, LATENCY), air: Air::new(&scene), scene }
    }

    fn signals(&mut self, radio: usize, channel: usize) -> Signals {
        self.air.join(End { radio, channel }, [Box::new(Silence), Box::new(Silence)], Box::new(Null)).0
    }

    pub fn n200(&mut self, radio: usize) -> n200::Host {
        self.n200_with(radio, n200_radio::Board::Basic)
    }

    fn n200_with(&mut self, radio: usize, board: n200_radio::Board) -> n200::Host {
        let signals = self.signals(radio, 0);
        let clock = self.scene.radios[radio].driver_clock(n200_radio::CLOCK);
        let born = Tick(clock.ticks_in_ns(START.0.into()).0);
        let options = n200_radio::N200Options { born, board, ..n200_radio::N200Options::default() };
        let device = Faulty::new(N200::new(options, signals).unwrap(), vec![], born, clock);
        self.world.add(IpAddr::V4(addr(radio)), clock, device);
        let mut host = n200::Host::at(&self.world, IpAddr::V4(addr(radio)));
        for port in [ports::RX0, ports::RX1, ports::TX, ports::FIFO] {
            host.direct(port, Destination::Sender);
        }
        host
    }

    pub fn x310(&mut self, radio: usize) -> x310::Host {
        let signals = [self.signals(radio, 0), self.signals(radio, 1)];
        let clock = self.scene.radios[radio].driver_clock(x310_radio::CLOCK);
        let born = Tick(clock.ticks_in_ns(START.0.into()).0);
        let options = x310_radio::X310Options { born, ..x310_radio::X310Options::default() };
        let device = Faulty::new(X310::new(options, signals).unwrap(), vec![], born, clock);
        self.world.add(IpAddr::V4(addr(radio)), clock, device);
        x310::Host::at(&self.world, IpAddr::V4(addr(radio)))
    }
}

/// A host's samples as it would send them: floats times its factor, rounded.
pub fn n200_sends(host: &mut n200::Host, factor: u32, at: u64, samples: &[Complex32]) {
    let factor = Factor::new(factor).unwrap();
    let scale = factor.scaling(Direction::Tx, Format::Sc16).host_factor as f32;
    let packets = samples.len().div_ceil(360);
    for (n, chunk) in samples.chunks(360).enumerate() {
        let mut payload = vec![0; chunk.len() * 4];
        sc16::pack_f32(chunk, ByteOrder::Big, scale, &mut payload);
        host.payload(&payload, Some(at + 360 * n as u64 * u64::from(factor.get())), n + 1 == packets);
    }
}

/// Time of the first sample, and all of them, which must be contiguous.
fn n200_received(host: &n200::Host, factor: u32) -> (u64, Vec<Complex32>) {
    host.contiguous(0, factor.into());
    let scale = Factor::new(factor).unwrap().scaling(Direction::Rx, Format::Sc16).host_factor as f32;
    let float = |(i, q): (i16, i16)| Complex32::new(f32::from(i), f32::from(q)) * scale;
    (host.packets(0)[0].0, host.samples(0).into_iter().map(float).collect())
}

fn x310_sends(host: &mut x310::Host, slot: usize, step: u64, at: u64, samples: &[Complex32]) {
    let packets = samples.len().div_ceil(1000);
    for (n, chunk) in samples.chunks(1000).enumerate() {
        let words: Vec<_> =
            chunk.iter().map(|x| ((x.re * 32_767.0).round() as i16, (x.im * 32_767.0).round() as i16)).collect();
        host.transmit(slot, Some(at + 1000 * n as u64 * step), n + 1 == packets, &words);
    }
}

pub fn x310_received(host: &x310::Host, channel: usize, step: u64) -> (u64, Vec<Complex32>) {
    let first = host.rx[channel][0].head.tick.unwrap();
    let mut all = Vec::new();
    for packet in &host.rx[channel] {
        assert_eq!(packet.head.tick.unwrap(), first + all.len() as u64 * step, "contiguous");
        all.extend(packet.samples.iter().map(|&(i, q)| Complex32::new(f32::from(i), f32::from(q)) / 32_767.0));
    }
    (first, all)
}

/// Device time of a radio at an instant, which counts so many ticks in a second, if nobody has set it.
pub fn time_at(clock_hz: u64, ns: u64) -> u64 {
    let ticks = |ns: u64| (u128::from(ns) * u128::from(clock_hz) / 1_000_000_000) as u64;
    ticks(ns) - ticks(START.0)
}

fn noise(n: usize) -> Vec<Complex32> {
    let mut samples = vec![Complex32::default(); n];
    takt_dsp::noise(4, 0.02, Tick(0), 1, &mut samples);
    samples
}

#[test]
fn a_sample_of_one_n200_is_a_sample_of_another_at_its_time_and_the_delay() {
    let mut place = Place::new(&[ModelName::N200; 2], vec![Link { delay: Delay::Ns(400.0), ..Link::new(A, B) }]);
    let (mut a, mut b) = (place.n200(0), place.n200(1));
    a.open_tx(4, Format::Sc16);
    b.open_rx(0, 4, Format::Sc16, 363);
    // The receiver's host has its own idea of the time; the air has not.
    b.set_time(77_000_000_000, true);
    b.run(us(10));
    let instant = place.world.now().0 / 1000 * 1000 + 20_000_000;
    let at = time_at(100_000_000, instant);
    let set = b.time() - a.time();
    let sent = noise(3000);
    n200_sends(&mut a, 4, at, &sent);
    b.stream(0, StreamAction::Samples(3200), Some(at + set));
    b.run(ms(40));
    let (first, received) = n200_received(&b, 4);
    assert_eq!((first, received.len()), (at + set, 3200));
    // 400 ns are ten samples. Two roundings to 16 bits lie between.
    let worst = |received: &[Complex32], sent: &[Complex32]| {
        received.iter().zip(sent).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
    };
    assert!(received[..10].iter().all(|x| x.norm() == 0.0), "{:?}", &received[..12]);
    assert!(worst(&received[10..3010], &sent) < 1.5e-4, "{}", worst(&received[10..3010], &sent));
    assert!(received[3010..].iter().all(|x| x.norm() == 0.0), "after the burst there is silence");
    assert_eq!(a.report().tx.underflows, 0);
}

#[test]
fn what_breaks_off_is_silence_and_an_underflow_as_ever() {
    let mut place = Place::new(&[ModelName::N200; 2], vec![Link::new(A, B)]);
    let (mut a, mut b) = (place.n200(0), place.n200(1));
    a.open_tx(4, Format::Sc16);
    b.open_rx(0, 4, Format::Sc16, 363);
    let at = a.time() + 1_000_000;
    let mut payload = vec![0; 4 * 360];
    payload.iter_mut().step_by(4).for_each(|byte| *byte = 0x20);
    a.payload(&payload, Some(at), false);
    b.stream(0, StreamAction::Samples(1000), Some(at + b.time() - a.time()));
    b.run(ms(30));
    let (_, received) = n200_received(&b, 4);
    assert!(received[..360].iter().all(|x| x.norm() > 0.2) && received[360..].iter().all(|x| x.norm() == 0.0));
    a.run(ms(1));
    assert_eq!(a.report().tx.underflows, 1);
}

#[test]
fn an_n200_is_received_by_an_x310_at_another_rate_with_its_phase() {
    let link = Link { delay: Delay::Ns(333.564), gain_db: -6.0, frequency_offset_hz: 1500.0, ..Link::new(A, B) };
    let mut place = Place::new(&[ModelName::N200, ModelName::X310], vec![link]);
    let (mut a, mut b) = (place.n200(0), place.x310(1));
    b.prepare();
    b.open_rx(0, 10, 1000); // 20 MS/s
    a.open_tx(4, Format::Sc16);
    let instant = place.world.now().0 / 1000 * 1000 + 50_000_000;
    let tone = Tone { hz: 3e6, amplitude: 0.4 };
    let first = instant / 10;
    n200_sends(&mut a, 4, time_at(100_000_000, instant), &tone.samples(100e6, first, 4, 8000));
    let start = instant + 20_000;
    b.stream(0, 1, 5000, Some(time_at(200_000_000, start)));
    b.run(ms(80));
    let (time, received) = x310_received(&b, 0, 10);
    assert_eq!((time, received.len()), (time_at(200_000_000, start), 5000));
    let way = Way { gain_db: -6.0, delay_s: 333.564e-9, offset_hz: 1500.0, ..Way::PLAIN };
    let off = off(&received, |n| tone.received(way, start as f64 * 1e-9 + n as f64 / 20e6));
    assert!(off < 3e-4, "{off:e}");
}

#[test]
fn an_x310_is_received_by_an_n200_tuned_beside_it() {
    let mut place = Place::new(&[ModelName::X310, ModelName::N200], vec![Link::new(A, B)]);
    let (mut a, mut b) = (place.x310(0), place.n200_with(1, n200_radio::Board::Sbx));
    a.prepare();
    // Both words of the X310's UBX and the N200's SBX: 2400 and 2401 MHz.
    chip(&mut a, 48 << 5 | 1);
    chip(&mut a, 48 << 5 | 2);
    for data in [0x0014_0180, 0x0020_015C, 0x0500_00BE] {
        chip(&mut a, data);
    }
    a.write(x310::RADIO[0], radio::SPI[1], 32 << 24 | 1);
    a.write(x310::RADIO[0], radio::BOARD_GPIO, 0);
    for word in [1 << 23 | 4, 1 << 14 | 2, 1000 << 3 | 1, 48 << 15] {
        a.write(x310::RADIO[0], radio::SPI[2], word);
    }
    b.poke(settings::SPI_CONTROL, 32 << 24 | spi::RX_BOARD);
    for word in [0x000F_A23C, 0x6500_8A42, 1000 << 3 | 1, 96 << 15 | 40 << 3] {
        b.poke(settings::SPI_DATA, word);
    }
    b.run(us(20));
    assert_eq!(b.report().tuning.rx_hz[0], 2401e6);
    a.open_tx(0, 40, 100_000); // 5 MS/s
    b.open_rx(0, 10, Format::Sc16, 300);
    let instant = place.world.now().0 / 1000 * 1000 + 20_000_000;
    let tone = Tone { hz: 400e3, amplitude: 0.5 };
    x310_sends(&mut a, 0, 40, time_at(200_000_000, instant), &tone.samples(200e6, instant / 5, 40, 4000));
    let start = instant + 40_000;
    b.stream(0, StreamAction::Samples(6000), Some(time_at(100_000_000, start)));
    b.run(ms(40));
    let (_, received) = n200_received(&b, 10);
    let way = Way { sent_hz: 2400e6, received_hz: 2401e6, ..Way::PLAIN };
    let off = off(&received, |n| tone.received(way, start as f64 * 1e-9 + n as f64 / 10e6));
    assert!(received.len() == 6000 && off < 5e-4, "{off:e}");
}

/// Shifts a word into the clock chip.
pub fn chip(host: &mut x310::Host, data: u32) {
    let [_, control, shift] = board::SPI.map(|n| board::BASE + 4 * n);
    host.poke(control, 0x6000_0001);
    host.poke(shift, data);
}

#[test]
fn at_the_master_clock_of_lte_samples_of_one_x310_are_those_of_another() {
    let slots = [0, 1].map(|channel| Link {
        delay: Delay::Samples(12.0),
        ..Link::new(End { radio: 0, channel }, End { radio: 1, channel: 1 - channel })
    });
    let mut place = Place::new(&[ModelName::X310; 2], slots.to_vec());
    let (mut a, mut b) = (place.x310(0), place.x310(1));
    for host in [&mut a, &mut b] {
        host.prepare();
        for data in [0x0014_01C0, 0x0190_0C1C, 0x0200_151E] {
            chip(host, data);
        }
        assert_eq!(host.report().master_clock_hz, 184.32e6);
    }
    // From slot A to slot B and the other way round, at 30.72 MS/s.
    a.open_tx(0, 6, 100_000);
    a.open_tx(1, 6, 100_000);
    b.open_rx(0, 6, 1000);
    b.open_rx(2, 6, 1000);
    // Counters differ, since their hosts set the clocks at different instants: device time at one instant says how much.
    let (a_time, b_time) = (a.time(), b.time());
    let sent: [Vec<_>; 2] = [noise(4000), noise(8000)[4000..].to_vec()];
    let at = (a_time + 2_000_000) / 6 * 6;
    for (slot, sent) in sent.iter().enumerate() {
        x310_sends(&mut a, slot, 6, at, sent);
    }
    for channel in [0, 2] {
        b.stream(channel, 1, 4100, Some(b_time + at - a_time));
    }
    b.run(ms(60));
    for (slot, channel) in [(0, 2), (1, 0)] {
        let (_, received) = x310_received(&b, channel, 6);
        assert_eq!(received.len(), 4100);
        let worst = received[12..4012].iter().zip(&sent[slot]).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(worst < 5e-5, "slot {slot}: {worst}");
        assert!(received[..12].iter().chain(&received[4012..]).all(|x| x.norm() == 0.0));
    }
}

#[test]
fn a_clock_that_is_off_takes_samples_frequency_and_time_with_it() {
    let mut scene = Scene {
        radios: vec![Radio::new("a", ModelName::N200, addr(0)), Radio::new("b", ModelName::N200, addr(1))],
        links: vec![Link::new(A, B)],
        ..Scene::default()
    };
    scene.radios[1].clock_offset_hundredths_ppm = -2000; // 20 ppm slow
    let mut place = Place::of(scene);
    let (mut a, mut b) = (place.n200(0), place.n200(1));
    a.open_tx(100, Format::Sc16);
    b.open_rx(0, 100, Format::Sc16, 300);
    let before = (a.time(), b.peek_time());
    a.run(ms(1000));
    let passed = (a.time() - before.0, b.peek_time() - before.1);
    let slow = passed.0 as f64 - passed.1 as f64;
    assert!((slow / passed.0 as f64 - 20e-6).abs() < 1e-6, "{passed:?}");
    // 50 ms at 1 MS/s: a tone of 100 kHz is received 2 Hz too high.
    let at = a.time() + 1_000_000;
    n200_sends(&mut a, 100, at, &Tone { hz: 100e3, amplitude: 0.4 }.samples(100e6, at, 100, 50_000));
    let now = b.peek_time();
    b.stream(0, StreamAction::Samples(40_000), Some(now + 1_500_000));
    b.run(ms(100));
    let (_, received) = n200_received(&b, 100);
    let found = takt_dsp::estimate_tone(&received).unwrap();
    let hz = found.frequency * 1e6;
    assert!((hz - 100_002.0).abs() < 0.2, "{hz}");
    assert!((found.amplitude - 0.4).abs() < 1e-3);
}

trait PeekTime {
    fn peek_time(&self) -> u64;
}

impl PeekTime for n200::Host {
    /// Its clock's reading now, however fast that runs.
    fn peek_time(&self) -> u64 {
        let slow = takt_base::TickRate::from_hz(99_998_000).unwrap();
        let now = Tick(slow.ticks_in_ns(self.world.now().0.into()).0);
        self.look(|device| device.device_time(now))
    }
}

#[test]
fn the_same_world_is_received_again_bit_for_bit() {
    let run = || {
        let link = Link {
            delay: Delay::Ns(77.7),
            noise: Some(Noise::SnrDb(20.0)),
            frequency_offset_hz: -321.0,
            ..Link::new(A, B)
        };
        let mut place = Place::new(&[ModelName::N200; 2], vec![link]);
        let (mut a, mut b) = (place.n200(0), place.n200(1));
        a.open_tx(5, Format::Sc16);
        b.open_rx(0, 8, Format::Sc16, 300);
        let at = a.time() + 1_000_000;
        n200_sends(&mut a, 5, at, &noise(4000));
        b.stream(0, StreamAction::Samples(2000), Some(at));
        b.run(ms(30));
        b.samples(0)
    };
    let first = run();
    assert_eq!(first.len(), 2000);
    assert_eq!(first, run());
}

#[test]
fn samples_leave_as_much_later_as_the_scene_says() {
    let mut place = Place::new(&[ModelName::N200; 2], vec![Link::new(A, B)]);
    let (mut a, mut b) = (place.n200(0), place.n200(1));
    b.open_rx(0, 100, Format::Sc16, 100);
    let at = b.time() + 1_000_000;
    b.stream(0, StreamAction::Samples(100), Some(at));
    b.run(ms(30));
    let packet = &b.rx[0][0];
    assert_eq!(packet.time(), at, "its time is that of its first sample");
    // 100 samples of a microsecond, the latency, and the network.
    let due = START + n200_radio::CLOCK.duration_of(Ticks(at + 99 * 100)) + Duration::from_millis(2) + LATENCY;
    assert_eq!(packet.arrived(), due);
    a.run(us(1));
}
