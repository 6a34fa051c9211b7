//! Which datagrams of an X310 belong to which stream: on the CHDR port, their type says it.

use takt_wire::chdr::{Control, Header, PacketType, Protocol};
use takt_wire::x310::ports;

use super::X310;
use crate::Port;
use crate::fault::{Stream, Streams};

/// Messages of receivers are for addresses from here on, those of transmitters below (x310.md 9).
const RECEIVERS: u32 = 0x1000;

fn kind(bytes: &[u8]) -> Option<PacketType> {
    Header::parse(bytes).ok().map(|(header, _)| header.kind)
}

/// To which stream a datagram belongs that a device sends which speaks this protocol.
fn leaving(protocol: Protocol, port: Port, bytes: &[u8]) -> Stream {
    match port.0 {
        ports::FIRMWARE => Stream::Control,
        ports::CHDR => match kind(bytes) {
            Some(PacketType::Data | PacketType::TimedData) => Stream::Rx0,
            Some(PacketType::StreamStatus) => Stream::Flow,
            Some(PacketType::Control) => match Control::parse_as(protocol, bytes) {
                Ok(control) if control.is_ack => Stream::Acks,
                Ok(control) if control.address >= RECEIVERS => Stream::Messages,
                Ok(_) => Stream::Events,
                Err(_) => Stream::All,
            },
            _ => Stream::All,
        },
        _ => Stream::All,
    }
}

fn leaving_as_2(port: Port, bytes: &[u8]) -> Stream {
    leaving(Protocol::V2, port, bytes)
}

impl Streams for X310 {
    fn leaving(port: Port, bytes: &[u8]) -> Stream {
        leaving(Protocol::V1, port, bytes)
    }

    fn leaving_now(&self) -> fn(Port, &[u8]) -> Stream {
        match self.release.protocol() {
            Protocol::V1 => Self::leaving,
            Protocol::V2 => leaving_as_2,
        }
    }

    fn arriving(port: Port, bytes: &[u8]) -> Stream {
        match port.0 {
            ports::FIRMWARE => Stream::Requests,
            ports::CHDR => match kind(bytes) {
                Some(PacketType::Data | PacketType::TimedData) => Stream::Tx,
                Some(PacketType::Control) => Stream::Commands,
                _ => Stream::All,
            },
            _ => Stream::All,
        }
    }

    /// Samples only: what a radio has to say shares the wire, but is no sample that could wait.
    fn outlet(port: Port, bytes: &[u8]) -> Option<usize> {
        (Self::leaving(port, bytes) == Stream::Rx0).then_some(0)
    }
}
