//! A waveform's slots on a radio's clock, on a virtual one: which slots are there, which the radio owes, which answers it says
//! were late. The same in every run.

#[path = "../../radio/tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{ADDR, Ramp, SimNet, faulty, ms, world};
use proptest::prelude::*;
use takt_base::{Complex32, MonoNs, Stop, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::signals::Signals;
use takt_emulator::x310::{self, X310, X310Options};
use takt_graph::{ComponentSpec, Graph, Params, Waveform};
use takt_radio::Model;
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions, RxStreamer, TxOptions};
use takt_radio_waveform::{
    RadioClock, RadioRequirements, RadioRequirementsError, ReplyBursts, Slicer, SlotEnd, SlotGrid, wants_a_radio,
};
use takt_runtime::{Bench, Registry};
use takt_wire::sample::full_scale;

const RATE: f64 = 1e6;
const STEP: u64 = 100;
/// A slot of 5 ms.
const SAMPLES: u64 = 5000;

/// A stream that begins in 20 ms, and its slots.
fn streaming(radio: &mut N200, channels: &[u8]) -> (RxStreamer, SlotGrid) {
    let options = RxOptions { channels: channels.to_vec(), ..RxOptions::new(RATE) };
    let mut rx = radio.rx_streamer(&options).unwrap();
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).unwrap();
    (rx, SlotGrid { start, step: Ticks(STEP), samples: SAMPLES })
}

fn assert_samples(grid: &SlotGrid, slot: u64, samples: &[Complex32]) {
    for (n, sample) in samples.iter().enumerate() {
        let tick = grid.begin(slot).0 + n as u64 * STEP + common::BORN_TICK;
        assert_eq!((sample.re * full_scale::SC16).round(), f32::from(Ramp::word(tick)), "sample {n} of slot {slot}");
    }
}

/// Receives so many slots; checks that each is there, in order, and that the samples of whole ones are the radio's.
fn slots(net: &SimNet, rx: &mut RxStreamer, grid: SlotGrid, count: u64) -> Vec<SlotEnd> {
    let mut slicer = Slicer::new(grid);
    let mut cells = vec![vec![Complex32::default(); SAMPLES as usize]; takt_radio::RxStream::channels(rx)];
    let mut ends = Vec::new();
    let until = net.after(Duration::from_secs(30));
    while (ends.len() as u64) < count {
        let room = cells.iter_mut().map(Vec::as_mut_slice);
        assert!(net.now_ns() < until.0, "nothing comes after slot {}", ends.len());
        let Some(end) = slicer.step(rx, room, until).unwrap() else { continue };
        assert_eq!(end.slot, ends.len() as u64);
        assert_eq!(slicer.accounted(), (end.slot + 1) * SAMPLES);
        if end.lost_samples == 0 {
            cells.iter().for_each(|cell| assert_samples(&grid, end.slot, cell));
        }
        ends.push(end);
    }
    ends
}

fn lost(ends: &[SlotEnd]) -> Vec<(u64, u64)> {
    ends.iter().filter(|end| end.lost_samples > 0).map(|end| (end.slot, end.lost_samples)).collect()
}

#[test]
fn slots_lie_where_the_radio_says_on_all_channels() {
    let net = world();
    let mut radio = net.radio();
    let (mut rx, grid) = streaming(&mut radio, &[0, 1]);
    assert_eq!(lost(&slots(&net, &mut rx, grid, 100)), []);
    assert_eq!((grid.slot(), grid.begin(3) - grid.start), (Ticks(500_000), Ticks(1_500_000)));
    assert_eq!((grid.sample_at(grid.begin(3)), grid.sample_at(grid.start + Ticks(101))), (3 * SAMPLES, 2));
}

#[test]
fn lost_datagrams_cost_the_slots_they_lie_in_and_move_no_other() {
    // 40 datagrams of 363 samples from the 50th on: samples 17 787 to 32 307.
    let net = faulty(&["lose:rx,at=50,run=40"]);
    let mut radio = net.radio();
    let (mut rx, grid) = streaming(&mut radio, &[0]);
    let ends = slots(&net, &mut rx, grid, 40);
    assert_eq!(lost(&ends), [(3, 2213), (4, 5000), (5, 5000), (6, 2307)]);
    assert!(ends.iter().all(|end| !end.overflow));
}

#[test]
fn an_overflow_costs_slots_and_those_behind_keep_their_number() {
    let net = faulty(&["overflow:rx,at=300ms,for=12ms"]);
    let mut radio = net.radio();
    let (mut rx, grid) = streaming(&mut radio, &[0]);
    let ends = slots(&net, &mut rx, grid, 200);
    let missing = lost(&ends);
    assert!((3..=6).contains(&missing.len()), "{missing:?}");
    assert!(missing.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1), "one hole: {missing:?}");
    assert!(ends.iter().all(|end| end.overflow == (end.lost_samples > 0)));
    assert_eq!(rx.stats().overflows, 1);
}

#[test]
fn a_stream_that_is_started_again_counts_from_its_own_start() {
    let net = world();
    let mut radio = net.radio();
    for _ in 0..3 {
        let (mut rx, grid) = streaming(&mut radio, &[0]);
        assert_eq!(lost(&slots(&net, &mut rx, grid, 10)), []);
        rx.stop().unwrap();
    }
}

#[test] // a radio whose command comes too late sends nothing: without a word the run would wait for its first slot for ever
fn a_start_that_comes_too_late_ends_the_stream_with_an_error() {
    let net = faulty(&["delay:requests,every=1,by=40ms"]); // of the three that start it, which is 20 ms ahead
    let mut radio = net.radio();
    let (mut rx, grid) = streaming(&mut radio, &[0]);
    let mut cell = vec![Complex32::default(); SAMPLES as usize];
    let mut slicer = Slicer::new(grid);
    let error = slicer.step(&mut rx, std::iter::once(&mut cell[..]), net.after(ms(500))).unwrap_err();
    let takt_radio::RadioError::StartedLate { by } = error else { panic!("{error}") };
    assert!(by > ms(60) && by < ms(140), "{by:?}");
    assert!(error.fix().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_lost_every_sample_is_in_a_slot_or_missing_of_it(every in 2_u64..200, part in 0.0f64..1.0, overflow_ms in 50_u64..400) {
        let run = 1 + (part * (every - 1) as f64) as u64; // never all of them
        let net = faulty(&[&format!("lose:rx,every={every},run={run}"), &format!("overflow:rx,at={overflow_ms}ms,for=3ms")]);
        let mut radio = net.radio();
        let (mut rx, grid) = streaming(&mut radio, &[0]);
        slots(&net, &mut rx, grid, 120);
    }
}

#[test]
fn a_late_answer_is_counted_once_with_its_slot_however_often_the_radio_says_so() {
    let net = world();
    let mut radio = net.radio();
    let mut answers = ReplyBursts::new(radio.tx_streamer(&TxOptions::new(RATE)).unwrap());
    let burst = vec![Complex32::new(0.25, 0.0); 1500]; // five datagrams
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(10));
    for slot in 0..60_u64 {
        let at = start + Ticks(slot * 500_000);
        // Sent 1 ms ahead; in three slots 3 ms behind.
        let ahead = if matches!(slot, 7 | 8 | 31) { at + CLOCK.ticks_in(ms(3)) } else { at - CLOCK.ticks_in(ms(1)) };
        let now = radio.time().unwrap();
        net.world.run_for(CLOCK.duration_of(ahead - now));
        assert!(answers.send(slot, at, &burst, net.after(ms(1))).unwrap());
        answers.receive(net.after(Duration::ZERO)).unwrap();
    }
    answers.receive(net.after(ms(20))).unwrap();
    assert_eq!((answers.bursts(), answers.late(), answers.unsent()), (60, 3, 0));
    assert_eq!(answers.late_slots(), [7, 8, 31]);
    assert!(answers.stats().unwrap().late > 3, "reports, one a datagram: {:?}", answers.stats());
    assert_eq!(net.report().tx.late, answers.stats().unwrap().late);
}

/// A waveform of a receiver a channel and a transmitter, in slots of 5 ms.
fn waveform(channels: &[i64]) -> (Graph, Registry) {
    let registry = Registry::of_program().unwrap();
    let mut made = Waveform::new("radio", ms(5));
    for &channel in channels {
        let spec = ComponentSpec::new(&format!("rx{channel}"), "radio-receive");
        made = made.with(spec.param("items", SAMPLES as i64).param("channel", channel));
    }
    let transmit = ComponentSpec::new("tx", "radio-transmit").param("advance_us", 2000.0);
    let made = made.with(transmit).link(&format!("rx{}", channels[0]), "tx");
    (Graph::check(&made, &registry).unwrap_or_else(|error| panic!("{error}")), registry)
}

#[test]
fn components_receive_and_answer_slot_for_slot_and_a_lost_slot_is_neither() {
    let net = faulty(&["lose:rx0,at=79,run=22"]); // of 250 samples: 19 500 to 25 000, slots 3 and 4
    let (graph, mut registry) = waveform(&[0, 1]);
    assert!(wants_a_radio(&graph));
    let wanted = RadioRequirements::of(&graph).unwrap();
    assert_eq!((wanted.rate_sps, &wanted.channels[..]), (RATE, &[0, 1][..]));
    let shared = net.clone() as Arc<dyn takt_radio::Net>;
    let mut clock = RadioClock::open(shared, ADDR, &wanted, &OpenOptions::default()).unwrap();
    clock.equip(&mut registry);
    let params = |channel: i64| Params::new().with("items", SAMPLES as i64).with("channel", channel);
    let mut first = Bench::named(&registry, "radio-receive", &params(0)).unwrap();
    let mut second = Bench::named(&registry, "radio-receive", &params(1)).unwrap();
    let advance = Params::new().with("advance_us", 2000.0);
    let mut transmit = Bench::named(&registry, "radio-transmit", &advance).unwrap();
    assert!(Bench::named(&registry, "radio-receive", &params(0)).is_err(), "a receiver serves one component");
    clock.start(None, &Stop::new()).unwrap();
    let grid = clock.grid().unwrap();
    for slot in 0..20 {
        let end = loop {
            if let Some(end) = clock.step(net.after(ms(50))).unwrap() {
                break end;
            }
        };
        assert_eq!((end.slot, end.lost_samples > 0), (slot, (3..5).contains(&slot)));
        let heard = first.tick().output::<Complex32>("out").to_vec();
        assert_eq!(heard, second.tick().output::<Complex32>("out"));
        if heard.is_empty() {
            assert!((3..5).contains(&slot));
            transmit.feed::<Complex32>("in", &[]).tick();
        } else {
            assert_samples(&grid, slot, &heard);
            transmit.feed("in", &heard[..1000]).tick();
        }
    }
    let results = transmit.results();
    let result = |name: &str| results[name].clone();
    assert_eq!((result("answers"), result("missed"), result("late")), (18.into(), 2.into(), 0.into()));
    assert_eq!(result("radio_late"), 0.into());
    // 2 ms ahead but for the way of the last datagram, 20 us: it ends with the slot.
    let takt_graph::Value::Floats(ahead) = result("ahead_us") else { panic!("three numbers") };
    assert!(ahead.iter().all(|us| (1900.0..2000.0).contains(us)), "{ahead:?}");
    assert_eq!(clock.finish().unwrap().receive.unwrap().missing_datagrams, 22);
    assert_eq!(net.report().tx.bursts, 18);
}

/// A world with one X310.
fn world_of_x310() -> Arc<SimNet> {
    let start = MonoNs(1_234_567_000);
    let world = World::starting_at(start, common::LATENCY);
    let std::net::IpAddr::V4(address) = ADDR else { unreachable!("it has an IPv4 address") };
    let options = X310Options { born: Tick(start.0), address, ..X310Options::default() };
    let signals = [(); 2]
        .map(|()| Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(common::Recorder::default()) });
    world.add(ADDR, x310::CLOCK, X310::new(options, signals).expect("an X310"));
    Arc::new(SimNet { world, script: Arc::default() })
}

#[test]
fn an_x310_sets_the_beat_at_a_rate_that_no_n200_has_and_its_late_answers_have_their_slots() {
    let net = world_of_x310();
    let mut registry = Registry::of_program().unwrap();
    let made = Waveform::new("lte", ms(1))
        .with(ComponentSpec::new("rx", "radio-receive").param("items", 1920_i64))
        .with(ComponentSpec::new("tx", "radio-transmit").param("advance_us", 1000.0).param("pauses", true))
        .link("rx", "tx");
    let wanted = RadioRequirements::of(&Graph::check(&made, &registry).unwrap()).unwrap();
    assert_eq!((wanted.model(), wanted.rate_sps), (Model::X310, 1.92e6));
    let shared = net.clone() as Arc<dyn takt_radio::Net>;
    let mut clock = RadioClock::open(shared, ADDR, &wanted, &OpenOptions::default()).unwrap();
    clock.equip(&mut registry);
    let mut receive = Bench::named(&registry, "radio-receive", &Params::new().with("items", 1920_i64)).unwrap();
    let advance = Params::new().with("advance_us", 1000.0).with("pauses", true);
    let mut transmit = Bench::named(&registry, "radio-transmit", &advance).unwrap();
    clock.start(None, &Stop::new()).unwrap();
    let grid = clock.grid().unwrap();
    assert_eq!((grid.step, grid.slot()), (Ticks(96), Ticks(184_320)), "ticks of 184.32 MHz");
    for slot in 0..30 {
        let end = loop {
            if let Some(end) = clock.step(net.after(ms(50))).unwrap() {
                break end;
            }
        };
        assert_eq!(end, SlotEnd { slot, lost_samples: 0, overflow: false });
        let heard = receive.tick().output::<Complex32>("out").to_vec();
        assert_eq!(heard.len(), 1920);
        if slot == 12 {
            net.world.run_until(net.after(ms(2)));
        }
        let answer = if slot % 2 == 0 { &heard[..960] } else { &[] };
        transmit.feed("in", answer).tick();
    }
    let results = transmit.results();
    let result = |name: &str| results[name].clone();
    assert_eq!((result("answers"), result("missed")), (15.into(), 0.into()), "every second slot is silent");
    assert_eq!((result("radio_late"), result("radio_late_slots")), (1.into(), "12".into()));
    assert_eq!(clock.finish().unwrap().receive.unwrap().missing_datagrams, 0);
}

#[test]
fn what_a_waveform_wants_of_its_radio_is_checked_before_one_is_touched() {
    let registry = Registry::of_program().unwrap();
    let receive = |name: &str| ComponentSpec::new(name, "radio-receive").param("items", SAMPLES as i64);
    let of = |made: Waveform| RadioRequirements::of(&Graph::check(&made, &registry).unwrap());
    let new = || Waveform::new("radio", ms(5));
    let twice = of(new().with(receive("a")).with(receive("b")));
    assert!(matches!(twice, Err(RadioRequirementsError::Taken { component }) if component == "b"));
    let second = || receive("b").param("channel", 1_i64);
    let wrong = of(new().with(receive("a")).with(second().param("frequency_hz", 1e9)));
    assert!(
        matches!(wrong, Err(RadioRequirementsError::Different { what: "frequency, gain or antenna", .. })),
        "{wrong:?}"
    );
    let wrong = of(Waveform::new("radio", Duration::from_micros(5003)).with(receive("a")));
    let Err(error @ RadioRequirementsError::Rate { .. }) = wrong else { panic!("{wrong:?}") };
    assert!(error.fix().contains("items = "), "{}", error.fix());
    let wrong = of(new().with(receive("a").param("addr", "nowhere")));
    assert!(matches!(wrong, Err(RadioRequirementsError::Address { .. })), "{wrong:?}");
    let good = of(new().with(receive("a").param("addr", "192.168.10.2")).with(second().param("addr", "192.168.10.2")))
        .unwrap();
    assert_eq!((good.addr, good.transmit), (Some("192.168.10.2".parse().unwrap()), None));
}

#[test]
fn without_a_radio_components_are_silent_so_that_costs_can_be_tried() {
    let registry = Registry::of_program().unwrap();
    let params = Params::new().with("items", 10_i64);
    let mut receive = Bench::named(&registry, "radio-receive", &params).unwrap();
    assert_eq!(receive.tick().output::<Complex32>("out"), [Complex32::default(); 10]);
}
