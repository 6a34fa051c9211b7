//! Datagrams of an unmodified UHD: every one is understood, and our writer makes the same bytes of it.

use takt_wire::WireError;
use takt_wire::n200::{
    ControlAsk, ControlRequest, Destination, FifoAction, FifoCommand, RegisterAction, TxPacket, ports,
};

use crate::common::{hex, written};

/// Device port and datagram.
fn capture() -> Vec<(u16, Vec<u8>)> {
    let lines = include_str!("../captures/uhd-4.3.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (port, bytes) = line.split_once(' ').expect("port, then bytes");
            (port.parse().expect("a port"), hex(bytes))
        })
        .collect()
}

fn of_port(port: u16) -> impl Iterator<Item = Vec<u8>> {
    capture().into_iter().filter(move |(of, _)| *of == port).map(|(_, bytes)| bytes)
}

#[test]
fn control_requests_are_understood_and_written_alike() {
    let mut kinds = Vec::new();
    for bytes in of_port(ports::CONTROL) {
        if bytes.len() == 16 {
            let foreign = ControlRequest::parse(&bytes);
            assert!(matches!(foreign, Err(WireError::Short { need: 36, have: 16, .. })), "the X300 probe: {foreign:?}");
            continue;
        }
        let request = ControlRequest::parse(&bytes).expect("a request of UHD");
        assert_eq!(written(|out| request.write_sized(out, bytes.len())), bytes, "{request:?}");
        kinds.push(match request.ask {
            ControlAsk::Hello => format!("hello {}", request.version),
            ControlAsk::I2cRead { address, count } => format!("read {count} from {address:#x}"),
            ControlAsk::I2cWrite { address, data } => format!("write {} to {address:#x}", data.as_slice().len()),
            ControlAsk::Register { action: RegisterAction::Other(code), .. } => panic!("action {code}"),
            ControlAsk::Register { action, .. } => format!("{action:?}"),
            ControlAsk::Echo { reply_bytes } => format!("echo {reply_bytes} of {}", bytes.len()),
            ask @ (ControlAsk::Spi(_) | ControlAsk::Unknown { .. }) => panic!("UHD does not send {ask:?}"),
        });
    }
    kinds.sort();
    let all = [
        "FirmwarePeek",
        "FirmwarePoke",
        "Peek32",
        "Poke32",
        "echo 36 of 36",
        "echo 36 of 756",
        "hello 0",
        "hello 12",
        "read 1 from 0x50",
        "write 1 to 0x50",
    ];
    assert_eq!(kinds, all);
}

#[test]
fn register_commands_are_understood_and_written_alike() {
    let (mut pokes, mut peeks, mut timed) = (0, 0, 0);
    for bytes in of_port(ports::FIFO).filter(|bytes| bytes.len() > 8) {
        let command = FifoCommand::parse(&bytes).expect("a command of UHD");
        assert_eq!(written(|out| command.write(out)), bytes, "{command:?}");
        match command.action {
            FifoAction::Poke { .. } => pokes += 1,
            FifoAction::Peek { .. } => peeks += 1,
        }
        timed += usize::from(command.tick.is_some());
    }
    assert!(pokes >= 50 && peeks >= 6 && timed == 2, "{pokes} pokes, {peeks} peeks, {timed} timed");
}

#[test]
fn sample_packets_are_understood_and_written_alike() {
    let mut seen = Vec::new();
    for bytes in of_port(ports::TX) {
        match TxPacket::parse(&bytes).expect("a packet of UHD") {
            TxPacket::Destination(destination) => assert_eq!(destination, Destination::Sender),
            TxPacket::Data(data) => {
                assert_eq!(written(|out| data.write(out)), bytes, "{:?}", data.head);
                assert_eq!(u32::from(data.head.count), data.head.sequence & 15);
                seen.push((data.samples_sc16(), data.head.tick.is_some(), data.head.end_of_burst, data.head.odd));
            }
        }
    }
    assert!(seen.contains(&(363, true, true, false)), "a whole burst in one packet: {seen:?}");
    assert!(seen.contains(&(363, true, false, false)) && seen.contains(&(363, false, false, false)), "{seen:?}");
    assert!(seen.contains(&(1, false, true, true)), "the lone end of burst of an sc8 stream: {seen:?}");
}

#[test]
fn address_packets_are_eight_zeros_on_every_data_port() {
    for port in [ports::RX0, ports::RX1, ports::TX, ports::FIFO] {
        let first = of_port(port).find(|bytes| bytes.len() == 8).expect("one on every port");
        assert_eq!(Destination::parse(&first), Ok(Destination::Sender));
        assert_eq!(written(|out| Destination::Sender.write(out)), first);
    }
}
