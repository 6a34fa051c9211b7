//! Signals of a transmitter at a receiver on the same cable, judged by the signal that was meant.

use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use takt_base::{Complex32, Tick, TickRate, Ticks};
use takt_dsp::{HALF_SPAN, Rotation, estimate_tone, noise, tone};
use takt_emulator::loopback::{self, LoopbackSink, LoopbackSource};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;

const CLOCK: TickRate = TickRate::from_hz(100_000_000).unwrap();
const MIDDLE: BurstEdges = BurstEdges { start: false, end: false };
const WHOLE: BurstEdges = BurstEdges { start: true, end: true };

/// The 255 steps of an N200.
fn legal() -> Vec<u32> {
    (2..=128).chain((130..=256).step_by(2)).chain((260..=512).step_by(4)).collect()
}

fn span(a: u32, b: u32) -> u64 {
    u64::from(HALF_SPAN) * u64::from(a.max(b))
}

/// Sends `n` samples of a tone of `hz` from `first` on, in packets.
fn send_tone(sink: &mut LoopbackSink, hz: f64, amplitude: f32, first: u64, step: u32, n: usize) {
    let mut all = vec![Complex32::default(); n];
    tone(Rotation::from_hz(hz, CLOCK), amplitude, Tick(first), step, &mut all);
    for (k, packet) in all.chunks(363).enumerate() {
        sink.take(Tick(first + (k * 363) as u64 * u64::from(step)), step, packet, MIDDLE);
    }
}

fn receive(source: &mut LoopbackSource, first: u64, step: u32, n: usize) -> Vec<Complex32> {
    let mut out = vec![Complex32::new(9.0, 9.0); n];
    source.fill(Tick(first), step, &mut out);
    out
}

#[test]
fn a_tone_is_incoming_at_every_rate_with_its_amplitude_frequency_and_phase() {
    let every = legal();
    assert_eq!(every.len(), 255);
    for (index, &i) in every.iter().enumerate() {
        // Each transmit step with four receive steps, so that each receive step has its turn as well.
        for d in [i, every[(index * 7 + 3) % 255], 4, 512] {
            let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 19);
            let slower = i.max(d);
            let hz = 0.3 * 100e6 / f64::from(slower);
            let (first, n) = (1_000_003, 200);
            let margin = span(i, d) + 600;
            let sent = (2 * margin + n as u64 * u64::from(d)) / u64::from(i) + 2;
            send_tone(&mut sink, hz, 0.7, first - margin, i, sent as usize);
            let received = receive(&mut source, first, d, n);
            let mut meant = vec![Complex32::default(); n];
            tone(Rotation::from_hz(hz, CLOCK), 0.7, Tick(first), d, &mut meant);
            let off = received.iter().zip(&meant).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
            assert!(off < 2e-4, "I {i} D {d}: off by {off}");
            let found = estimate_tone(&received).unwrap();
            assert!((found.frequency * 100e6 / f64::from(d) - hz).abs() < 1e-4 * hz, "I {i} D {d}");
            assert!((found.amplitude - 0.7).abs() < 2e-4, "I {i} D {d}");
        }
    }
}

#[test]
fn a_burst_is_incoming_at_its_ticks_at_any_pair_of_rates() {
    for (i, d) in [(4, 5), (100, 4), (4, 100), (512, 2), (2, 512), (52, 25)] {
        let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 19);
        // A raised cosine of 60 slow samples, its middle at a tick that lies on neither grid.
        let middle = 5_000_003.0;
        let width = f64::from(i.max(d)) * 30.0;
        let shape = |tick: f64| {
            let x = (tick - middle) / width;
            if x.abs() < 1.0 { (0.5 + 0.5 * (std::f64::consts::PI * x).cos()) as f32 } else { 0.0 }
        };
        let first = 5_000_000 - 64 * 512;
        let samples: Vec<_> = (0..128 * 512 / u64::from(i))
            .map(|m| Complex32::new(shape((first + m * u64::from(i)) as f64), 0.0))
            .collect();
        sink.take(Tick(first), i, &samples, WHOLE);
        let received = receive(&mut source, first + 1, d, (128 * 512 / d) as usize);
        for (n, x) in received.iter().enumerate() {
            let tick = first + 1 + n as u64 * u64::from(d);
            assert!((x.re - shape(tick as f64)).abs() < 1e-3, "I {i} D {d} tick {tick}: {x}");
        }
    }
}

#[test]
fn equal_rates_on_one_grid_pass_every_bit_and_need_no_future() {
    let (mut sink, mut source) = loopback::pair(CLOCK, loopback::CAPACITY);
    let mut sent = vec![Complex32::default(); 5000];
    noise(1, 0.1, Tick(0), 1, &mut sent);
    sink.take(Tick(1000), 7, &sent, WHOLE);
    assert_eq!(source.lookahead(Tick(300), 7), Ticks(0));
    let received = receive(&mut source, 1000 - 7 * 10, 7, 5020);
    assert_eq!(received[..10], [Complex32::default(); 10]);
    assert_eq!(received[10..5010], sent);
    assert_eq!(received[5010..], [Complex32::default(); 10]);
    assert_eq!(source.lookahead(Tick(301), 7), Ticks(27 * 7), "another grid needs a filter");
    assert_eq!(source.lookahead(Tick(300), 8), Ticks(27 * 8));
    source.tuned(Tick(0), 1.0);
    assert_eq!(source.lookahead(Tick(300), 7), Ticks(27 * 7), "and so does another frequency");
}

#[test]
fn a_receiver_tuned_elsewhere_receives_the_difference_or_nothing() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 19);
    sink.tuned(Tick(0), 900e6);
    send_tone(&mut sink, 100e3, 0.5, 1_000_000, 20, 20_000);
    for (centre_hz, seen_hz) in [(900e6, 100e3), (900.5e6, -400e3), (899e6, 1.1e6)] {
        source.tuned(Tick(0), centre_hz);
        let found = estimate_tone(&receive(&mut source, 1_100_000, 10, 4000)).unwrap();
        assert!((found.frequency * 10e6 - seen_hz).abs() < 1.0, "{centre_hz}: {found:?}");
        assert!((found.amplitude - 0.5).abs() < 1e-3);
    }
    for centre_hz in [907e6, 890e6, 2.4e9, 1000e6] {
        source.tuned(Tick(0), centre_hz);
        let received = receive(&mut source, 1_100_000, 10, 1000);
        assert!(received.iter().all(|x| x.norm() < 1e-4), "nothing of it at {centre_hz}");
    }
}

#[test]
fn a_tuning_of_the_receiver_holds_from_its_tick_on_though_the_block_began_before() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 16);
    send_tone(&mut sink, 0.0, 0.5, 1_000_000, 4, 4000);
    source.tuned(Tick(1_004_002), 2e9);
    source.tuned(Tick(1_008_000), 0.0);
    let longest = span(4, 4);
    assert_eq!(source.lookahead(Tick(1_000_000), 4), Ticks(longest), "one of these tunings needs a filter");
    assert_eq!(source.lookahead(Tick(1_008_000), 4), Ticks(0));
    let received = receive(&mut source, 1_000_000, 4, 4000);
    for (n, x) in received.iter().enumerate() {
        assert_eq!(x.re, if (1001..2000).contains(&n) { 0.0 } else { 0.5 }, "sample {n}");
    }
}

#[test]
fn what_is_sent_anew_replaces_the_rest() {
    let mut sent = vec![Complex32::default(); 1000];
    noise(1, 0.1, Tick(0), 1, &mut sent);
    let louder: Vec<_> = sent.iter().map(|x| x.scale(2.0)).collect();
    let tick = |n: u64| Tick(1_000_000 + 4 * n);
    let (mut sink, mut replaced) = loopback::pair(CLOCK, 1 << 14);
    sink.take(tick(0), 4, &sent, WHOLE);
    sink.take(tick(300), 4, &louder[300..], BurstEdges { start: false, end: true });
    sink.tuned(Tick(tick(700).0 - 1), 1e6);
    sink.take(tick(700), 4, &louder[700..], BurstEdges { start: false, end: true });
    let (mut sink, mut at_once) = loopback::pair(CLOCK, 1 << 14);
    sink.take(tick(0), 4, &[&sent[..300], &louder[300..700]].concat(), MIDDLE);
    sink.tuned(Tick(0), 1e6);
    sink.take(tick(700), 4, &louder[700..], WHOLE);
    for (first, step) in [(1_000_000 - 400, 4), (1_000_001, 4), (999_999, 7)] {
        let received = receive(&mut replaced, first, step, 1200);
        assert_eq!(received, receive(&mut at_once, first, step, 1200), "{first} {step}");
        assert!(received.iter().any(|x| x.norm() > 0.1));
    }
}

#[test]
fn a_burst_of_another_rate_and_frequency_follows_at_its_own_ticks() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 19);
    let bursts = [(1_000_000u64, 4u32, 1e6, 20_000usize), (2_000_001, 10, -2e6, 8000), (3_000_000, 100, 0.2e6, 800)];
    for (k, (first, step, hz, n)) in bursts.into_iter().enumerate() {
        sink.tuned(Tick(first), 1e9 + k as f64 * 1e6);
        send_tone(&mut sink, hz, 0.5, first, step, n);
    }
    source.tuned(Tick(0), 1e9);
    for (k, (first, step, hz, n)) in bursts.into_iter().enumerate() {
        let margin = span(step, 8);
        let length = n as u64 * u64::from(step);
        let received = receive(&mut source, first + margin, 8, ((length - 2 * margin) / 8) as usize);
        let found = estimate_tone(&received).unwrap();
        assert!((found.frequency * 12.5e6 - (hz + k as f64 * 1e6)).abs() < 10.0, "burst {k}: {found:?}");
        assert!((found.amplitude - 0.5).abs() < 2e-3, "burst {k}: {found:?}");
        let silence = receive(&mut source, first + length + margin, 8, 1000);
        assert!(silence.iter().all(|x| x.norm() == 0.0), "after burst {k}");
    }
}

#[test]
fn two_receivers_receive_the_same_each_at_its_rate() {
    let (mut sink, mut sources) = loopback::join(CLOCK, 2);
    send_tone(&mut sink, 50e3, 0.5, 1_000_000, 50, 20_000);
    let [first, second] = &mut sources[..] else { panic!("two") };
    let fast = receive(first, 1_100_000, 10, 1000);
    let slow = receive(second, 1_100_000, 100, 100);
    for (n, x) in slow.iter().enumerate() {
        assert!((x - fast[n * 10]).norm() < 2e-4);
    }
}

#[test]
fn what_a_break_takes_back_is_not_received() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 16);
    sink.take(Tick(1000), 10, &[Complex32::new(0.5, 0.0); 100], BurstEdges { start: true, end: false });
    sink.take(Tick(1200), 10, &[], BurstEdges { start: false, end: true });
    let received = receive(&mut source, 1000, 10, 100);
    assert!(received.iter().enumerate().all(|(n, x)| (x.re == 0.5) == (n < 20)));
}

#[test]
fn a_receiver_that_comes_too_late_counts_what_it_lost() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 14);
    let lost = source.lost_samples();
    send_tone(&mut sink, 0.0, 0.5, 0, 4, 20_000);
    let received = receive(&mut source, 0, 4, 20_000);
    assert_eq!(lost.load(Relaxed), 20_000 - (1 << 14));
    assert_eq!((received[0], received[19_999].re), (Complex32::default(), 0.5));
}

#[test]
fn steps_that_no_radio_has_are_silence() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 14);
    sink.take(Tick(0), 1020, &[Complex32::new(0.5, 0.0); 10], WHOLE);
    assert_eq!(receive(&mut source, 0, 4, 10), [Complex32::default(); 10]);
    sink.take(Tick(100_000), 4, &[Complex32::new(0.5, 0.0); 10], WHOLE);
    assert_eq!(receive(&mut source, 100_000, 1020, 10), [Complex32::default(); 10]);
    assert_eq!(receive(&mut source, 100_000, 0, 10), [Complex32::default(); 10]);
    assert_eq!(source.lookahead(Tick(0), 1020), Ticks(0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// Blocks may be cut anywhere on both sides.
    #[test]
    fn cuts_change_nothing(
        i in prop::sample::select(legal()), d in prop::sample::select(legal()), start in 0u64..2000,
        cuts in prop::collection::vec(0usize..500, 0..4), received_cuts in prop::collection::vec(0usize..400, 0..4), shift in prop_oneof![Just(0.0), -1e6..1e6],
    ) {
        let mut sent = vec![Complex32::default(); 500];
        noise(5, 0.1, Tick(0), 1, &mut sent);
        let first = 100_000 + start;
        let deliver = |cuts: &[usize]| {
            let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 14);
            sink.tuned(Tick(0), 1e9);
            source.tuned(Tick(0), 1e9 + shift);
            let mut at = 0;
            let mut cuts = cuts.to_vec();
            cuts.sort_unstable();
            for cut in cuts.into_iter().chain([500]) {
                sink.take(Tick(first + at as u64 * u64::from(i)), i, &sent[at..cut], MIDDLE);
                at = cut;
            }
            source
        };
        let whole = receive(&mut deliver(&[]), 100_000, d, 400);
        let mut source = deliver(&cuts);
        let mut pieces = vec![];
        let mut received_cuts = received_cuts;
        received_cuts.sort_unstable();
        for cut in received_cuts.into_iter().chain([400]) {
            let at = pieces.len();
            pieces.extend(receive(&mut source, 100_000 + at as u64 * u64::from(d), d, cut - at));
        }
        prop_assert_eq!(whole, pieces);
    }
}

/// A piece as it was handed over: its first tick, its step, its frequency, its samples.
type Handed = (u64, u32, f64, Vec<Complex32>);

/// Samples of a window, in pieces of at most 8, until this many were taken; whether all were.
fn handed(source: &mut LoopbackSource, window: [u64; 2], most: usize) -> (Vec<Handed>, bool) {
    let (mut pieces, mut buffer) = (Vec::new(), [Complex32::default(); 8]);
    let window = window.map(Tick);
    let all = source.sent(window[0], &|_| window, &mut buffer, &mut |piece| {
        pieces.push((piece.first.0, piece.step, piece.offset_hz, piece.samples.to_vec()));
        pieces.len() <= most
    });
    (pieces, all)
}

#[test]
fn samples_are_handed_over_as_they_were_sent_each_once() {
    let (mut sink, mut source) = loopback::pair(CLOCK, 1 << 12);
    let value = |n: usize| Complex32::new(n as f32, -1.0);
    let burst: Vec<Complex32> = (0..30).map(value).collect();
    sink.tuned(Tick(0), 901e6);
    source.tuned(Tick(0), 900e6);
    sink.take(Tick(1000), 10, &burst[..20], WHOLE);
    // Another burst, on a grid of its own, while the receiver moves.
    sink.take(Tick(2005), 50, &burst[20..], WHOLE);
    source.tuned(Tick(2200), 902e6);
    let (pieces, all) = handed(&mut source, [1005, 1100], 99);
    assert!(all);
    assert_eq!(pieces, [(1010, 10, 1e6, burst[1..9].to_vec()), (1090, 10, 1e6, burst[9..10].to_vec())]);
    let (rest, all) = handed(&mut source, [1100, 5000], 99);
    let found: Vec<(u64, u32, f64, usize)> =
        rest.iter().map(|(first, step, hz, samples)| (*first, *step, *hz, samples.len())).collect();
    assert_eq!(found, [(1100, 10, 1e6, 8), (1180, 10, 1e6, 2), (2005, 50, 1e6, 4), (2205, 50, -1e6, 6)]);
    assert!(all && rest.into_iter().flat_map(|piece| piece.3).eq(burst[10..].iter().copied()));
    // Nothing is left, and whoever takes no more says so.
    assert_eq!(handed(&mut source, [5000, 6000], 99), (Vec::new(), true));
    assert!(!handed(&mut source, [1000, 5000], 0).1);
}
