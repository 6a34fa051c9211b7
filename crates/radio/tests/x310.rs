//! The driver of an X310 and a software X310 in a world on a virtual clock.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, Complex32, MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::signals::Signals;
use takt_emulator::x310::{self as device, Options};
use takt_radio::x310::{CLOCK, OpenOptions, X310};
use takt_radio::{Burst, RadioError, RxEvent, RxOptions, RxStream, RxStreamer, TxEventKind, TxOptions, TxStream};

use common::{ADDR, LATENCY, Ramp, Recorder, SimNet, ms};

/// When the world begins and the radio is switched on.
const START: MonoNs = MonoNs(1_234_567_000);
/// 100 MS/s: two ticks a sample.
const RATE_SPS: f64 = 100e6;
const STEP: u64 = 2;

/// A world with one X310 that hears a ramp on both channels, and what it is played.
fn world(faults: &[&str]) -> (Arc<SimNet>, [Recorder; 2]) {
    let world = World::starting_at(START, LATENCY);
    let played = [Recorder::default(), Recorder::default()];
    let signals = played.clone().map(|recorder| Signals {
        sources: [Box::new(Ramp), Box::new(Ramp)],
        sink: Box::new(recorder),
    });
    let options = Options { born: Tick(START.0), address: address(), ..Options::default() };
    let device = device::X310::new(options, signals).expect("an X310");
    let faults = faults.iter().map(|text| text.parse().expect("a fault")).collect();
    world.add(ADDR, device::CLOCK, Faulty::new(device, faults, Tick(START.0), device::CLOCK));
    (Arc::new(SimNet { world, script: Arc::default() }), played)
}

fn address() -> std::net::Ipv4Addr {
    match ADDR {
        std::net::IpAddr::V4(address) => address,
        std::net::IpAddr::V6(_) => unreachable!("the tests' radio has an IPv4 address"),
    }
}

fn open(net: &Arc<SimNet>) -> X310 {
    X310::open(net.clone(), ADDR, &OpenOptions::default()).expect("a radio that opens")
}

#[test]
fn a_radio_says_what_it_is_and_how_large_a_datagram_passes() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    assert_eq!((radio.identity().model, radio.identity().software), ("X310", true));
    assert_eq!((radio.frame_bytes(), radio.channels()), (8000, 2));
    radio.set_time(Tick(1_000_000)).expect("its time is set");
    let (one, then) = (radio.time().expect("its time"), net.now());
    net.world.run_until(then + ms(10));
    let two = radio.time().expect("its time");
    let passed = CLOCK.duration_of(two - one);
    assert!(passed >= ms(10) && passed < ms(11), "{passed:?}");
}

/// Receives `samples` samples of each channel in calls of `call`; checks that each is the one its time stamp says and that none
/// is unaccounted for.
fn receive(rx: &mut RxStreamer, start: Tick, call: usize, samples: u64, until: MonoNs) -> Vec<RxEvent> {
    let channels = rx.channels();
    let mut buffers = vec![vec![Complex::<i16>::default(); call]; channels];
    let (mut events, mut done, mut next) = (Vec::new(), 0, start);
    while done < samples {
        let mut out: Vec<&mut [Complex<i16>]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
        let received = rx.recv_integers(&mut out, until).expect("a stream");
        assert!(received.samples > 0 || received.event.is_some(), "nothing came: {done} of {samples}");
        assert_eq!(received.first, next, "after {events:?}");
        let offset = clock_offset();
        for buffer in &buffers {
            for (i, sample) in (0..).zip(&buffer[..received.samples]) {
                let want = (Ramp::at(received.first.0 + i * STEP + offset).re * 32768.0) as i16;
                assert_eq!((sample.re, sample.im), (want, -want), "sample {i} after {}", received.first);
            }
        }
        let lost = match received.event {
            Some(RxEvent::Dropped { lost, .. } | RxEvent::Overflow { lost, .. }) => lost,
            _ => 0,
        };
        events.extend(received.event);
        done += received.samples as u64 + lost;
        next = received.first + Ticks((received.samples as u64 + lost) * STEP);
    }
    events
}

/// Ticks of the radio's oscillator when its time was 0, which it is at power-up.
fn clock_offset() -> u64 {
    START.0 / 5
}

fn options(channels: &[u8]) -> RxOptions {
    RxOptions { channels: channels.to_vec(), ..RxOptions::new(RATE_SPS) }
}

#[test]
fn two_channels_stream_side_by_side_without_a_gap() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let mut rx = radio.rx_streamer(&options(&[0, 1])).expect("a stream");
    let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).expect("it starts");
    let events = receive(&mut rx, start, 10_000, 1_000_000, net.now() + ms(500));
    assert_eq!(events, []);
    let stats = rx.stats();
    assert_eq!((stats.bad_datagrams, stats.missing_datagrams, stats.control_retries), (0, 0, 0));
}
