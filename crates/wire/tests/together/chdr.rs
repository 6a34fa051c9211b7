//! CHDR: packets that unmodified UHD 4.3 and a device exchanged (x310.md 17), and what survives the way there and back.

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::chdr::{
    Control, ControlData, ControlOperation, ControlStatus, Data, DataHead, Header, Management, NodeInfo, NodeKind,
    Operation, Operations, Packet, PacketType, Protocol, Status, StreamCommand, StreamOperation, StreamStatus,
    counted_bytes,
};

use crate::common::{self, round_trip, same};

/// Bytes of words that are written as numbers.
fn le(words: &str) -> Vec<u8> {
    words.split_whitespace().flat_map(|word| u64::from_str_radix(word, 16).unwrap().to_le_bytes()).collect()
}

fn management(sequence: u16, destination: u16, source: u16, hops: &[&[Operation]]) -> Management {
    let mut operations = Operations::NONE;
    hops.iter().for_each(|hop| operations.push_hop(hop).unwrap());
    Management { protocol: Protocol::V1, destination, sequence, source, operations }
}

fn info(kind: NodeKind, instance: u16, extended: u32) -> Operation {
    Operation::InfoResponse(NodeInfo { device: 1, kind, instance, extended })
}

const ASK: &[Operation] = &[Operation::InfoRequest, Operation::Return];
const NOP: &[Operation] = &[Operation::Nop];

#[test]
fn discovery_of_a_transport_a_crossbar_and_endpoints() {
    same!(
        Management,
        le("0000000000280000 0100000000020001 0000000000000401 0000000000000300 0000000000000000"),
        management(0, 0, 1, &[ASK, NOP])
    );
    same!(
        Management,
        le("0000000000200001 0100000000010001 0000000000000001 0004000300010500"),
        management(0, 1, 1, &[&[Operation::Nop, info(NodeKind::Transport, 0, 16)]])
    );
    same!(
        Management,
        le("0000000200200001 0100000000010001 0000000000000001 0041400100010500"),
        management(2, 1, 1, &[&[Operation::Nop, info(NodeKind::Crossbar, 0, 5 | 1 << 8)]])
    );
    same!(
        Management,
        le("0000000400380000 0100000000040001 0000000000000000 0000000000010200 0000000000000401 0000000000000300 \
            0000000000000000"),
        management(4, 0, 1, &[NOP, &[Operation::Select { port: 1 }], ASK, NOP])
    );
    let endpoint =
        |instance, control: u32| info(NodeKind::StreamEndpoint, instance, control | 2 | 1 << 2 | 1 << 8 | 1 << 14);
    same!(
        Management,
        le("0000000400200001 0100000000010001 0000000000000001 1041c00200010500"),
        management(4, 1, 1, &[&[Operation::Nop, endpoint(0, 1)]])
    );
    same!(
        Management,
        le("0000000600200001 0100000000010001 0000000000000001 1041801200010500"),
        management(6, 1, 1, &[&[Operation::Nop, endpoint(1, 0)]])
    );
}

#[test]
fn a_receive_stream_is_set_up_in_one_packet() {
    let write = |address, data| Operation::Write { address, data };
    same!(
        Management,
        le("0000001500600000 0100000000040003 0000000000000000 0000000000010200 00000003000c0606 0002000000100605 \
            0000000000140604 00ffffff00180603 00000000001c0602 0000000b00080601 0000000000000300 0000000000000000"),
        management(
            0x15,
            0,
            3,
            &[
                NOP,
                &[Operation::Select { port: 1 }],
                &[
                    write(0x0C, 3),
                    write(0x10, 0x2_0000),
                    write(0x14, 0),
                    write(0x18, 0xFF_FFFF),
                    write(0x1C, 0),
                    write(0x08, 0x0B),
                    Operation::Return
                ],
                NOP
            ]
        )
    );
    let read = |address, data| Operation::ReadResponse { address, data };
    same!(
        Management,
        le("0000001600380003 0100000000010003 0000000000000004 8000000a00080803 0040000000200802 0000000000240801 \
            00ffffff00280800"),
        management(
            0x16,
            3,
            3,
            &[&[Operation::Nop, read(0x08, 0x8000_000A), read(0x20, 0x40_0000), read(0x24, 0), read(0x28, 0xFF_FFFF)]]
        )
    );
}

#[test]
fn management_that_contradicts_itself_is_refused() {
    let refused = |words| Management::parse(&le(words)).unwrap_err();
    let counts = refused("0000000000280000 0100000000020001 0000000000000402 0000000000000300 0000000000000000");
    assert!(matches!(counts, WireError::Field { what: "management operations left", got: 0, .. }), "{counts}");
    let hops = refused("0000000000280000 0100000000030001 0000000000000401 0000000000000300 0000000000000000");
    assert!(matches!(hops, WireError::Short { .. }), "{hops}");
    let version = refused("0000000000200000 0300000000010001 0000000000000401 0000000000000300");
    assert!(matches!(version, WireError::Field { what: "management protocol", .. }), "{version}");
    let many =
        [le("0000000001980000 0100000000010001"), (0..49u64).rev().flat_map(u64::to_le_bytes).collect()].concat();
    let many = Management::parse(&many).unwrap_err();
    assert!(matches!(many, WireError::Field { what: "management operations", got: 49, .. }), "{many}");
}

// UHD v4.11: RFNOC_PROTO_VER in host/include/uhd/rfnoc/constants.hpp, and mgmt_payload::serialize in
// host/lib/rfnoc/chdr_types.cpp, which is that of v4.3.
#[test]
fn management_of_protocol_2_differs_in_its_number_alone() {
    let one = management(0, 0, 1, &[ASK, NOP]);
    let two = Management { protocol: Protocol::V2, ..one };
    same!(Management, le("0000000000280000 0200000000020001 0000000000000401 0000000000000300 0000000000000000"), two);
}

fn read_of_port_0() -> Control {
    Control {
        destination: 2,
        chdr_sequence: 1,
        to_port: 0,
        from_port: 0,
        sequence: 1,
        tick: None,
        is_ack: false,
        source: 1,
        address: 4,
        byte_enables: 15,
        operation: ControlOperation::Read,
        status: ControlStatus::Okay,
        data: ControlData::one(0),
    }
}

#[test]
fn a_read_and_its_acknowledgement() {
    same!(Control, le("0080000100180002 0000000101100000 0000000002f00004"), read_of_port_0());
    same!(
        Control,
        le("0080000000180001 0000000281100000 8010180402f00004"),
        read_of_port_0().ack(2, ControlStatus::Okay, 0x8010_1804)
    );
}

#[test] // x310.md 17, last line, with a time
fn a_message_of_a_radio_carries_its_time() {
    let message = Control {
        destination: 1,
        chdr_sequence: 0,
        to_port: 4,
        from_port: 4,
        sequence: 0,
        tick: Some(0x1234_5678_9ABC),
        source: 2,
        address: 0,
        operation: ControlOperation::Write,
        data: ControlData::one(3),
        ..read_of_port_0()
    };
    same!(Control, le("0080000000200001 0000000240101004 0000123456789abc 0000000301f00000"), message);
}

/// A control packet of protocol 2.0, for what every packet must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Control2(Control);

impl Control2 {
    fn parse(bytes: &[u8]) -> Result<Control2, WireError> {
        Control::parse_as(Protocol::V2, bytes).map(Control2)
    }

    fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.0.write_as(Protocol::V2, out)
    }
}

/// Bytes of words of 32 bits, in which UHD lays out control packets of protocol 2.0.
fn le32(words: &str) -> Vec<u8> {
    words.split_whitespace().flat_map(|word| u32::from_str_radix(word, 16).unwrap().to_le_bytes()).collect()
}

// Layout: UHD v4.11, ctrl_payload in host/include/uhd/rfnoc/chdr_types.hpp (offsets and widths) and
// host/lib/rfnoc/chdr_types.cpp (order of words, lengths); fpga/usrp3/lib/rfnoc/core/rfnoc_axis_ctrl_utils.vh.
#[test]
fn in_protocol_2_a_read_says_how_many_words_it_requests_and_carries_none() {
    // Source 1, no flags, no data, to port 0; one word requested, sequence 0x81, from port 0.
    let read = Control { sequence: 0x81, data: ControlData::request(1), ..read_of_port_0() };
    same!(Control2, le32("00140002 00800001 00010000 18100000 02f00004"), Control2(read));
    let ack = read.ack_as(Protocol::V2, 2, ControlStatus::Okay, ControlData::one(0x8010_1804));
    same!(Control2, le32("00180001 00800000 00028400 18100000 02f00004 80101804"), Control2(ack));
}

#[test] // The same places. UHD: ctrlport_endpoint.cpp takes an answer with data to a write for an error of its size.
fn in_protocol_2_a_write_is_answered_without_data_and_a_time_stands_before_the_operation() {
    let write = Control {
        to_port: 4,
        from_port: 4,
        tick: Some(0x1234_5678_9ABC),
        address: 0x1104,
        operation: ControlOperation::Write,
        data: ControlData::one(0x8000_0002),
        ..read_of_port_0()
    };
    same!(Control2, le32("00200002 00800001 00014404 00100004 56789abc 00001234 01f01104 80000002"), Control2(write));
    let ack = write.ack_as(Protocol::V2, 2, ControlStatus::CommandError, ControlData::NONE);
    same!(Control2, le32("001c0001 00800000 0002c004 00100004 56789abc 00001234 41f01104"), Control2(ack));
}

#[test] // bulk_read32 and bulk_write32 in host/lib/rfnoc/ctrlport_endpoint.cpp, v4.11
fn in_protocol_2_blocks_have_up_to_15_words() {
    let request =
        Control { operation: ControlOperation::BlockRead, data: ControlData::request(99), ..read_of_port_0() };
    assert_eq!(request.data.requested(), 15, "no more than the field holds");
    same!(Control2, le32("00140002 00800001 00010000 f0100000 05f00004"), Control2(request));
    let words: Vec<u32> = (1..=15).collect();
    let ack = request.ack_as(Protocol::V2, 2, ControlStatus::Okay, ControlData::new(&words).unwrap());
    let bytes = common::written(|out| ack.write_as(Protocol::V2, out));
    assert_eq!((bytes.len(), bytes[8..12].to_vec()), (80, le32("0002bc00")));
    assert_eq!(Control::parse_as(Protocol::V2, &bytes).unwrap().data.as_slice(), words);
}

#[test]
fn in_protocol_1_a_read_carries_as_many_words_as_it_requests() {
    let read = Control { data: ControlData::request(1), ..read_of_port_0() };
    assert_eq!(
        common::written(|out| read.write_as(Protocol::V1, out)),
        common::written(|out| read_of_port_0().write(out))
    );
    let ack = read_of_port_0().ack_as(Protocol::V1, 2, ControlStatus::Okay, ControlData::NONE);
    assert_eq!(ack.data, read_of_port_0().data, "as long as the request");
}

#[test] // 6 bits in v4.3 to v4.10, 8 in v4.11: SEQ_NUM_MASK in host/lib/rfnoc/ctrlport_endpoint.cpp
fn numbers_of_control_packets_begin_again_after_64_or_256() {
    let after = |protocol: Protocol| [62, 63, 255].map(|sequence| protocol.next_sequence(sequence));
    assert_eq!((after(Protocol::V1), after(Protocol::V2)), ([63, 0, 0], [63, 64, 0]));
}

#[test]
fn credits_of_both_directions() {
    let command = StreamCommand {
        destination: 3,
        sequence: 0,
        source: 2,
        operation: StreamOperation::Init,
        operation_data: 0,
        packets: 0xFF_FFFF,
        bytes: 0x2_0000,
    };
    same!(StreamCommand, le("0040000000180003 0000ffffff000002 0000000000020000"), command);
    let resync = StreamCommand { operation: StreamOperation::Resync, packets: 525, bytes: 0x40_1640, ..command };
    same!(StreamCommand, le("0040000000180003 000000020d020002 0000000000401640"), resync);
    let status = StreamStatus {
        destination: 2,
        sequence: 0,
        source: 3,
        status: Status::Okay,
        capacity_bytes: 4 << 20,
        capacity_packets: 0xFF_FFFF,
        taken_packets: 0,
        taken_bytes: 0,
        buffer: 0,
        info: 0,
    };
    same!(
        StreamStatus,
        le("0020000000280002 0000400000000003 0000000000ffffff 0000000000000000 0000000000000000"),
        status
    );
    let later =
        StreamStatus { destination: 4, sequence: 1, source: 2, taken_packets: 66, taken_bytes: 0x8_0C70, ..status };
    same!(
        StreamStatus,
        le("0020000100280004 0000400000000002 0000000042ffffff 0000000000080c70 0000000000000000"),
        later
    );
}

#[test]
fn samples_without_and_with_a_time() {
    let head = DataHead { destination: 2, sequence: 0, tick: None, end_of_burst: false, end_of_vector: false };
    let payload = vec![0x5A; 7984];
    same!(Data, [le("00c000001f380002"), payload.clone()].concat(), Data { head, payload: &payload });
    let timed = DataHead { destination: 3, tick: Some(0x180C34), ..head };
    same!(
        Data,
        [le("00e000001f400003 0000000000180c34"), payload.clone()].concat(),
        Data { head: timed, payload: &payload }
    );
}

#[test] // x310.md 15, trap 3
fn twelve_bytes_are_a_packet_of_one_sample_that_ends_a_burst() {
    let head = DataHead { destination: 2, sequence: 9, tick: None, end_of_burst: true, end_of_vector: false };
    let bytes = [le("02c00009000c0002"), vec![1, 2, 3, 4]].concat();
    same!(Data, bytes, Data { head, payload: &[1, 2, 3, 4] });
    assert_eq!(counted_bytes(12), 16, "credits count whole words");
}

#[test]
fn metadata_are_stepped_over_and_must_be_there() {
    let with = |length: u64| [(0x00C1_0000_0000_0002 | length << 16).to_le_bytes(), [7; 8], [9; 8]].concat();
    assert_eq!(Data::parse(&with(24)).unwrap().payload, [9; 8]);
    assert_eq!(
        Data::parse(&with(12)),
        Err(WireError::Short { what: "CHDR metadata", need: 8, have: 4 }),
        "beyond the stated length there is nothing"
    );
}

#[test]
fn a_length_below_the_header_and_types_without_meaning_are_refused() {
    let header = |kind: u64, length: u64| (2 | length << 16 | kind << 53).to_le_bytes();
    assert!(matches!(Packet::parse(&header(6, 7)), Err(WireError::Field { what: "CHDR length", got: 7, .. })));
    assert!(matches!(Packet::parse(&header(6, 0)), Err(WireError::Field { what: "CHDR length", got: 0, .. })));
    assert!(matches!(Packet::parse(&header(6, 9)), Err(WireError::Short { need: 9, have: 8, .. })));
    for kind in [3, 5] {
        let word = header(kind, 8);
        let refused = Packet::parse(&word);
        assert!(matches!(refused, Err(WireError::Field { what: "CHDR packet type", .. })), "{refused:?}");
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let info = (any::<u16>(), any::<u8>(), 0u16..1024, 0u32..1 << 18);
    prop_oneof![
        Just(Operation::Nop),
        Just(Operation::Advertise),
        Just(Operation::Return),
        Just(Operation::InfoRequest),
        (0u16..1024).prop_map(|port| Operation::Select { port }),
        any::<(u16, u32)>().prop_map(|(address, data)| Operation::Write { address, data }),
        any::<(u16, u32)>().prop_map(|(address, data)| Operation::ReadResponse { address, data }),
        any::<u16>().prop_map(|address| Operation::Read { address }),
        (9u8.., 0u64..1 << 48).prop_map(|(code, payload)| Operation::Other { code, payload }),
        info.prop_map(|(device, kind, instance, extended)| {
            Operation::InfoResponse(NodeInfo { device, kind: NodeKind::from_code(kind & 15), instance, extended })
        }),
    ]
}

proptest! {
    #[test]
    fn every_management_packet_survives(
        destination: u16, sequence: u16, source: u16,
        hops in prop::collection::vec(prop::collection::vec(operation(), 1..8), 0..6),
    ) {
        let hops: Vec<&[Operation]> = hops.iter().map(Vec::as_slice).collect();
        round_trip!(Management, management(sequence, destination, source, &hops));
    }

    #[test]
    fn every_control_packet_survives(
        ids: [u16; 3], ports in [0u16..1024, 0u16..1024], sequence in 0u8..64, tick: Option<u64>, is_ack: bool,
        address in 0u32..1 << 20, codes in [0u8..16, 0u8..16, 0u8..4], words in prop::collection::vec(any::<u32>(), 1..16),
    ) {
        let [destination, chdr_sequence, source] = ids;
        let control = Control {
            destination, chdr_sequence, source, sequence, tick, is_ack, address,
            to_port: ports[0], from_port: ports[1], byte_enables: codes[0],
            operation: ControlOperation::from_code(codes[1]), status: ControlStatus::from_code(codes[2]),
            data: ControlData::new(&words).unwrap(),
        };
        round_trip!(Control, control);
        prop_assert!(common::written(|out| control.write(out)).len() <= Control::MAX_BYTES);
    }

    #[test]
    fn every_control_packet_of_protocol_2_survives(
        ids: [u16; 3], ports in [0u16..1024, 0u16..1024], sequence: u8, tick: Option<u64>, is_ack: bool,
        requested in 0u8..16, address in 0u32..1 << 20, codes in [0u8..16, 0u8..16, 0u8..4],
        words in prop::collection::vec(any::<u32>(), 0..16),
    ) {
        let [destination, chdr_sequence, source] = ids;
        let mut data = ControlData::request(requested);
        words.iter().for_each(|&word| data.push(word));
        let control = Control {
            destination, chdr_sequence, source, sequence, tick, is_ack, address,
            to_port: ports[0], from_port: ports[1], byte_enables: codes[0],
            operation: ControlOperation::from_code(codes[1]), status: ControlStatus::from_code(codes[2]),
            data,
        };
        round_trip!(Control2, Control2(control));
        prop_assert_eq!((data.as_slice(), data.requested()), (words.as_slice(), requested));
    }

    #[test]
    fn every_credit_survives(
        ids: [u16; 3], code in 0u8..16, data in 0u8..16, counts in [0u64..1 << 40, 0u64..1 << 40], bytes: u64,
        capacity_packets in 0u32..1 << 24, buffer: u16, info in 0u64..1 << 48,
    ) {
        let [destination, sequence, source] = ids;
        round_trip!(StreamCommand, StreamCommand {
            destination, sequence, source, operation: StreamOperation::from_code(code), operation_data: data,
            packets: counts[0], bytes,
        });
        round_trip!(StreamStatus, StreamStatus {
            destination, sequence, source, status: Status::from_code(code), capacity_bytes: counts[0], capacity_packets,
            taken_packets: counts[1], taken_bytes: bytes, buffer, info,
        });
    }

    #[test]
    fn every_sample_packet_survives(
        ids: [u16; 2], tick: Option<u64>, ends: [bool; 2], payload in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let [end_of_burst, end_of_vector] = ends;
        let head = DataHead { destination: ids[0], sequence: ids[1], tick, end_of_burst, end_of_vector };
        round_trip!(Data, Data { head, payload: &payload });
    }

    #[test]
    fn every_header_survives(word: u64) {
        let word = word & !0xFFFF_0000 | 8 << 16;
        let (header, body) = Header::parse(&word.to_le_bytes()).map(|(header, body)| (header, body.len())).unwrap();
        prop_assert_eq!((header.word(), body), (word, 0));
        prop_assert_eq!(PacketType::from_code(header.kind.code()), header.kind);
    }
}
