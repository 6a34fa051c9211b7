//! Datagrams of an X310 beside CHDR: registers of its board, the frame size probe, its EEPROM.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::eeprom::Text;
use takt_wire::x310::eeprom::{Motherboard, product};
use takt_wire::x310::{Firmware, FirmwareAction, FrameProbe};

use crate::common::{hex, round_trip, same};

fn firmware(action: FirmwareAction, sequence: u32, address: u32, data: u32) -> Firmware {
    Firmware { action, ack: true, error: false, sequence, address, data }
}

#[test] // x310.md 2 and 17
fn hello_peek_and_poke() {
    same!(Firmware, hex("00000001 6b8b4567 00000000 00000000"), firmware(FirmwareAction::Hello, 0x6B8B_4567, 0, 0));
    same!(Firmware, hex("00000009 00000001 0000a010 00000001"), firmware(FirmwareAction::Peek, 1, 0xA010, 1));
    same!(Firmware, hex("00000005 00000002 0000a210 00000005"), firmware(FirmwareAction::Poke, 2, 0xA210, 5));
    for flags in ["0000000c", "0000000d", "00000010"] {
        let refused = Firmware::parse(&hex(&format!("{flags} 00000001 00000000 00000000"))).unwrap_err();
        assert!(matches!(refused, WireError::Field { what: "firmware flags", .. }), "{refused}");
    }
}

#[test] // x310.md 5 and 17
fn a_frame_size_probe_is_answered_as_long_as_it_asks() {
    same!(FrameProbe, hex("00000001 00000fa4"), FrameProbe::Request { reply_bytes: 4004 });
    same!(FrameProbe, hex("00000002 00000008"), FrameProbe::Reply { request_bytes: 8 });
    let mut reply = [0xa5; 4100];
    assert_eq!(FrameProbe::Reply { request_bytes: 8 }.write_padded(4004, &mut reply), Ok(4004));
    assert_eq!(reply[..8], hex("00000002 00000008"));
    assert!(reply[8..4004].iter().all(|&byte| byte == 0) && reply[4004..].iter().all(|&byte| byte == 0xa5));
    let short = FrameProbe::Error.write_padded(4101, &mut reply);
    assert_eq!(short, Err(WireError::Short { what: "frame size probe", need: 4101, have: 4100 }));
    assert_eq!(FrameProbe::Error.write_padded(1, &mut reply), Ok(8), "no shorter than itself");
    assert!(matches!(FrameProbe::parse(&hex("00000003 00000000")), Err(WireError::Field { got: 3, .. })));
}

fn board() -> Motherboard {
    Motherboard {
        revision: 11,
        product: product::X310,
        revision_compat: 7,
        macs: [[0x02, 0x80, 0, 0, 0, 1], [0x02, 0x80, 0, 0, 0, 2]],
        gateway: Ipv4Addr::new(192, 168, 30, 1),
        netmasks: [Ipv4Addr::new(255, 255, 255, 0); 4],
        addresses: [10, 20, 30, 40].map(|third| Ipv4Addr::new(192, 168, third, 2)),
        name: Text::new("x310-emu").unwrap(),
        serial: Text::new("EMU001").unwrap(),
    }
}

#[test] // x310.md 3 and 15, trap 1
fn numbers_are_little_endian_addresses_are_not_and_mirror_words_are_packed_big_endian() {
    let image = board().image();
    assert_eq!(image[..8], hex("0b00 6278 0700 0000"));
    assert_eq!(image[8..24], hex("0280 0000 0001 0000 0280 0000 0002 0000"));
    assert_eq!(image[44..60], hex("c0a80a02 c0a81402 c0a81e02 c0a82802"));
    assert_eq!(&image[76..84], b"x310-emu");
    assert_eq!(&image[99..108], b"EMU001\0\0\0");
    let mirror = board().mirror();
    assert_eq!(mirror[0], 0x0B00_6278);
    assert_eq!(mirror[11], 0xC0A8_0A02, "the first address");
    assert_eq!(Motherboard::parse(&image), Ok(board()));
    for end in 0..image.len() {
        assert!(matches!(Motherboard::parse(&image[..end]), Err(WireError::Short { need: 108, .. })));
    }
}

proptest! {
    #[test]
    fn every_register_access_survives(action in 0usize..3, ack: bool, error: bool, words: [u32; 3]) {
        let action = [FirmwareAction::Hello, FirmwareAction::Poke, FirmwareAction::Peek][action];
        let [sequence, address, data] = words;
        round_trip!(Firmware, Firmware { action, ack, error, sequence, address, data });
    }

    #[test]
    fn every_probe_survives(bytes: u32) {
        round_trip!(FrameProbe, FrameProbe::Request { reply_bytes: bytes });
        round_trip!(FrameProbe, FrameProbe::Reply { request_bytes: bytes });
        round_trip!(FrameProbe, FrameProbe::Error);
    }

    #[test]
    fn any_image_means_something_that_can_be_written_again(image in prop::collection::vec(any::<u8>(), 108)) {
        let parsed = Motherboard::parse(&image).unwrap();
        prop_assert_eq!(Motherboard::parse(&parsed.image()), Ok(parsed));
    }
}
