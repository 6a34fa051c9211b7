//! CHDR, the packets of RFNoC radios over UDP, one a datagram: management, control, credits, samples.
//!
//! CHDR of 64 bits, as an X310 and UHD speak it: [`Protocol`] 1.0, or 2.0 from UHD 4.11 on. All words are little-endian. The
//! `length` of a packet counts bytes and is not padded to words; a datagram may be longer. Clauses and tags (P proved against UHD
//! 4.3, R read) are those of `docs/internals/x310.md`.
//!
//! | type | packet | from |
//! | --- | --- | --- |
//! | 0 | [`Management`]: nodes, routes, registers of stream endpoints | host, answered |
//! | 1 | [`StreamStatus`]: credits | receiver of samples |
//! | 2 | [`StreamCommand`]: set-up and resynchronisation of credits | sender of samples |
//! | 4 | [`Control`]: registers of blocks, messages of radios | either, acknowledged |
//! | 6, 7 | [`Data`]: samples, without and with a time | sender of samples |

mod control;
mod data;
mod header;
mod management;
mod protocol;
mod routing;
mod stream;
mod words;

pub use control::{Control, ControlData, ControlOperation, ControlStatus};
pub use data::{Data, DataHead};
pub use header::{Header, PacketType};
pub use management::{Management, NodeInfo, NodeKind, Operation, Operations};
pub use protocol::Protocol;
pub use stream::{
    MAX_CAPACITY_BYTES, MAX_CAPACITY_PACKETS, Status, StreamCommand, StreamOperation, StreamStatus, counted_bytes,
};

use crate::WireError;

/// Any packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
#[allow(clippy::large_enum_variant, reason = "a packet is looked at where it was parsed")]
pub enum Packet<'a> {
    Management(Management),
    Status(StreamStatus),
    Command(StreamCommand),
    Control(Control),
    Data(Data<'a>),
}

impl<'a> Packet<'a> {
    /// A packet of protocol 1.0.
    ///
    /// # Errors
    /// As [`Packet::parse_as`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        Self::parse_as(Protocol::V1, datagram)
    }

    /// # Errors
    /// As the parser of its type; `Field` for a type without meaning.
    pub fn parse_as(protocol: Protocol, datagram: &'a [u8]) -> Result<Self, WireError> {
        let (header, _) = Header::parse(datagram)?;
        Ok(match header.kind {
            PacketType::Management => Packet::Management(Management::parse(datagram)?),
            PacketType::StreamStatus => Packet::Status(StreamStatus::parse(datagram)?),
            PacketType::StreamCommand => Packet::Command(StreamCommand::parse(datagram)?),
            PacketType::Control => Packet::Control(Control::parse_as(protocol, datagram)?),
            PacketType::Data | PacketType::TimedData => Packet::Data(Data::parse(datagram)?),
            PacketType::Other(code) => return Err(WireError::field("CHDR packet type", code, "0 to 2, 4, 6 or 7")),
        })
    }
}
