//! EEPROM images.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::eeprom::{Daughterboard, Motherboard, Text, board, hardware};

use crate::common::hex;

fn motherboard() -> Motherboard {
    Motherboard {
        hardware: hardware::N200_R4,
        mac: [0x00, 0x80, 0x2f, 0x0a, 0x0b, 0x0c],
        subnet: Ipv4Addr::new(255, 255, 255, 0),
        address: Ipv4Addr::new(192, 168, 10, 2),
        revision: 4,
        product: 30518,
        gpsdo: 0,
        serial: Text::new("EMU001").unwrap(),
        name: Text::new("n200-emu").unwrap(),
        gateway: Ipv4Addr::new(192, 168, 10, 1),
    }
}

#[test] // the image that UHD 4.3 read, displayed, changed and read again
fn the_motherboard_image_byte_for_byte() {
    let fields = "100a 00802f0a0b0c ffffff00 c0a80a02 ffff 0400 3677 ff 00
        454d55303031000000 6e3230302d656d75000000000000000000000000000000 c0a80a01";
    let mut image = hex(fields);
    image.resize(256, 0xff);
    assert_eq!(motherboard().image().to_vec(), image);
    assert_eq!(Motherboard::parse(&image), Ok(motherboard()));
    for end in 0..Motherboard::FIELD_BYTES {
        assert!(matches!(Motherboard::parse(&image[..end]), Err(WireError::Short { need: 60, .. })));
    }
    assert_eq!(Motherboard::parse(&image[..60]), Ok(motherboard()), "what a host reads is enough");
    assert_eq!(hardware::name(0x0A10), Some("N200r4"));
}

#[test]
fn an_erased_motherboard_has_no_text_and_no_name() {
    let erased = Motherboard::parse(&[0xff; 256]).unwrap();
    assert_eq!((erased.serial.as_str(), erased.name.as_str()), ("", ""));
    assert_eq!(hardware::name(erased.hardware), None);
}

#[test]
fn the_daughterboard_image_byte_for_byte() {
    let board = Daughterboard { id: board::SBX_RX, revision: 0, serial: Text::default() };
    // 0xdb + 0x54 = 0x12f, so the checksum is 0x100 - 0x2f
    let image = hex(&format!("db5400{}d1", "00".repeat(28)));
    assert_eq!(board.image().to_vec(), image);
    assert_eq!(Daughterboard::parse(&image), Ok(board));
    for end in 0..32 {
        assert!(matches!(Daughterboard::parse(&image[..end]), Err(WireError::Short { need: 32, .. })));
    }
}

#[test]
fn no_board_and_a_damaged_one_are_refused_for_different_reasons() {
    let absent = Daughterboard::parse(&Daughterboard::ABSENT);
    assert!(matches!(absent, Err(WireError::Field { what: "daughterboard EEPROM magic", got: 0xff, .. })));
    let mut image = Daughterboard { id: 1, revision: 2, serial: Text::default() }.image();
    image[0x0a] ^= 1;
    let damaged = Daughterboard::parse(&image);
    assert!(matches!(damaged, Err(WireError::Field { what: "daughterboard EEPROM byte sum", .. })));
}

#[test]
fn text_must_fit_and_be_printable() {
    assert_eq!(Text::<9>::new("123456789").unwrap().as_str(), "123456789");
    assert!(matches!(Text::<9>::new("1234567890"), Err(WireError::Short { need: 10, have: 9, .. })));
    assert!(matches!(Text::<9>::new("a\nb"), Err(WireError::Field { got: 10, .. })));
    assert!(matches!(Text::<9>::new("é"), Err(WireError::Field { got: 0xe9, .. })));
    assert_eq!(format!("{:?} {:>4}", Text::<9>::new("x").unwrap(), Text::<9>::new("y").unwrap()), "\"x\"    y");
}

#[test] // ids as UHD 4.3 registers them
fn boards_have_the_names_that_uhd_gives_them() {
    let named = |ids: [u16; 2]| ids.map(|id| board::name(id).unwrap_or("none"));
    assert_eq!(named([board::SBX_RX, board::SBX_TX]), ["SBX"; 2]);
    assert_eq!(named([0x0069, 0x0068]), ["SBX v5"; 2]);
    assert_eq!(named([0x0063, 0x0062]), ["WBX v4"; 2]);
    assert_eq!(named([0x0067, 0x0066]), ["CBX"; 2]);
    assert_eq!(named([0x0078, 0x0077]), ["UBX-40 v1"; 2]);
    assert_eq!(named([0x0070, 0xFFFF]), ["none"; 2]);
}

proptest! {
    #[test]
    fn any_image_means_something_that_can_be_written_again(image in prop::collection::vec(any::<u8>(), 256)) {
        let parsed = Motherboard::parse(&image).unwrap();
        prop_assert_eq!(Motherboard::parse(&parsed.image()), Ok(parsed));
        prop_assert!(parsed.serial.as_str().len() <= 9);
    }

    #[test]
    fn every_daughterboard_survives(id: u16, revision: u16, serial in "[ -~]{0,9}") {
        let board = Daughterboard { id, revision, serial: Text::new(&serial).unwrap() };
        prop_assert_eq!(Daughterboard::parse(&board.image()), Ok(board));
        prop_assert_eq!(board.serial.as_str(), serial);
    }

    #[test]
    fn any_change_of_one_byte_of_a_daughterboard_is_noticed(at in 0usize..32, change in 1u8..) {
        let mut image = Daughterboard { id: 0x54, revision: 3, serial: Text::new("F1").unwrap() }.image();
        image[at] ^= change;
        prop_assert!(Daughterboard::parse(&image).is_err());
    }
}
