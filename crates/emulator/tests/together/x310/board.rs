//! Port 49152: claim, EEPROM mirror, identity, daughterboards; and the frame size probe.

use takt_emulator::fault::Faulty;
use takt_emulator::x310::{Board, X310, X310Options};
use takt_wire::n200::eeprom::{Daughterboard, board as narrow};
use takt_wire::x310::eeprom::{Motherboard, board as wide};
use takt_wire::x310::registers::{board, i2c, shared};
use takt_wire::x310::{FirmwareAction, FrameProbe};

use super::host::{Host, PROBE, ms, us};
use crate::support::ramps;

fn shared_word(n: u32) -> u32 {
    shared::BASE + 4 * n
}

fn board_word(n: u32) -> u32 {
    board::BASE + 4 * n
}

fn mirror(host: &mut Host) -> Motherboard {
    let words = (0..27).map(|n| host.peek(shared_word(shared::EEPROM + n)));
    let image: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
    Motherboard::parse(&image).unwrap()
}

#[test] // 2
fn a_hello_is_echoed_unchanged() {
    let mut host = Host::new();
    let reply = host.firmware(FirmwareAction::Hello, 0x1234, 0x5678);
    assert_eq!((reply.action, reply.ack, reply.address, reply.data), (FirmwareAction::Hello, true, 0x1234, 0x5678));
}

#[test] // 2.2
fn versions_and_locks_are_those_that_uhd_4_3_accepts() {
    let mut host = Host::new();
    assert_eq!(host.peek(shared_word(shared::COMPAT)), 0x0006_0000);
    assert_eq!(host.peek(shared_word(shared::GPSDO_STATUS)), 0x1234_ABCD);
    assert_eq!(host.peek(board_word(board::CLOCK_STATUS)) & !board::PPS_TOGGLE, 0x64);
    assert_eq!([4, 5, 6, 7, 12].map(|n| host.peek(board_word(n))), [1, 1, 0x0027_0000, 0x0040_0100, 1]);
    host.poke(board_word(board::DEVICE_ID), 7);
    host.poke(board_word(board::GPIO_SOURCE), 0x55);
    assert_eq!(host.peek(board_word(board::DEVICE_ID_READ)), 7);
    assert_eq!(host.peek(board_word(board::GPIO_SOURCE_READ)), 0x55);
    assert_eq!(host.peek(board_word(board::DEVICE_ID)), host.peek(board_word(board::CLOCK_STATUS)), "reads are others");
    assert_eq!([0, 0xA001, 0xFFFF_FFFC].map(|address| host.peek(address)), [0; 3], "nothing there");
}

#[test] // 3 and 15, traps 1 and 2
fn trap_02_the_address_of_the_device_is_one_of_those_in_its_eeprom() {
    let mut host =
        Host::with(X310Options { serial: "A1".to_owned(), ..X310Options::default() }, [ramps(), ramps()], &[]);
    let eeprom = mirror(&mut host);
    assert_eq!(eeprom.addresses[0].to_string(), "192.168.10.2");
    let distinct: std::collections::BTreeSet<_> = eeprom.addresses.into_iter().collect();
    assert_eq!(distinct.len(), 4, "no two alike");
    assert_eq!((eeprom.product, eeprom.revision, eeprom.revision_compat), (0x7862, 11, 7));
    assert_eq!((eeprom.serial.as_str(), eeprom.name.as_str()), ("A1", "x310-emu"));
    assert_eq!(host.peek(shared_word(shared::EEPROM)), 0x0B00_6278);
}

#[test] // 2.3
fn a_claim_holds_while_it_is_renewed_and_lapses_two_seconds_later() {
    let mut host = Host::new();
    let status = |host: &mut Host| host.peek(shared_word(shared::CLAIM_STATUS));
    assert_eq!(status(&mut host), 0);
    host.poke(shared_word(shared::CLAIM_TIME), 1000);
    host.poke(shared_word(shared::CLAIM_SOURCE), 0xABCD);
    assert_eq!((status(&mut host), host.peek(shared_word(shared::CLAIM_SOURCE))), (1, 0xABCD));
    host.run(ms(1900));
    host.poke(shared_word(shared::CLAIM_TIME), 1001);
    host.run(ms(1900));
    assert_eq!(status(&mut host), 1);
    host.poke(shared_word(shared::CLAIM_TIME), 1001);
    host.run(ms(200));
    assert_eq!(status(&mut host), 0, "the same time renews nothing");
    host.poke(shared_word(shared::CLAIM_TIME), 1002);
    assert_eq!(status(&mut host), 1);
    host.poke(shared_word(shared::CLAIM_TIME), 0);
    assert_eq!(status(&mut host), 0, "given back");
}

fn i2c_register(n: u32) -> u32 {
    i2c::BASE + 4 * n
}

/// Sends bytes, the first of which names the chip; whether each was acknowledged.
fn send_i2c(host: &mut Host, bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(n, byte)| {
        host.poke(i2c_register(i2c::DATA), (*byte).into());
        host.poke(i2c_register(i2c::COMMAND), if n == 0 { i2c::WRITE | i2c::START } else { i2c::WRITE });
        host.peek(i2c_register(i2c::COMMAND)) & i2c::NO_ACK == 0
    })
}

/// Bytes of an EEPROM from an offset on, as a host reads them.
fn read_eeprom(host: &mut Host, address: u8, offset: &[u8], count: usize) -> Option<Vec<u8>> {
    if !send_i2c(host, &[&[address << 1][..], offset].concat()) {
        return None;
    }
    assert!(send_i2c(host, &[address << 1 | 1]));
    let byte = |host: &mut Host| {
        host.poke(i2c_register(i2c::COMMAND), i2c::READ);
        host.peek(i2c_register(i2c::DATA)) as u8
    };
    Some((0..count).map(|_| byte(host)).collect())
}

/// Writes bytes of the motherboard's EEPROM from an offset on, each for itself, as UHD does.
fn burn(host: &mut Host, offset: u16, bytes: &[u8]) {
    for (at, byte) in (offset..).zip(bytes) {
        let [high, low] = at.to_be_bytes();
        assert!(send_i2c(host, &[i2c::MOTHERBOARD << 1, high, low, *byte]), "byte {at} is acknowledged");
    }
}

/// Offsets of name and serial (3).
const NAME: u16 = 76;
const SERIAL: u16 = 99;

#[test] // 3: usrp_burn_mb_eeprom --values name=bench7
fn what_is_burnt_is_read_again_and_the_firmware_sees_it_when_it_starts() {
    let mut host = Host::with(X310Options::default(), [ramps(), ramps()], &["reboot:at=5s,for=100ms"]);
    burn(&mut host, NAME, b"bench7\0");
    let read = read_eeprom(&mut host, i2c::MOTHERBOARD, &NAME.to_be_bytes(), 7);
    assert_eq!(read.as_deref(), Some(&b"bench7\0"[..]));
    assert_eq!(mirror(&mut host).name.as_str(), "x310-emu", "it copied the EEPROM before");
    host.run(ms(5200));
    let eeprom = mirror(&mut host);
    assert_eq!((eeprom.name.as_str(), eeprom.serial.as_str()), ("bench7", "EMU001"));
    assert_eq!(host.report().control.eeprom_writes, 7);
}

#[test]
fn eeprom_contents_can_be_carried_over() {
    let mut host = Host::new();
    burn(&mut host, SERIAL, b"S7\0");
    let kept = host.world.device(host.device, |radio: &mut Faulty<X310>| radio.device().eeproms().clone());
    assert_eq!(kept.motherboard().serial.as_str(), "S7");
    let options = X310Options { eeproms: Some(kept), serial: "A1".to_owned(), ..X310Options::default() };
    let mut next = Host::with(options, [ramps(), ramps()], &[]);
    assert_eq!(mirror(&mut next).serial.as_str(), "S7");
}

#[test] // 4
fn daughterboards_are_those_that_were_fitted() {
    for (fitted, rx, tx) in [
        (Board::Ubx, wide::UBX_RX, wide::UBX_TX),
        (Board::Basic, narrow::BASIC_RX, narrow::BASIC_TX),
        (Board::Lf, narrow::LF_RX, narrow::LF_TX),
    ] {
        let mut host = Host::with(X310Options { board: fitted, ..X310Options::default() }, [ramps(), ramps()], &[]);
        for [rx_at, tx_at] in i2c::BOARDS {
            let id = |host: &mut Host, at| Daughterboard::parse(&read_eeprom(host, at, &[0], 32).unwrap()).unwrap().id;
            assert_eq!([id(&mut host, rx_at), id(&mut host, tx_at)], [rx, tx]);
        }
    }
    let mut host = Host::with(X310Options { board: Board::None, ..X310Options::default() }, [ramps(), ramps()], &[]);
    assert_eq!(read_eeprom(&mut host, 0x55, &[0], 32), None, "no acknowledge");
}

fn probe(host: &mut Host, request_bytes: usize, reply_bytes: u32) -> Option<Vec<u8>> {
    host.send_packet(PROBE, |out| FrameProbe::Request { reply_bytes }.write_padded(request_bytes, out));
    host.run(us(10));
    host.probes.pop()
}

#[test] // 5 and 15, trap 4
fn trap_04_the_frame_size_probe_finds_what_passes_and_no_more() {
    let mut host = Host::with(X310Options { frame_bytes: 1472, ..X310Options::default() }, [ramps(), ramps()], &[]);
    let reply = probe(&mut host, 8, 1472).expect("a reply");
    assert_eq!((reply.len(), FrameProbe::parse(&reply)), (1472, Ok(FrameProbe::Reply { request_bytes: 8 })));
    let reply = probe(&mut host, 1472, 8).expect("a reply");
    assert_eq!((reply.len(), FrameProbe::parse(&reply)), (8, Ok(FrameProbe::Reply { request_bytes: 1472 })));
    assert_eq!(probe(&mut host, 8, 1476), None);
    assert_eq!(probe(&mut host, 1476, 8), None);
    assert_eq!(host.report().control.refused_probes, 2);
    let mut host = Host::new();
    assert_eq!(probe(&mut host, 8000, 8000).map(|reply| reply.len()), Some(8000));
    assert_eq!(probe(&mut host, 8, 0).map(|reply| reply.len()), Some(8), "no shorter than a reply");
    assert_eq!(probe(&mut host, 8, u32::MAX), None);
}
