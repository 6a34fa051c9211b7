//! The command engine of a receive DSP, row by row.

use takt_wire::n200::StreamAction::{Samples, SamplesAndMore, Start, Stop};
use takt_wire::n200::registers::{dsp, rx_control, settings};
use takt_wire::n200::{RxEvent, StreamAction};
use takt_wire::sample::Format;

use crate::support::{Host, Rx, SECOND, ms, us};

#[test]
fn now_starts_at_once_and_runs_until_stopped() {
    let mut host = Host::receiving(&[]);
    let before = host.time();
    host.stream(0, Start, None);
    host.run(ms(5));
    let packets = host.packets(0);
    let first = packets[0].0;
    // One flight of 1 us, 100 ticks.
    assert_eq!(first, before + 100);
    assert!(packets.iter().all(|&(_, samples, end)| samples == 100 && !end));
    assert_eq!(packets.len(), 49, "5 ms hold 49 whole packets and a part");
    assert_eq!(host.contiguous(0, 100), 4900);
}

#[test]
fn a_timed_start_carries_exactly_its_tick() {
    let mut host = Host::receiving(&[]);
    let at = host.time() + 123_457;
    host.stream(0, Start, Some(at));
    host.run(ms(5));
    assert_eq!(host.packets(0)[0].0, at);
    host.contiguous(0, 100);
}

#[test]
fn a_time_already_past_is_late_and_the_command_is_dropped() {
    let mut host = Host::receiving(&[]);
    let at = host.time() - 1;
    host.stream(0, Samples(10), Some(at));
    host.stream(0, Samples(10), None);
    host.run(ms(1));
    assert_eq!(host.messages(0), [RxEvent::LateCommand]);
    assert_eq!(host.packets(0).len(), 1, "only the second command gave samples");
    let Rx::Message { time, .. } = host.rx[0][0] else { panic!("the message comes first") };
    assert!(time > at, "stamped with the time of the event");
}

#[test]
fn late_means_later_than_the_command_not_as_late_as_it() {
    let mut host = Host::receiving(&[]);
    // The third word arrives one flight later, and no time passes between the words.
    let at = host.time() + 100;
    host.stream(0, Samples(1), Some(at));
    host.run(ms(1));
    assert_eq!(host.packets(0), [(at, 1, true)]);
}

#[test]
fn a_stop_while_idle_is_reported() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Stop, None);
    host.run(ms(1));
    assert_eq!(host.messages(0), [RxEvent::StopWhileIdle]);
    host.stream(0, Stop, Some(0));
    host.run(ms(1));
    assert_eq!(host.messages(0), [RxEvent::StopWhileIdle; 2], "with or without a time");
}

#[test]
fn a_stop_finishes_at_the_current_sample_and_ends_the_burst() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    host.run(us(1234));
    let told = host.time() + 100;
    host.stream(0, Stop, None);
    host.run(ms(2));
    let packets = host.packets(0);
    let &(first, samples, end) = packets.last().unwrap();
    assert!(end);
    assert!(packets[..packets.len() - 1].iter().all(|p| !p.2));
    let last = first + 100 * (samples as u64 - 1);
    assert!((told..told + 100).contains(&last), "the sample that was due next: told {told}, last {last}");
    assert_eq!(host.messages(0), []);
}

#[test]
fn a_stop_at_any_moment_leaves_one_end_of_burst_and_no_gap() {
    for wait in 0..250 {
        let mut host = Host::receiving(&[]);
        host.stream(0, Start, None);
        host.run(us(wait));
        host.stream(0, Stop, None);
        host.run(ms(1));
        let packets = host.packets(0);
        assert_eq!(packets.iter().filter(|p| p.2).count(), 1, "after {wait} us");
        assert!(packets.iter().all(|p| p.1 > 0), "no empty packet");
        // Sample `wait` is due at this very tick; if it has just filled its packet, the one after it is the last.
        let full = u64::from(wait % 100 == 99);
        assert_eq!(host.contiguous(0, 100) as u64, wait + 1 + full, "after {wait} us");
    }
}

#[test]
fn so_many_samples_and_done() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Samples(250), None);
    host.run(ms(1));
    assert_eq!(host.sizes(0), [(100, false), (100, false), (50, true)]);
    host.stream(0, Samples(200), None);
    host.run(ms(1));
    assert_eq!(host.sizes(0)[3..], [(100, false), (100, true)], "a whole number of packets has no empty one behind it");
    assert_eq!(host.messages(0), []);
}

#[test]
fn so_many_and_more_goes_on_with_the_next_without_a_gap() {
    let mut host = Host::receiving(&[]);
    host.stream(0, SamplesAndMore(40), None);
    // Its time is ignored: it would be late, or much later.
    host.stream(0, Samples(30), Some(host.time() + SECOND));
    host.run(ms(1));
    assert_eq!(host.sizes(0), [(70, true)]);
    assert_eq!(host.messages(0), []);
}

#[test]
fn chained_commands_fill_packets_across_their_borders() {
    let mut host = Host::receiving(&[]);
    host.stream(0, SamplesAndMore(400), None);
    host.stream(0, Samples(300), None);
    host.run(ms(2));
    let (full, last) = ((100, false), (100, true));
    assert_eq!(host.sizes(0), [full, full, full, full, full, full, last]);
    assert_eq!(host.contiguous(0, 100), 700);
}

#[test]
fn and_more_without_more_breaks_the_chain() {
    let mut host = Host::receiving(&[]);
    host.stream(0, SamplesAndMore(40), None);
    host.run(ms(1));
    assert_eq!(host.rx[0].len(), 2);
    let (Rx::Data { samples, end_of_burst, .. }, Rx::Message { event, .. }) = (&host.rx[0][0], &host.rx[0][1]) else {
        panic!("data first, then the message: {:?}", host.rx[0]);
    };
    assert_eq!((samples.len(), *end_of_burst, *event), (40, false, RxEvent::BrokenChain));
    // Idle again: a new command starts.
    host.stream(0, Samples(5), None);
    host.run(ms(1));
    assert_eq!(host.sizes(0).last(), Some(&(5, true)));
}

#[test]
fn a_finite_command_follows_a_continuous_one_at_the_next_sample() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    host.run(us(500));
    host.stream(0, Samples(1000), None);
    host.run(ms(5));
    let total = host.contiguous(0, 100);
    assert_eq!(total, 500 + 1 + 1000);
    assert!(host.packets(0).last().unwrap().2);
}

#[test]
fn a_second_start_keeps_a_continuous_stream_going() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    host.run(us(500));
    host.stream(0, Start, None);
    host.stream(0, Start, Some(0));
    host.run(ms(1));
    host.stream(0, Stop, None);
    host.run(ms(1));
    assert_eq!(host.contiguous(0, 100), 1500 + 1);
    assert_eq!(host.messages(0), []);
}

#[test]
fn commands_behind_a_finite_one_are_looked_at_when_it_is_over() {
    let mut host = Host::receiving(&[]);
    let start = host.time() + 1000;
    host.stream(0, Samples(10), Some(start));
    host.stream(0, Samples(20), Some(start + 10_000));
    host.stream(0, Samples(30), Some(start + 10_500));
    host.stream(0, Stop, None);
    host.run(ms(2));
    assert_eq!(host.packets(0), [(start, 10, true), (start + 10_000, 20, true)]);
    assert_eq!(host.messages(0), [RxEvent::LateCommand, RxEvent::StopWhileIdle]);
}

#[test]
fn the_queue_holds_sixteen_commands() {
    let mut host = Host::receiving(&[]);
    let start = host.time() + SECOND / 100;
    // The first one leaves the queue to wait; sixteen wait behind it.
    for n in 0..20 {
        host.stream(0, Samples(1), Some(start + 1000 * n));
    }
    host.run(ms(50));
    assert_eq!(host.packets(0).len(), 17);
    assert_eq!(host.report().rx[0].refused_commands, 3);
}

#[test]
fn clear_drops_queue_state_and_partial_packet_and_keeps_the_packet_size() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    host.stream(0, SamplesAndMore(1), Some(0));
    host.run(us(150));
    host.stream(0, Start, None);
    host.poke(settings::RX_CONTROL[0] + rx_control::CLEAR, 0);
    host.run(ms(2));
    let received = host.rx[0].len();
    assert!(received <= 2, "nothing leaves after a clear: {received}");
    host.rx[0].clear();
    host.stream(0, Start, None);
    host.run(ms(1));
    assert_eq!(host.packets(0)[0].1, 100, "samples per packet survive");
    let Rx::Data { count, .. } = host.rx[0][0] else { panic!() };
    assert_eq!(count, 0, "the packet counter starts again");
}

#[test]
fn a_clear_while_waiting_means_nothing_ever_starts() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, Some(host.time() + SECOND / 10));
    host.run(ms(50));
    host.poke(settings::RX_CONTROL[0] + rx_control::CLEAR, 1);
    host.run(ms(200));
    assert_eq!(host.rx[0], []);
}

#[test]
fn a_command_gives_as_many_samples_as_requested_whatever_becomes_of_the_rate() {
    let mut host = Host::receiving(&[]);
    let at = host.time() + 10_000;
    host.stream(0, Samples(250), Some(at));
    for (tick, cic) in [(at + 3_000, 50), (at + 3_000, 200), (at + 40_000, 100), (at + 40_001, 50)] {
        host.poke_at(tick, settings::RX_DSP[0] + dsp::RATE, cic);
    }
    host.run(ms(2));
    let packets: Vec<_> = host.packets(0).iter().map(|packet| (packet.0 - at, packet.1, packet.2)).collect();
    // 30 samples, then 185 of 200 ticks, one of 100, and the rest.
    let meant = [(0, 30, false), (3_000, 100, false), (23_000, 85, false), (40_000, 1, false), (40_100, 34, true)];
    assert_eq!(packets, meant);
    assert_eq!(host.messages(0), []);
}

#[test]
fn no_samples_is_no_command() {
    let mut host = Host::receiving(&[]);
    host.stream(0, StreamAction::Samples(0), None);
    host.stream(0, StreamAction::SamplesAndMore(0), None);
    host.run(ms(1));
    assert_eq!(host.rx[0], []);
    assert_eq!(host.report().rx[0].refused_commands, 2);
}

#[test]
fn two_dsps_started_at_one_tick_are_aligned() {
    let mut host = Host::receiving(&[]);
    host.open_rx(1, 100, Format::Sc16, 100);
    let at = host.time() + 10_000;
    host.stream(0, Start, Some(at));
    host.stream(1, Start, Some(at));
    host.run(ms(3));
    assert_eq!(host.packets(0), host.packets(1));
    assert_eq!(host.packets(0)[0].0, at);
}

#[test]
fn the_time_may_be_set_while_a_command_waits() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Samples(1), Some(10 * SECOND));
    host.run(ms(1));
    // Now it is due in 1 ms.
    let new = 10 * SECOND - 100_000;
    host.set_time(new, true);
    host.run(ms(2));
    assert_eq!(host.packets(0), [(10 * SECOND, 1, true)]);
}

#[test]
fn a_command_whose_time_was_jumped_over_is_late() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Samples(1), Some(10 * SECOND));
    host.set_time(9 << 32, true);
    host.run(ms(2));
    assert_eq!(host.messages(0), [RxEvent::LateCommand]);
}
