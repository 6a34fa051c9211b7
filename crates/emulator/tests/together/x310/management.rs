//! Discovery and routes (6.3): what each node answers.

use takt_wire::chdr::{NodeInfo, NodeKind, Operation};
use takt_wire::x310::registers::board;

use super::host::{CONTROL, ENDPOINTS, Host, RX, id_of};

const ASK: &[Operation] = &[Operation::InfoRequest, Operation::Return];
const NOP: &[Operation] = &[Operation::Nop];

fn info(host: &mut Host, hops: &[&[Operation]]) -> Option<NodeInfo> {
    let answer = host.manage(CONTROL, hops)?;
    let said: Vec<_> = answer.operations.hops().flatten().collect();
    match said[..] {
        [Operation::Nop, Operation::InfoResponse(info)] => Some(info),
        _ => panic!("one hop: a nop, and then the answer: {said:?}"),
    }
}

#[test]
fn nodes_are_found_behind_each_other() {
    let mut host = Host::new();
    host.poke(board::BASE + 4 * board::DEVICE_ID, 3);
    let transport = info(&mut host, &[ASK, NOP]).expect("a transport");
    assert_eq!((transport.device, transport.kind, transport.instance), (3, NodeKind::Transport, 0));
    let crossbar = info(&mut host, &[NOP, ASK, NOP]).expect("a crossbar");
    assert_eq!((crossbar.kind, crossbar.instance, crossbar.extended), (NodeKind::Crossbar, 0, 0x105));
    let behind = |host: &mut Host, port| info(host, &[NOP, &[Operation::Select { port }], ASK, NOP]);
    for port in 1..=4 {
        let endpoint = behind(&mut host, port).expect("an endpoint");
        assert_eq!((endpoint.kind, endpoint.instance), (NodeKind::StreamEndpoint, port - 1));
        assert_eq!(endpoint.extended, 0x4106 | u32::from(port == 1), "the first carries control");
    }
    assert_eq!(behind(&mut host, 5), None, "nobody answers");
    assert_eq!(behind(&mut host, 0), None, "the network is no node of the device");
    assert_eq!(info(&mut host, &[NOP, NOP, ASK, NOP]), None, "a crossbar leads nowhere until it is set");
}

#[test]
fn a_packet_that_nobody_returns_is_not_answered() {
    let mut host = Host::new();
    assert_eq!(host.manage(CONTROL, &[&[Operation::InfoRequest]]), None);
    assert_eq!(host.manage(CONTROL, &[]), None);
}

#[test] // 6.4
fn an_endpoint_keeps_the_id_it_is_given() {
    let mut host = Host::ready();
    let read = |host: &mut Host, n| host.at_endpoint(CONTROL, n, &[Operation::Read { address: 0 }]);
    assert_eq!([0, 1, 2, 3].map(|n| read(&mut host, n)[0] as u16), ENDPOINTS);
}

#[test] // 6.2: each session counts ids from 1 anew, and not all endpoints get one in each
fn an_id_leads_to_whom_it_was_given_last() {
    let mut host = Host::ready();
    let name = |host: &mut Host, n, id: u16| {
        host.at_endpoint(CONTROL, n, &[Operation::Write { address: 0, data: id.into() }]);
    };
    let read = |host: &mut Host, n| host.at_endpoint(CONTROL, n, &[Operation::Read { address: 0 }])[0];
    name(&mut host, 2, ENDPOINTS[1]);
    name(&mut host, 3, id_of(RX[0]));
    let ids = [ENDPOINTS[0], 0, ENDPOINTS[1], id_of(RX[0])];
    assert_eq!([0, 1, 2, 3].map(|n| read(&mut host, n)), ids.map(u32::from));
    host.set_up_rx(0);
    assert_eq!(read(&mut host, 3), 0, "it is a socket's now");
    assert_eq!(host.commands.len(), 1, "to which the stream was set up");
}

#[test] // UHD's rfnoc_radio_loopback: "config_stream: Setup failure"
fn a_stream_from_one_endpoint_to_another_is_refused() {
    let mut host = Host::ready();
    let writes = [(0x0C, u32::from(ENDPOINTS[2])), (0x10, 1), (0x14, 0), (0x18, 1), (0x08, 0x09)];
    host.at_endpoint(CONTROL, 0, &writes.map(|(address, data)| Operation::Write { address, data }));
    assert_eq!(host.at_endpoint(CONTROL, 0, &[Operation::Read { address: 0x08 }]), [0x4000_0008]);
    assert!(host.commands.is_empty());
    host.set_up_rx(0);
    assert_eq!(host.at_endpoint(RX[0], 0, &[Operation::Read { address: 0x08 }]), [0x8000_000A], "to a host it works");
}

#[test] // 15, trap 11
fn trap_11_the_way_back_follows_the_advertisement_and_not_the_last_packet() {
    let mut host = Host::ready();
    host.advertise(RX[0]);
    host.set_up_rx(0);
    assert_eq!(host.commands.len(), 1, "the init came to the socket that advertised");
    // Another socket sets the same stream up; the samples' way does not change.
    let set_up = [Operation::Write { address: 0x08, data: 0x0B }];
    host.at_endpoint(CONTROL, 0, &set_up);
    assert_eq!(host.commands.len(), 2);
    assert_eq!(host.commands[1].destination, host.commands[0].destination);
}
