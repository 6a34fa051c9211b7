//! PTP's management messages: literal bytes, every prefix, what is refused. The tests of takt-bridge have the answers
//! of a real ptp4l.

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::ptp::{
    PtpBody, PtpCurrent, PtpDataSet, PtpDomain, PtpPort, PtpPortState, PtpQuestion, PtpReply, PtpRequest, PtpStamps,
    PtpTimeProperties, PtpTimeStatus,
};

use crate::common::{hex, round_trip, same};

const QUESTION: PtpQuestion =
    PtpQuestion { domain: PtpDomain { number: 24, transport_specific: 1 }, port: 4711, sequence: 7 };

/// A message: action, TLV type, length of the message and of the TLV, and what the TLV holds.
fn message(action: u8, tlv: u16, data: &str) -> Vec<u8> {
    let (own, none, all) = ("0000000000000000 1267", "0000000000000000 0000", "ffffffffffffffff ffff");
    let (source, target) = if action == 0 { (own, all) } else { (none, own) };
    let length = 52 + hex(data).len();
    let head = format!("1d 02 {length:04x} 18 00 0000 0000000000000000 00000000 {source} 0007 04 7f");
    let tlv = format!("{target} 00 00 {action:02x} 00 {tlv:04x} {:04x} {data}", length - 52);
    hex(&(head + &tlv))
}

fn reply(body: PtpBody<'_>) -> PtpReply<'_> {
    PtpReply { question: QUESTION, body }
}

#[test]
fn a_request_goes_to_all_ports_and_no_further_than_this_clock() {
    for (data_set, id) in PtpDataSet::ALL.into_iter().zip(["c004", "2003", "2001", "c000"]) {
        same!(PtpRequest, message(0, 1, id), PtpRequest { question: QUESTION, data_set });
    }
}

#[test]
fn an_answer_is_its_data_set() {
    let current = PtpCurrent { steps_removed: 1, offset_scaled_ns: -(3 << 15), path_delay_scaled_ns: 0x1_8000 };
    let bytes = message(2, 1, "2001 0001 fffffffffffe8000 0000000000018000");
    same!(PtpReply, bytes, reply(PtpBody::Current(current)));
    let properties = PtpTimeProperties { utc_offset_s: 37, utc_offset_is_valid: true, is_tai: false };
    same!(PtpReply, message(2, 1, "2003 0025 04 00"), reply(PtpBody::TimeProperties(properties)));
    let status =
        PtpTimeStatus { offset_ns: -9, ingress_ns: 0x1000_0000, has_grandmaster: true, grandmaster: 0x0200_00FF };
    let bytes = "c000 fffffffffffffff7 0000000010000000 00000000 00000000 0000 0000 0000000000000000 0000 00000001 \
                 00000000020000ff";
    same!(PtpReply, message(2, 1, bytes), reply(PtpBody::TimeStatus(status)));
    let port = PtpPort { number: 3, state: PtpPortState::Slave, stamps: PtpStamps::Hardware, interface: "eth0" };
    let bytes = message(2, 1, "c004 0000000000000000 0003 09 01 04 65746830 00");
    same!(PtpReply, bytes, reply(PtpBody::Port(port)));
    let refused = PtpBody::Refused { data_set: PtpDataSet::Port, error: 2 };
    same!(PtpReply, message(2, 2, "0002 c004 00000000"), reply(refused));
}

#[test]
fn what_is_no_answer_is_refused_by_name() {
    let good = message(2, 1, "2003 0025 0c 20");
    let says = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        PtpReply::parse(&bytes).unwrap_err().to_string()
    };
    assert_eq!(says(0, 0x10), "PTP messageType is 0x0; expected: 0xd, management");
    assert_eq!(says(1, 1), "PTP version is 0x1; expected: 2");
    assert_eq!(says(46, 0), "PTP actionField is 0x0; expected: 2, RESPONSE");
    assert_eq!(says(49, 3), "PTP tlvType is 0x3; expected: 1 or 2, of management");
    assert_eq!(says(52, 0x21), "PTP managementId is 0x2103; expected: one of those that are requested");
    assert_eq!(says(51, 1), "PTP TLV is 0x1; expected: 2 or more");
    assert_eq!(says(51, 7), "PTP messageLength is 0x3a; expected: that of the TLV and its head");
    assert_eq!(says(51, 5), "TIME_PROPERTIES_DATA_SET needs 4 bytes, but only 3 are there");
    assert_eq!(says(2, 0xFF), "PTP management message needs 65338 bytes, but only 58 are there");
    for text in ["04 00746830 00", "04 20746830 00", "02 c328 00"] {
        let port = message(2, 1, &format!("c004 0000000000000000 0003 09 01 {text}"));
        assert!(PtpReply::parse(&port).unwrap_err().to_string().contains("printable ASCII"), "{text}");
    }
    let port = message(2, 1, "c004 0000000000000000 0003 09 01 ff 6574");
    assert!(matches!(PtpReply::parse(&port), Err(WireError::Short { need: 268, have: 15, .. })));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        (number, transport_specific, port, sequence) in (any::<u8>(), 0..16_u8, any::<u16>(), any::<u16>()),
        (offset, delay, grandmaster, flag) in (any::<i64>(), any::<i64>(), any::<u64>(), any::<bool>()),
        (state, stamps, interface) in (any::<u8>(), any::<u8>(), "[!-~]{0,255}"),
    ) {
        let question = PtpQuestion { domain: PtpDomain { number, transport_specific }, port, sequence };
        let (state, stamps) = (PtpPortState::from_code(state), PtpStamps::from_code(stamps));
        let bodies = [
            PtpBody::Current(PtpCurrent { steps_removed: port, offset_scaled_ns: offset, path_delay_scaled_ns: delay }),
            PtpBody::TimeStatus(PtpTimeStatus { offset_ns: offset, ingress_ns: delay, has_grandmaster: flag, grandmaster }),
            PtpBody::TimeProperties(PtpTimeProperties { utc_offset_s: port as i16, utc_offset_is_valid: flag, is_tai: !flag }),
            PtpBody::Port(PtpPort { number: port, state, stamps, interface: &interface }),
        ];
        for body in bodies {
            round_trip!(PtpReply, PtpReply { question, body });
        }
    }
}
