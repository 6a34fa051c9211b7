//! Register commands and acks.

use proptest::prelude::*;
use takt_wire::WireError;
use takt_wire::n200::{FifoAck, FifoAction, FifoCommand};

use crate::common::{hex, round_trip, same};

#[test] // the first command of every UHD session: SPI divider = 4
fn the_first_command_of_a_session_and_its_ack() {
    let command = FifoCommand { sequence: 1, tick: None, action: FifoAction::Poke { register: 20, data: 4 } };
    same!(FifoCommand, hex("00000001 40010003 00010114 00000004"), command);
    same!(FifoAck, hex("50010004 00000000 00010114 ffffffff"), command.ack(0xffff_ffff));
    assert_eq!(command.ack(0).sequence(), 1);
}

#[test]
fn a_timed_peek_carries_its_time_before_the_control_word() {
    let command = FifoCommand { sequence: 0x1234, tick: Some(0x1_0000_d585), action: FifoAction::Peek { word: 10 } };
    same!(FifoCommand, hex("00001234 40140005 00000001 0000d585 1234000a 00000000"), command);
}

#[test]
fn what_is_no_command_is_refused_by_name() {
    let refused = |text| FifoCommand::parse(&hex(text)).unwrap_err();
    let header = refused("00000001 14010003 00010114 00000004");
    assert!(matches!(header, WireError::Field { what: "FIFO command header", got: 0x1401_0003, .. }), "{header}");
    let control = refused("00000001 40010003 00010314 00000004");
    assert!(matches!(control, WireError::Field { what: "FIFO control word", .. }), "{control}");
    let ack = FifoAck::parse(&hex("40010004 00000000 00010114 ffffffff")).unwrap_err();
    assert!(matches!(ack, WireError::Field { .. }));
}

#[test] // the host's 8 zero bytes that open the port
fn the_address_packet_is_no_command() {
    assert_eq!(
        FifoCommand::parse(&[0; 8]),
        Err(WireError::Field { what: "FIFO command header", got: 0, want: "0x400n0003 or 0x401n0005" })
    );
}

proptest! {
    #[test]
    fn every_command_survives(sequence: u16, tick: Option<u64>, poke: bool, index: u8, data: u32) {
        let action = if poke { FifoAction::Poke { register: index, data } } else { FifoAction::Peek { word: index } };
        let command = FifoCommand { sequence, tick, action };
        round_trip!(FifoCommand, command);
        round_trip!(FifoAck, command.ack(data));
    }
}
