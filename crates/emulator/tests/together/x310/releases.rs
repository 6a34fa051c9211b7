//! Releases of UHD (18): what each reads of a radio with its image, and how control packets of protocol 2.0 are answered.
//!
//! The values are those of UHD's public sources at the tags v4.3.0.0 to v4.10.0.0 and the branch UHD-4.11; a comment names the file.

use takt_emulator::fault::Faulty;
use takt_emulator::x310::{Release, Uhd, X310};
use takt_wire::chdr::{ControlData, ControlOperation, ControlStatus};
use takt_wire::x310::RadioLayout;
use takt_wire::x310::registers::{board, client_zero, ddc, i2c, message, radio, shared};

use super::host::{DDC, DUC, Host, MS, RADIO, ms};
use super::receive::without_a_gap;

fn newest() -> Host {
    let mut host = Host::of(Uhd::Release(Release::V4_11));
    host.prepare();
    host
}

/// The answer to a request: its status, and its words.
fn ask(
    host: &mut Host,
    port: u16,
    operation: ControlOperation,
    address: u32,
    data: ControlData,
) -> (ControlStatus, Vec<u32>) {
    host.request_words(port, operation, address, data, None);
    host.run(ms(1));
    let (_, ack) = host.acks.pop().expect("an acknowledgement");
    assert!(host.acks.is_empty(), "one answer");
    assert_eq!((ack.operation, ack.address), (operation, address), "UHD 4.10 and 4.11 look an answer up by these");
    (ack.status, ack.data.as_slice().to_vec())
}

// RFNOC_PROTO_VER in host/include/uhd/rfnoc/constants.hpp; MAJOR_COMPAT and MINOR_COMPAT in host/lib/rfnoc/radio_control_impl.cpp,
// ddc_block_control.cpp (REG_ADDRS_V0 in 4.11) and duc_block_control.cpp; COMPAT_MINOR in fpga/usrp3/top/x300/bus_int.v;
// X300_FW_COMPAT_MINOR in host/lib/usrp/x300/x300_fw_common.h.
#[test]
fn each_release_reads_the_versions_of_its_image() {
    for release in Release::all() {
        let mut host = Host::of(Uhd::Release(release));
        let info = host.peek(board::BASE + 4 * board::RFNOC_INFO);
        let protocol = if release == Release::V4_11 { 0x0200 } else { 0x0100 };
        assert_eq!(info, 0x0040_0000 | protocol, "{release}");
        assert_eq!(host.peek(board::BASE + 4 * board::FPGA_COMPAT), release.fpga(), "{release}");
        assert_eq!(host.peek(shared::BASE + 4 * shared::COMPAT), release.firmware(), "{release}");
        host.prepare();
        assert_eq!(host.read(0, client_zero::PROTOCOL), 0x12C6_0000 | protocol, "{release}");
        let block = if release >= Release::V4_10 { 0x0001_0000 } else { 1 };
        assert_eq!(RADIO.map(|port| host.read(port, radio::COMPAT)), [block; 2], "{release}");
        assert_eq!([DDC[0], DUC[1]].map(|port| host.read(port, ddc::COMPAT)), [1; 2], "{release}: one sample a clock");
        // Sensor temp_fpga of 4.9, x300_mb_controller::get_sensor: 2545 * 503.975 / 4096 - 273.15 are 40 degrees.
        assert_eq!(host.peek(board::BASE + 4 * board::TEMPERATURE), 2545);
    }
}

#[test]
fn every_release_receives_and_transmits_by_its_own_registers() {
    for release in Release::all() {
        let mut host = Host::of(Uhd::Release(release));
        host.prepare();
        host.open_rx(1, 200, 100);
        host.open_tx(0, 200, 10_000);
        let start = host.time() + 5 * MS;
        host.stream(1, 1, 1000, Some(start));
        host.transmit(0, Some(start), true, &[(1, 1); 500]);
        host.run(ms(20));
        let packets = &host.rx[1];
        assert_eq!((packets.len(), packets[0].head.tick), (10, Some(start)), "{release}");
        without_a_gap(packets, 100 * 200);
        assert_eq!(host.told(), [(0, message::TX_BURST_ACK, start + 500 * 200)], "{release}");
        host.messages.clear();
        // Late commands, until the messages' numbers have begun again where they have 6 bits.
        for _ in 0..70 {
            host.stream(1, 1, 100, Some(start));
        }
        host.run(ms(1));
        let numbers: Vec<u8> = host.messages.iter().map(|message| message.sequence).collect();
        let last = if release == Release::V4_11 { 70 } else { 70 - 64 };
        assert_eq!((numbers.len(), numbers[0], numbers[69]), (70, 1, last), "{release}");
        assert!(host.told().iter().all(|told| (told.0, told.1) == (0x1040, message::RX_LATE)), "{release}");
    }
}

#[test] // rfnoc_block_radio_regs.vh of v4.10: another host's registers are not there
fn a_radio_has_the_registers_of_its_own_version_only() {
    let mut host = newest();
    let old = |register| RadioLayout::V0.address_of(0, register);
    host.write(RADIO[0], old(radio::RX_SAMPLES_PER_PACKET), 77);
    assert_eq!(host.read(RADIO[0], old(radio::RX_SAMPLES_PER_PACKET)), 0);
    assert_eq!(host.read(RADIO[0], RadioLayout::V1.address_of(0, radio::RX_SAMPLES_PER_PACKET)), 0);
    assert_eq!(host.read(RADIO[0], 0x1008), 0, "REG_FEATURES_PRESENT: no complex gain");
    // RX_CMD_TRIG_POS: a start by the transmitter, which is refused and counted.
    host.open_rx(0, 200, 100);
    host.write(RADIO[0], RadioLayout::V1.address_of(0, radio::RX_COMMAND), radio::RX_TRIGGERED | 2);
    host.run(ms(5));
    assert_eq!((host.rx[0].len(), host.report().rx[0].refused_commands), (0, 1));
}

// fpga/usrp3/lib/rfnoc/core/axis_ctrl_slave.sv of 4.11 (which operation has how many words, and what is answered), and
// host/lib/rfnoc/ctrlport_endpoint.cpp (what a host takes for an error of size).
#[test]
fn in_protocol_2_operations_have_as_many_words_as_they_say() {
    use ControlOperation::{BlockRead, BlockWrite, Other, Poll, Read, ReadWrite, Sleep, Write};
    let mut host = newest();
    let words = |words: &[u32]| ControlData::new(words).expect("1 to 15 words");
    let okay = |read: &[u32]| (ControlStatus::Okay, read.to_vec());
    let refused = |read: &[u32]| (ControlStatus::CommandError, read.to_vec());
    let port = DDC[0];
    assert_eq!(ask(&mut host, port, Write, 0x600, words(&[1, 2, 3])), okay(&[]), "one register, three times");
    assert_eq!(ask(&mut host, port, BlockRead, 0x600, ControlData::request(2)), okay(&[3, 0]));
    assert_eq!(ask(&mut host, port, BlockWrite, 0x600, words(&[4, 5, 6])), okay(&[]), "three registers");
    assert_eq!(ask(&mut host, port, BlockRead, 0x600, ControlData::request(4)), okay(&[4, 5, 6, 0]));
    assert_eq!(ask(&mut host, port, Read, 0x604, ControlData::request(3)), okay(&[5, 5, 5]));
    assert_eq!(ask(&mut host, port, ReadWrite, 0x604, words(&[7])), okay(&[5]), "what was there before");
    assert_eq!(ask(&mut host, port, Read, 0x604, ControlData::request(1)), okay(&[7]));
    assert_eq!(ask(&mut host, port, Poll, 0x604, words(&[0xF3, 0x03, 9])), okay(&[7]), "the bits of the mask");
    assert_eq!(ask(&mut host, port, Poll, 0x604, words(&[0, 0x01, 9])), refused(&[7]));
    assert_eq!(ask(&mut host, port, Sleep, 0, words(&[9])), okay(&[]));
    for (operation, data) in [
        (Read, ControlData::NONE),
        (BlockRead, words(&[1])),
        (Write, ControlData::NONE),
        (BlockWrite, ControlData::request(1)),
        (ReadWrite, words(&[1, 2])),
        (Poll, words(&[1, 2])),
        (Sleep, ControlData::NONE),
        (Other(9), words(&[1])),
    ] {
        assert_eq!(ask(&mut host, port, operation, 0x604, data), refused(&[]), "{operation:?}");
    }
    assert_eq!(host.read(port, 0x604), 7, "and nothing was done");
}

#[test] // register_iface::peek64, a block of two; client_zero.cpp reads all edges in one
fn in_protocol_2_a_block_of_two_words_is_one_time_and_blocks_wait_for_theirs() {
    let mut host = newest();
    let at = host.time() + 3 * MS;
    host.request_words(RADIO[0], ControlOperation::BlockRead, radio::TIME_LOW, ControlData::request(2), Some(at));
    host.run(ms(2));
    assert!(host.acks.is_empty());
    host.run(ms(2));
    let (_, ack) = host.acks.pop().expect("an acknowledgement");
    assert_eq!((ack.tick, ack.data.as_slice()), (Some(at), &[at as u32, (at >> 32) as u32][..]));
    let edges = ask(&mut host, 0, ControlOperation::BlockRead, client_zero::ADJACENCY + 4, ControlData::request(12)).1;
    assert_eq!((edges.len(), edges[0], edges[11]), (12, 1 << 22 | 5 << 6, 9 << 22 | 1 << 16 | 4 << 6));
    let end = ask(&mut host, DDC[0], ControlOperation::BlockRead, 0xF_FFFC, ControlData::request(2)).1;
    assert_eq!(end, [0, 1], "an address has 20 bits, and after the last comes the first");
}

#[test]
fn faults_of_acks_and_messages_strike_those_of_protocol_2() {
    let fault = "lose:acks,at=1";
    let mut host = Host::of_with(Uhd::Release(Release::V4_11), &[fault]);
    host.prepare();
    host.request(DDC[0], ControlOperation::Read, ddc::COMPAT, 0, None);
    host.run(ms(1));
    assert!(host.acks.is_empty());
    assert_eq!(host.read(DDC[0], ddc::COMPAT), 1);
    let injected = host.world.device(host.device, |radio: &mut Faulty<X310>| radio.injected());
    assert_eq!(injected.get(fault), Some(&1));
}

fn claim_word(n: u32) -> u32 {
    shared::BASE + 4 * n
}

/// Claims the radio, looks for daughterboards if it is an older host, and reads the protocol.
fn arrive(host: &mut Host, time: u32, is_old: bool) -> u32 {
    host.poke(claim_word(shared::CLAIM_TIME), time);
    host.poke(claim_word(shared::CLAIM_SOURCE), 0xABCD);
    if is_old {
        host.poke(i2c::BASE + 4 * i2c::DATA, u32::from(i2c::BOARDS[0][0]) << 1);
        host.poke(i2c::BASE + 4 * i2c::COMMAND, i2c::START | i2c::WRITE);
    }
    host.peek(board::BASE + 4 * board::RFNOC_INFO) & 0xFFFF
}

fn leave(host: &mut Host) {
    host.poke(claim_word(shared::CLAIM_TIME), 0);
}

fn unserved(host: &Host) -> (u64, &'static str) {
    host.world.device(host.device, |radio: &mut Faulty<X310>| radio.device().unserved())
}

// x300_impl::setup_mb in host/lib/usrp/x300/x300_impl.cpp: get_dboard_ids before the motherboard's interface is made in v4.3.0.0 to
// v4.9.0.1, and gone in v4.10.0.0.
#[test]
fn a_radio_for_any_release_is_what_each_host_wants() {
    let mut host = Host::of(Uhd::Auto);
    let mut seen = Vec::new();
    for (time, is_old) in [(1, true), (2, false), (3, false), (4, true)] {
        seen.push(arrive(&mut host, time, is_old));
        let release = if is_old { Release::V4_9 } else { Release::V4_11 };
        (host.protocol, host.layout) = (release.protocol(), release.radio());
        host.prepare();
        assert_eq!(host.read(RADIO[1], radio::COMPAT), release.radio().compat());
        leave(&mut host);
    }
    assert_eq!(seen, [0x0100, 0x0200, 0x0200, 0x0100]);
    assert_eq!(unserved(&host).0, 0);
}

#[test] // a look from outside is no host that opens it
fn a_radio_for_any_release_stays_what_it_is_for_those_who_have_not_claimed_it() {
    let mut host = Host::of(Uhd::Auto);
    assert_eq!(host.peek(board::BASE + 4 * board::RFNOC_INFO) & 0xFFFF, 0x0100);
    assert_eq!(arrive(&mut host, 1, false), 0x0200);
    leave(&mut host);
    assert_eq!(host.peek(board::BASE + 4 * board::RFNOC_INFO) & 0xFFFF, 0x0200);
}

// host/lib/rfnoc/link_stream_manager.cpp: the protocol is compared before any packet of CHDR is sent. The radio is given back then
// (x300_impl::~x300_impl).
#[test]
fn a_host_that_reads_another_protocol_and_leaves_is_counted_and_told_the_option() {
    let mut host = Host::new();
    arrive(&mut host, 1, true);
    leave(&mut host);
    let (hosts, advice) = unserved(&host);
    assert_eq!((hosts, host.report().control.unserved_hosts), (1, 1));
    assert!(advice.contains("--uhd 4.11"), "{advice}");
    // One whose claim lapses.
    arrive(&mut host, 2, true);
    host.run(ms(2100));
    assert_eq!(unserved(&host).0, 2);
    // One that goes on, and one that reads nothing.
    arrive(&mut host, 3, true);
    host.prepare();
    leave(&mut host);
    host.poke(claim_word(shared::CLAIM_TIME), 4);
    leave(&mut host);
    assert_eq!(unserved(&host).0, 2);
}

// radio_control_impl's constructor: reads COMPAT and RADIO_WIDTH, then compares and throws.
#[test]
fn a_host_that_reads_another_version_of_the_radio_block_and_leaves_is_told_the_option() {
    let mut host = Host::new();
    arrive(&mut host, 1, true);
    host.prepare();
    host.read(RADIO[0], radio::COMPAT);
    host.read(RADIO[0], radio::CHANNELS + radio::WIDTH);
    leave(&mut host);
    let (hosts, advice) = unserved(&host);
    assert!(hosts == 1 && advice.contains("--uhd 4.10"), "{hosts}: {advice}");
    arrive(&mut host, 2, true);
    host.prepare();
    host.read(RADIO[0], radio::COMPAT);
    host.read(RADIO[0], radio::CHANNELS + radio::WIDTH);
    host.write(RADIO[0], radio::CONVERTERS, 0);
    leave(&mut host);
    assert_eq!(unserved(&host).0, 1, "it went on");
}
