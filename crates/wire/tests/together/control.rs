//! Control packets.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, Edge, I2cBytes, RegisterAction, SpiTransfer,
};

use crate::common::{hex, round_trip, same, written};

/// A 36-byte packet: what is given, then zeros.
fn packet(text: &str) -> Vec<u8> {
    let mut bytes = hex(text);
    assert!(bytes.len() <= 36);
    bytes.resize(36, 0);
    bytes
}

fn bytes(data: &[u8]) -> I2cBytes {
    I2cBytes::new(data).unwrap()
}

#[test]
fn the_hello_that_finds_and_its_answer() {
    same!(ControlRequest, packet("0000000c 00000061 00000000"), ControlRequest::new(0, ControlAsk::Hello));
    let address = Ipv4Addr::new(192, 168, 10, 2);
    let answer = ControlReply::new(0, ControlAnswer::Hello { address, software: false });
    same!(ControlReply, packet("0000000c 00000041 00000000 c0a80a02"), answer);
}

#[test]
fn a_software_radio_says_so_where_a_real_one_says_nothing() {
    let address = Ipv4Addr::new(192, 168, 10, 2);
    let answer = ControlReply::new(0, ControlAnswer::Hello { address, software: true });
    let mark = "74616b74 20736f66 74776172 65207261 64696f00"; // "takt software radio"
    let bytes = packet(&format!("0000000c 00000041 00000000 c0a80a02 {mark}"));
    same!(ControlReply, bytes.clone(), answer);
    // One wrong bit, wherever it is, and it is nobody's.
    for bit in 16 * 8..36 * 8 {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        let seen = ControlReply::parse(&other).unwrap().answer;
        assert_eq!(seen, ControlAnswer::Hello { address, software: false }, "bit {bit}");
    }
}

#[test] // UHD opens a session with version 0 and number 1
fn the_hello_of_a_session_has_version_0() {
    let hello = ControlRequest { version: 0, sequence: 1, ask: ControlAsk::Hello };
    same!(ControlRequest, packet("00000000 00000061 00000001"), hello);
}

#[test]
fn one_byte_of_an_eeprom() {
    let point = ControlAsk::I2cWrite { address: 0x50, data: bytes(&[0x18]) };
    same!(ControlRequest, packet("0000000c 00000068 00000002 50011800"), ControlRequest::new(2, point));
    let pointed = ControlReply::new(2, ControlAnswer::I2cWrite { count: 1 });
    same!(ControlReply, packet("0000000c 00000048 00000002 0001"), pointed);
    let read = ControlRequest::new(3, ControlAsk::I2cRead { address: 0x50, count: 1 });
    same!(ControlRequest, packet("0000000c 00000069 00000003 5001"), read);
    let got = ControlReply::new(3, ControlAnswer::I2cRead { data: bytes(b"E") });
    same!(ControlReply, packet("0000000c 00000049 00000003 000145"), got);
}

#[test]
fn registers_of_fpga_and_firmware() {
    let ask = |action, address, data| ControlAsk::Register { action, address, data };
    let compat = ControlRequest::new(116, ask(RegisterAction::Peek32, 0x5C30, 0));
    same!(ControlRequest, packet("0000000c 00000072 00000074 00005c30 00000000 01"), compat);
    let version = ControlReply::new(116, ControlAnswer::Register { data: 0x000B_0001 });
    same!(ControlReply, packet("0000000c 00000052 00000074 00000000 000b0001"), version);
    let router = ControlRequest::new(9, ask(RegisterAction::Poke32, 0x7048, 0xC007_C005));
    same!(ControlRequest, packet("0000000c 00000072 00000009 00007048 c007c005 03"), router);
    let unlock = ControlRequest::new(117, ask(RegisterAction::FirmwarePoke, 0, 0));
    same!(ControlRequest, packet("0000000c 00000072 00000075 00000000 00000000 06"), unlock);
}

#[test]
fn a_serial_transfer() {
    let transfer = SpiTransfer {
        slaves: 1,
        data: 0x0000_5A01,
        input: Edge::Rising,
        output: Edge::Falling,
        bits: 24,
        readback: true,
    };
    let request = ControlRequest::new(5, ControlAsk::Spi(transfer));
    same!(ControlRequest, packet("0000000c 00000073 00000005 00000001 00005a01 72661801"), request);
    let reply = ControlReply::new(5, ControlAnswer::Spi { data: 0x42 });
    same!(ControlReply, packet("0000000c 00000053 00000005 00000000 00000042"), reply);
}

#[test]
fn an_echo_is_as_long_as_requested() {
    let ask = ControlRequest::new(7, ControlAsk::Echo { reply_bytes: 756 });
    same!(ControlRequest, packet("0000000c 0000006c 00000007 000002f4"), ask);
    let answer = ControlReply::new(7, ControlAnswer::Echo { request_bytes: 36 });
    same!(ControlReply, packet("0000000c 0000004c 00000007 00000024"), answer);
    let long = written(|out| answer.write_sized(out, 756));
    assert_eq!((long.len(), ControlReply::parse(&long)), (756, Ok(answer)));
    assert!(long[36..].iter().all(|&byte| byte == 0));
    assert_eq!(written(|out| answer.write_sized(out, 10)), packet("0000000c 0000004c 00000007 00000024")[..10]);
    let probe = written(|out| ask.write_sized(out, 1472));
    assert_eq!((probe.len(), ControlRequest::parse(&probe)), (1472, Ok(ask)));
}

#[test]
fn what_makes_no_sense_is_answered_with_huh_and_its_number() {
    let probe_of_another_driver = hex("00000005 00000000 000000ff 00000000");
    assert!(matches!(
        ControlRequest::parse(&probe_of_another_driver),
        Err(WireError::Short { need: 36, have: 16, .. })
    ));
    let huh = ControlReply::huh(&probe_of_another_driver);
    same!(ControlReply, packet("0000000c 00000020 000000ff"), huh);
    assert_eq!(ControlReply::huh(&[1, 2, 3]).sequence, 0);
    let unknown = ControlRequest { version: 12, sequence: 1, ask: ControlAsk::Unknown { id: 0x7a } };
    same!(ControlRequest, packet("0000000c 0000007a 00000001"), unknown);
}

#[test]
fn an_i2c_count_beyond_twenty_is_refused() {
    for id in ["00000069", "00000068"] {
        let refused = ControlRequest::parse(&packet(&format!("0000000c {id} 00000003 5015")));
        assert!(matches!(refused, Err(WireError::Field { what: "I2C byte count", got: 21, .. })), "{refused:?}");
    }
    let refused = ControlReply::parse(&packet("0000000c 00000049 00000003 00ff"));
    assert!(matches!(refused, Err(WireError::Field { got: 255, .. })));
    assert!(I2cBytes::new(&[0; 21]).is_err());
}

#[test]
fn a_serial_transfer_without_an_edge_is_refused() {
    let refused = ControlRequest::parse(&packet("0000000c 00000073 00000005 00000001 00005a01 78661801"));
    assert!(matches!(refused, Err(WireError::Field { what: "SPI edge", got: 0x78, .. })));
}

fn i2c() -> impl Strategy<Value = I2cBytes> {
    prop::collection::vec(any::<u8>(), 0..=20).prop_map(|data| bytes(&data))
}

fn ask() -> impl Strategy<Value = ControlAsk> {
    let edge = || any::<bool>().prop_map(|rising| if rising { Edge::Rising } else { Edge::Falling });
    prop_oneof![
        Just(ControlAsk::Hello),
        (any::<(u32, u32, u8, bool)>(), edge(), edge()).prop_map(|((slaves, data, bits, readback), input, output)| {
            ControlAsk::Spi(SpiTransfer { slaves, data, input, output, bits, readback })
        }),
        (any::<u8>(), 0u8..=20).prop_map(|(address, count)| ControlAsk::I2cRead { address, count }),
        (any::<u8>(), i2c()).prop_map(|(address, data)| ControlAsk::I2cWrite { address, data }),
        any::<(u8, u32, u32)>().prop_map(|(code, address, data)| ControlAsk::Register {
            action: RegisterAction::from_code(code),
            address,
            data,
        }),
        any::<u32>().prop_map(|reply_bytes| ControlAsk::Echo { reply_bytes }),
        (0x80u32..).prop_map(|id| ControlAsk::Unknown { id }),
    ]
}

fn answer() -> impl Strategy<Value = ControlAnswer> {
    prop_oneof![
        any::<(u32, bool)>()
            .prop_map(|(bits, software)| ControlAnswer::Hello { address: Ipv4Addr::from_bits(bits), software }),
        any::<u32>().prop_map(|data| ControlAnswer::Spi { data }),
        i2c().prop_map(|data| ControlAnswer::I2cRead { data }),
        (0u8..=20).prop_map(|count| ControlAnswer::I2cWrite { count }),
        any::<u32>().prop_map(|data| ControlAnswer::Register { data }),
        any::<u32>().prop_map(|request_bytes| ControlAnswer::Echo { request_bytes }),
        Just(ControlAnswer::Huh),
        (0x80u32..).prop_map(|id| ControlAnswer::Unknown { id }),
    ]
}

proptest! {
    #[test]
    fn every_request_survives(version: u32, sequence: u32, ask in ask()) {
        round_trip!(ControlRequest, ControlRequest { version, sequence, ask });
    }

    #[test]
    fn every_reply_survives(version: u32, sequence: u32, answer in answer()) {
        round_trip!(ControlReply, ControlReply { version, sequence, answer });
    }
}
