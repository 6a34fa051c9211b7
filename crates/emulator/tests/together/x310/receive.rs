//! Sample packets of the receivers (8.3, 9 and 10.2).

use takt_emulator::x310::X310Options;
use takt_wire::x310::registers::message;

use super::host::{ENDPOINTS, Host, Incoming, MS, RX, id_of, ms, us};
use crate::support::{constant, ramps};

/// Each packet follows the one before without a gap, in time and in number.
pub fn without_a_gap(packets: &[Incoming], ticks: u64) {
    for (n, pair) in packets.windows(2).enumerate() {
        let [before, after] = pair else { unreachable!() };
        assert_eq!(after.head.sequence, before.head.sequence.wrapping_add(1), "after packet {n}");
        assert_eq!(after.head.tick.unwrap() - before.head.tick.unwrap(), ticks, "after packet {n}");
    }
}

#[test]
fn a_timed_start_and_a_stop_frame_a_stream_without_gaps() {
    let mut host = Host::ready();
    host.open_rx(0, 16, 1000);
    let start = host.time() + 5 * MS;
    host.stream(0, 2, 0, Some(start));
    host.run(ms(20));
    host.stream(0, 0, 0, None);
    host.run(ms(5));
    let packets = &host.rx[0];
    assert!(packets.len() > 150, "{}", packets.len());
    assert_eq!((packets[0].head.tick, packets[0].head.sequence), (Some(start), 0));
    assert_eq!(packets[0].head.destination, id_of(RX[0]));
    without_a_gap(packets, 16 * 1000);
    let ends: Vec<_> = packets.iter().map(|packet| packet.head.end_of_burst).collect();
    assert_eq!(ends.iter().filter(|ends| **ends).count(), 1);
    assert!(ends[ends.len() - 1], "the last ends the burst");
    assert!(packets[..packets.len() - 1].iter().all(|packet| packet.samples.len() == 1000));
    let ramp: Vec<i16> = packets.iter().flat_map(|packet| &packet.samples).map(|(i, _)| *i).collect();
    assert!(ramp.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)), "no sample twice, none missing");
}

#[test]
fn so_many_samples_end_with_a_short_packet() {
    let mut host = Host::ready();
    host.open_rx(0, 200, 300);
    host.stream(0, 1, 1000, None);
    host.run(ms(10));
    let shape: Vec<_> = host.rx[0].iter().map(|packet| (packet.samples.len(), packet.head.end_of_burst)).collect();
    assert_eq!(shape, [(300, false), (300, false), (300, false), (100, true)]);
    assert_eq!(host.report().rx[0].samples, 1000);
    assert!(host.messages.is_empty());
}

#[test] // UHD asks for 2^28 samples and more in one command
fn a_command_may_ask_for_more_samples_than_32_bits_count() {
    let mut host = Host::ready();
    host.open_rx(0, 1000, 1996);
    host.stream(0, 1, (1 << 32) + 1, None);
    host.run(ms(100));
    assert!(host.rx[0].len() > 5, "not one sample");
    host.stream(0, 0, 0, None);
    host.run(ms(20));
    assert!(host.rx[0].last().unwrap().head.end_of_burst);
}

#[test]
fn a_packet_leaves_when_its_last_sample_was_taken() {
    let mut host = Host::ready();
    host.open_rx(0, 200, 100);
    let start = host.time() + 2 * MS;
    let now = host.world.now();
    host.stream(0, 1, 100, Some(start));
    host.run(ms(5));
    // 2 ms to the first sample, 99 us to the last, 1 us on the way; its start is counted from before the request.
    let left = host.rx[0][0].arrived.0 - now.0;
    assert_eq!(left, 2_100_000);
}

#[test]
fn two_receivers_started_at_one_time_carry_the_same_times() {
    let mut host = Host::ready();
    for channel in [0, 2] {
        host.open_rx(channel, 100, 500);
    }
    let start = host.time() + 10 * MS;
    for channel in [0, 2] {
        host.stream(channel, 2, 0, Some(start));
    }
    host.run(ms(30));
    let ticks = |channel: usize| host.rx[channel].iter().map(|packet| packet.head.tick).collect::<Vec<_>>();
    assert!(ticks(0).len() > 60);
    assert_eq!(ticks(0), ticks(2));
    assert_eq!(ticks(0)[0], Some(start));
}

#[test]
fn all_four_channels_stream_at_once_each_to_its_own_endpoint() {
    let mut host = Host::ready();
    for channel in 0..4 {
        host.open_rx(channel, 200, 500);
    }
    let start = host.time() + 10 * MS;
    for channel in 0..4 {
        host.stream(channel, 1, 2500, Some(start));
    }
    host.run(ms(30));
    for (channel, packets) in host.rx.iter().enumerate() {
        assert_eq!(packets.len(), 5, "channel {channel}");
        assert_eq!(packets[0].head.destination, id_of(RX[channel]));
    }
    assert_eq!(ENDPOINTS.len(), host.rx.len());
}

#[test] // 9
fn a_start_in_the_past_is_reported_and_gives_no_samples() {
    let mut host = Host::ready();
    host.open_rx(1, 200, 100);
    let past = host.time() - MS;
    host.stream(1, 2, 0, Some(past));
    host.run(ms(5));
    assert!(host.rx[1].is_empty());
    assert_eq!(host.told().iter().map(|t| (t.0, t.1)).collect::<Vec<_>>(), [(0x1040, message::RX_LATE)]);
    assert_eq!(host.report().rx[1].late, 1);
}

#[test]
fn samples_are_little_endian_and_full_scale_is_32767() {
    let mut host = Host::with(X310Options::default(), [constant(0.5, -1.0), ramps()], &[]);
    host.prepare();
    host.open_rx(0, 200, 10);
    host.stream(0, 1, 10, None);
    host.run(ms(1));
    assert_eq!(host.rx[0][0].samples, vec![(16384, -32767); 10]);
}

#[test]
fn a_stream_that_was_never_set_up_goes_nowhere() {
    let mut host = Host::ready();
    host.write(super::host::DDC[0], 0x400, 200);
    host.stream(0, 1, 1, None);
    host.run(us(100));
    assert!(host.rx[0].is_empty());
    assert_eq!(host.report().rx[0].undirected_packets, 1);
}
