//! The driver of an X310 and a software X310 in a world on a virtual clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, Complex32, MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::signals::Signals;
use takt_emulator::x310::{self as device, Uhd, X310Options};
use takt_radio::n200::{self, ClockSource};
use takt_radio::x310::{CLOCK, MasterClock, OpenOptions, X310};
use takt_radio::{
    AnyIdentity, AnyOptions, Burst, FoundRadio, FoundState, Net, Radio, RadioError, RxEvent, RxOptions, RxStream,
    RxStreamer, TxEventKind, TxOptions, TxStream, find,
};
use takt_wire::x310::registers::{board, shared};
use takt_wire::x310::{Firmware, FrameProbe, ports};

use crate::common::{self, ADDR, Action, LATENCY, Ramp, Recorder, SimNet, Way, ms};

/// When the world begins and the radio is switched on.
const START: MonoNs = MonoNs(1_234_567_000);
/// 100 MS/s: two ticks a sample.
const RATE_SPS: f64 = 100e6;
const STEP: u64 = 2;

/// A world with one X310 that receives a ramp on both channels, and what it is played.
fn world(faults: &[&str]) -> (Arc<SimNet>, [Recorder; 2]) {
    world_serving(Uhd::default(), faults)
}

/// The same with an X310 that has the image of a release of UHD.
fn world_serving(uhd: Uhd, faults: &[&str]) -> (Arc<SimNet>, [Recorder; 2]) {
    let world = World::starting_at(START, LATENCY);
    let played = [Recorder::default(), Recorder::default()];
    let signals =
        played.clone().map(|recorder| Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(recorder) });
    let options = X310Options { born: Tick(START.0), address: address(), ..X310Options::serving(uhd) };
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

#[test] // it would follow its own all the same, and say that it is locked
fn a_reference_other_than_its_own_is_refused_before_it_is_touched() {
    let (net, _) = world(&[]);
    let with = |reference| AnyOptions {
        n200: n200::OpenOptions { reference, ..n200::OpenOptions::default() },
        frame_bytes: None,
        clock: MasterClock::default(),
    };
    for (reference, said) in
        [(ClockSource::External, "--reference external: "), (ClockSource::Mimo, "--reference mimo: ")]
    {
        let error = Radio::open(net.clone(), ADDR, &with(reference)).err().expect("a refusal");
        assert!(matches!(error, RadioError::OwnReference { addr: ADDR, .. }), "{error}");
        assert!(error.to_string().starts_with(said) && error.fix().is_some(), "{error}");
    }
    let mut radio = Radio::open(net.clone(), ADDR, &with(ClockSource::Internal)).expect("a radio that opens");
    assert!(radio.reference_locked().expect("it says so"));
}

#[test]
fn datagrams_too_short_for_streams_are_refused_with_what_is_needed() {
    let (net, _) = world(&[]);
    let opened = |frame_bytes| X310::open(net.clone(), ADDR, &OpenOptions { frame_bytes, ..OpenOptions::default() });
    for frame_bytes in [0, 8, 16, 575] {
        let error = opened(frame_bytes).err().expect("too short");
        assert_eq!(
            error.to_string(),
            format!("largest datagram of an X310, bytes: {frame_bytes} is outside 576 to 8000")
        );
    }
    let mut radio = opened(576).expect("the least");
    assert_eq!(radio.rx_streamer(&options(&[0])).expect("a stream").samples_per_datagram(), 140);
    let none = RxOptions { samples_per_datagram: Some(0), ..options(&[0]) };
    assert!(matches!(radio.rx_streamer(&none), Err(RadioError::Range { what: "samples in a datagram", .. })));
    drop(radio);
    net.tamper(|_, _, bytes| if bytes.len() > 100 && is_probe(bytes) { Action::Lose } else { Action::Pass });
    let error = opened(8000).err().expect("the way carries no more");
    assert!(matches!(error, RadioError::ShortFrames { addr: ADDR, least: 576 }), "{error}");
    assert!(error.fix().is_some());
    net.tamper(|_, _, bytes| if bytes.len() > 1400 && is_probe(bytes) { Action::Lose } else { Action::Pass });
    assert_eq!(opened(8000).expect("it carries enough").frame_bytes(), 1400);
}

fn is_probe(bytes: &[u8]) -> bool {
    FrameProbe::parse(bytes).is_ok()
}

#[test]
fn an_x310_that_does_not_say_who_has_it_spoils_no_search() {
    let (net, _) = world(&[]);
    let claim = shared::BASE + 4 * shared::CLAIM_STATUS;
    net.tamper(move |way, port, bytes| {
        let asks = way == Way::Out && port == ports::FIRMWARE;
        match Firmware::parse(bytes) {
            Ok(request) if asks && request.address == claim => Action::Lose,
            _ => Action::Pass,
        }
    });
    let net: Arc<dyn Net> = net;
    let found = find(&net, Some(ADDR)).expect("a search");
    let [FoundRadio { addr: ADDR, identity: Some(AnyIdentity::X310(_)), state: FoundState::Unsuitable { why } }] =
        &found[..]
    else {
        panic!("{found:?}")
    };
    assert!(why.contains("no longer answers (a peek"), "{why}");
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
                let want = Ramp::word(received.first.0 + i * STEP + offset);
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

/// A stream of one channel that has started, and when.
fn streaming(net: &Arc<SimNet>) -> (X310, RxStreamer, Tick) {
    let mut radio = open(net);
    let mut rx = radio.rx_streamer(&options(&[0])).expect("a stream");
    let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).expect("it starts");
    (radio, rx, start)
}

#[test]
fn d_lost_datagrams_are_counted_to_the_sample_and_cost_no_credit() {
    // 4 MB of credit are 525 datagrams: of many times that, a hundredth is lost.
    let (net, _) = world(&["lose:rx,every=100"]);
    let (_radio, mut rx, start) = streaming(&net);
    let full = rx.samples_per_datagram() as u64;
    let events = receive(&mut rx, start, 10_000, 10_000_000, net.now() + ms(1000));
    let one = |event: &RxEvent| matches!(*event, RxEvent::Dropped { channel: 0, datagrams: 1, lost } if lost == full);
    assert!(events.len() >= 45 && events.iter().all(one), "{events:?}");
    assert_eq!((rx.stats().missing_datagrams, rx.stats().uncorroborated_gaps), (events.len() as u64, 0));
}

#[test]
fn d_damaged_datagrams_are_lost_and_nothing_else_is() {
    for damage in ["header", "length"] {
        let (net, _) = world(&[&format!("corrupt:rx,every=97,where={damage},limit=20")]);
        let (_radio, mut rx, start) = streaming(&net);
        let full = rx.samples_per_datagram() as u64;
        let events = receive(&mut rx, start, 10_000, 8_000_000, net.now() + ms(1000));
        let whole = |event: &RxEvent| matches!(*event, RxEvent::Dropped { lost, .. } if lost.is_multiple_of(full));
        assert!(!events.is_empty() && events.len() <= 20 && events.iter().all(whole), "{damage}: {events:?}");
    }
}

#[test]
fn o_an_overrun_is_one_event_and_the_stream_goes_on_aligned() {
    let (net, _) = world(&["overflow:rx,at=2000,for=1ms"]);
    let (_radio, mut rx, start) = streaming(&net);
    let events = receive(&mut rx, start, 10_000, 10_000_000, net.now() + ms(1000));
    let [RxEvent::Overflow { channel: 0, lost }] = events[..] else { panic!("{events:?}") };
    assert!((100_000..2_000_000).contains(&lost), "{lost}");
    assert_eq!(rx.stats().overflows, 1);
}

#[test]
fn o_a_radio_that_lost_its_credit_in_an_outage_streams_on() {
    // 4 MB of credit are 10 ms, and what waits for it 20 ms: the report of the overrun comes through, is lost, and long since lost.
    for (outage_ms, samples) in [(20, 80_000_000), (60, 80_000_000), (400, 120_000_000)] {
        let (net, _) = world(&[&format!("stall:all,at=+20ms,for={outage_ms}ms")]);
        let mut radio = open(&net);
        let options = RxOptions { recv_buffer_bytes: 4 << 20, ..options(&[0]) };
        let mut rx = radio.rx_streamer(&options).expect("a stream");
        let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
        rx.start(Some(start)).expect("it starts");
        let events = receive(&mut rx, start, 10_000, samples, net.now() + ms(5000));
        let counted = |event: &RxEvent| matches!(event, RxEvent::Dropped { .. } | RxEvent::Overflow { .. });
        assert!(events.iter().all(counted), "{outage_ms}: {events:?}");
        assert!(rx.stats().overflows > 0, "{outage_ms}: {events:?}");
        assert_eq!(rx.stats().bad_datagrams, 0, "{outage_ms}");
    }
}

#[test]
fn what_nobody_read_of_a_stream_that_ended_costs_the_next_no_credit() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let mut rx = radio.rx_streamer(&options(&[0])).expect("a stream");
    rx.start(None).expect("it starts");
    net.world.run_until(net.now() + ms(200));
    rx.stop().expect("it stops");
    let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).expect("it starts again");
    assert_eq!(receive(&mut rx, start, 10_000, 10_000_000, net.now() + ms(1000)), []);
}

#[test]
fn a_burst_ends_with_its_last_sample_and_a_stream_when_it_is_stopped() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let mut rx = radio.rx_streamer(&options(&[0])).expect("a stream");
    let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
    rx.burst(12_345, Some(start)).expect("a burst");
    let again = start + CLOCK.ticks_in(ms(10));
    rx.burst(1, Some(again)).expect("another");
    assert_eq!(receive(&mut rx, start, 20_000, 12_345, net.now() + ms(100)), [RxEvent::EndOfBurst]);
    assert_eq!(receive(&mut rx, again, 20_000, 1, net.now() + ms(100)), [RxEvent::EndOfBurst]);
    rx.start(None).expect("it starts");
    let mut buffer = vec![Complex32::default(); 1000];
    assert_eq!(rx.recv(&mut [&mut buffer], net.now() + ms(100)).expect("samples").samples, 1000);
    rx.stop().expect("it stops");
    let ended = (0..1000).find_map(|_| rx.recv(&mut [&mut buffer], net.now() + ms(100)).expect("samples").event);
    assert_eq!(ended, Some(RxEvent::EndOfBurst));
}

#[test]
fn l_a_command_that_comes_too_late_says_by_how_much() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let mut rx = radio.rx_streamer(&options(&[0])).expect("a stream");
    let past = radio.time().expect("its time");
    net.world.run_until(net.now() + ms(10));
    rx.burst(1000, Some(past)).expect("it is given");
    let mut buffer = vec![Complex32::default(); 1000];
    let received = rx.recv(&mut [&mut buffer], net.now() + ms(100)).expect("a report");
    let Some(RxEvent::Late { channel: 0, by }) = received.event else { panic!("{received:?}") };
    assert!(CLOCK.duration_of(by) >= ms(10), "{by:?}");
}

/// A signal that numbers its samples.
fn numbered(count: usize) -> Vec<Complex32> {
    (0..count).map(|n| Complex32::new((n % 1000) as f32 / 2000.0, -0.25)).collect()
}

type Shared = Arc<Mutex<Vec<common::Played>>>;

/// Played samples, in a row: the tick of the first, and the samples.
fn in_a_row(played: &Shared) -> (u64, Vec<Complex32>) {
    let played = played.lock().expect("ours");
    let mut next = played.first().expect("something was played").0.0;
    let first = next;
    let mut all = Vec::new();
    for (tick, step, samples) in played.iter() {
        assert_eq!(tick.0, next, "a gap");
        next = tick.0 + u64::from(*step) * samples.len() as u64;
        all.extend_from_slice(samples);
    }
    (first, all)
}

#[test]
fn a_timed_burst_on_two_channels_leaves_at_its_tick_whole_and_is_acknowledged() {
    let (net, played) = world(&[]);
    let mut radio = open(&net);
    let mut tx = radio.tx_streamer(&TxOptions { channels: vec![0, 1], ..TxOptions::new(RATE_SPS) }).expect("a stream");
    // Many times what the radio has room for.
    let samples = numbered(20_000_000 / 4);
    let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
    let taken = tx.send(&[&samples, &samples], Burst::at(start).ending(), net.now() + ms(2000)).expect("it is sent");
    assert_eq!(taken, samples.len());
    for _ in 0..2 {
        let event = tx.event(net.now() + ms(500)).expect("a radio").expect("an acknowledgement");
        assert_eq!(event.kind, TxEventKind::BurstAck, "{event:?}");
    }
    for recorder in &played {
        let (first, all) = in_a_row(&recorder.0);
        assert_eq!(first, start.0 + clock_offset());
        assert_eq!(all.len(), samples.len());
        let close = |(a, b): (&Complex32, &Complex32)| (a - b).norm() < 1e-3;
        assert!(all.iter().zip(&samples).all(close));
    }
    let stats = tx.stats();
    assert_eq!((stats.underflows, stats.sequence_errors, stats.late, stats.foreign_reports), (0, 0, 0, 0));
    assert!(stats.waits > 0, "it was faster than the radio");
}

#[test]
fn s_datagrams_lost_on_the_way_are_reported_and_cost_no_credit() {
    let (net, _) = world(&["lose:tx,every=50"]);
    let mut radio = open(&net);
    let mut tx = radio.tx_streamer(&TxOptions::new(RATE_SPS)).expect("a stream");
    // 40 MB, of which 800 kB are lost.
    let samples = numbered(1_000_000);
    for _ in 0..10 {
        let taken = tx.send(&[&samples], Burst::GO_ON, net.now() + ms(1000)).expect("it is sent");
        assert_eq!(taken, samples.len(), "credit leaks");
    }
    tx.send(&[&[]], Burst::END, net.now() + ms(1000)).expect("it ends");
    while tx.event(net.now() + ms(100)).expect("a radio").is_some() {}
    let stats = tx.stats();
    let lost = stats.datagrams / 50;
    assert!(stats.sequence_errors.abs_diff(lost) <= 1, "{} of {lost}", stats.sequence_errors);
}

#[test]
fn s_a_whole_window_lost_on_the_way_costs_no_credit() {
    // The radio has room for 5 ms, and what it says and is told of it can be lost, too.
    for lost in ["tx", "all"] {
        let (net, _) = world(&[&format!("stall:{lost},at=+50ms,for=300ms")]);
        let mut radio = open(&net);
        let mut tx = radio.tx_streamer(&TxOptions::new(RATE_SPS)).expect("a stream");
        let samples = numbered(1_000_000);
        for n in 0..20 {
            let taken = tx.send(&[&samples], Burst::GO_ON, net.now() + ms(2000)).expect("it is sent");
            assert_eq!(taken, samples.len(), "{lost}: credit is gone in call {n}");
        }
        tx.send(&[&[]], Burst::END, net.now() + ms(1000)).expect("it ends");
        while tx.event(net.now() + ms(100)).expect("a radio").is_some() {}
        let stats = tx.stats();
        // Without its words the host sends nothing that could be lost.
        let errors = u64::from(lost == "tx");
        assert_eq!((stats.sequence_errors, stats.foreign_reports), (errors, 0), "{lost}: {stats:?}");
    }
}

#[test]
fn u_a_burst_that_runs_out_of_samples_is_an_underflow() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let mut tx = radio.tx_streamer(&TxOptions { channels: vec![1], ..TxOptions::new(RATE_SPS) }).expect("a stream");
    tx.send(&[&numbered(10_000)], Burst::GO_ON, net.now() + ms(100)).expect("it is sent");
    let event = tx.event(net.now() + ms(500)).expect("a radio").expect("a report");
    assert_eq!((event.kind, event.channel), (TxEventKind::Underflow, 0));
}

#[test]
fn a_radio_that_another_host_uses_is_refused_and_taken_by_force() {
    let (net, _) = world(&[]);
    let first = open(&net);
    // On a virtual clock the first host gives no sign while the second one waits, so its claim lapses; with force nobody waits.
    let second = X310::open(net.clone(), ADDR, &OpenOptions { force: true, ..OpenOptions::default() });
    let second = second.expect("it is taken");
    net.world.run_until(net.now() + Duration::from_secs(2));
    assert!(matches!(first.check(), Err(RadioError::TakenOver { .. })), "{:?}", first.check());
    drop(first);
    assert!(second.check().is_ok());
}

/// Protocols 1.0 and 2.0 have other control packets, radio blocks 0.1 and 1.0 other registers (x310.md 18).
#[test]
fn a_radio_with_the_image_of_any_release_of_uhd_streams_both_ways() {
    for uhd in ["4.3", "4.9", "4.10", "4.11", "auto"] {
        let (net, played) = world_serving(uhd.parse().expect("a release"), &[]);
        let mut radio = open(&net);
        let mut rx = radio.rx_streamer(&options(&[0, 1])).expect("a stream");
        let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
        rx.start(Some(start)).expect("it starts");
        assert_eq!(receive(&mut rx, start, 10_000, 100_000, net.now() + ms(500)), [], "{uhd}");
        rx.stop().expect("it stops");
        drop(rx);
        // Its message is acknowledged, as that of the burst below.
        let mut late = radio.rx_streamer(&options(&[0])).expect("a stream");
        late.burst(1000, Some(start)).expect("it is given");
        let mut buffer = vec![Complex32::default(); 100];
        let received = late.recv(&mut [&mut buffer], net.now() + ms(100)).expect("a report");
        assert!(matches!(received.event, Some(RxEvent::Late { .. })), "{uhd}: {received:?}");
        let wish = TxOptions { channels: vec![0, 1], ..TxOptions::new(RATE_SPS) };
        let mut tx = radio.tx_streamer(&wish).expect("a stream");
        let (samples, start) = (numbered(50_000), radio.time().expect("its time") + CLOCK.ticks_in(ms(20)));
        tx.send(&[&samples, &samples], Burst::at(start).ending(), net.now() + ms(100)).expect("it is sent");
        for _ in 0..2 {
            let event = tx.event(net.now() + ms(500)).expect("a radio").expect("an acknowledgement");
            assert_eq!(event.kind, TxEventKind::BurstAck, "{uhd}: {event:?}");
        }
        for recorder in &played {
            let (first, all) = in_a_row(&recorder.0);
            assert_eq!((first, all.len()), (start.0 + clock_offset(), samples.len()), "{uhd}");
        }
        let control = net.world.device(ADDR, |radio: &mut Faulty<device::X310>| radio.device().report().control);
        let wrong = (control.malformed_datagrams, control.dropped_commands, control.unserved_hosts);
        assert_eq!(wrong, (0, 0, 0), "{uhd}: {control:?}");
    }
}

#[test]
fn a_radio_of_a_protocol_that_takt_does_not_know_is_refused_with_those_it_knows() {
    let (net, _) = world(&[]);
    let address = board::BASE + 4 * board::RFNOC_INFO;
    net.tamper(move |way, port, bytes| match Firmware::parse(bytes) {
        Ok(reply) if way == Way::In && port == ports::FIRMWARE && reply.address == address => {
            let mut bytes = vec![0; Firmware::BYTES];
            Firmware { data: 0x0040_0301, ..reply }.write(&mut bytes).expect("room");
            Action::Become(bytes)
        }
        _ => Action::Pass,
    });
    let error = X310::open(net.clone(), ADDR, &OpenOptions::default()).err().expect("a refusal");
    let said = "127.0.4.1:49153 has version 3.1 of the RFNoC protocol; this driver knows 1 and 2";
    assert_eq!(error.to_string(), said);
    assert!(error.fix().is_some());
}

#[test]
fn what_a_radio_has_not_is_refused_by_name() {
    let (net, _) = world(&[]);
    let mut radio = open(&net);
    let refused =
        |radio: &mut X310, options: &RxOptions| radio.rx_streamer(options).err().expect("an error").to_string();
    assert_eq!(
        refused(&mut radio, &RxOptions::new(22e6)),
        "22000000 S/s is not 200000000 Hz divided by a whole number that the radio supports"
    );
    assert_eq!(refused(&mut radio, &options(&[2])), "receive channel 2 is outside 0 to 1");
    assert_eq!(refused(&mut radio, &options(&[1, 1])), "receive channel 1 is outside 0 to 1");
    let format = RxOptions { format: takt_wire::sample::Format::Sc8, ..options(&[0]) };
    assert_eq!(refused(&mut radio, &format), "the radio has no sample format `sc8`; it has sc16");
}
