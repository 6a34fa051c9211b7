//! Registers of the board's processor: requests and replies on port 49152 (x310.md 2).

use crate::{WireError, words};

const WHAT: &str = "firmware packet";
const ACK: u32 = 1;
const ERROR: u32 = 2;
const POKE: u32 = 4;
const PEEK: u32 = 8;

/// A request, or its reply, which has the same form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firmware {
    /// The request.
    pub action: FirmwareAction,
    /// A reply is wanted; of a reply: it is one.
    pub ack: bool,
    /// It could not be done.
    pub error: bool,
    /// Comes back in the reply.
    pub sequence: u32,
    /// Byte address.
    pub address: u32,
    /// Value that is written, or was read.
    pub data: u32,
}

/// Request to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareAction {
    /// Nothing: "is there anybody?" Discovery is this.
    Hello,
    /// Write.
    Poke,
    /// Read.
    Peek,
}

impl Firmware {
    /// Size of requests and replies.
    pub const BYTES: usize = 16;

    /// # Errors
    /// `Short` below 16 bytes; `Field` if flags have no meaning. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([flags, sequence, address, data], _) = words::read(datagram, WHAT)?;
        let action = match flags & !(ACK | ERROR) {
            0 => FirmwareAction::Hello,
            POKE => FirmwareAction::Poke,
            PEEK => FirmwareAction::Peek,
            _ => return Err(WireError::field("firmware flags", flags, "1 hello, 5 poke, 9 peek")),
        };
        Ok(Self { action, ack: flags & ACK != 0, error: flags & ERROR != 0, sequence, address, data })
    }

    /// Writes 16 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let action = match self.action {
            FirmwareAction::Hello => 0,
            FirmwareAction::Poke => POKE,
            FirmwareAction::Peek => PEEK,
        };
        let flags = action | if self.ack { ACK } else { 0 } | if self.error { ERROR } else { 0 };
        words::write(out, WHAT, [flags, self.sequence, self.address, self.data])
    }
}
