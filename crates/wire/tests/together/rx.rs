//! Datagrams of a receive port: sample packets and inline messages.

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::{RxData, RxEvent, RxHead, RxMessage, RxPacket, RxPacking};

use crate::common::{hex, round_trip, same, written};

const HEAD: RxHead = RxHead { count: 0, stream_id: 3, tick: 0xd585, end_of_burst: false, packing: RxPacking::Sc16 };

#[test] // the first packet of a stream that UHD accepted: 363 samples, count 0
fn a_full_packet_of_the_default_frame() {
    let payload = [0x3e, 0x80, 0, 0].repeat(363);
    let bytes = [hex("14100170 00000003 00000000 0000d585"), payload.clone(), hex("00100000")].concat();
    assert_eq!(bytes.len(), 1472);
    let packet = RxData { head: HEAD, payload: &payload };
    assert_eq!(packet.samples(), 363);
    same!(RxData, bytes, packet);
}

#[test]
fn the_last_packet_of_a_burst() {
    let head = RxHead { count: 15, stream_id: 4, tick: 0x0123_4567_89ab_cdef, end_of_burst: true, ..HEAD };
    let bytes = hex("141f0006 00000004 01234567 89abcdef 7fff8000 00100100");
    same!(RxData, bytes, RxData { head, payload: &hex("7fff8000") });
}

#[test]
fn three_samples_of_sc8_take_two_words_and_say_so() {
    let head = RxHead { packing: RxPacking::Sc8 { odd: true }, end_of_burst: true, ..HEAD };
    let payload = hex("01ff02fe 03fd0000");
    let packet = RxData { head, payload: &payload };
    assert_eq!(packet.samples(), 3);
    same!(RxData, hex("14100007 00000003 00000000 0000d585 01ff02fe 03fd0000 00500500"), packet);
    let even = RxData { head: RxHead { packing: RxPacking::Sc8 { odd: false }, ..HEAD }, payload: &payload };
    assert_eq!(even.samples(), 4);
    same!(RxData, hex("14100007 00000003 00000000 0000d585 01ff02fe 03fd0000 00500000"), even);
}

#[test]
fn the_end_of_a_burst_may_stand_in_header_or_trailer() {
    let ends = |text: &str| RxData::parse(&hex(text)).unwrap().head.end_of_burst;
    assert!(ends("15100005 00000003 00000000 00000000 00100000"), "header");
    assert!(ends("14100005 00000003 00000000 00000000 00100100"), "trailer");
    assert!(!ends("14100005 00000003 00000000 00000000 00000100"), "trailer, not enabled");
}

#[test]
fn what_is_no_sample_packet_is_refused_by_name() {
    let refused = |text: &str| RxData::parse(&hex(text)).unwrap_err();
    let short_length = refused("14100004 00000003 00000000 00000000 00100000");
    assert!(matches!(short_length, WireError::Field { what: "RX data length in words", got: 4, .. }), "{short_length}");
    let no_trailer = refused("10100005 00000003 00000000 00000000 00100000");
    assert!(matches!(no_trailer, WireError::Field { what: "RX data header", .. }), "{no_trailer}");
}

#[test]
fn a_payload_must_be_whole_words_and_fit_the_length_field() {
    let mut out = vec![0; 300_000];
    assert!(matches!(HEAD.frame(6, &mut out), Err(WireError::Field { got: 6, .. })));
    assert_eq!(HEAD.frame(65_530 * 4, &mut out), Ok(65_535 * 4));
    assert!(matches!(HEAD.frame(65_531 * 4, &mut out), Err(WireError::Field { .. })));
    assert!(matches!(HEAD.frame(usize::MAX - 3, &mut out), Err(WireError::Field { .. })));
}

#[test]
fn framing_leaves_the_payload_alone() {
    let mut out = [0xa5; 24];
    assert_eq!(HEAD.frame(4, &mut out), Ok(24));
    assert_eq!(out.to_vec(), hex("14100006 00000003 00000000 0000d585 a5a5a5a5 00100000"));
}

#[test]
fn inline_messages_of_every_kind() {
    let events = [
        (RxEvent::LateCommand, "02"),
        (RxEvent::BrokenChain, "04"),
        (RxEvent::Overflow, "08"),
        (RxEvent::StopWhileIdle, "10"),
        (RxEvent::Other(0x20), "20"),
    ];
    for (event, code) in events {
        let message = RxMessage { count: 7, stream_id: 3, tick: 0x1_0000_0002, event };
        let bytes = hex(&format!("50170005 00000003 00000001 00000002 000000{code}"));
        same!(RxMessage, bytes.clone(), message);
        assert_eq!(RxPacket::parse(&bytes), Ok(RxPacket::Message(message)));
    }
}

proptest! {
    #[test]
    fn every_sample_packet_survives(
        count in 0u8..16, stream_id: u32, tick: u64, end_of_burst: bool, format in 0usize..3, words in 0usize..500, seed: u8,
    ) {
        let packing = [RxPacking::Sc16, RxPacking::Sc8 { odd: false }, RxPacking::Sc8 { odd: true }][format];
        let payload: Vec<u8> = (0..4 * words).map(|at| seed.wrapping_mul(31).wrapping_add(at as u8)).collect();
        let data = RxData { head: RxHead { count, stream_id, tick, end_of_burst, packing }, payload: &payload };
        round_trip!(RxData, data);
        let bytes = written(|out| data.write(out));
        prop_assert_eq!(RxPacket::parse(&bytes), Ok(RxPacket::Data(data)));
    }

    #[test]
    fn every_message_survives(count in 0u8..16, stream_id: u32, tick: u64, code: u32) {
        round_trip!(RxMessage, RxMessage { count, stream_id, tick, event: RxEvent::from_code(code) });
    }
}
