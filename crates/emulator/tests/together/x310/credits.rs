//! Credits of the receivers (10.1 and 10.2): nothing leaves that there is no room for, and nothing lost costs credit for ever.

use takt_wire::chdr::{Operation, StreamOperation};
use takt_wire::x310::registers::message;

use super::host::{ENDPOINTS, Host, RX, ms, us};

#[test] // 10.1, step 6
fn a_stream_is_pending_until_its_receiver_answers() {
    let mut host = Host::ready();
    host.gives_credit = false;
    host.set_up_rx(0);
    let init = host.commands[0];
    assert_eq!((init.operation, init.bytes, init.packets), (StreamOperation::Init, 32_768, 0xFF_FFFF));
    let read = [0x08, 0x20, 0x24, 0x28].map(|address| Operation::Read { address });
    assert_eq!(host.at_endpoint(RX[0], 0, &read), [0x2000_000A, 0, 0, 0]);
    host.give_credit(0, ENDPOINTS[0]);
    assert_eq!(host.at_endpoint(RX[0], 0, &read), [0x8000_000A, 1 << 20, 0, 0xFF_FFFF]);
}

#[test]
fn a_stream_waits_for_credit_and_goes_on_without_a_gap() {
    let mut host = Host::ready();
    (host.gives_credit, host.capacity_bytes) = (true, 40_000);
    host.open_rx(0, 100, 996); // 4000 bytes each 0.5 ms
    host.gives_credit = false;
    host.stream(0, 2, 0, None);
    host.run(ms(15));
    assert_eq!(host.rx[0].len(), 10, "40 000 bytes and not one more");
    host.give_credit(0, ENDPOINTS[0]);
    host.gives_credit = true;
    host.run(ms(20));
    let ticks: Vec<u64> = host.rx[0].iter().filter_map(|packet| packet.head.tick).collect();
    assert!(ticks.len() > 60, "{}", ticks.len());
    assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] == 99_600), "what waited was kept");
    assert!(host.messages.is_empty());
}

#[test] // 9: the stream ends, the host gets a report, the radio is idle
fn without_credit_for_too_long_it_is_an_overrun() {
    let mut host = Host::ready();
    (host.gives_credit, host.capacity_bytes) = (true, 40_000);
    host.open_rx(0, 100, 996);
    host.gives_credit = false;
    host.stream(0, 2, 0, None);
    host.run(ms(100));
    assert_eq!(host.rx[0].len(), 10);
    assert_eq!(host.told().iter().map(|t| (t.0, t.1)).collect::<Vec<_>>(), [(0x1000, message::RX_OVERRUN)]);
    host.give_credit(0, ENDPOINTS[0]);
    host.gives_credit = true;
    host.run(ms(50));
    assert_eq!(host.rx[0].len(), 11);
    let last = &host.rx[0][10];
    assert!(last.head.end_of_burst && last.head.sequence == 10, "what waited first ends the burst");
    host.stream(0, 1, 996, None);
    host.run(ms(5));
    assert_eq!(host.rx[0].len(), 12, "a new command starts it again");
    assert_eq!(host.report().rx[0].overflows, 1);
}

#[test] // 15, trap 9
fn trap_09_lost_packets_give_their_credit_back_with_the_next_resync() {
    let mut host =
        Host::with(Default::default(), [crate::support::ramps(), crate::support::ramps()], &["lose:rx,every=4"]);
    host.prepare();
    host.capacity_bytes = 100_000;
    host.open_rx(0, 100, 996);
    host.stream(0, 2, 0, None);
    host.run(ms(500));
    // A quarter of about 1000 packets: without resync the credit would have been gone after 100.
    let report = host.report().rx[0];
    assert!(report.packets > 990 && host.rx[0].len() > 740, "{report:?}");
    assert_eq!(report.overflows, 0);
    let resyncs: Vec<_> = host.commands.iter().filter(|c| c.operation == StreamOperation::Resync).collect();
    assert!(resyncs.len() > 30);
    // 26 packets of 4000 bytes pass the capacity; then the command itself counts.
    assert_eq!((resyncs[0].packets, resyncs[0].bytes), (26, 26 * 4000));
    assert_eq!((resyncs[1].packets, resyncs[1].bytes), (26 + 1 + 26, 26 * 4000 + 24 + 26 * 4000));
}

#[test]
fn an_endpoint_that_is_reset_sends_no_more() {
    let mut host = Host::ready();
    host.open_rx(0, 200, 100);
    host.stream(0, 2, 0, None);
    host.run(ms(5));
    let received = host.rx[0].len();
    assert!(received > 40);
    host.at_endpoint(RX[0], 0, &[Operation::Write { address: 0x04, data: 1 }]);
    host.run(us(5));
    let received = host.rx[0].len();
    host.run(ms(5));
    assert_eq!(host.rx[0].len(), received);
}
