//! Faults strike what they name, when they say, and count it one for one.

use std::time::Duration;

use takt_wire::n200::StreamAction::{Samples, Start, Stop};
use takt_wire::n200::TxEvent::{BurstAck, SequenceErrorInBurst, Underflow};
use takt_wire::n200::registers::readback;
use takt_wire::n200::{ControlAsk, FifoAck, FifoAction};
use takt_wire::sample::Format;

use crate::support::{Host, Rx, SECOND, START, ms, us};

/// 100 packets of 100 samples through these faults.
fn received(faults: &[&str]) -> Host {
    let mut host = Host::receiving(faults);
    host.stream(0, Samples(10_000), None);
    host.run(ms(30));
    host
}

/// Which of the 100 packets are missing, by their time.
fn missing(host: &Host) -> Vec<u64> {
    let received = order(host);
    (0..100).filter(|n| !received.contains(n)).collect()
}

/// Sample packets in the order in which they came, numbered by their time.
fn order(host: &Host) -> Vec<u64> {
    let first = host.rx[0].iter().map(Rx::time).min().unwrap();
    host.packets(0).iter().map(|packet| (packet.0 - first) / 10_000).collect()
}

#[test]
fn the_packets_that_a_fault_names_are_lost_and_no_others() {
    for (fault, lost) in [
        ("lose:rx,every=10", (9..100).step_by(10).collect::<Vec<_>>()),
        ("lose:rx,at=20,run=5", vec![19, 20, 21, 22, 23]),
        ("lose:rx,every=2,after=50,limit=3", vec![51, 53, 55]),
    ] {
        let host = received(&[fault]);
        assert_eq!(missing(&host), lost, "{fault}");
        assert_eq!(host.injected(fault), lost.len() as u64, "{fault}");
    }
    assert_eq!(missing(&received(&["lose:rx,every=1,after=5ms,limit=1"])).len(), 1);
}

#[test]
fn chance_is_the_same_under_a_seed_and_another_under_another() {
    let lost = |seed: u64| missing(&received(&[&format!("lose:rx,p=0.2,seed={seed}")]));
    let first = lost(7);
    assert_eq!(first, lost(7));
    assert_ne!(first, lost(8));
    assert!((5..40).contains(&first.len()), "{}", first.len());
    let host = received(&["lose:rx,p=0.2,seed=7"]);
    assert_eq!(host.injected("lose:rx,p=0.2,seed=7"), first.len() as u64);
}

#[test]
fn a_delayed_packet_comes_later_and_is_overtaken() {
    let host = received(&["delay:rx,at=10,by=350us"]);
    let order = order(&host);
    assert_eq!(order.len(), 100);
    assert_eq!(order.iter().position(|&n| n == 9), Some(12), "three packets of 100 us overtake it");
    assert_eq!(host.injected("delay:rx,at=10,by=350us"), 1);
}

#[test]
fn a_reordered_packet_changes_places_with_the_next() {
    let host = received(&["reorder:rx,every=10"]);
    let order = order(&host);
    assert_eq!(order[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11]);
    assert_eq!(order.len(), 100, "the last one, which nothing follows, comes too");
    assert_eq!(host.injected("reorder:rx,every=10"), 10);
}

#[test]
fn a_duplicate_comes_twice() {
    let host = received(&["duplicate:rx,at=3"]);
    let packets = host.packets(0);
    assert_eq!(packets.len(), 101);
    assert_eq!(packets[2], packets[3]);
}

#[test]
fn a_corrupt_payload_differs_in_one_bit_and_a_corrupt_length_is_short() {
    let host = received(&["corrupt:rx,at=3"]);
    let ramp = |n: usize| match &host.rx[0][n] {
        Rx::Data { samples, .. } => samples.clone(),
        Rx::Message { .. } => panic!(),
    };
    let start = ramp(0)[0].0;
    let wrong: u32 = (0..100)
        .flat_map(|n| (0..100).zip(ramp(n)).map(move |(k, s)| (start.wrapping_add((100 * n + k) as i16) ^ s.0, s.1)))
        .map(|(i, q)| i.count_ones() + q.count_ones())
        .sum();
    assert_eq!(wrong, 1, "one bit");
    let host = received(&["corrupt:rx,at=3,where=length"]);
    assert_eq!(missing(&host), [2], "it can't be parsed");
    assert_eq!(host.replies.iter().map(Vec::len).collect::<Vec<_>>(), [(20 + 400) / 2]);
}

#[test]
fn messages_are_no_sample_packets() {
    let mut host = Host::receiving(&["lose:rx,every=1", "lose:messages,at=2"]);
    for _ in 0..3 {
        host.stream(0, Stop, None);
        host.run(us(100));
    }
    host.stream(0, Samples(100), None);
    host.run(ms(2));
    assert_eq!(host.messages(0).len(), 2);
    assert!(host.packets(0).is_empty());
}

/// A burst of ten packets through this fault.
fn transmitted(fault: &str) -> Host {
    let mut host = Host::transmitting(&[fault]);
    for n in 0..10 {
        host.packet(100, None, n == 9);
    }
    host.run(ms(5));
    host
}

#[test]
fn a_lost_transmit_packet_gives_one_sequence_error() {
    let host = transmitted("lose:tx,at=3");
    assert_eq!(host.event_kinds(), [SequenceErrorInBurst, BurstAck]);
    assert_eq!(host.injected("lose:tx,at=3"), 1);
}

#[test]
fn reordered_transmit_packets_break_the_order() {
    let report = transmitted("reorder:tx,at=3").report();
    assert!(report.tx.sequence_errors >= 1);
    assert_eq!(report.tx.packets, 10);
}

#[test]
fn a_delayed_transmit_packet_underflows() {
    let mut host = Host::transmitting(&["delay:tx,at=2,by=2ms"]);
    host.packet(100, None, false);
    host.packet(100, None, true);
    host.run(ms(5));
    assert_eq!(host.event_kinds(), [Underflow, BurstAck]);
}

#[test]
fn a_lost_ack_of_a_poke_does_no_harm_and_a_lost_ack_of_a_peek_is_missed() {
    let mut host = Host::with_faults(&["lose:acks,at=2"]);
    for n in 0..3 {
        host.command(None, FifoAction::Poke { register: 9, data: n });
    }
    host.run(ms(1));
    assert_eq!(host.acks.iter().map(FifoAck::sequence).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(host.report().control.commands, 3);
}

#[test]
fn a_lost_command_is_never_executed() {
    let mut host = Host::with_faults(&["lose:commands,at=1"]);
    host.command(None, FifoAction::Peek { word: 0 });
    host.command(None, FifoAction::Peek { word: 0 });
    host.run(ms(1));
    assert_eq!(host.acks.iter().map(FifoAck::sequence).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_lost_reply_is_a_request_unanswered() {
    let mut host = Host::with_faults(&["lose:control,at=1", "lose:requests,at=3"]);
    assert!(host.ask(ControlAsk::Hello).is_none());
    assert!(host.ask(ControlAsk::Hello).is_some());
    assert!(host.ask(ControlAsk::Hello).is_none());
    assert_eq!(host.report().control.requests, 2);
}

#[test]
fn a_stall_stops_both_directions_for_its_time() {
    let mut host = Host::receiving(&["stall:all,at=100ms,for=50ms"]);
    host.stream(0, Start, None);
    host.run_until(START + ms(120));
    assert!(host.ask(ControlAsk::Hello).is_none());
    host.run_until(START + ms(200));
    let arrivals: Vec<_> = host.rx[0].iter().map(|rx| rx.arrived().saturating_since(START)).collect();
    let silence = arrivals.windows(2).map(|w| w[1] - w[0]).max().unwrap();
    assert!((ms(50)..=ms(50) + us(200)).contains(&silence), "{silence:?}");
    assert!(host.ask(ControlAsk::Hello).is_some());
    // 50 ms of packets, and the question.
    assert!((500..=502).contains(&host.injected("stall:all,at=100ms,for=50ms")));
}

#[test]
fn a_reboot_takes_its_time_and_forgets() {
    let mut host = Host::receiving(&["reboot:at=100ms,for=50ms"]);
    host.stream(0, Start, None);
    host.run_until(START + ms(120));
    assert!(host.ask(ControlAsk::Hello).is_none(), "gone");
    let before = host.rx[0].len();
    host.run_until(START + ms(200));
    assert_eq!(host.rx[0].len(), before, "the stream is forgotten");
    assert!(host.ask(ControlAsk::Hello).is_some(), "back");
    // Time counts from its new power-up.
    assert_eq!(host.time(), 100_000 * (host.world.now().saturating_since(START).as_millis() as u64 - 150));
    assert_eq!(host.injected("reboot:at=100ms,for=50ms"), 1);
    assert_eq!(host.report().rx[0].packets, before as u64, "counts survive");
}

#[test]
fn an_overflow_of_one_datagram_is_one_overflow() {
    let mut host = Host::receiving(&["overflow:rx0,at=10"]);
    host.open_rx(1, 100, Format::Sc16, 100);
    host.stream(0, Start, None);
    host.stream(1, Start, None);
    host.run(ms(5));
    assert_eq!(host.packets(0).len(), 9);
    assert!(host.packets(1).len() > 40, "the other DSP goes on");
    assert_eq!(host.messages(0).len(), 1);
    assert_eq!(host.injected("overflow:rx0,at=10"), 1);
}

/// When each sample packet of DSP 0 came.
fn arrivals(host: &Host) -> Vec<takt_base::MonoNs> {
    host.rx[0].iter().filter(|rx| rx.is_data()).map(Rx::arrived).collect()
}

#[test]
fn a_ring_that_has_room_delays_and_loses_nothing() {
    let fault = "ring:at=+2ms,for=2ms,frames=64";
    let host = received(&[fault]);
    assert_eq!((host.contiguous(0, 100), host.messages(0)), (10_000, vec![]));
    let times = arrivals(&host);
    let together = times.iter().filter(|&&at| at == times[21]).count();
    assert_eq!(together, 21, "two milliseconds of packets, and the one that left when the ring was emptied");
    assert_eq!(host.injected(fault), 21);
}

#[test]
fn a_ring_that_is_full_stops_the_radio_which_overflows() {
    let fault = "ring:at=+2ms,for=2ms,frames=8";
    let host = received(&[fault]);
    assert_eq!(host.contiguous(0, 100), 2_800, "20 that passed, and 8 in the ring");
    let (times, last) = (arrivals(&host), host.rx[0].last());
    assert!(times[20..].iter().all(|&at| at == times[20]) && times[20] > times[19] + us(2000), "{times:?}");
    let emptied = times[20];
    assert!(
        matches!(last, Some(Rx::Message { event: takt_wire::n200::RxEvent::Overflow, arrived, .. }) if *arrived >= emptied),
        "{last:?}"
    );
    assert_eq!(host.report().rx[0].overflows, 1);
}

#[test] // pause frames stop whatever the radio sends
fn behind_a_full_ring_answers_wait_and_requests_do_not() {
    let mut host = Host::with_faults(&["ring:at=1ms,for=5ms,frames=1"]);
    host.run(ms(2));
    assert!(host.ask(ControlAsk::Hello).is_none(), "within a millisecond");
    assert_eq!(host.report().control.requests, 1);
    host.run(ms(5));
    assert_eq!(host.replies.len(), 1);
}

#[test]
fn of_two_faults_the_first_strikes_and_the_second_has_seen() {
    let mut host = Host::receiving(&["lose:rx,at=2", "duplicate:rx,every=2"]);
    host.stream(0, Samples(600), None);
    host.run(ms(2));
    assert_eq!(order(&host), [0, 2, 3, 3, 4, 5, 5]);
    assert_eq!((host.injected("lose:rx,at=2"), host.injected("duplicate:rx,every=2")), (1, 2));
}

#[test]
fn without_faults_a_wrapped_device_is_the_device() {
    let run = |faults: &[&str]| {
        let mut host = Host::with_faults(faults);
        host.open_rx(0, 4, Format::Sc16, 363);
        host.stream(0, Samples(100_000), None);
        host.run(ms(50));
        (host.rx, host.acks)
    };
    // A fault that never strikes leaves every byte and every instant alone.
    assert_eq!(run(&[]), run(&["lose:all,at=1h", "delay:tx,every=1,by=1s", "corrupt:rx,at=100000000"]));
}

#[test]
fn a_device_behind_a_fault_still_answers_in_time() {
    let mut host = Host::with_faults(&["lose:rx,every=1"]);
    let at = host.time() + SECOND / 10;
    host.command(Some(at), FifoAction::Peek { word: readback::TIME_LOW });
    host.run(Duration::from_millis(101));
    assert_eq!(host.acks.last().map(|a| u64::from(a.data)), Some(at));
}

/// A host that does nothing for `idle`, then receives on DSP 0 and keeps on.
fn receiving_after(idle: Duration, faults: &[&str]) -> (Host, u64) {
    let mut host = Host::with_faults(faults);
    host.run(idle);
    host.open_rx(0, 100, Format::Sc16, 100);
    let start = host.time() + SECOND / 1000;
    host.stream(0, Start, Some(start));
    host.run(ms(31));
    (host, start)
}

/// Which packets of 100 us came, by their number since `start`, among the first 250.
fn came(host: &Host, start: u64) -> Vec<u64> {
    host.packets(0).iter().map(|p| (p.0 - start) / 10_000).filter(|&n| n < 250).collect()
}

#[test]
fn a_time_after_samples_is_the_same_however_long_the_host_took() {
    for fault in ["lose:rx,at=+10ms,run=50", "stall:rx,at=+10ms,for=5ms", "stall:all,at=+10ms,for=5ms"] {
        let runs = [ms(0), ms(777), ms(5000)].map(|idle| receiving_after(idle, &[fault]));
        for (host, start) in &runs {
            // A packet leaves when its last sample is taken: the first one when it is 0 and ends at 1.
            let lost: Vec<u64> = (0..250).filter(|n| !came(host, *start).contains(n)).collect();
            assert_eq!(lost, (100..150).collect::<Vec<_>>(), "{fault}");
        }
    }
    let (host, start) = receiving_after(ms(777), &["lose:rx,every=1,after=+10ms,limit=3"]);
    let lost: Vec<u64> = (0..250).filter(|n| !came(&host, start).contains(n)).collect();
    assert_eq!(lost, [100, 101, 102]);
}

#[test]
fn an_overflow_and_a_reboot_after_samples_come_at_their_time() {
    for idle in [ms(0), ms(777)] {
        let (host, start) = receiving_after(idle, &["overflow:rx,at=+10ms"]);
        assert_eq!((came(&host, start), host.messages(0).len()), ((0..100).collect(), 1));
        let fault = "reboot:at=+10ms,for=5ms";
        let (mut host, start) = receiving_after(idle, &[fault]);
        // The packet of that instant still leaves.
        assert_eq!(came(&host, start), (0..=100).collect::<Vec<_>>());
        assert_eq!(host.injected(fault), 1);
        assert!(host.ask(ControlAsk::Hello).is_some(), "back");
    }
}

#[test]
fn samples_of_either_direction_begin_the_time() {
    let faults = ["lose:requests,every=1,after=+10ms"];
    let mut host = Host::with_faults(&faults);
    host.run(ms(100));
    assert!(host.ask(ControlAsk::Hello).is_some());
    host.open_tx(100, Format::Sc16);
    host.packet(100, None, true);
    host.run(ms(5));
    assert!(host.ask(ControlAsk::Hello).is_some());
    host.run(ms(10));
    assert!(host.ask(ControlAsk::Hello).is_none());
    // Nothing of what it strikes leaves the device, but what leaves begins it.
    let (mut host, _) = receiving_after(ms(100), &faults);
    assert!(host.ask(ControlAsk::Hello).is_none());
}

#[test]
fn a_time_after_samples_without_samples_never_comes() {
    let faults = ["stall:all,at=+0s,for=1h", "reboot:at=+0s", "lose:all,every=1,after=+0s", "overflow:rx,at=+0s"];
    let mut host = Host::with_faults(&faults);
    host.run(ms(5000));
    assert!(host.ask(ControlAsk::Hello).is_some());
    assert_eq!(faults.map(|fault| host.injected(fault)), [0; 4]);
}
