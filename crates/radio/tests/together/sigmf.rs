//! Recordings in place of radios, and from and to radios: time is kept.

use std::net::IpAddr;
use std::sync::Arc;

use proptest::prelude::*;
use takt_base::{Complex32, MonoNs, Stop, Tick, Ticks, VirtualClock};
use takt_dsp::file::{Existing, SampleFormat};
use takt_dsp::sigmf::{Global, Reader, Writer};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::x310::{self as device, X310Options};
use takt_host::placement::Placement;
use takt_radio::n200::CLOCK;
use takt_radio::sigmf::{PlayPlan, RecordPlan, Recorded, SigmfRx, SigmfTx, play, record};
use takt_radio::x310::{OpenOptions, X310};
use takt_radio::{Burst, RadioError, RxEvent, RxOptions, RxStream, RxStreamer, TxEventKind, TxStream};

use crate::common::{self, ADDR, LATENCY, Ramp, Recorder, SimNet, faulty, ms, ramps, world_with};

const NEVER: MonoNs = MonoNs::NEVER;

fn writer(path: &std::path::Path, rate_sps: f64) -> Writer {
    let mut global = Global::new(SampleFormat::Fc32);
    global.sample_rate_sps = Some(rate_sps);
    Writer::create(path, global, Existing::Keep).unwrap()
}

#[test]
fn bursts_written_to_a_file_are_read_with_their_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bursts");
    let mut tx = SigmfTx::new(writer(&path, 1e6)).unwrap();
    let samples: Vec<Complex32> = (0..1000).map(|n| Complex32::new(n as f32, 0.0)).collect();
    let first = Tick(5_000_000);
    tx.send(&[&samples[..300]], Burst::at(first), NEVER).unwrap();
    tx.send(&[&samples[300..400]], Burst::END, NEVER).unwrap();
    tx.send(&[&samples[400..]], Burst::at(first + Ticks(100_000)).ending(), NEVER).unwrap();
    tx.send(&[&samples], Burst::at(first).ending(), NEVER).unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = tx.event(NEVER).unwrap() {
        kinds.push(event.kind);
    }
    assert_eq!(kinds, [TxEventKind::BurstAck, TxEventKind::BurstAck, TxEventKind::Late]);
    tx.finish().unwrap();

    let mut rx = SigmfRx::open(&path).unwrap();
    let mut buffer = vec![Complex32::default(); 350];
    let mut got = Vec::new();
    let mut next = first;
    loop {
        let received = rx.recv(&mut [&mut buffer], NEVER).unwrap();
        assert_eq!(received.first, next);
        got.extend_from_slice(&buffer[..received.samples]);
        next += Ticks(received.samples as u64 * 100);
        match received.event {
            Some(RxEvent::Dropped { lost, .. }) => {
                assert_eq!((got.len(), lost), (400, 600));
                next += Ticks(lost * 100);
            }
            Some(RxEvent::EndOfBurst) => break,
            None => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got, samples);
    assert_eq!(rx.recv(&mut [&mut buffer], NEVER).unwrap().samples, 0);
}

#[test]
fn what_a_radio_loses_is_a_gap_of_its_length_in_the_recording() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("radio");
    let net = faulty(&["lose:rx,every=60,run=3"]);
    let (mut radio, mut rx) = net.receiver(1e6);
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).unwrap();
    let utc = Some((start, 1_700_000_000_000_000_000));
    let plan = RecordPlan { samples: Some(100_000), frequency_hz: Some(900e6), utc, ..RecordPlan::default() };
    let (recorded, metadata) = record(&mut rx, &*net, writer(&path, 1e6), &plan, &mut |_| (), &Stop::new()).unwrap();
    assert!(recorded.complete && recorded.lost_to_disk == 0);
    assert_eq!(recorded.samples + recorded.lost_samples, 100_000);
    assert_eq!(recorded.lost_samples, recorded.gaps * 3 * 363);
    assert_eq!(metadata.captures.len() as u64, recorded.gaps + 1);
    assert_eq!(metadata.captures[0].datetime.as_deref(), Some("2023-11-14T22:13:20.000000000Z"));
    assert_eq!(metadata.captures[0].frequency_hz, Some(900e6));

    // Every sample of the file is the one its time says.
    let mut again = SigmfRx::open(&path).unwrap();
    let mut buffer = vec![Complex32::default(); 1000];
    let mut seen = 0;
    loop {
        let received = again.recv(&mut [&mut buffer], NEVER).unwrap();
        for (n, sample) in buffer[..received.samples].iter().enumerate() {
            let want = Ramp::at(received.first.0 + n as u64 * 100 + common::BORN_TICK).re;
            assert!((sample.re - want).abs() < 1e-3, "{sample} at {}", received.first);
        }
        seen += received.samples as u64;
        if received.event == Some(RxEvent::EndOfBurst) {
            break;
        }
    }
    assert_eq!(seen, recorded.samples);
}

#[test] // the streamer is idle then: without a word the recording would wait for its first sample for ever
fn a_start_that_comes_too_late_ends_the_recording_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let net = faulty(&["delay:requests,every=1,by=40ms"]); // of the three that start it, which is 20 ms ahead
    let (mut radio, mut rx) = net.receiver(1e6);
    rx.start(Some(radio.time().unwrap() + CLOCK.ticks_in(ms(20)))).unwrap();
    let plan = RecordPlan { samples: Some(100_000), ..RecordPlan::default() };
    // It ends by itself; what it would wait for for ever is cut short here, so that the test fails.
    let (stop, mut looks) = (Stop::new(), 0);
    let mut progress = |_| {
        looks += 1;
        if looks == 100 {
            stop.request();
        }
    };
    let path = dir.path().join("late");
    let error = record(&mut rx, &*net, writer(&path, 1e6), &plan, &mut progress, &stop).unwrap_err();
    let RadioError::StartedLate { by } = error else { panic!("{error}") };
    assert!(by > ms(60) && by < ms(140), "{by:?}");
    assert!(Reader::open(&path).is_ok(), "what there is of it is readable");
}

/// Records `samples` samples as `takt record` does: from 100 ms ahead on, which is as long as a stream may be silent. Ends after
/// `looks` calls of the stream at the latest.
fn recorded_from_ahead(rx: &mut RxStreamer, now: Tick, net: &SimNet, samples: u64, looks: u32) -> Recorded {
    let dir = tempfile::tempdir().unwrap();
    let writer = writer(&dir.path().join("ahead"), rx.rate_sps());
    rx.start(Some(now + rx.tick_rate().ticks_in(ms(100)))).unwrap();
    let plan = RecordPlan { samples: Some(samples), ..RecordPlan::default() };
    let (stop, mut looked) = (Stop::new(), 0);
    let mut progress = |_| {
        looked += 1;
        if looked == looks {
            stop.request();
        }
    };
    record(rx, net, writer, &plan, &mut progress, &stop).unwrap().0
}

/// A world with one X310 that receives a ramp, opened.
fn x310() -> (Arc<SimNet>, X310) {
    let (start, IpAddr::V4(address)) = (MonoNs(1_000_000_000), ADDR) else { unreachable!("it has an IPv4 address") };
    let world = World::starting_at(start, LATENCY);
    let options = X310Options { born: Tick(start.0), address, ..X310Options::default() };
    let device = device::X310::new(options, [ramps(), ramps()]).unwrap();
    world.add(ADDR, device::CLOCK, Faulty::new(device, vec![], Tick(start.0), device::CLOCK));
    let net = Arc::new(SimNet { world, script: Arc::default() });
    let radio = X310::open(net.clone(), ADDR, &OpenOptions::default()).unwrap();
    (net, radio)
}

#[test]
fn a_clean_recording_waits_for_its_first_sample_without_a_timeout() {
    let net = faulty(&[]);
    let (mut radio, mut rx) = net.receiver(1e6);
    let of_n200 = recorded_from_ahead(&mut rx, radio.time().unwrap(), &net, 100_000, 100);
    let (net, mut radio) = x310();
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
    let of_x310 = recorded_from_ahead(&mut rx, radio.time().unwrap(), &net, 100_000, 100);
    for (model, recorded) in [("N200", of_n200), ("X310", of_x310)] {
        assert_eq!((recorded.samples, recorded.lost_samples, recorded.timeouts), (100_000, 0, 0), "{model}");
        assert!(recorded.complete, "{model}");
    }
}

#[test]
fn a_radio_that_sends_nothing_is_timed_out_from_when_its_first_sample_was_due() {
    let net = faulty(&["lose:rx,every=1"]);
    let (mut radio, mut rx) = net.receiver(1e6);
    let recorded = recorded_from_ahead(&mut rx, radio.time().unwrap(), &net, 100_000, 6);
    assert_eq!((recorded.samples, recorded.timeouts, recorded.complete), (0, 5, false), "all but the first 100 ms");
}

#[test]
fn a_recording_is_whole_if_samples_came_and_none_is_missing_of_those_requested() {
    let all = Recorded { samples: 1000, complete: true, ..Recorded::default() };
    assert!(all.is_whole(Some(1000)));
    let stopped = Recorded { complete: false, ..all.clone() };
    assert!(stopped.is_whole(None) && !stopped.is_whole(Some(2000)), "without a length Ctrl-C is its end");
    assert!(!Recorded { lost_samples: 1, ..all.clone() }.is_whole(Some(1001)));
    assert!(!Recorded { samples: 0, ..stopped }.is_whole(None), "nothing came");
}

#[test]
fn a_recording_is_played_with_its_gaps_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("play");
    let mut tx = SigmfTx::new(writer(&path, 1e6)).unwrap();
    let samples: Vec<Complex32> = (0..2000).map(|n| Complex32::new(n as f32 / 4000.0, 0.0)).collect();
    tx.send(&[&samples[..1500]], Burst::at(Tick(0)).ending(), NEVER).unwrap();
    tx.send(&[&samples[1500..]], Burst::at(Tick(500_000)).ending(), NEVER).unwrap();
    tx.finish().unwrap();

    let recorder = Recorder::default();
    let signals = Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(recorder.clone()) };
    let net = world_with(N200Options::default(), signals);
    let (mut radio, mut tx) = net.transmitter(1e6);
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    let plan = PlayPlan { start, lead: ms(20), times: 2, placement: Placement::default() };
    let played = play(Reader::open(&path).unwrap(), &mut tx, &*net, plan, &mut |_| (), &Stop::new()).unwrap();
    // The second turn follows without a gap, so its first burst is one with the last of the first: U S L stay 0.
    assert_eq!((played.samples, played.complete), (4000, true), "{played:?}");
    assert_eq!((played.underflows, played.sequence_errors, played.late, played.timeouts), (0, 0, 0, 0));
    assert_eq!((played.bursts, played.burst_acks), (4, 4));
    let blocks = recorder.0.lock().unwrap();
    for (first, step, block) in blocks.iter() {
        let index = (first.0 - start.0 - common::BORN_TICK) / 100 % 5500;
        for (n, sample) in block.iter().enumerate() {
            let at = index as usize + n;
            let want = if at < 1500 { samples[at] } else { samples[1500 + at - 5000] };
            assert!((sample - want).norm() < 1e-3, "{sample} at {at}, want {want}");
        }
        assert_eq!(*step, 100);
    }
    assert_eq!(blocks.iter().map(|(.., block)| block.len()).sum::<usize>(), 4000);
}

#[test] // F4: nothing was played, and that was right. F5: what lies before was played
fn a_recording_of_another_program_begins_with_its_first_capture() {
    let samples: Vec<Complex32> = (0..3000).map(|n| Complex32::new(n as f32 / 4000.0, 0.0)).collect();
    for (captures, begins) in [("", 0), (r#"{"core:sample_start": 1000}"#, 1000)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("foreign");
        let global = r#""core:datatype": "cf32_le", "core:version": "1.2.0", "core:sample_rate": 1e6"#;
        let meta = format!(r#"{{"global": {{{global}}}, "captures": [{captures}], "annotations": []}}"#);
        std::fs::write(path.with_extension("sigmf-meta"), meta).unwrap();
        let bytes: Vec<u8> = samples.iter().flat_map(|x| [x.re, x.im]).flat_map(f32::to_le_bytes).collect();
        std::fs::write(path.with_extension("sigmf-data"), bytes).unwrap();

        let mut rx = SigmfRx::open(&path).unwrap();
        let mut buffer = vec![Complex32::default(); 4000];
        let received = rx.recv(&mut [&mut buffer], NEVER).unwrap();
        assert_eq!((received.samples, received.event), (3000 - begins, Some(RxEvent::EndOfBurst)));
        assert_eq!(buffer[..3000 - begins], samples[begins..]);

        let recorder = Recorder::default();
        let signals = Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(recorder.clone()) };
        let net = world_with(N200Options::default(), signals);
        let (mut radio, mut tx) = net.transmitter(1e6);
        let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
        let plan = PlayPlan { start, lead: ms(20), times: 1, placement: Placement::default() };
        let played = play(Reader::open(&path).unwrap(), &mut tx, &*net, plan, &mut |_| (), &Stop::new()).unwrap();
        let all = (played.samples, played.bursts, played.burst_acks, played.clipped_samples, played.complete);
        assert_eq!(all, (3000 - begins as u64, 1, 1, 0, true), "{played:?}");
        let blocks = recorder.0.lock().unwrap();
        assert_eq!(blocks[0].0, start + Ticks(common::BORN_TICK));
        let sent: Vec<Complex32> = blocks.iter().flat_map(|(.., block)| block.clone()).collect();
        assert_eq!(sent.len(), 3000 - begins);
        assert!(sent.iter().zip(&samples[begins..]).all(|(sent, sample)| (sent - sample).norm() < 1e-3));
    }
}

/// The radio's buffer holds a quarter of a second of this: it is full long before a burst begins, and right to be.
#[test]
fn a_radio_that_waits_for_a_burst_is_not_timed_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long");
    let mut tx = SigmfTx::new(writer(&path, 1e6)).unwrap();
    let samples = vec![Complex32::new(0.25, 0.0); 400_000];
    tx.send(&[&samples], Burst::at(Tick(0)).ending(), NEVER).unwrap();
    tx.send(&[&samples], Burst::at(Tick(100_000_000)).ending(), NEVER).unwrap();
    tx.finish().unwrap();

    let net = world_with(
        N200Options::default(),
        Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) },
    );
    let (mut radio, mut tx) = net.transmitter(1e6);
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(400));
    let plan = PlayPlan { start, lead: ms(400), times: 1, placement: Placement::default() };
    let played = play(Reader::open(&path).unwrap(), &mut tx, &*net, plan, &mut |_| (), &Stop::new()).unwrap();
    assert_eq!((played.samples, played.burst_acks, played.timeouts), (800_000, 2, 0), "{played:?}");
}

#[test]
fn a_recording_without_a_rate_is_no_stream() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("norate");
    Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap().finish().unwrap();
    assert!(matches!(SigmfRx::open(&path), Err(RadioError::File(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any bursts, written and read in calls of any size, keep every sample and every gap.
    #[test]
    fn time_is_kept(bursts in prop::collection::vec((1usize..400, 0u64..50), 1..12), call in 1usize..500) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("any");
        let mut tx = SigmfTx::new(writer(&path, 25e6)).unwrap();
        let (mut at, mut value, mut want) = (Tick(1000), 0.0, Vec::new());
        for &(samples, gap) in &bursts {
            at += Ticks(gap * 4);
            let block: Vec<Complex32> = (0..samples).map(|n| Complex32::new(value + n as f32, 0.0)).collect();
            want.extend(block.iter().enumerate().map(|(n, sample)| (at.0 + n as u64 * 4, *sample)));
            tx.send(&[&block], Burst::at(at).ending(), NEVER).unwrap();
            value += samples as f32;
            at += Ticks(samples as u64 * 4);
        }
        tx.finish().unwrap();
        let mut rx = SigmfRx::open(&path).unwrap();
        let mut buffer = vec![Complex32::default(); call];
        let mut got = Vec::new();
        loop {
            let received = rx.recv(&mut [&mut buffer], NEVER).unwrap();
            got.extend(buffer[..received.samples].iter().enumerate().map(|(n, s)| (received.first.0 + n as u64 * 4, *s)));
            if received.event == Some(RxEvent::EndOfBurst) {
                break;
            }
        }
        prop_assert_eq!(got, want);
    }
}

#[test]
fn the_virtual_clock_is_a_clock_for_files() {
    // Recording from a file needs no radio: the stream is whatever it is.
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let mut tx = SigmfTx::new(writer(&from, 1e6)).unwrap();
    tx.send(&[&[Complex32::new(0.25, 0.5); 777]], Burst::at(Tick(42_000)).ending(), NEVER).unwrap();
    tx.finish().unwrap();
    let clock = VirtualClock::starting_at(MonoNs(0));
    let mut rx = SigmfRx::open(&from).unwrap();
    let (recorded, _) =
        record(&mut rx, &clock, writer(&to, 1e6), &RecordPlan::default(), &mut |_| (), &Stop::new()).unwrap();
    assert_eq!((recorded.samples, recorded.first_tick, recorded.complete), (777, Some(42_000), true));
}
