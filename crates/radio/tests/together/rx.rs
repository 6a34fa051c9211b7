//! Receiving from a software radio on a virtual clock: what is lost is known to the sample.

use std::time::Duration;

use num_complex::Complex;
use proptest::prelude::*;
use takt_base::{Complex32, Ticks};
use takt_radio::n200::{CLOCK, N200, RxOptions};
use takt_radio::{RadioError, Received, RxEvent, RxStream};
use takt_wire::n200::{RxData, RxEvent as WireEvent, RxMessage, ports};

use crate::common::{self, Action, Ramp, STEP, SimNet, Way, is_samples, ms, receive_ramp, world};

const RATE: f64 = 1e6;
/// Samples in a full sc16 datagram.
const FULL: u64 = 363;

/// Loses the sample datagrams of these numbers.
fn lose(net: &SimNet, which: impl Fn(u64) -> bool + Send + 'static) {
    let mut n = 0;
    net.tamper(move |way, port, bytes| {
        if way != Way::In || port != ports::RX0 || !is_samples(bytes) {
            return Action::Pass;
        }
        n += 1;
        if which(n - 1) { Action::Lose } else { Action::Pass }
    });
}

#[test]
fn a_stream_starts_at_its_tick_and_carries_what_the_radio_receives() {
    let net = world();
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 10_000, 100_000, net.after(ms(500)));
    assert!(events.is_empty());
    assert_eq!(rx.stats().datagrams, 100_000 / FULL + 1);
    assert_eq!((rx.stats().bad_datagrams, rx.stats().missing_datagrams), (0, 0));
}

#[test]
fn a_stream_started_at_once_begins_with_whatever_comes_first() {
    let net = world();
    let (_radio, mut rx) = net.receiver(RATE);
    rx.start(None).unwrap();
    let mut buffer = vec![Complex32::default(); 1000];
    let received = rx.recv(&mut [&mut buffer], net.after(ms(10))).unwrap();
    assert_eq!((received.samples, received.event), (1000, None));
    let events = receive_ramp(&mut rx, received.first + Ticks(1000 * STEP), 1000, 5000, net.after(ms(50)));
    assert!(events.is_empty());
}

#[test] // after sixteen the 4-bit count comes back to the same value: UHD sees no loss there
fn lost_datagrams_are_one_gap_of_their_samples() {
    for (what, numbers) in [("one", 7..8), ("the first", 0..1), ("exactly sixteen", 5..21)] {
        let net = world();
        let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        let datagrams = numbers.end - numbers.start;
        lose(&net, move |n| numbers.contains(&n));
        let events = receive_ramp(&mut rx, start, 1000, 40 * FULL, net.after(ms(500)));
        let event = RxEvent::Dropped { channel: 0, datagrams, lost: datagrams * FULL };
        assert_eq!(events, [event], "{what}");
        assert_eq!(rx.stats().uncorroborated_gaps, 0, "{what}");
    }
}

#[test]
fn swapped_datagrams_come_into_order_again() {
    let net = world();
    // Fetched many at a time, so that both are in one batch.
    let options = RxOptions { coalesce: ms(20), ..RxOptions::new(RATE) };
    let (_radio, mut rx, start) = net.streaming(&options);
    let mut n = 0;
    net.tamper(move |way, port, bytes| {
        n += u32::from(way == Way::In && port == ports::RX0 && is_samples(bytes));
        if n == 20 { Action::Swap } else { Action::Pass }
    });
    let events = receive_ramp(&mut rx, start, 30_000, 100 * FULL, net.after(ms(500)));
    assert!(events.is_empty(), "{events:?}");
    assert!(rx.stats().reordered_datagrams >= 1);
}

#[test]
fn a_datagram_that_comes_twice_counts_once() {
    let net = world();
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let mut n = 0;
    net.tamper(move |way, port, bytes| {
        n += u32::from(way == Way::In && port == ports::RX0 && is_samples(bytes));
        if n % 5 == 0 { Action::Double } else { Action::Pass }
    });
    let events = receive_ramp(&mut rx, start, 1000, 100 * FULL, net.after(ms(500)));
    assert!(events.is_empty(), "{events:?}");
    assert!(rx.stats().stale_datagrams >= 19);
}

/// Damages the sample datagram of this number.
fn damage(net: &SimNet, which: u64, harm: impl Fn(&mut Vec<u8>) + Send + 'static) {
    let mut n = 0;
    net.tamper(move |way, port, bytes| {
        if way != Way::In || port != ports::RX0 || !is_samples(bytes) {
            return Action::Pass;
        }
        n += 1;
        if n - 1 != which {
            return Action::Pass;
        }
        let mut bytes = bytes.to_vec();
        harm(&mut bytes);
        Action::Become(bytes)
    });
}

#[test]
fn a_damaged_datagram_costs_itself_and_nothing_else() {
    type Harm = fn(&mut Vec<u8>);
    let harms: [(&str, Harm); 7] = [
        ("cut short", |bytes| bytes.truncate(700)),
        ("empty", Vec::clear),
        ("another packet type", |bytes| bytes[0] = 0x00),
        ("another stream", |bytes| bytes[7] ^= 0x40),
        ("a time far ahead", |bytes| bytes[9] ^= 0x10),
        ("a time far back", |bytes| bytes[13] ^= 0xFF),
        ("a length of nothing", |bytes| bytes[2..4].copy_from_slice(&5u16.to_be_bytes())),
    ];
    for (what, harm) in harms {
        let net = world();
        let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        damage(&net, 9, harm);
        let events = receive_ramp(&mut rx, start, 1000, 60 * FULL, net.after(ms(500)));
        assert_eq!(events, [RxEvent::Dropped { channel: 0, datagrams: 1, lost: FULL }], "{what}");
        assert_eq!(rx.stats().bad_datagrams + rx.stats().stale_datagrams, 1, "{what}");
    }
}

#[test]
fn a_burst_ends_with_its_last_sample() {
    let net = world();
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    rx.burst(1000, Some(start)).unwrap();
    rx.burst(500, Some(start + Ticks(10_000 * STEP))).unwrap();
    let mut buffer = vec![Complex32::default(); 4000];
    let first = rx.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
    assert_eq!(first, Received { samples: 1000, first: start, event: Some(RxEvent::EndOfBurst) });
    let second = rx.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
    let at = start + Ticks(10_000 * STEP);
    assert_eq!(second, Received { samples: 500, first: at, event: Some(RxEvent::EndOfBurst) });
}

#[test]
fn a_chain_of_commands_is_one_run() {
    let net = world();
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    rx.chain(400, Some(start)).unwrap();
    rx.burst(300, None).unwrap();
    let mut buffer = vec![Complex32::default(); 4000];
    let run = rx.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
    assert_eq!(run, Received { samples: 700, first: start, event: Some(RxEvent::EndOfBurst) });
}

#[test]
fn a_chain_that_is_not_continued_breaks() {
    let net = world();
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    rx.chain(400, Some(start)).unwrap();
    let mut buffer = vec![Complex32::default(); 4000];
    let run = rx.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
    assert_eq!(run, Received { samples: 400, first: start, event: Some(RxEvent::BrokenChain { channel: 0 }) });
}

#[test]
fn a_command_whose_time_has_passed_says_by_how_much() {
    let net = world();
    let (mut radio, mut rx) = net.receiver(RATE);
    let past = radio.time().unwrap();
    net.world.run_for(ms(3));
    rx.burst(1000, Some(past)).unwrap();
    let mut buffer = vec![Complex32::default(); 100];
    let received = rx.recv(&mut [&mut buffer], net.after(ms(50))).unwrap();
    let Some(RxEvent::Late { channel: 0, by }) = received.event else { panic!("{received:?}") };
    assert!(by >= CLOCK.ticks_in(ms(3)) && by < CLOCK.ticks_in(ms(4)), "{by}");
    // The stream is idle again and takes commands.
    rx.burst(100, None).unwrap();
    assert_eq!(rx.recv(&mut [&mut buffer], net.after(ms(50))).unwrap().samples, 100);
}

#[test]
fn a_stopped_stream_ends_and_starts_again() {
    let net = world();
    let (mut radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    receive_ramp(&mut rx, start, 1000, 5000, net.after(ms(500)));
    rx.stop().unwrap();
    let mut buffer = vec![Complex32::default(); 50_000];
    let rest = rx.recv(&mut [&mut buffer], net.after(ms(50))).unwrap();
    assert_eq!(rest.event, Some(RxEvent::EndOfBurst));
    let again = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    rx.start(Some(again)).unwrap();
    let events = receive_ramp(&mut rx, again, 1000, 5000, net.after(ms(500)));
    assert!(events.is_empty());
}

#[test]
fn the_lost_tail_of_a_burst_is_reported_when_it_is_overdue() {
    let net = world();
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    rx.burst(1000, Some(start)).unwrap();
    lose(&net, |n| n == 2);
    let mut buffer = vec![Complex32::default(); 4000];
    let run = rx.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
    let lost = 1000 - 2 * FULL;
    let event = Some(RxEvent::Dropped { channel: 0, datagrams: 1, lost });
    assert_eq!(run, Received { samples: 2 * FULL as usize, first: start, event });
    let end = rx.recv(&mut [&mut buffer], net.after(ms(10))).unwrap();
    assert_eq!((end.samples, end.event), (0, Some(RxEvent::EndOfBurst)));
}

#[test]
fn the_lost_end_of_a_burst_does_not_swallow_the_next() {
    let net = world();
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    let second = start + Ticks(10_000 * STEP);
    rx.burst(2 * FULL as u32, Some(start)).unwrap();
    rx.burst(100, Some(second)).unwrap();
    lose(&net, |n| n == 1);
    let mut buffer = vec![Complex32::default(); 4000];
    let until = net.after(ms(100));
    let run = rx.recv(&mut [&mut buffer], until).unwrap();
    let event = Some(RxEvent::Dropped { channel: 0, datagrams: 1, lost: FULL });
    assert_eq!(run, Received { samples: FULL as usize, first: start, event });
    assert_eq!(rx.recv(&mut [&mut buffer], until).unwrap().event, Some(RxEvent::EndOfBurst));
    let run = rx.recv(&mut [&mut buffer], until).unwrap();
    assert_eq!(run, Received { samples: 100, first: second, event: Some(RxEvent::EndOfBurst) });
}

#[test]
fn a_deadline_without_samples_is_no_error() {
    let net = world();
    let (_radio, mut rx) = net.receiver(RATE);
    let mut buffer = vec![Complex32::default(); 100];
    let before = net.now_ns();
    let received = rx.recv(&mut [&mut buffer], net.after(ms(7))).unwrap();
    assert_eq!((received.samples, received.event), (0, None));
    assert_eq!(net.now_ns() - before, 7_000_000);
}

#[test]
fn setting_the_clock_while_it_streams_loses_nothing() {
    for jump in [10_000_000_000, 12_345] {
        let net = world();
        let (mut radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        receive_ramp(&mut rx, start, 1000, 5000, net.after(ms(500)));
        let now = radio.time().unwrap();
        radio.set_time_now(now + Ticks(jump)).unwrap();
        let mut buffer = vec![Complex32::default(); 1000];
        let mut events = || {
            let (mut events, until) = (Vec::new(), net.after(ms(100)));
            while net.now_ns() < until.0 {
                events.extend(rx.recv(&mut [&mut buffer], until).unwrap().event);
            }
            events
        };
        assert_eq!(events(), [RxEvent::Retimed], "by {jump}");
        let back = radio.time().unwrap() - Ticks(2 * jump);
        radio.set_time_now(back).unwrap();
        assert_eq!(events(), [RxEvent::Retimed], "back by {jump}");
    }
}

#[test]
fn two_channels_are_the_same_samples_of_the_same_ticks() {
    let net = world();
    let mut radio = net.radio();
    let mut rx = radio.rx_streamer(&RxOptions { channels: vec![0, 1], ..RxOptions::new(RATE) }).unwrap();
    rx.start(None).unwrap();
    let (mut a, mut b) = (vec![Complex::<i16>::default(); 5000], vec![Complex::<i16>::default(); 5000]);
    let mut next = None;
    for _ in 0..20 {
        let received = rx.recv_integers(&mut [&mut a, &mut b], net.after(ms(100))).unwrap();
        assert_eq!((received.samples, received.event), (5000, None));
        assert_eq!(received.first, next.unwrap_or(received.first));
        next = Some(received.first + Ticks(5000 * STEP));
        assert_eq!(a, b);
        assert_eq!(a[0].re, Ramp::word(received.first.0 + common::BORN_TICK));
    }
}

#[test]
fn a_loss_on_one_channel_is_a_gap_on_both() {
    let net = world();
    let (_radio, mut rx, start) = net.streaming(&RxOptions { channels: vec![0, 1], ..RxOptions::new(RATE) });
    let mut n = 0;
    net.tamper(move |way, port, bytes| {
        n += u32::from(way == Way::In && port == ports::RX1 && is_samples(bytes));
        if port == ports::RX1 && (4..6).contains(&n) { Action::Lose } else { Action::Pass }
    });
    let (mut a, mut b) = (vec![Complex::<i16>::default(); 5000], vec![Complex::<i16>::default(); 5000]);
    let until = net.after(ms(100));
    let run = rx.recv_integers(&mut [&mut a, &mut b], until).unwrap();
    let event = Some(RxEvent::Dropped { channel: 1, datagrams: 2, lost: 2 * FULL });
    assert_eq!(run, Received { samples: 3 * FULL as usize, first: start, event });
    let run = rx.recv_integers(&mut [&mut a, &mut b], until).unwrap();
    assert_eq!((run.samples, run.first), (5000, start + Ticks(5 * FULL * STEP)));
    assert_eq!(a, b);
}

#[test]
fn rates_the_radio_does_not_make_are_refused_with_the_nearest() {
    let net = world();
    let mut radio = net.radio();
    let refusal = |radio: &mut N200, rate| match radio.rx_streamer(&RxOptions::new(rate)) {
        Err(RadioError::Rate { nearest_sps, .. }) => nearest_sps,
        _ => panic!("{rate}"),
    };
    assert_eq!(refusal(&mut radio, 22e6), [20e6, 25e6]);
    assert_eq!(refusal(&mut radio, 60e6), [50e6, 50e6]);
    assert_eq!(refusal(&mut radio, 1e5), [195_312.5, 195_312.5]);
    refusal(&mut radio, f64::NAN);
}

#[test]
fn samples_of_a_call_must_fit_the_stream() {
    let net = world();
    let mut radio = net.radio();
    assert!(matches!(
        radio.rx_streamer(&RxOptions { channels: vec![0, 0], ..RxOptions::new(RATE) }),
        Err(RadioError::Range { .. })
    ));
    assert!(matches!(
        radio.rx_streamer(&RxOptions { samples_per_datagram: Some(364), ..RxOptions::new(RATE) }),
        Err(RadioError::Range { high: 363.0, .. })
    ));
    let mut rx = radio.rx_streamer(&RxOptions::new(RATE)).unwrap();
    assert!(matches!(rx.recv(&mut [], net.after(ms(1))), Err(RadioError::Channels { have: 1, got: 0 })));
}

#[test]
fn small_datagrams_and_small_calls_carry_the_same_stream() {
    let net = world();
    let options = RxOptions { samples_per_datagram: Some(100), coalesce: Duration::ZERO, ..RxOptions::new(RATE) };
    let (_radio, mut rx, start) = net.streaming(&options);
    let events = receive_ramp(&mut rx, start, 7, 2000, net.after(ms(500)));
    assert!(events.is_empty());
    assert_eq!(rx.samples_per_datagram(), 100);
}

#[test]
fn unknown_messages_are_handed_on_with_their_code() {
    let net = world();
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    damage(&net, 4, |bytes| {
        let message = RxMessage { count: 4, stream_id: 3, tick: 5, event: WireEvent::Other(0x77) };
        bytes.truncate(20);
        message.write(bytes).unwrap();
    });
    let events = receive_ramp(&mut rx, start, 1000, 20 * FULL, net.after(ms(500)));
    assert_eq!(
        events,
        [RxEvent::Unknown { channel: 0, code: 0x77 }, RxEvent::Dropped { channel: 0, datagrams: 1, lost: FULL }]
    );
    let _ = RxData::parse(&[]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any pattern of losses, in calls of any size: the sum is exact, and so is every gap.
    #[test]
    fn losses_are_counted_exactly_whatever_is_lost(
        pattern in prop::collection::vec(prop::bool::weighted(0.3), 60),
        call in 1usize..2000,
        coalesce_us in 0u64..3000,
    ) {
        let net = world();
        let options = RxOptions { coalesce: Duration::from_micros(coalesce_us), ..RxOptions::new(RATE) };
        let (_radio, mut rx, start) = net.streaming(&options);
        let lost = pattern.iter().filter(|&&lost| lost).count() as u64;
        let runs = pattern.iter().scan(false, |before, &lost| {
            let begins = lost && !*before;
            *before = lost;
            Some(u64::from(begins))
        }).sum::<u64>();
        lose(&net, move |n| pattern.get(n as usize).copied().unwrap_or(false));
        let events = receive_ramp(&mut rx, start, call, 64 * FULL, net.after(ms(500)));
        let gaps = events.iter().map(|event| match event {
            RxEvent::Dropped { lost, .. } => *lost,
            _ => 0,
        });
        prop_assert_eq!(gaps.sum::<u64>(), lost * FULL);
        prop_assert_eq!(events.len() as u64, runs);
        prop_assert_eq!(rx.stats().missing_datagrams, lost);
    }

    /// Runs of losses as long as they like, multiples of 16 above all: each is one gap of its length.
    #[test]
    fn runs_of_losses_are_as_long_as_they_are(
        runs in prop::collection::vec((1u64..30, prop_oneof![(1u64..5).prop_map(|n| 16 * n), 1u64..70]), 1..8),
        call in 100usize..20_000,
    ) {
        let net = world();
        let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        let mut end = 0;
        let gone: Vec<_> = runs.iter().map(|&(kept, lost)| {
            let first = end + kept;
            end = first + lost;
            first..end
        }).collect();
        lose(&net, move |n| gone.iter().any(|run| run.contains(&n)));
        let events = receive_ramp(&mut rx, start, call, (end + 3) * FULL, net.after(ms(2000)));
        let expected: Vec<_> = runs.iter().map(|&(_, lost)| {
            RxEvent::Dropped { channel: 0, datagrams: lost, lost: lost * FULL }
        }).collect();
        prop_assert_eq!(events, expected);
        prop_assert_eq!(rx.stats().uncorroborated_gaps, 0);
    }
}
