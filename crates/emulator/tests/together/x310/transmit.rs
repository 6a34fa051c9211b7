//! The transmitters (9 and 10.3): when samples leave, what hosts get reported, and their credits.

use takt_base::Complex32;
use takt_emulator::x310::X310Options;
use takt_wire::chdr::{Status, StreamOperation};
use takt_wire::x310::registers::{message, radio};

use super::host::{ENDPOINTS, Host, MS, RADIO, TX, id_of, ms, us};
use crate::support::{Recorder, ramps, recorded};

fn recording() -> (Host, Recorder) {
    let (signals, recorder) = recorded();
    let mut host = Host::with(X310Options::default(), [signals, ramps()], &[]);
    host.prepare();
    (host, recorder)
}

const SAMPLE: (i16, i16) = (16_384, -32_767);

#[test]
fn a_timed_burst_leaves_at_exactly_its_time_and_is_acknowledged_when_it_ends() {
    let (mut host, recorder) = recording();
    host.open_tx(0, 10, 0);
    let start = host.time() + 5 * MS;
    host.transmit(0, Some(start), false, &[SAMPLE; 1000]);
    host.transmit(0, None, false, &[SAMPLE; 500]);
    host.transmit(0, None, true, &[SAMPLE]);
    host.run(ms(10));
    let blocks = recorder.blocks();
    let shape: Vec<_> = blocks.iter().map(|b| (b.samples.len(), b.step, b.edges.start, b.edges.end)).collect();
    assert_eq!(shape, [(1000, 10, true, false), (500, 10, false, false), (1, 10, false, true)]);
    let first = blocks[0].first.0;
    assert_eq!(blocks.iter().map(|b| b.first.0 - first).collect::<Vec<_>>(), [0, 10_000, 15_000]);
    assert_eq!(blocks[0].samples[0], Complex32::new(16_384.0 / 32_767.0, -1.0));
    assert_eq!(host.told(), [(0, message::TX_BURST_ACK, start + 15_010)]);
    assert_eq!(host.messages[0].from_port, RADIO[0]);
    assert_eq!(host.messages[0].source, ENDPOINTS[0]);
    let report = host.report().tx[0];
    assert_eq!((report.samples, report.bursts, report.burst_acks), (1501, 1, 1));
}

#[test] // 15, trap 3
fn trap_03_a_packet_of_one_sample_ends_a_burst_without_an_underrun() {
    let (mut host, _) = recording();
    host.open_tx(0, 10, 0);
    host.transmit(0, None, false, &[SAMPLE; 100]);
    assert_eq!(host.transmit(0, None, true, &[SAMPLE]), 12);
    host.run(ms(1));
    assert_eq!(host.told().iter().map(|t| t.1).collect::<Vec<_>>(), [message::TX_BURST_ACK]);
}

#[test]
fn a_burst_that_runs_dry_is_an_underrun_and_the_next_packet_begins_another() {
    let (mut host, recorder) = recording();
    host.open_tx(0, 10, 0);
    host.transmit(0, None, false, &[SAMPLE; 100]);
    host.run(ms(1));
    host.transmit(0, None, true, &[SAMPLE; 100]);
    host.run(ms(1));
    assert_eq!(host.told().iter().map(|t| t.1).collect::<Vec<_>>(), [message::TX_UNDERRUN, message::TX_BURST_ACK]);
    let edges: Vec<_> = recorder.blocks().iter().map(|b| (b.samples.len(), b.edges.start, b.edges.end)).collect();
    assert_eq!(edges, [(100, true, false), (0, false, true), (100, true, true)]);
    let report = host.report().tx[0];
    assert_eq!((report.underflows, report.bursts), (1, 2));
}

#[test]
fn a_packet_whose_time_has_passed_is_dropped_and_reported() {
    let (mut host, recorder) = recording();
    host.open_tx(0, 10, 0);
    let past = host.time() - MS;
    host.transmit(0, Some(past), false, &[SAMPLE; 100]);
    host.transmit(0, None, true, &[SAMPLE; 50]);
    host.run(ms(1));
    assert_eq!(host.told().iter().map(|t| t.1).collect::<Vec<_>>(), [message::TX_LATE, message::TX_BURST_ACK]);
    assert_eq!(recorder.blocks()[0].samples.len(), 50, "the next packet is played");
    host.messages.clear();
    host.write(RADIO[0], radio::CHANNELS + radio::TX_POLICY, 2);
    host.transmit(0, Some(past), false, &[SAMPLE; 100]);
    host.transmit(0, None, true, &[SAMPLE; 50]);
    host.transmit(0, None, true, &[SAMPLE; 7]);
    host.run(ms(1));
    assert_eq!(host.told().iter().map(|t| t.1).collect::<Vec<_>>(), [message::TX_LATE, message::TX_BURST_ACK]);
    assert_eq!(recorder.blocks()[1].samples.len(), 7, "the next burst is played");
}

#[test] // 10.3, step 7
fn a_lost_packet_is_reported_by_a_status_and_not_by_the_radio() {
    let (mut host, _) = recording();
    host.open_tx(0, 10, 0);
    host.statuses.clear();
    host.transmit(0, None, false, &[SAMPLE; 100]);
    host.skip(0);
    host.transmit(0, None, true, &[SAMPLE; 100]);
    host.run(ms(1));
    let [status] = host.statuses[..] else { panic!("{:?}", host.statuses) };
    assert_eq!((status.status, status.info), (Status::SequenceError, 6 << 32 | 1 << 16 | 2));
    assert_eq!(host.told().iter().map(|t| t.1).collect::<Vec<_>>(), [message::TX_BURST_ACK]);
    assert_eq!(host.report().tx[0].sequence_errors, 1);
}

#[test] // 10.3, steps 2 and 3
fn each_set_up_is_answered_with_the_capacity() {
    let (mut host, _) = recording();
    host.open_tx(0, 10, 524_288);
    let said: Vec<_> = host.statuses.iter().map(|s| (s.destination, s.capacity_bytes, s.taken_bytes)).collect();
    assert_eq!(said, [(id_of(TX[0]), 2 << 20, 0); 2]);
}

#[test] // 15, trap 16
fn trap_16_a_packet_is_taken_when_its_samples_are_due_and_not_before() {
    let (mut host, _) = recording();
    host.open_tx(0, 100, 4000);
    host.statuses.clear();
    let start = host.time() + 20 * MS;
    host.transmit(0, Some(start), false, &[SAMPLE; 996]); // 4000 bytes, 0.498 ms
    for _ in 0..9 {
        host.transmit(0, None, false, &[SAMPLE; 998]); // 4000 bytes, 0.499 ms
    }
    host.run(ms(19));
    assert!(host.statuses.is_empty(), "its time has not come");
    host.run(us(1100));
    assert_eq!(host.statuses.len(), 1);
    host.run(ms(10));
    let taken: Vec<_> = host.statuses.iter().map(|s| (s.taken_bytes, s.taken_packets)).collect();
    assert_eq!(taken, (1..=10).map(|n| (4000 * n, n)).collect::<Vec<_>>());
}

#[test] // 10.3, step 6, and 15, trap 9
fn trap_09_the_hosts_counts_are_adopted_when_they_come_to_the_front_of_the_buffer() {
    let (mut host, _) = recording();
    host.open_tx(0, 100, 0);
    host.statuses.clear();
    let start = host.time() + 10 * MS;
    host.transmit(0, Some(start), false, &[SAMPLE; 996]);
    // The host counts a packet that was lost on its way, too.
    host.command(0, StreamOperation::Resync, 12_000, 3);
    host.transmit(0, None, true, &[SAMPLE; 998]);
    host.run(ms(9));
    assert!(host.statuses.is_empty(), "there are samples before it");
    host.run(ms(2));
    assert_eq!(host.statuses.iter().map(|s| (s.taken_bytes, s.taken_packets)).collect::<Vec<_>>(), [(12_000, 3)]);
    host.command(0, StreamOperation::Ping, 0, 0);
    host.run(ms(1));
    assert_eq!(host.statuses[1].taken_packets, 4, "and counted on from there");
}

#[test]
fn both_transmitters_run_at_once() {
    let (mut host, _) = recording();
    for slot in [0, 1] {
        host.open_tx(slot, 100, 0);
    }
    let start = host.time() + 5 * MS;
    for slot in [0, 1] {
        host.transmit(slot, Some(start), true, &[SAMPLE; 100]);
    }
    host.run(ms(10));
    let mut told: Vec<_> = host.messages.iter().map(|m| (m.from_port, m.tick.unwrap())).collect();
    told.sort_unstable();
    assert_eq!(told, [(RADIO[0], start + 10_000), (RADIO[1], start + 10_000)]);
}

#[test]
fn what_a_host_sends_beyond_its_credit_is_lost_and_counted() {
    let (mut host, _) = recording();
    host.open_tx(0, 1000, 0);
    let start = host.time() + 1000 * MS;
    host.transmit(0, Some(start), false, &[SAMPLE; 1996]);
    for _ in 0..600 {
        host.transmit(0, None, false, &[SAMPLE; 1996]);
    }
    host.run(ms(10));
    let kept = (2 << 20) / 7992;
    let report = host.report().tx[0];
    assert_eq!(report.overrun_packets, 601 - kept, "{report:?}");
}
