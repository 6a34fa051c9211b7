//! The claim (2.3): a word between hosts. Whether it holds is nothing to a stream, as in the public firmware.

use takt_wire::x310::registers::shared;

use super::host::{Host, MS, ms, us};
use super::receive::without_a_gap;

/// Ticks of a packet of 100 samples at 100 kS/s: a millisecond.
const PACKET_TICKS: u64 = 100 * 2000;

fn word(n: u32) -> u32 {
    shared::BASE + 4 * n
}

/// Writes the time of day, as a host does each second.
fn renew(host: &mut Host, time: u32) {
    host.poke(word(shared::CLAIM_TIME), time);
}

fn claimed(host: &mut Host) -> bool {
    host.peek(word(shared::CLAIM_STATUS)) == 1
}

/// A host that has claimed the device, and streams both ways at 100 kS/s. It sends 20 ms ahead.
fn streaming() -> Host {
    let mut host = Host::ready();
    host.capacity_bytes = 8 << 20;
    renew(&mut host, 1000);
    host.open_rx(0, 2000, 100);
    host.open_tx(0, 2000, 10_000);
    let start = host.time() + 20 * MS;
    host.stream(0, 2, 0, Some(start));
    host.transmit(0, Some(start), false, &[(1, 1); 2000]);
    host
}

/// Goes on for so many milliseconds, and sends as much as is played meanwhile.
fn go_on(host: &mut Host, millis: u32) {
    for _ in 0..millis {
        host.transmit(0, None, false, &[(1, 1); 100]);
        host.run(ms(1));
    }
}

#[test]
fn trap_18_a_crashed_host_blocks_the_device_for_two_seconds() {
    let mut host = Host::new();
    renew(&mut host, 1000);
    host.run(ms(1999));
    assert!(claimed(&mut host));
    host.run(ms(1));
    assert!(!claimed(&mut host));
}

#[test] // UHD waits 1 s for the lost reply and pokes the same again: the next new time comes 2.0005 s after the last
fn a_lost_control_packet_costs_no_stream() {
    let mut host = streaming();
    go_on(&mut host, 1000);
    renew(&mut host, 1001);
    go_on(&mut host, 1000);
    renew(&mut host, 1001);
    go_on(&mut host, 1000);
    host.run(us(500));
    assert!(!claimed(&mut host), "the same time renews nothing");
    renew(&mut host, 1003);
    assert!(claimed(&mut host));
    go_on(&mut host, 1000);
    assert!(host.rx[0].len() > 3900, "{}", host.rx[0].len());
    without_a_gap(&host.rx[0], PACKET_TICKS);
    let report = host.report();
    assert_eq!((report.tx[0].underflows, report.tx[0].late, report.tx[0].bursts), (0, 0, 1));
    assert!(report.tx[0].samples > 390_000, "{:?}", report.tx[0]);
    assert_eq!((host.messages.len(), report.hosts.lost), (0, 0));
}

#[test]
fn a_host_that_was_frozen_for_longer_finds_its_streams_again() {
    let mut host = streaming();
    go_on(&mut host, 500);
    // It reads, sends and renews nothing. The credit that it gave before lasts.
    host.world.run_for(ms(2500));
    assert!(!claimed(&mut host));
    renew(&mut host, 1003);
    assert!(claimed(&mut host));
    host.transmit(0, None, false, &[(1, 1); 2000]);
    go_on(&mut host, 500);
    assert!(host.rx[0].len() > 3400, "{}", host.rx[0].len());
    without_a_gap(&host.rx[0], PACKET_TICKS);
    let report = host.report();
    assert_eq!((report.tx[0].underflows, report.tx[0].bursts), (1, 2), "there was nothing to be sent for a while");
    assert!(report.tx[0].samples > 100_000, "{:?}", report.tx[0]);
    assert_eq!((host.messages.len(), report.hosts.lost), (1, 0));
}

#[test]
fn a_claim_that_is_given_back_ends_no_stream() {
    let mut host = streaming();
    go_on(&mut host, 100);
    for claim in [shared::CLAIM_TIME, shared::CLAIM_SOURCE] {
        host.poke(word(claim), 0);
    }
    assert!(!claimed(&mut host));
    go_on(&mut host, 100);
    assert!(host.rx[0].len() > 170, "{}", host.rx[0].len());
    without_a_gap(&host.rx[0], PACKET_TICKS);
    assert_eq!(host.report().tx[0].underflows, 0);
}
