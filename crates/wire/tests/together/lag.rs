//! How late an emulator was, over the network: literal bytes, every prefix, what is refused.

use std::num::NonZeroU32;

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::lag::{LagReply, LagRequest, LagSpans};

use crate::common::{hex, round_trip, same, written};

/// Reported at 5 s by a radio whose clock is 2 ticks behind its machine's: of 9 datagrams 3 late, the latest by 2500 us.
const REPLY: LagReply = LagReply {
    id: 7,
    limit_us: 1000,
    now_ns: 5_000_000_000,
    clock_hz: NonZeroU32::new(100_000_000).unwrap(),
    clock_offset_ticks: u64::MAX - 1,
    speed_millionths: 1_000_000,
    datagrams: 9,
    over_limit: 3,
    max_us: 2500,
    receive_buffer_drops: Some(4),
    more: true,
    spans: LagSpans::NONE,
};
const REPLY_HEX: &str = "544c4147 00020001 00000007 000003e8 00000001 2a05f200 ffffffff fffffffe 00000000 00000009 \
                         00000000 00000003 00000000 000009c4 00000000 00000004 00000003";

#[test]
fn a_request_is_padded_to_the_longest_reply() {
    let mut bytes = hex("544c4147 00020000 00000007 00000000 00000001 2a05f200");
    bytes.resize(512, 0);
    same!(LagRequest, bytes, LagRequest { id: 7, since_ns: 5_000_000_000 });
    let spans = LagSpans::first_of([[1, 2]; 100]);
    let longest = LagReply { spans, speed_millionths: 100_000, ..REPLY };
    assert_eq!(longest.spans.as_slice().len(), 27);
    assert_eq!(written(|out| longest.write(out)).len(), LagRequest::BYTES);
}

#[test]
fn a_reply_has_a_head_and_its_spans() {
    same!(LagReply, hex(&format!("{REPLY_HEX} 00000000 05f5e100")), REPLY);
    let spans = LagSpans::first_of([[1, 2], [0x1_0000_0000, 0x1_0000_0003]]);
    let bytes = "00000000 00000001 00000000 00000002 00000001 00000000 00000001 00000003";
    same!(LagReply, hex(&format!("{REPLY_HEX} 00000002 05f5e100 {bytes}")), LagReply { spans, ..REPLY });
}

#[test]
fn a_speed_comes_behind_the_spans_and_without_one_it_is_the_walls() {
    let head = REPLY_HEX.strip_suffix('3').expect("the flags, last");
    let slow = LagReply { speed_millionths: 100_000, ..REPLY };
    same!(LagReply, hex(&format!("{head}7 00000000 05f5e100 000186a0")), slow);
    let spans = LagSpans::first_of([[1, 2]]);
    let bytes = "00000000 00000001 00000000 00000002 05f5e100";
    let fast = LagReply { speed_millionths: 100_000_000, spans, ..REPLY };
    same!(LagReply, hex(&format!("{head}7 00000001 05f5e100 {bytes}")), fast);
    for none in ["00000000", "000003e7", "05f5e101"] {
        let error = LagReply::parse(&hex(&format!("{head}7 00000000 05f5e100 {none}"))).unwrap_err();
        assert!(matches!(error, WireError::Field { what: "speed", .. }), "{none}: {error}");
    }
}

#[test]
fn drops_that_the_kernel_does_not_tell_are_no_zero() {
    let unknown = LagReply { receive_buffer_drops: None, more: false, ..REPLY };
    round_trip!(LagReply, unknown);
    assert_ne!(
        written(|out| unknown.write(out)),
        written(|out| LagReply { receive_buffer_drops: Some(0), ..unknown }.write(out))
    );
}

#[test]
fn what_is_no_packet_of_this_version_is_refused_by_name() {
    let reply = |text: &str| LagReply::parse(&hex(text)).unwrap_err();
    let counts = REPLY_HEX.split_once("00000007").expect("an id").1;
    for head in ["544c4148 00020001", "544c4147 00010001", "544c4147 00020000"] {
        let error = reply(&format!("{head} 00000007 {counts} 00000000 05f5e100"));
        assert!(matches!(error, WireError::Field { .. }), "{head}: {error}");
    }
    let many = reply(&format!("{REPLY_HEX} 0000001c 05f5e100 {}", "00 ".repeat(28 * 16)));
    assert!(matches!(many, WireError::Field { what: "late spans", got: 28, .. }), "{many}");
    let backwards = reply(&format!("{REPLY_HEX} 00000001 05f5e100 00000000 00000002 00000000 00000001"));
    assert!(matches!(backwards, WireError::Field { what: "end of a late span", .. }), "{backwards}");
    let stopped = reply(&format!("{REPLY_HEX} 00000000 00000000"));
    assert!(matches!(stopped, WireError::Field { what: "clock", .. }), "{stopped}");
    let mut request = written(|out| LagRequest { id: 1, since_ns: 2 }.write(out));
    request[7] = 1;
    assert!(LagRequest::parse(&request).is_err(), "a reply is no request");
}

proptest! {
    #[test]
    fn every_reply_survives(
        id: u32, limit_us: u32, clock_hz in 1_u32.., counts: [u64; 5], receive_buffer_drops: Option<u64>, more: bool,
        speed_millionths in 1_000_u32..=100_000_000,
        spans in prop::collection::vec((any::<u64>(), any::<u64>()), 0..28),
    ) {
        let [now_ns, clock_offset_ticks, datagrams, over_limit, max_us] = counts;
        let clock_hz = NonZeroU32::new(clock_hz).expect("above 0");
        let spans = LagSpans::first_of(spans.into_iter().map(|(a, b)| [a.min(b), a.max(b)]));
        round_trip!(LagReply, LagReply {
            id, limit_us, now_ns, clock_hz, clock_offset_ticks, speed_millionths, datagrams, over_limit, max_us,
            receive_buffer_drops, more, spans,
        });
    }

    #[test]
    fn every_request_survives(id: u32, since_ns: u64) {
        round_trip!(LagRequest, LagRequest { id, since_ns });
    }
}
