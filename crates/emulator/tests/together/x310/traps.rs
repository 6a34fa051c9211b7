//! Traps of `docs/internals/x310.md` 15 that belong to no other file; the rest are named by their numbers where they belong.

use takt_wire::chdr::ControlOperation;
use takt_wire::x310::registers::radio;

use super::host::{DDC, Host, MS, RADIO, RX, ms, us};

#[test]
fn trap_08_the_rate_comes_from_the_decimation_and_not_from_the_time_increment() {
    let mut host = Host::ready();
    host.open_rx(0, 50, 100);
    host.write(DDC[0], 0x448, 0); // as UHD writes it
    host.stream(0, 1, 1000, None);
    host.run(ms(1));
    let ticks: Vec<u64> = host.rx[0].iter().filter_map(|packet| packet.head.tick).collect();
    assert!(ticks.len() == 10 && ticks.windows(2).all(|pair| pair[1] - pair[0] == 5000), "{ticks:?}");
}

#[test]
fn trap_10_messages_carry_the_radios_own_port_in_both_fields() {
    let mut host = Host::ready();
    host.open_rx(2, 200, 100);
    host.stream(2, 2, 0, Some(1));
    host.run(ms(1));
    let message = host.messages[0];
    assert_eq!((message.from_port, message.to_port, message.sequence), (RADIO[1], RADIO[1], 0));
    host.stream(2, 2, 0, Some(1));
    host.run(ms(1));
    assert_eq!(host.messages[1].sequence, 1);
}

#[test]
fn trap_12_packets_hold_what_was_requested_and_never_more_than_blocks_pass_on() {
    let mut host = Host::ready();
    host.open_rx(0, 100, 1996);
    host.stream(0, 1, 1996, None);
    host.run(ms(2));
    host.write(RADIO[0], radio::CHANNELS + radio::RX_SAMPLES_PER_PACKET, 60_000);
    host.stream(0, 1, 3000, None);
    host.run(ms(3));
    let sizes: Vec<usize> = host.rx[0].iter().map(|packet| packet.samples.len()).collect();
    assert_eq!(sizes, [1996, 2044, 956], "8192 bytes are 2044 samples");
}

#[test]
fn trap_15_milliseconds_without_credit_are_no_overrun() {
    let mut host = Host::ready();
    host.capacity_bytes = 8192;
    host.open_rx(0, 100, 996);
    host.gives_credit = false;
    host.stream(0, 2, 0, None);
    host.run(ms(15));
    assert!(host.messages.is_empty());
    assert_eq!(host.report().rx[0].overflows, 0);
    host.run(ms(15));
    assert_eq!(host.report().rx[0].overflows, 1);
}

#[test]
fn trap_19_no_samples_come_to_a_socket_that_transmits() {
    let mut host = Host::ready();
    host.open_tx(0, 100, 4000);
    host.open_rx(0, 100, 500);
    let start = host.time() + MS;
    host.stream(0, 2, 0, Some(start));
    for _ in 0..10 {
        host.transmit(0, None, false, &[(1, 1); 500]);
    }
    // A sample packet on another socket than a receiver's panics in the host.
    host.run(ms(10));
    assert!(host.rx[0].len() > 10);
    assert_eq!(usize::from(RX[0]), 3);
}

#[test]
fn a_session_that_follows_finds_nothing_left_of_the_last_one() {
    let mut host = Host::ready();
    host.open_rx(0, 200, 100);
    host.stream(0, 2, 0, None);
    let late = host.time() + 1000 * MS;
    host.request(RADIO[1], ControlOperation::Read, 0, 0, Some(late));
    host.run(ms(1));
    // The next host resets the endpoints, and gives the same ids to other sockets.
    host.prepare();
    host.run(us(100));
    let received = host.rx[0].len();
    host.acks.clear();
    host.run(ms(5));
    assert_eq!(host.rx[0].len(), received);
    assert_eq!(host.read(RADIO[1], radio::COMPAT), 1, "its port is not blocked");
}
