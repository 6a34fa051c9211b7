//! Every letter, one for one: what a fault injected into the radio looks like to a program.

use num_complex::Complex;
use takt_base::{Complex32, MonoNs, Ticks};
use takt_radio::n200::{CLOCK, N200, RxOptions, RxStats, TxOptions, TxStreamer};
use takt_radio::{Burst, RxEvent, TxEventKind, TxStream};

use crate::common::{self, Ramp, STEP, SimNet, faulty, ms, receive_ramp};

const RATE: f64 = 1e6;
const FULL: u64 = 363;

#[test]
fn o_an_overflow_is_one_event_and_the_stream_goes_on_aligned() {
    let net = faulty(&["overflow:rx,at=300ms,for=1ms"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 5000, 1_000_000, net.after(ms(3000)));
    let [RxEvent::Overflow { channel: 0, lost }] = events[..] else { panic!("{events:?}") };
    // The radio had stopped for about as long as a restart is ahead.
    assert!((1000..20_000).contains(&lost), "{lost}");
    assert_eq!(net.report().rx[0].overflows, 1);
    assert_eq!(rx.stats().overflows, 1);
}

#[test]
fn o_a_ring_that_fills_stops_the_radio_and_the_stream_goes_on_aligned() {
    // 55 datagrams in 20 ms.
    let net = faulty(&["ring:at=300ms,for=20ms,frames=64"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    assert_eq!(receive_ramp(&mut rx, start, 5000, 1_000_000, net.after(ms(3000))), [], "they fit, and come late");
    let net = faulty(&["ring:at=300ms,for=20ms,frames=32"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 5000, 1_000_000, net.after(ms(3000)));
    let [RxEvent::Overflow { channel: 0, lost }] = events[..] else { panic!("{events:?}") };
    assert!(((55 - 32) * FULL - FULL..20_000).contains(&lost), "{lost}");
    assert_eq!((rx.stats().overflows, rx.stats().missing_datagrams), (1, 0), "what was in the ring is not lost");
}

#[test]
fn o_a_restart_whose_answers_wait_in_a_ring_is_tried_again_further_ahead() {
    // The radio's time, which the restart is reckoned from, is 15 ms old when it comes.
    let net = faulty(&["ring:at=300ms,for=20ms,frames=32", "ring:at=320020us,for=15ms"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 5000, 1_000_000, net.after(ms(3000)));
    assert!(matches!(events[..], [RxEvent::Overflow { .. }]), "{events:?}");
    assert_eq!((net.report().rx[0].overflows, rx.stats().late_restarts), (1, 1));
}

#[test]
fn o_each_of_many_overflows_is_reported() {
    let net = faulty(&["overflow:rx,every=200,for=1us"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 5000, 2_000_000, net.after(ms(3000)));
    assert!(events.len() > 10 && events.iter().all(|event| matches!(event, RxEvent::Overflow { .. })), "{events:?}");
    let told = events.len() as u64;
    let overflows = net.report().rx[0].overflows;
    assert!(told == overflows || told + 1 == overflows, "{told} of {overflows}");
}

#[test]
fn o_two_channels_are_restarted_at_the_same_tick() {
    let net = faulty(&["overflow:rx1,at=300ms,for=1ms"]);
    let mut radio = net.radio();
    let mut rx = radio.rx_streamer(&RxOptions { channels: vec![0, 1], ..RxOptions::new(RATE) }).unwrap();
    rx.start(None).unwrap();
    let (mut a, mut b) = (vec![Complex::<i16>::default(); 5000], vec![Complex::<i16>::default(); 5000]);
    let (mut events, mut next) = (Vec::new(), None);
    for _ in 0..200 {
        let received = rx.recv_integers(&mut [&mut a, &mut b], net.after(ms(1000))).unwrap();
        assert_eq!(received.first, next.unwrap_or(received.first));
        assert_eq!(a[..received.samples], b[..received.samples]);
        let lost = match received.event {
            Some(RxEvent::Overflow { lost, .. }) => lost,
            _ => 0,
        };
        events.extend(received.event);
        next = Some(received.first + Ticks((received.samples as u64 + lost) * STEP));
    }
    assert!(matches!(events[..], [RxEvent::Overflow { channel: 1, .. }]), "{events:?}");
}

#[test]
fn o_a_burst_that_overflows_ends_where_it_should_have() {
    let net = faulty(&["overflow:rx,at=300ms,for=1ms"]);
    let (_radio, mut rx, start) = net.opened(&RxOptions::new(RATE));
    rx.burst(1_000_000, Some(start)).unwrap();
    let events = receive_ramp(&mut rx, start, 5000, 1_000_000, net.after(ms(3000)));
    assert!(matches!(events[..], [RxEvent::Overflow { .. }, RxEvent::EndOfBurst]), "{events:?}");
}

#[test]
fn d_isolated_losses_are_as_many_events_of_one_datagram() {
    let net = faulty(&["lose:rx,every=100"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let events = receive_ramp(&mut rx, start, 5000, 2000 * FULL, net.after(ms(3000)));
    assert!(events.iter().all(|e| *e == RxEvent::Dropped { channel: 0, datagrams: 1, lost: FULL }), "{events:?}");
    assert!((19..=20).contains(&events.len()), "{}", events.len());
}

#[test] // UHD sees nothing of a run of sixteen, and one of seventeen as one
fn d_runs_of_losses_are_counted_exactly() {
    for run in [2, 15, 16, 17, 32, 100] {
        let net = faulty(&[&format!("lose:rx,at=50,run={run}")]);
        let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        let events = receive_ramp(&mut rx, start, 5000, 400 * FULL, net.after(ms(3000)));
        assert_eq!(events, [RxEvent::Dropped { channel: 0, datagrams: run, lost: run * FULL }]);
    }
}

#[test]
fn d_damage_costs_the_damaged_datagram() {
    for damage in ["header", "length"] {
        let net = faulty(&[&format!("corrupt:rx,every=97,where={damage},limit=8")]);
        let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
        let events = receive_ramp(&mut rx, start, 5000, 1000 * FULL, net.after(ms(3000)));
        assert!(events.iter().all(|e| matches!(e, RxEvent::Dropped { datagrams: 1, .. })), "{damage}: {events:?}");
        // A bit of the count or of the end-of-burst flag costs nothing; every other one costs the datagram.
        assert!(damage == "header" || rx.stats().bad_datagrams == 8, "{damage}: {:?}", rx.stats());
        assert!(events.len() <= 8 && (damage == "header" || events.len() == 8), "{damage}: {}", events.len());
    }
}

/// Receives 1000 datagrams past faults of which none is a gap; the counts of the stream.
fn whole(fault: &str) -> RxStats {
    let net = faulty(&[fault]);
    // Fetched many at a time, so that datagrams that changed places are in one batch.
    let (_radio, mut rx, start) = net.streaming(&RxOptions { coalesce: ms(20), ..RxOptions::new(RATE) });
    assert_eq!(receive_ramp(&mut rx, start, 5000, 1000 * FULL, net.after(ms(3000))), []);
    assert_eq!(net.injected(), 5);
    rx.stats()
}

#[test]
fn swapped_and_doubled_datagrams_are_no_letter() {
    let swapped = whole("reorder:rx,every=100,limit=5");
    assert_eq!((swapped.reordered_datagrams, swapped.stale_datagrams, swapped.bad_datagrams), (5, 0, 0));
    let doubled = whole("duplicate:rx,every=100,limit=5");
    assert_eq!((doubled.reordered_datagrams, doubled.stale_datagrams, doubled.bad_datagrams), (0, 5, 0));
}

#[test] // the datagram's own checksum is right: nothing below the samples' meaning can tell
fn damaged_samples_are_no_letter() {
    let net = faulty(&["corrupt:rx,every=100,where=payload,limit=5"]);
    let (_radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let mut buffer = vec![Complex::<i16>::default(); FULL as usize];
    let (mut next, mut wrong) = (start, 0);
    for _ in 0..1000 {
        let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(1000))).unwrap();
        assert_eq!((received.first, received.samples, received.event), (next, FULL as usize, None));
        for (i, sample) in (0..).zip(&buffer) {
            let want = Ramp::word(next.0 + i * STEP + common::BORN_TICK);
            wrong += u32::from(*sample != Complex::new(want, -want));
        }
        next += Ticks(FULL * STEP);
    }
    assert_eq!(net.injected(), 5);
    assert_eq!(wrong, 5, "a bit of one sample each");
}

#[test]
fn l_a_late_command_is_one_event() {
    let net = faulty(&[]);
    let (mut radio, mut rx) = net.receiver(RATE);
    let now = radio.time().unwrap();
    rx.start(Some(now - Ticks(1000))).unwrap();
    let mut buffer = vec![Complex::<i16>::default(); 100];
    let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(10))).unwrap();
    assert!(matches!(received.event, Some(RxEvent::Late { .. })), "{received:?}");
    assert_eq!(rx.recv_integers(&mut [&mut buffer], net.after(ms(10))).unwrap().event, None);
}

#[test] // its three writes take 120 ms; the start is 20 ms ahead
fn l_a_command_that_the_way_delays_is_one_event() {
    let net = faulty(&["delay:requests,every=1,by=40ms"]);
    let (_radio, mut rx, _) = net.streaming(&RxOptions::new(RATE));
    let mut buffer = vec![Complex::<i16>::default(); 100];
    let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(10))).unwrap();
    assert!(matches!(received.event, Some(RxEvent::Late { .. })), "{received:?}");
    assert_eq!(rx.recv_integers(&mut [&mut buffer], net.after(ms(500))).unwrap().event, None);
    assert_eq!(net.report().rx[0].late, 1);
}

/// Keeps the radio supplied with a burst that starts 20 ms from now, until `until`.
fn transmit(net: &SimNet, radio: &mut N200, tx: &mut TxStreamer, until: MonoNs) {
    let samples = vec![Complex32::new(0.5, 0.0); 5000];
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    tx.send(&[&samples], Burst::at(start), net.after(ms(100))).unwrap();
    while takt_base::Clock::now(net).0 < until.0 {
        tx.send(&[&samples], Burst::GO_ON, net.after(ms(100))).unwrap();
    }
    tx.send(&[&samples], Burst::END, net.after(ms(1000))).unwrap();
}

/// All events until the last burst is acknowledged.
fn events(net: &SimNet, tx: &mut TxStreamer) -> Vec<TxEventKind> {
    let mut kinds = Vec::new();
    while let Some(event) = tx.event(net.after(ms(600))).unwrap() {
        kinds.push(event.kind);
        if event.kind == TxEventKind::BurstAck {
            break;
        }
    }
    kinds
}

#[test]
fn u_a_gap_between_samples_is_one_event_and_sending_goes_on() {
    let net = faulty(&[]);
    let (_radio, mut tx) = net.transmitter(RATE);
    let samples = vec![Complex32::new(0.5, 0.0); 5000];
    for _ in 0..3 {
        tx.send(&[&samples], Burst::GO_ON, net.after(ms(100))).unwrap();
        net.world.run_for(ms(20));
    }
    tx.send(&[&samples], Burst::END, net.after(ms(100))).unwrap();
    let kinds = events(&net, &mut tx);
    use TxEventKind::{BurstAck, Underflow};
    assert_eq!(kinds, [Underflow, Underflow, Underflow, BurstAck]);
    assert_eq!(tx.stats().underflows, net.report().tx.underflows);
}

#[test]
fn u_samples_with_a_time_stay_at_their_time_after_an_underflow() {
    let net = faulty(&[]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    let samples = vec![Complex32::new(0.5, 0.0); 5 * FULL as usize];
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    tx.send(&[&samples], Burst::at(start), net.after(ms(100))).unwrap();
    net.world.run_for(ms(22));
    // The first samples of the next call should have left by now; the rest leaves at its time.
    let second = start + Ticks(5 * FULL * STEP);
    tx.send(&[&samples], Burst::at(second).ending(), net.after(ms(100))).unwrap();
    let kinds = events(&net, &mut tx);
    assert_eq!(kinds.first(), Some(&TxEventKind::Underflow));
    let late = kinds.iter().filter(|kind| **kind == TxEventKind::Late).count();
    assert!((1..5).contains(&late), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&TxEventKind::BurstAck), "{kinds:?}");
}

#[test] // the radio plays on from its buffer, runs dry once, and goes on when it can say so again
fn u_silent_flow_control_is_one_underflow() {
    let net = faulty(&["stall:flow,at=+300ms,for=400ms"]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    transmit(&net, &mut radio, &mut tx, net.after(ms(1500)));
    use TxEventKind::{BurstAck, Underflow};
    assert_eq!(events(&net, &mut tx), [Underflow, BurstAck]);
    assert_eq!((tx.stats().underflows, net.report().tx.underflows), (1, 1));
    assert!(net.report().tx.samples > 1_000_000, "{:?}", net.report().tx);
}

#[test] // a window that waited for a report of a datagram that is lost would never open again
fn u_and_s_all_that_was_on_its_way_is_lost_and_sending_goes_on() {
    let net = faulty(&["stall:tx,at=300ms,for=500ms"]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    transmit(&net, &mut radio, &mut tx, net.after(ms(2000)));
    use TxEventKind::{BurstAck, SequenceError, Underflow};
    assert_eq!(events(&net, &mut tx), [Underflow, SequenceError, BurstAck]);
    assert!(tx.stats().given_up_datagrams >= 712, "{:?}", tx.stats());
    assert!(net.report().tx.samples > 1_300_000, "{:?}", net.report().tx);
}

#[test] // it has reason to take nothing
fn a_full_buffer_before_its_time_is_not_given_up() {
    let net = faulty(&[]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    let samples = vec![Complex32::new(0.5, 0.0); 5000];
    tx.send(&[&samples], Burst::GO_ON, net.after(ms(100))).unwrap();
    net.world.run_for(ms(20)); // it runs dry
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(3000));
    let window = vec![Complex32::new(0.5, 0.0); 900 * FULL as usize];
    tx.send(&[&window], Burst::at(start).ending(), net.after(ms(4000))).unwrap();
    use TxEventKind::{BurstAck, Underflow};
    assert_eq!(events(&net, &mut tx), [Underflow, BurstAck]);
    assert_eq!(tx.stats().given_up_datagrams, 0);
}

#[test]
fn s_a_lost_datagram_is_one_event() {
    let net = faulty(&["lose:tx,every=100,limit=5"]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    transmit(&net, &mut radio, &mut tx, net.after(ms(400)));
    let kinds = events(&net, &mut tx);
    let errors = kinds.iter().filter(|kind| **kind == TxEventKind::SequenceError).count();
    assert_eq!(errors, 5, "{kinds:?}");
    assert_eq!(net.report().tx.sequence_errors, 5);
}

#[test]
fn l_a_late_burst_is_reported_with_its_tick() {
    let net = faulty(&[]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    let past = radio.time().unwrap();
    net.world.run_for(ms(1));
    let samples = vec![Complex32::new(0.5, 0.0); 100];
    tx.send(&[&samples], Burst::at(past).ending(), net.after(ms(100))).unwrap();
    let event = tx.event(net.after(ms(100))).unwrap().unwrap();
    assert_eq!((event.kind, event.sequence), (TxEventKind::Late, Some(0)));
    assert!(event.tick >= past + CLOCK.ticks_in(ms(1)));
}

#[test] // the first call alone carries a time
fn l_every_datagram_after_its_time_is_one_event() {
    let net = faulty(&["delay:tx,every=1,by=150ms"]);
    let (mut radio, mut tx) = net.transmitter(RATE);
    transmit(&net, &mut radio, &mut tx, net.after(ms(400)));
    let first_call = 5000_u64.div_ceil(FULL);
    let late = events(&net, &mut tx).iter().filter(|kind| **kind == TxEventKind::Late).count() as u64;
    assert_eq!((late, tx.stats().late, net.report().tx.late), (first_call, first_call, first_call));
}

#[test]
fn without_faults_there_is_no_letter() {
    let net = faulty(&[]);
    let (mut radio, mut rx, start) = net.streaming(&RxOptions::new(RATE));
    let mut tx = radio.tx_streamer(&TxOptions::new(RATE)).unwrap();
    transmit(&net, &mut radio, &mut tx, net.after(ms(300)));
    assert_eq!(events(&net, &mut tx), [TxEventKind::BurstAck]);
    assert_eq!(receive_ramp(&mut rx, start, 5000, 300_000, net.after(ms(3000))), []);
}

#[test]
fn lost_flow_control_is_healed_by_the_next_report() {
    let net = faulty(&["lose:flow,p=0.5,seed=3"]);
    let (mut radio, mut tx) = net.transmitter(25e6);
    transmit(&net, &mut radio, &mut tx, net.after(ms(200)));
    let kinds = events(&net, &mut tx);
    assert_eq!(kinds, [TxEventKind::BurstAck]);
    assert!(net.injected() > 10);
}
