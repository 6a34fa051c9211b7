//! Receiving on a virtual clock, by readers that are too slow by a known amount: nothing may be lost and not counted.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Tick};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200 as Device, N200Options, Signals};
use takt_emulator::sink::Null;
use takt_emulator::source::{Counter, Silence};
use takt_packet::{Config, Engine, EngineError};
use takt_radio::n200::{ClockReading, N200, OpenOptions, RxOptions};
use takt_radio::{Net, Role};

use super::RxSide;
use crate::rate::Rx;
use crate::rate::intervals::RxTally;

const ADDR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 1));
const START: MonoNs = MonoNs(1_000_000_000);
const WARM_UP: Duration = Duration::from_millis(200);
const DURATION: Duration = Duration::from_millis(800);

#[derive(Clone)]
struct SimNet(World);

impl Clock for SimNet {
    fn now(&self) -> MonoNs {
        self.0.now()
    }
}

impl Net for SimNet {
    fn open(&self, _: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(self.0.engine(config)?))
    }

    fn sleep_until(&self, instant: MonoNs) {
        self.0.run_until(instant);
    }

    fn threads(&self) -> bool {
        false
    }
}

/// A reader that works off at most `capacity` of the stream, and the buffer it has.
struct Reader {
    rate_sps: f64,
    capacity: f64,
    buffer_bytes: usize,
    faults: &'static [&'static str],
    /// By so much the host takes the radio's clock to be ahead of what it is.
    ahead: Duration,
}

impl Reader {
    const fn of(rate_sps: f64, capacity: f64, buffer_bytes: usize) -> Reader {
        Reader { rate_sps, capacity, buffer_bytes, faults: &[], ahead: Duration::ZERO }
    }
}

/// Samples that such a reader receives, and those that the radio sent while it streamed.
fn read(reader: &Reader) -> (Rx, u64) {
    let net = SimNet(World::starting_at(START, Duration::from_micros(20)));
    let signals = Signals { sources: [Box::new(Counter), Box::new(Silence)], sink: Box::new(Null) };
    let device = Device::new(N200Options { born: Tick(START.0 / 10), ..N200Options::default() }, signals);
    let faults = reader.faults.iter().map(|text| text.parse().expect("a fault")).collect();
    net.0.add(ADDR, CLOCK, Faulty::new(device.expect("an N200"), faults, Tick(START.0 / 10), CLOCK));
    let shared: Arc<dyn Net> = Arc::new(net.clone());
    let mut radio = N200::open(shared.clone(), ADDR, &OpenOptions::default()).expect("a radio that opens");
    let options = RxOptions { recv_buffer_bytes: reader.buffer_bytes, ..RxOptions::new(reader.rate_sps) };
    let streamer = radio.rx_streamer(&options).unwrap();
    let clocks = radio.read_clocks(4).unwrap();
    let clocks = ClockReading { tick: clocks.tick + CLOCK.ticks_in(reader.ahead), ..clocks };
    let start = clocks.tick_at(net.now() + Duration::from_millis(20));
    let rx = RxSide::start(shared, streamer, clocks, start, [WARM_UP, DURATION]).unwrap();
    let mut rx = rx.with_numbers();
    let (measure, end) = (clocks.host_at(rx.span.from), clocks.host_at(rx.span.to));
    let mut so_far = rx.so_far();
    assert_eq!(so_far, RxTally::default());
    while net.now() < end {
        if net.now() >= measure && !rx.is_measuring() {
            rx.begin_measuring();
        }
        let samples = rx.turn(end).unwrap();
        net.sleep(Duration::from_secs_f64(samples as f64 / reader.rate_sps / reader.capacity));
        let before = std::mem::replace(&mut so_far, rx.so_far());
        assert!(so_far.iter().zip(before).all(|(now, before)| *now >= before), "{so_far:?} after {before:?}");
    }
    let rx = rx.finish();
    let all = [rx.samples, rx.dropped, rx.overflows, rx.sequence_errors, rx.late, rx.timeouts];
    assert!(so_far[0] > 0 && so_far.iter().zip(all).all(|(so_far, all)| *so_far <= all), "{so_far:?} of {all:?}");
    let sent = net.0.device(ADDR, |device: &mut Faulty<Device>| device.device().report().rx[0].samples);
    (rx, sent)
}

/// Two accounts that know nothing of each other: by time stamps, and by the samples' own numbers.
fn assert_adds_up(rx: &Rx, rate_sps: f64) {
    assert_eq!(rx.samples + rx.dropped, rx.expected_samples, "{rx:?}");
    let counted = rx.counted.expect("numbers");
    let by_numbers = (counted.received_samples, counted.missing_samples, counted.wrong_samples);
    assert_eq!(by_numbers, (rx.samples, rx.dropped, 0), "{rx:?}");
    assert_eq!(rx.expected_samples, (rate_sps * DURATION.as_secs_f64()) as u64);
}

#[test]
fn a_reader_with_a_core_to_itself_is_clean() {
    let (rx, sent) = read(&Reader::of(5e6, 4.0, 1 << 20));
    assert_adds_up(&rx, 5e6);
    assert_eq!((rx.dropped, rx.backlog.growing), (0, false), "{:?}", rx.backlog);
    assert!(sent >= rx.samples);
}

/// 2 % too slow for 0.8 s with 2 s of buffer: nothing is lost, and the answer must still be no.
#[test]
fn a_reader_two_per_cent_too_slow_is_seen_though_its_buffer_outlasts_the_round() {
    for rate_sps in [5e6, 12.5e6] {
        for (capacity, lacks) in [(0.98, 0.02), (0.9, 0.1), (0.64, 0.36)] {
            let (rx, _) = read(&Reader::of(rate_sps, capacity, 128 << 20));
            assert_adds_up(&rx, rate_sps);
            assert_eq!(rx.dropped, 0, "what was on its way was read in the end");
            let slope = rx.backlog.slope.unwrap();
            assert!(rx.backlog.growing && (slope - lacks).abs() < 0.004, "{lacks}: {:?}", rx.backlog);
            let end_s = rx.backlog.at_end_ns as f64 / 1e9;
            assert!((end_s - lacks).abs() < 0.01, "it was {end_s} s behind after a second");
        }
    }
}

/// With a small buffer what the reader can't work off is lost, the end of the stream included.
#[test]
fn what_a_slow_reader_loses_is_counted_to_the_sample() {
    let (rx, _) = read(&Reader::of(5e6, 0.64, 200_000));
    assert_adds_up(&rx, 5e6);
    let lost = rx.dropped as f64 / rx.expected_samples as f64;
    assert!((lost - 0.36).abs() < 0.03, "{lost}");
    assert_eq!(rx.lost_by_place.receive_buffer_datagrams, Some(rx.lost_datagrams));
}

/// The radio's clock is slower than this host's: the span ends when that clock says so.
#[test]
fn the_span_is_one_of_the_radios_clock_and_waited_for() {
    let (rx, _) = read(&Reader { ahead: Duration::from_millis(3), ..Reader::of(5e6, 4.0, 1 << 20) });
    assert_adds_up(&rx, 5e6);
    assert_eq!((rx.dropped, rx.tail_samples), (0, 0), "{:?}", rx.faults);
}

/// Nothing comes any more from the middle of the round on: no later datagram shows the gap.
#[test]
fn a_tail_that_never_came_is_lost() {
    let (rx, _) = read(&Reader { faults: &["lose:rx,every=1,after=8000"], ..Reader::of(5e6, 4.0, 1 << 20) });
    assert_adds_up(&rx, 5e6);
    assert_eq!(rx.samples + rx.tail_samples, rx.expected_samples, "{:?} of {:?}", rx.faults, rx.span_ticks);
    assert!(rx.tail_samples > 0 && rx.timeouts > 0 && rx.lost_by_place.path_datagrams > 0);
}
