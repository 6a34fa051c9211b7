//! "Send to me": the packets by which a host tells a data port where its answers go.

use std::net::Ipv4Addr;

use crate::{WireError, words};

const WHAT: &str = "destination packet";
const ANSWER: &str = "destination answer";

/// Address to which a data port shall send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To whoever sent this: 8 bytes.
    Sender,
    /// To another address: 16 bytes, answered with a [`DestinationAnswer`].
    Named {
        /// Its address.
        address: Ipv4Addr,
        /// Its port.
        port: u16,
    },
}

impl Destination {
    /// Longest packet, in bytes.
    pub const MAX_BYTES: usize = 16;

    /// # Errors
    /// `Short` below 8 bytes; `Field` if the VRT length field is not 0 (then it is a sample packet) or the port is none.
    /// 8 to 15 bytes mean [`Destination::Sender`]; what follows byte 15 is ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([_, header], rest) = words::read(datagram, WHAT)?;
        if header & 0xFFFF != 0 {
            return Err(WireError::field("VRT length of a destination packet", header, "0"));
        }
        let Ok(([address, port], _)) = words::read(rest, WHAT) else { return Ok(Self::Sender) };
        let port = u16::try_from(port).map_err(|_| WireError::field("destination port", port, "at most 0xffff"))?;
        Ok(Self::Named { address: Ipv4Addr::from_bits(address), port })
    }

    /// Writes 8 or 16 bytes; returns which. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        match *self {
            Self::Sender => words::write(out, WHAT, [0, 0]),
            Self::Named { address, port } => words::write(out, WHAT, [0, 0, address.to_bits(), port.into()]),
        }
    }
}

/// The device's answer to [`Destination::Named`]: 4 bytes on the same port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationAnswer {
    /// The address is known, samples will go there.
    Resolved,
    /// Not yet; ask again.
    Unresolved,
}

impl DestinationAnswer {
    /// Size of an answer.
    pub const BYTES: usize = 4;

    /// # Errors
    /// `Short` below 4 bytes; `Field` if it is neither answer.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        match words::read(datagram, ANSWER)?.0 {
            [0] => Ok(Self::Resolved),
            [u32::MAX] => Ok(Self::Unresolved),
            [got] => Err(WireError::field(ANSWER, got, "0 or 0xffffffff")),
        }
    }

    /// Writes 4 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        words::write(out, ANSWER, [if *self == Self::Resolved { 0 } else { u32::MAX }])
    }
}
