//! Datagrams to and from a transmit port: sample packets, address packets, reports.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::{Destination, DestinationAnswer, TxData, TxEvent, TxHead, TxPacket, TxReport};

use crate::common::{hex, round_trip, same, written};

const HEAD: TxHead =
    TxHead { sequence: 0, count: 0, tick: None, start_of_burst: false, end_of_burst: false, odd: false };

#[test]
fn a_full_packet_without_a_time_has_1464_bytes_and_with_one_1472() {
    let payload = [0x59, 0x9a, 0, 0].repeat(363);
    let untimed = [hex("0000002a 040a016d"), payload.clone(), hex("00c00000")].concat();
    assert_eq!(untimed.len(), 1464);
    same!(TxData, untimed, TxData { head: TxHead { sequence: 42, count: 10, ..HEAD }, payload: &payload });
    let timed = [hex("00000000 0610016f 00000000 05f5e100"), payload.clone(), hex("00c00000")].concat();
    assert_eq!(timed.len(), 1472);
    let head = TxHead { tick: Some(100_000_000), start_of_burst: true, ..HEAD };
    same!(TxData, timed, TxData { head, payload: &payload });
}

#[test] // UHD ends a burst with a packet of one zero sample
fn a_lone_end_of_burst_has_16_bytes() {
    let head = TxHead { sequence: 17, count: 1, end_of_burst: true, ..HEAD };
    same!(TxData, hex("00000011 05010003 00000000 00c00000"), TxData { head, payload: &[0; 4] });
}

#[test]
fn an_odd_number_of_sc8_samples_is_marked_in_the_trailer() {
    let payload = hex("01ff02fe 03fd0000");
    let odd = TxData { head: TxHead { odd: true, ..HEAD }, payload: &payload };
    assert_eq!((odd.samples_sc8(), odd.samples_sc16()), (3, 2));
    same!(TxData, hex("00000000 04000004 01ff02fe 03fd0000 00c00400"), odd);
}

#[test]
fn a_length_of_zero_makes_an_address_packet() {
    assert_eq!(TxPacket::parse(&[0; 8]), Ok(TxPacket::Destination(Destination::Sender)));
    let named = Destination::Named { address: Ipv4Addr::new(192, 168, 10, 1), port: 40_000 };
    let bytes = hex("00000000 00000000 c0a80a01 00009c40");
    assert_eq!(TxPacket::parse(&bytes), Ok(TxPacket::Destination(named)));
    assert_eq!(Destination::parse(&bytes), Ok(named));
    assert_eq!(written(|out| named.write(out)), bytes);
    assert_eq!(Destination::parse(&bytes[..15]), Ok(Destination::Sender), "too short to name anybody");
    assert!(matches!(Destination::parse(&bytes[..7]), Err(WireError::Short { need: 8, have: 7, .. })));
}

#[test]
fn an_address_packet_with_an_impossible_port_is_refused() {
    let refused = Destination::parse(&hex("00000000 00000000 c0a80a01 00010000"));
    assert!(matches!(refused, Err(WireError::Field { what: "destination port", got: 0x10000, .. })));
}

#[test]
fn a_sample_packet_is_no_address_packet() {
    let samples = hex("00000011 05010003 00000000 00c00000");
    assert!(matches!(Destination::parse(&samples), Err(WireError::Field { .. })));
    assert!(matches!(TxPacket::parse(&samples), Ok(TxPacket::Data(_))));
}

#[test]
fn the_answers_to_a_named_destination() {
    same!(DestinationAnswer, hex("00000000"), DestinationAnswer::Resolved);
    same!(DestinationAnswer, hex("ffffffff"), DestinationAnswer::Unresolved);
    assert!(DestinationAnswer::parse(&hex("00000001")).is_err());
}

#[test]
fn what_is_no_sample_packet_is_refused_by_name() {
    let refused = |text: &str| TxData::parse(&hex(text)).unwrap_err();
    for header in ["14000003", "0c000003", "00000003", "04400003", "04200003", "04300005"] {
        let error = refused(&format!("00000000 {header} 00000000 00c00000 00000000 00000000"));
        assert!(matches!(error, WireError::Field { what: "TX data header", .. }), "{header}: {error}");
    }
    for header in ["04000001", "04100003"] {
        let error = refused(&format!("00000000 {header} 00000000 00c00000 00000000 00000000"));
        assert!(matches!(error, WireError::Field { what: "TX data length", .. }), "{header}: {error}");
    }
}

#[test] // counter 5, number 0x1f of the second kind of sequence: low bits appear again beside the code
fn reports_of_every_kind() {
    let events = [
        (TxEvent::FlowControl, "0000"),
        (TxEvent::BurstAck, "0001"),
        (TxEvent::Underflow, "0002"),
        (TxEvent::SequenceError, "0004"),
        (TxEvent::TimeError, "0008"),
        (TxEvent::UnderflowInPacket, "0010"),
        (TxEvent::SequenceErrorInBurst, "0020"),
        (TxEvent::Other(0x1234), "1234"),
    ];
    for (event, code) in events {
        let report = TxReport { count: 5, stream_id: 2, tick: 0x1_0000_0002, event, sequence: 0x1f };
        same!(TxReport, hex(&format!("50150006 00000002 00000001 00000002 000f{code} 0000001f")), report);
    }
}

#[test]
fn before_the_first_packet_a_report_names_all_ones() {
    let report = TxReport { count: 0, stream_id: 2, tick: 0, event: TxEvent::FlowControl, sequence: u32::MAX };
    same!(TxReport, hex("50100006 00000002 00000000 00000000 000f0000 ffffffff"), report);
}

proptest! {
    #[test]
    fn every_sample_packet_survives(
        sequence: u32, count in 0u8..16, tick: Option<u64>, start_of_burst: bool, end_of_burst: bool, odd: bool,
        words in 0usize..500, seed: u8,
    ) {
        let payload: Vec<u8> = (0..4 * words).map(|at| seed.wrapping_mul(31).wrapping_add(at as u8)).collect();
        let head = TxHead { sequence, count, tick, start_of_burst, end_of_burst, odd };
        let data = TxData { head, payload: &payload };
        round_trip!(TxData, data);
        let bytes = written(|out| data.write(out));
        prop_assert_eq!(TxPacket::parse(&bytes), Ok(TxPacket::Data(data)));
    }

    #[test]
    fn every_report_survives(count in 0u8..16, stream_id: u32, tick: u64, code: u16, sequence: u32) {
        round_trip!(TxReport, TxReport { count, stream_id, tick, event: TxEvent::from_code(code), sequence });
    }

    #[test]
    fn every_destination_survives(address: u32, port: u16) {
        let named = Destination::Named { address: Ipv4Addr::from_bits(address), port };
        prop_assert_eq!(Destination::parse(&written(|out| named.write(out))), Ok(named));
    }
}
