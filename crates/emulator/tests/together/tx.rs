//! The transmit DSP: play head, policies, flow control, reports.

use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::n200::N200Options;
use takt_wire::n200::TxEvent::{BurstAck, SequenceError, SequenceErrorInBurst, TimeError, Underflow};
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{settings, tx_policy};
use takt_wire::n200::{Destination, TxHead, ports};
use takt_wire::sample::{ByteOrder, Format, sc16};

use crate::support::{self, Host, Recorder, SECOND, instant_of, ms, us};

/// A host whose transmit stream is open with this step and format, and what the radio transmits.
fn recorded(step: u32, format: Format) -> (Host, Recorder) {
    let (signals, recorder) = support::recorded();
    let mut host = Host::with(N200Options::default(), signals, &[]);
    host.open_tx(step, format);
    (host, recorder)
}

/// Sends packets of zeros, ten samples each, that end no burst.
fn send(host: &mut Host, packets: usize) {
    (0..packets).for_each(|_| host.packet(10, None, false));
}

#[test]
fn a_burst_with_an_end_is_acknowledged_when_its_last_sample_has_left() {
    let mut host = Host::transmitting(&[]);
    let start = host.time() + 100; // one flight later
    host.packet(100, None, false);
    host.packet(100, None, true);
    host.run(ms(2));
    assert_eq!(host.events(), [(BurstAck, start + 20_000, 1)]);
    let ack = host.tx.iter().find(|tx| tx.report.event == BurstAck).unwrap();
    assert_eq!(ack.arrived, instant_of(start + 20_000) + support::LATENCY, "at once, not at the next look");
}

#[test]
fn a_burst_that_runs_dry_underflows_at_the_play_head() {
    let mut host = Host::transmitting(&[]);
    let start = host.time() + 100;
    host.packet(100, None, false);
    host.run(ms(2));
    assert_eq!(host.events(), [(Underflow, start + 10_000, 0)]);
    // The next packet starts a burst of its own.
    let again = host.time() + 100;
    host.packet(10, None, true);
    host.run(ms(1));
    assert_eq!(host.events()[1..], [(BurstAck, again + 1000, 1)]);
}

#[test]
fn a_burst_that_runs_dry_in_its_first_packets_is_told_apart_from_one_in_flow() {
    let mut host = Host::transmitting(&[]);
    for packets in [32, 33] {
        (0..packets).for_each(|_| host.packet(100, None, false));
        host.run(ms(20));
    }
    let tx = host.report().tx;
    assert_eq!((tx.underflows, tx.underflows_at_start), (2, 1));
}

#[test]
fn a_timed_burst_starts_at_exactly_its_tick() {
    let (mut host, recorder) = recorded(100, Format::Sc16);
    let at = host.time() + 5_555;
    host.packet(100, Some(at), true);
    host.run(ms(1));
    assert_eq!(host.events(), [(BurstAck, at + 10_000, 0)]);
    let blocks = recorder.blocks();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].first, Tick(at + 525_000_000));
    assert_eq!(blocks[0].step, 100);
    assert!(blocks[0].edges.start && blocks[0].edges.end);
}

#[test]
fn a_time_inside_a_burst_is_ignored() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 10_000;
    host.packet(100, Some(at), false);
    host.packet(100, Some(at + SECOND), false);
    host.packet(100, Some(0), true);
    host.run(ms(1));
    assert_eq!(host.events(), [(BurstAck, at + 30_000, 2)]);
}

#[test]
fn a_late_packet_is_dropped_and_reported_and_the_next_one_plays() {
    let mut host = Host::transmitting(&[]);
    let late = host.time();
    host.packet(100, Some(late), false);
    let start = host.time() + 100;
    host.packet(100, None, true);
    host.run(ms(1));
    assert_eq!(host.events(), [(TimeError, start, 0), (BurstAck, start + 10_000, 1)]);
    assert_eq!(host.report().tx.dropped_packets, 1);
}

#[test]
fn as_late_as_its_time_is_in_time() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 100;
    host.packet(100, Some(at), true);
    host.run(ms(1));
    assert_eq!(host.events(), [(BurstAck, at + 10_000, 0)]);
}

#[test]
fn a_burst_due_while_the_one_before_still_plays_is_late() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 10_000;
    host.packet(100, Some(at), true); // plays until at + 10 000
    host.packet(100, Some(at + 9_999), true);
    host.packet(100, Some(at + 10_000), true);
    host.run(ms(1));
    assert_eq!(host.events(), [(BurstAck, at + 10_000, 0), (TimeError, at + 10_000, 1), (BurstAck, at + 20_000, 2)]);
}

#[test]
fn a_wrong_number_at_the_start_of_a_burst() {
    let mut host = Host::transmitting(&[]);
    host.lose_packets(1);
    let at = host.time() + 100;
    host.packet(100, None, false);
    host.packet(100, None, true);
    host.run(ms(1));
    assert_eq!(host.events(), [(SequenceError, at, 1), (BurstAck, at + 10_000, 2)]);
}

#[test]
fn one_lost_packet_inside_a_burst_gives_one_error() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 100;
    host.packet(100, None, false);
    host.lose_packets(1);
    host.packet(100, None, false);
    host.packet(100, None, true);
    host.run(ms(1));
    assert_eq!(host.events(), [(SequenceErrorInBurst, at + 10_000, 2), (BurstAck, at + 20_000, 3)]);
    assert_eq!(host.report().tx.sequence_errors, 1);
}

#[test]
fn timed_fragments_find_their_place_again_after_a_loss() {
    let (mut host, recorder) = recorded(100, Format::Sc16);
    let at = host.time() + 10_000;
    for n in 0..6 {
        if n == 2 {
            host.lose_packets(1);
        } else {
            host.packet(100, Some(at + 10_000 * n), n == 5);
        }
    }
    host.run(ms(2));
    assert_eq!(host.events(), [(SequenceErrorInBurst, at + 20_000, 3), (BurstAck, at + 60_000, 5)]);
    let played: Vec<_> = recorder.blocks().iter().filter(|b| !b.samples.is_empty()).map(|b| b.first.0).collect();
    let tick = |n: u64| at + 10_000 * n + 525_000_000;
    assert_eq!(played, [tick(0), tick(1), tick(4), tick(5)]);
}

#[test]
fn the_four_bit_count_is_checked_too() {
    let mut host = Host::transmitting(&[]);
    let head = TxHead { sequence: 0, count: 5, tick: None, start_of_burst: false, end_of_burst: true, odd: false };
    host.raw_packet(&head, &[0; 40]);
    host.run(ms(1));
    assert_eq!(host.event_kinds(), [SequenceError]);
}

#[test]
fn policy_next_burst_drops_to_the_end_of_the_burst() {
    let mut host = Host::transmitting(&[]);
    host.poke(settings::TX_POLICY, tx_policy::NEXT_BURST);
    host.run(us(10));
    host.packet(100, None, false);
    host.lose_packets(1);
    for last in [false, false, true] {
        host.packet(100, None, last);
    }
    host.packet(100, None, true);
    host.run(ms(2));
    let events: Vec<_> = host.events().iter().map(|e| (e.0, e.2)).collect();
    assert_eq!(events, [(SequenceErrorInBurst, 2), (BurstAck, 5)]);
    assert_eq!(host.report().tx.dropped_packets, 3);
}

#[test]
fn policy_wait_drops_until_a_flush() {
    let mut host = Host::transmitting(&[]);
    host.poke(settings::TX_POLICY, tx_policy::WAIT);
    host.run(us(10));
    host.packet(100, None, false);
    host.run(ms(1)); // underflow
    host.packet(100, None, true);
    host.packet(100, None, true);
    host.run(ms(1));
    assert_eq!(host.event_kinds(), [Underflow]);
    assert_eq!(host.report().tx.dropped_packets, 2);
    host.open_tx(100, Format::Sc16);
    host.packet(100, None, true);
    host.run(ms(1));
    assert_eq!(host.event_kinds(), [BurstAck]);
}

#[test]
fn a_flush_drops_what_is_queued_and_what_arrives() {
    let (mut host, recorder) = recorded(100, Format::Sc16);
    host.packet(100, Some(host.time() + SECOND), false);
    host.packet(100, None, false);
    host.run(ms(1));
    host.poke(settings::TX_CLEAR, 1);
    host.packet(100, None, false);
    host.run(ms(1));
    assert_eq!(host.report().tx.flushed_packets, 3);
    host.poke(settings::TX_CLEAR, 0);
    host.run(ms(1));
    assert_eq!(host.events(), []);
    assert_eq!(recorder.blocks(), []);
}

#[test]
fn a_flush_while_playing_ends_the_burst_without_a_word() {
    let (mut host, recorder) = recorded(100, Format::Sc16);
    host.packet(100, None, false);
    host.run(us(50));
    host.poke(settings::TX_CLEAR, 1);
    host.run(ms(1));
    assert_eq!(host.events(), []);
    let last = recorder.blocks().pop().unwrap();
    assert!(last.samples.is_empty() && last.edges.end, "the sink knows that silence follows");
}

#[test]
fn flow_control_runs_while_idle_every_50_ms() {
    let mut host = Host::transmitting(&[]);
    host.run(ms(1000));
    let updates = host.updates();
    assert!((19..=20).contains(&updates.len()), "20 a second, less what of the first 50 ms had passed");
    for pair in updates.windows(2) {
        assert_eq!(pair[1].report.tick - pair[0].report.tick, 5_000_000);
        assert_eq!(pair[1].report.count, (pair[0].report.count + 1) % 16);
    }
    assert!(updates.iter().all(|u| u.report.sequence == u32::MAX), "all ones before the first packet");
    assert!(updates.iter().all(|u| u.report.stream_id == 2));
}

#[test]
fn flow_control_comes_after_ninety_packets_too() {
    let mut host = Host::transmitting(&[]);
    for n in 0..400 {
        host.packet(10, None, n == 399);
    }
    host.run(ms(5));
    let numbers: Vec<_> = host.updates().iter().map(|u| u.report.sequence).collect();
    assert_eq!(numbers, [89, 179, 269, 359], "more than 89 packets since the last one");
}

#[test]
fn both_flow_control_counters_restart_with_every_message() {
    let mut host = Host::transmitting(&[]);
    send(&mut host, 50);
    host.run(ms(60)); // one message by time, with 50 packets taken
    assert_eq!(host.updates().len(), 1);
    let before = host.updates()[0].report.tick;
    send(&mut host, 90);
    host.run(ms(5));
    let updates = host.updates();
    assert_eq!(updates.len(), 2, "50 + 40 packets are not enough, 90 are");
    assert_eq!(updates[1].report.sequence, 139);
    let by_packets = updates[1].report.tick;
    host.run(ms(100));
    assert_eq!(host.updates()[2].report.tick, by_packets + 5_000_000, "and the time restarts: {before}");
}

#[test]
fn flow_control_can_be_switched_off() {
    let mut host = Host::transmitting(&[]);
    host.poke(settings::TX_CYCLES_PER_UPDATE, 0);
    host.poke(settings::TX_PACKETS_PER_UPDATE, 0);
    host.run(us(10));
    host.tx.clear();
    for _ in 0..200 {
        host.packet(10, None, true);
    }
    host.run(ms(500));
    assert_eq!(host.updates(), []);
}

#[test]
fn a_hostile_update_interval_is_bounded() {
    let mut host = Host::transmitting(&[]);
    host.poke(settings::TX_CYCLES_PER_UPDATE, 1 << 31 | 1);
    host.run(ms(10));
    assert!(host.updates().len() <= 1001, "{}", host.updates().len());
}

#[test]
fn a_new_report_stream_forgets_the_old_numbers() {
    let mut host = Host::transmitting(&[]);
    for _ in 0..10 {
        host.packet(10, None, true);
    }
    host.run(ms(60));
    assert_eq!(host.updates().last().unwrap().report.sequence, 9);
    host.open_tx(100, Format::Sc16);
    host.run(ms(60));
    assert_eq!(host.updates().last().unwrap().report.sequence, u32::MAX);
    host.packet(10, None, true);
    host.run(ms(1));
    assert_eq!(host.event_kinds(), [BurstAck], "numbers count from 0 again");
}

#[test]
fn the_buffer_holds_a_mebibyte_and_the_rest_is_lost() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + SECOND;
    for n in 0..800 {
        host.packet(363, (n == 0).then_some(at), false);
        if n % 50 == 0 {
            host.run(us(10));
        }
    }
    host.run(ms(1));
    let lost = host.report().tx.overrun_packets;
    assert_eq!(800 - lost, 1 + (1_048_576 - 1472) / 1464, "full packets of 1472 bytes with and 1464 without a time");
}

#[test]
fn the_window_of_a_host_fits_the_buffer() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + SECOND;
    for n in 0..712 {
        host.packet(363, Some(at + 36_300 * n), n == 711);
        if n % 50 == 0 {
            host.run(us(10));
        }
    }
    host.run(ms(2000));
    assert_eq!(host.report().tx.overrun_packets, 0);
    assert_eq!(host.events().len(), 1);
}

#[test]
fn a_zero_length_end_of_burst_is_a_packet_with_one_zero_sample() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 100;
    host.packet(100, None, false);
    host.packet(1, None, true);
    host.run(ms(1));
    assert_eq!(host.events(), [(BurstAck, at + 10_100, 1)]);
}

#[test]
fn without_a_destination_nothing_is_reported() {
    let mut host = Host::new();
    let mut silent = Host::in_world(&host.world);
    silent.packet(10, None, true);
    host.run(ms(1));
    silent.run(ms(1));
    assert_eq!(silent.tx, []);
}

#[test] // scale words: a device that ignored them would be wrong by 2 at 61 of the 255 rates
fn what_a_host_means_by_full_scale_leaves_at_full_scale_at_every_rate() {
    for format in [Format::Sc16, Format::Sc8] {
        let (mut host, recorder) = recorded(4, format);
        for factor in Factor::all() {
            host.open_tx(factor.get(), format);
            let scaling = factor.scaling(Direction::Tx, format);
            let mut payload = [0; 4];
            match format {
                Format::Sc16 => {
                    let value = Complex32::new(0.7, -0.7) * scaling.host_factor as f32;
                    sc16::pack_f32(&[value], ByteOrder::Big, 1.0, &mut payload);
                }
                Format::Sc8 => {
                    let value = (0.7 * scaling.host_factor).round() as i8;
                    payload = [value as u8, -value as u8, value as u8, -value as u8];
                }
            }
            host.payload(&payload, None, true);
            host.run(us(50));
            let played = recorder.blocks().pop().unwrap();
            assert_eq!(played.step, factor.get());
            let (step, received) = (if format == Format::Sc8 { 0.005 } else { 3e-5 }, played.samples[0]);
            // If the host halves the word it sends twice the value, and 0.7 saturates on its side.
            let halved = scaling.host_factor > 40_000.0 / if format == Format::Sc8 { 256.0 } else { 1.0 };
            let want = if halved { 0.5 } else { 0.7 };
            assert!(
                (received.re - want).abs() < step && (received.im + want).abs() < step,
                "{factor:?} {format:?} {received}"
            );
        }
    }
}

#[test]
fn samples_of_sc8_are_two_a_word_and_the_odd_one_is_left_out() {
    let (mut host, recorder) = recorded(4, Format::Sc8);
    let head = TxHead { sequence: 0, count: 0, tick: None, start_of_burst: true, end_of_burst: true, odd: true };
    host.raw_packet(&head, &[64, 0, 0, 64, 192, 0, 0, 0]);
    host.run(us(50));
    let played = recorder.blocks().pop().unwrap().samples;
    let near = |a: Complex32, re: f32, im: f32| (a - Complex32::new(re, im)).norm() < 1e-3;
    assert_eq!(played.len(), 3);
    assert!(near(played[0], 0.5, 0.0) && near(played[1], 0.0, 0.5) && near(played[2], -0.5, 0.0), "{played:?}");
}

#[test]
fn contiguous_packets_reach_the_sink_contiguously() {
    let (mut host, recorder) = recorded(4, Format::Sc16);
    for n in 0..1000 {
        host.packet(363, None, n == 999);
        if n % 10 == 9 {
            // 1452 ticks a packet: 145.2 us for ten.
            host.run(us(100));
        }
    }
    host.run(ms(20));
    let blocks = recorder.blocks();
    assert_eq!(blocks.len(), 1000);
    for pair in blocks.windows(2) {
        assert_eq!(pair[1].first, pair[0].first + Ticks(1452));
    }
    assert_eq!(blocks.iter().filter(|b| b.edges.start).count(), 1);
    assert!(blocks[999].edges.end);
}

#[test]
fn another_address_can_be_named_for_reports() {
    let mut host = Host::transmitting(&[]);
    let mut other = Host::in_world(&host.world);
    let std::net::SocketAddr::V4(to) = other.local(ports::TX) else { panic!() };
    host.direct(ports::TX, Destination::Named { address: *to.ip(), port: to.port() });
    host.packet(10, None, true);
    other.run(Duration::from_millis(1));
    assert_eq!(other.events().len(), 1);
}
