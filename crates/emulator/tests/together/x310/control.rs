//! Control ports (6.5), client zero (7), and the registers of blocks (8).

use takt_wire::chdr::{ControlOperation, ControlStatus};
use takt_wire::x310::registers::{ddc, radio};

use super::host::{DDC, DUC, Host, MS, RADIO, SECOND, ms};

#[test]
fn what_is_written_to_a_block_is_read_back() {
    let mut host = Host::ready();
    for port in [DUC[0], DDC[1], RADIO[0]] {
        host.write(port, 0x1044, 0xABCD);
        assert_eq!(host.read(port, 0x1044), 0xABCD);
    }
    assert_eq!(host.read(RADIO[1], 0x1044), 0, "each has its own");
    assert_eq!([0x000, 0x008, 0x010, 0x808].map(|address| host.read(DDC[0], address)), [1, 3, 255, 3]);
    assert_eq!([0x000, 0x008, 0x010].map(|address| host.read(DUC[0], address)), [1, 3, 255]);
    assert_eq!(host.read(RADIO[0], radio::CHANNELS + radio::STRIDE + radio::WIDTH), 0x0020_0001);
    assert_eq!(host.read(0, 0x04), 0x8010_1804, "client zero");
}

#[test]
fn an_acknowledgement_has_its_requests_ports_and_comes_from_endpoint_0() {
    let mut host = Host::ready();
    host.request(RADIO[0], ControlOperation::Read, radio::COMPAT, 0, None);
    host.run(ms(1));
    let (_, ack) = host.acks.pop().unwrap();
    assert_eq!((ack.to_port, ack.from_port, ack.source), (RADIO[0], 0, super::host::ENDPOINTS[0]));
    assert_eq!((ack.status, ack.data.first()), (ControlStatus::Okay, 1));
}

#[test]
fn operations_that_uhd_never_sends_are_refused_and_ports_with_nothing_behind_them_silent() {
    let mut host = Host::ready();
    host.request(DDC[0], ControlOperation::BlockWrite, ddc::N, 7, None);
    host.run(ms(1));
    assert_eq!(host.acks.pop().map(|(_, ack)| ack.status), Some(ControlStatus::CommandError));
    assert_eq!(host.read(DDC[0], ddc::N), 0, "and did nothing");
    host.request(12, ControlOperation::Read, 0, 0, None);
    host.run(ms(1));
    assert_eq!(host.acks.len(), 0);
    assert_eq!(host.report().control.dropped_commands, 1);
}

#[test]
fn a_timed_command_blocks_its_port_and_no_other_until_exactly_its_time() {
    let mut host = Host::ready();
    let at = host.time() + 10 * MS;
    host.request(RADIO[0], ControlOperation::Read, radio::TIME_LOW, 0, Some(at));
    host.request(RADIO[0], ControlOperation::Read, radio::COMPAT, 0, None);
    host.request(RADIO[1], ControlOperation::Read, radio::COMPAT, 0, None);
    host.run(ms(9));
    assert_eq!(host.acks.iter().map(|(_, ack)| ack.to_port).collect::<Vec<_>>(), [RADIO[1]]);
    host.run(ms(2));
    let acks: Vec<_> = host.acks.iter().map(|(_, ack)| (ack.to_port, ack.address)).collect();
    assert_eq!(acks[1..], [(RADIO[0], radio::TIME_LOW), (RADIO[0], radio::COMPAT)]);
    assert_eq!(host.acks[1].1.data.first(), at as u32, "it reads its own time");
    host.acks.clear();
    let past = host.time() - SECOND / 10;
    host.request(RADIO[0], ControlOperation::Read, radio::COMPAT, 0, Some(past));
    host.run(ms(1));
    assert_eq!(host.acks.len(), 1, "what is past is done at once");
}

#[test]
fn a_queue_takes_as_many_commands_as_the_hosts_window_and_no_more() {
    let mut host = Host::ready();
    let at = host.time() + 100 * MS;
    for _ in 0..300 {
        host.request(RADIO[0], ControlOperation::Write, 0x1040, 1, Some(at));
    }
    host.run(ms(200));
    let report = host.report().control;
    assert_eq!((host.acks.len() as u64, report.dropped_commands), (256, 44));
    assert!(host.acks.len() >= 512 / 3, "as many of the shortest as a radio says it holds");
}

#[test] // 7.1
fn what_a_host_before_left_in_a_radio_is_gone_once_it_is_flushed() {
    let mut host = Host::ready();
    host.open_tx(0, 100, 4000);
    let later = host.time() + 50 * MS;
    host.transmit(0, Some(later), false, &[(1, 1); 500]);
    host.open_rx(0, 200, 100);
    host.stream(0, 2, 0, None);
    host.run(ms(1));
    // Behind client zero, four endpoints and two blocks.
    host.write(0, 64 * 7 + 4, 1);
    host.run(ms(1));
    let received = host.rx[0].len();
    host.run(ms(100));
    assert_eq!(host.rx[0].len(), received);
    let sent = host.report().tx[0];
    assert_eq!((sent.flushed_packets, sent.bursts, host.messages.len()), (1, 0, 0));
}

#[test] // 8.5, with the SPI of 8.4
fn the_converters_pass_the_tests_of_the_driver() {
    let mut host = Host::ready();
    let spi = |host: &mut Host, slave: u32, word: u32| {
        host.write(RADIO[0], radio::SPI[1], 0x8000_0000 | 16 << 24 | slave);
        host.write(RADIO[0], radio::SPI[2], word << 16);
    };
    spi(&mut host, 0x80, 0x8E00);
    assert_eq!(host.read(RADIO[0], radio::SPI_READBACK), 0x80);
    spi(&mut host, 0x40, 0x6202);
    assert_eq!(host.read(RADIO[0], radio::CHANNELS + radio::ADC), 0xFFFC_0000 ^ 0xFFFC_0000);
    let good = (0..32).filter(|tap| {
        host.write(RADIO[0], radio::CONVERTERS, tap << 4);
        host.read(RADIO[0], radio::ADC_STATUS) == 0x0F
    });
    assert_eq!(good.count(), 10);
    assert_eq!(host.report().control.spi_writes, 2);
}

#[test] // 8.3 and 15, trap 17
fn trap_17_pins_read_what_drives_them_and_a_ubx_that_it_is_locked() {
    let mut host = Host::ready();
    assert_eq!(host.read(RADIO[0], radio::BOARD_GPIO_READ), u32::MAX);
    assert_eq!(host.read(RADIO[0], radio::PANEL_GPIO_READ), 0);
    for (n, word) in [0x1, 0x2, 0x4, 0x8, 0xFFF, 0x0].into_iter().enumerate() {
        host.write(RADIO[0], radio::PANEL_GPIO + 8 * n as u32, word);
    }
    assert_eq!(host.read(RADIO[0], radio::PANEL_GPIO_READ), 1, "idle");
    host.open_rx(0, 200, 100);
    host.stream(0, 2, 0, None);
    assert_eq!(host.read(RADIO[0], radio::PANEL_GPIO_READ), 2, "receiving");
}
