//! A radio whose time passes slower or faster than the host's, on a virtual clock: the same to the sample, and waited for.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Speed, Tick, TickRate, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{N200 as Device, N200Options, Signals};
use takt_packet::{Config, Engine, EngineError};
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions, TxOptions};
use takt_radio::{Burst, Net, Role, RxEvent, RxStream, TxEventKind, TxStream};

use crate::common::{ADDR, BORN_TICK, LATENCY, Recorder, SimNet, ms, ramps, receive_ramp};

/// A world in which the radio says how fast its time passes.
struct PacedNet {
    sim: SimNet,
    speed: Speed,
}

impl Clock for PacedNet {
    fn now(&self) -> MonoNs {
        self.sim.now()
    }
}

impl Net for PacedNet {
    fn open(&self, role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        self.sim.open(role, config)
    }

    fn sleep_until(&self, instant: MonoNs) {
        self.sim.sleep_until(instant);
    }

    fn threads(&self) -> bool {
        false
    }

    fn speed_of(&self, addr: IpAddr) -> Option<Speed> {
        (addr == ADDR).then_some(self.speed)
    }
}

/// Its counter runs as many times faster than an N200's, and stands at the tick at which the radio is switched on.
fn world(speed: Speed, signals: Signals) -> Arc<PacedNet> {
    let ticks_each_ms = u64::from(speed.millionths()) / 10; // of 100 MHz, whose tick is 10 ns
    let start = MonoNs(BORN_TICK * 1_000_000 / ticks_each_ms);
    let hz = u32::try_from(ticks_each_ms * 1000).expect("a rate of the world");
    let sim = SimNet { world: World::starting_at(start, LATENCY), script: Arc::default() };
    let options = N200Options { born: Tick(BORN_TICK), speed, ..N200Options::default() };
    let device = Device::new(options, signals).expect("an N200");
    let device = Faulty::new(device, Vec::new(), Tick(BORN_TICK), CLOCK);
    sim.world.add(ADDR, TickRate::from_hz(hz).expect("above 0"), device);
    Arc::new(PacedNet { sim, speed })
}

fn opened(net: &Arc<PacedNet>) -> N200 {
    N200::open(net.clone(), ADDR, &OpenOptions::default()).expect("a radio that opens")
}

fn speed(text: &str) -> Speed {
    text.parse().expect("a speed")
}

#[test]
fn a_stream_is_the_same_at_any_speed_and_takes_as_long_as_that_says() {
    for text in ["0.1", "0.5", "1", "2"] {
        let net = world(speed(text), ramps());
        let mut radio = opened(&net);
        assert_eq!(radio.speed(), Some(speed(text)));
        let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
        let clocks = radio.read_clocks(4).unwrap();
        let begin = net.now() + ms(100);
        let start = clocks.tick_at(begin);
        rx.start(Some(start)).unwrap();
        assert!(rx.begins().unwrap().0.abs_diff(begin.0) < 1_000_000, "{text}: {:?} and {begin}", rx.begins());
        let length = speed(text).host_time(ms(100));
        let events = receive_ramp(&mut rx, start, 10_000, 100_000, begin + length * 2);
        assert!(events.is_empty(), "{text}: {events:?}");
        assert_eq!(rx.speed(), speed(text));
        let took = net.now() - begin;
        assert!(took >= length && took < length + ms(50), "{text}: {took:?} for {length:?}");
    }
}

/// Two seconds pass between two datagrams, and six from the command to the last.
#[test]
fn what_comes_a_thousand_times_as_slowly_is_waited_for_and_not_called_lost() {
    let net = world(Speed::SLOWEST, ramps());
    let mut radio = opened(&net);
    let mut rx = radio.rx_streamer(&RxOptions::new(195_312.5)).unwrap();
    let start = radio.time().unwrap() + CLOCK.ticks_in(Duration::from_micros(500));
    rx.burst(1000, Some(start)).unwrap();
    let mut samples = vec![Complex32::default(); 2000];
    let (mut received, mut events) = (0, Vec::new());
    for _ in 0..200 {
        let some = rx.recv(&mut [&mut samples], net.now() + ms(100)).unwrap();
        received += some.samples;
        events.extend(some.event);
        if events.contains(&RxEvent::EndOfBurst) {
            break;
        }
    }
    assert_eq!((received, events.as_slice()), (1000, &[RxEvent::EndOfBurst][..]));
    assert_eq!(rx.stats().late_restarts, 0);
}

#[test]
fn a_timed_burst_leaves_at_its_tick_at_any_speed() {
    for text in ["0.1", "0.5", "2"] {
        let recorder = Recorder::default();
        let Signals { sources, .. } = ramps();
        let net = world(speed(text), Signals { sources, sink: Box::new(recorder.clone()) });
        let mut radio = opened(&net);
        let mut tx = radio.tx_streamer(&TxOptions::new(1e6)).unwrap();
        let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
        let samples = vec![Complex32::new(0.5, -0.25); 10_000];
        let until = net.now() + Duration::from_secs(2);
        assert_eq!(tx.send(&[&samples], Burst::at(start).ending(), until).unwrap(), 10_000);
        let event = tx.event(until).unwrap().expect("a report");
        assert_eq!((event.kind, event.tick), (TxEventKind::BurstAck, start + Ticks(10_000 * 100)), "{text}");
        let played = recorder.0.lock().unwrap();
        let first = played.first().map(|(first, ..)| *first);
        assert_eq!(first, Some(Tick(start.0 + BORN_TICK)), "{text}");
        assert_eq!(played.iter().map(|(_, _, samples)| samples.len()).sum::<usize>(), 10_000, "{text}");
    }
}

#[test]
fn a_second_of_the_radio_is_waited_for_however_long_it_takes() {
    let net = world(speed("0.1"), ramps());
    let mut radio = opened(&net);
    let edge = radio.await_pps().unwrap();
    let begun = net.now();
    let next = radio.await_pps().unwrap();
    assert_eq!(next - edge, Ticks(100_000_000));
    assert!(net.now() - begun > Duration::from_secs(9), "{:?}", net.now() - begun);
    radio.set_time_at_next_pps(Tick(0)).unwrap();
    radio.await_pps().unwrap();
    let time = radio.time().unwrap();
    assert!(time < Tick(100_000_000), "{time}");
}
