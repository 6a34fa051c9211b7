//! The control port: hello, EEPROMs, cells, echo, and what is not understood.

use takt_emulator::fault::Faulty;
use takt_emulator::n200::{Board, N200, N200Options};
use takt_wire::n200::eeprom::{Daughterboard, Motherboard, board};
use takt_wire::n200::registers::{firmware, i2c};
use takt_wire::n200::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, I2cBytes, RegisterAction, SpiTransfer, ports,
};

use crate::support::{DEVICE, Host, ms, ramps, us};

/// As UHD reads: one byte a pair of transactions.
fn read(host: &mut Host, address: u8, offset: u8) -> u8 {
    let data = I2cBytes::new(&[offset]).unwrap();
    assert!(matches!(
        host.ask(ControlAsk::I2cWrite { address, data }).unwrap().answer,
        ControlAnswer::I2cWrite { count: 1 }
    ));
    match host.ask(ControlAsk::I2cRead { address, count: 1 }).unwrap().answer {
        ControlAnswer::I2cRead { data } => data.as_slice()[0],
        other => panic!("{other:?}"),
    }
}

fn image(host: &mut Host, address: u8, bytes: u8) -> Vec<u8> {
    (0..bytes).map(|offset| read(host, address, offset)).collect()
}

#[test]
fn hello_is_answered_with_version_12_and_the_address() {
    let mut host = Host::new();
    let reply = host.ask(ControlAsk::Hello).unwrap();
    assert_eq!(reply.version, 12);
    assert_eq!(reply.answer, ControlAnswer::Hello { address: "192.168.10.2".parse().unwrap(), software: true });
}

#[test]
fn a_radio_without_its_mark_answers_a_hello_as_hardware_does() {
    let mut host = Host::with(N200Options { marked: false, ..N200Options::default() }, ramps(), &[]);
    assert!(matches!(host.ask(ControlAsk::Hello).unwrap().answer, ControlAnswer::Hello { software: false, .. }));
    let unused = host.replies[0].get(16..);
    assert_eq!(unused, Some(&[0; 20][..]));
}

#[test] // nothing a host writes into a radio makes it one of takt's
fn a_name_or_a_cell_that_a_host_writes_is_no_mark() {
    let options = N200Options { name: "takt software radio".into(), marked: false, ..N200Options::default() };
    let mut host = Host::with(options, ramps(), &[]);
    for (cell, bytes) in (0..).zip(takt_wire::n200::ControlReply::SOFTWARE.as_chunks::<4>().0) {
        host.register(RegisterAction::FirmwarePoke, cell, u32::from_be_bytes(*bytes));
    }
    assert!(matches!(host.ask(ControlAsk::Hello).unwrap().answer, ControlAnswer::Hello { software: false, .. }));
}

#[test]
fn another_version_is_answered_as_a_hello_whatever_was_requested() {
    let mut host = Host::new();
    let mut bytes = [0; 36];
    let ask = ControlAsk::I2cRead { address: i2c::MOTHERBOARD, count: 4 };
    ControlRequest { version: 0, sequence: 77, ask }.write(&mut bytes).unwrap();
    host.send(ports::CONTROL, &bytes);
    host.run(ms(1));
    let reply = ControlReply::parse(&host.replies[0]).unwrap();
    assert_eq!((reply.version, reply.sequence), (12, 77));
    assert!(matches!(reply.answer, ControlAnswer::Hello { .. }));
}

#[test] // the probe of another driver has 16 bytes
fn short_and_foreign_packets_are_answered_with_huh() {
    let mut host = Host::new();
    for bytes in [&[0; 16][..], &[], &[1], &[0xFF; 35]] {
        host.replies.clear();
        host.send(ports::CONTROL, bytes);
        host.run(ms(1));
        assert_eq!(host.replies.len(), 1);
        assert_eq!(host.replies[0].len(), 36);
        assert_eq!(host.replies[0][4..8], [0, 0, 0, 0x20]);
    }
    assert_eq!(host.ask(ControlAsk::Unknown { id: 0x7A }).unwrap().answer, ControlAnswer::Huh);
    assert_eq!(host.report().control.not_understood, 5);
}

#[test]
fn the_motherboard_says_who_it_is() {
    let options = N200Options { serial: "ABC123".into(), name: "my radio".into(), ..N200Options::default() };
    let mut host = Host::with(options, ramps(), &[]);
    let motherboard = Motherboard::parse(&image(&mut host, i2c::MOTHERBOARD, 60)).unwrap();
    assert_eq!((motherboard.serial.as_str(), motherboard.name.as_str()), ("ABC123", "my radio"));
    assert_eq!(motherboard.hardware, 0x0A10);
}

#[test]
fn each_board_has_its_ids_and_a_sound_checksum() {
    for (fitted, rx, tx) in [
        (Board::Sbx, board::SBX_RX, board::SBX_TX),
        (Board::Wbx, board::WBX_RX, board::WBX_TX),
        (Board::Basic, board::BASIC_RX, board::BASIC_TX),
        (Board::Lf, board::LF_RX, board::LF_TX),
    ] {
        let mut host = Host::with(N200Options { board: fitted, ..N200Options::default() }, ramps(), &[]);
        assert_eq!(Daughterboard::parse(&image(&mut host, i2c::RX_BOARD, 32)).unwrap().id, rx);
        assert_eq!(Daughterboard::parse(&image(&mut host, i2c::TX_BOARD, 32)).unwrap().id, tx);
        assert!(image(&mut host, i2c::GRAND_DAUGHTERBOARD, 32).iter().all(|&b| b == 0xFF), "none fitted");
    }
    let mut host = Host::with(N200Options { board: Board::None, ..N200Options::default() }, ramps(), &[]);
    assert!(Daughterboard::parse(&image(&mut host, i2c::RX_BOARD, 32)).is_err());
}

#[test]
fn what_is_burnt_is_read_again_and_survives_a_reboot() {
    let mut host = Host::with_faults(&["reboot:at=1s,for=100ms"]);
    for (offset, byte) in (0x21..).zip(*b"x\0") {
        let data = I2cBytes::new(&[offset, byte]).unwrap();
        host.ask(ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data }).unwrap();
    }
    host.register(RegisterAction::FirmwarePoke, firmware::LOCK_OWNER, 99);
    host.run(ms(1500));
    let motherboard = Motherboard::parse(&image(&mut host, i2c::MOTHERBOARD, 60)).unwrap();
    assert_eq!(motherboard.name.as_str(), "x");
    assert_eq!(host.register(RegisterAction::FirmwarePeek, firmware::LOCK_OWNER, 0), 0, "cells do not survive");
    assert_eq!(host.report().control.eeprom_writes, 2);
}

#[test]
fn eeprom_contents_can_be_carried_over() {
    let mut host = Host::new();
    let data = I2cBytes::new(&[0x21, b'Q', 0]).unwrap();
    host.ask(ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data }).unwrap();
    let kept = host.look(|device| device.eeproms().clone());
    let mut next = Host::with(N200Options { eeproms: Some(kept), ..N200Options::default() }, ramps(), &[]);
    assert_eq!(read(&mut next, i2c::MOTHERBOARD, 0x21), b'Q');
}

#[test]
fn firmware_cells_are_plain_memory_and_the_seventh_is_the_minor_version() {
    let mut host = Host::new();
    assert_eq!(host.register(RegisterAction::FirmwarePeek, firmware::MINOR, 0), 4);
    for cell in 0..8 {
        host.register(RegisterAction::FirmwarePoke, cell, 0xABCD_0000 + cell);
    }
    for cell in 0..8 {
        assert_eq!(host.register(RegisterAction::FirmwarePeek, cell, 0), 0xABCD_0000 + cell);
    }
    host.register(RegisterAction::FirmwarePoke, u32::MAX, 1);
    assert_eq!(host.register(RegisterAction::FirmwarePeek, 8, 0), 0);
}

#[test]
fn an_echo_has_exactly_the_wanted_length_and_reports_that_of_the_request() {
    let mut host = Host::new();
    for (sent, wanted) in [(36usize, 36u32), (36, 1472), (1472, 36), (36, 756), (36, 8000), (4000, 36), (36, 16)] {
        let mut bytes = vec![0; sent];
        let request = ControlRequest::new(5, ControlAsk::Echo { reply_bytes: wanted });
        request.write_sized(&mut bytes, sent).unwrap();
        host.replies.clear();
        host.send(ports::CONTROL, &bytes);
        host.run(ms(1));
        assert_eq!(host.replies[0].len(), wanted as usize);
        if wanted >= 16 {
            assert_eq!(host.replies[0][12..16], u32::try_from(sent).unwrap().to_be_bytes());
        }
    }
    let request = ControlRequest::new(6, ControlAsk::Echo { reply_bytes: u32::MAX });
    let mut bytes = [0; 36];
    request.write(&mut bytes).unwrap();
    host.replies.clear();
    host.send(ports::CONTROL, &bytes);
    host.run(ms(1));
    assert_eq!(host.replies[0].len(), 9000, "no more than a frame");
}

#[test]
fn versions_can_be_faked() {
    let options = N200Options { firmware: 13, fpga: 0x000A_0003, firmware_minor: 9, ..N200Options::default() };
    let mut host = Host::with(options, ramps(), &[]);
    assert_eq!(host.ask(ControlAsk::Hello).unwrap().version, 13);
    // A host of version 12 gets hellos for all it asks.
    let reply = host.ask(ControlAsk::Register { action: RegisterAction::Peek32, address: 0x5C30, data: 0 }).unwrap();
    assert!(matches!(reply.answer, ControlAnswer::Hello { .. }));
}

#[test]
fn serial_and_name_must_fit_the_eeprom() {
    for options in [
        N200Options { serial: "0123456789".into(), ..N200Options::default() },
        N200Options { name: "n".repeat(24), ..N200Options::default() },
        N200Options { serial: "Ä".into(), ..N200Options::default() },
    ] {
        assert!(N200::new(options, ramps()).is_err());
    }
}

#[test]
fn spi_over_the_control_port_is_logged_and_tunes() {
    let mut host = Host::new();
    for word in [0x000F_A23C, 0x6500_8A42, 0x0000_7FF9, 0x0030_0000] {
        let transfer = SpiTransfer {
            slaves: 16,
            data: word,
            input: takt_wire::n200::Edge::Rising,
            output: takt_wire::n200::Edge::Falling,
            bits: 32,
            readback: false,
        };
        assert!(matches!(host.ask(ControlAsk::Spi(transfer)).unwrap().answer, ControlAnswer::Spi { .. }));
    }
    assert_eq!(host.look(|device| device.spi_log().count()), 4);
    assert_eq!(host.report().tuning.rx_hz, [2400e6; 2]);
}

#[test]
fn the_sender_is_answered_there_is_no_session() {
    let mut one = Host::new();
    let mut two = Host::in_world(&one.world);
    assert!(two.ask(ControlAsk::Hello).is_some());
    assert!(one.ask(ControlAsk::Hello).is_some());
    assert!(two.ask(ControlAsk::Hello).is_some());
}

#[test]
fn every_port_is_there() {
    let host = Host::new();
    let listed: Vec<u16> = host
        .world
        .device(DEVICE, |radio: &mut Faulty<N200>| takt_emulator::Device::ports(radio).iter().map(|p| p.0).collect());
    for port in [49152, 49156, 49157, 49158, 49159, 49170, 49171, 49172, 49173] {
        assert!(listed.contains(&port), "{port}");
    }
    // A datagram for a line that leads nowhere is taken without a word.
    let mut host = host;
    host.gps.clear();
    host.send(ports::GPSDO, b"*IDN?\r\n");
    host.run(us(100));
    assert!(host.gps.is_empty(), "no GPSDO fitted");
}
