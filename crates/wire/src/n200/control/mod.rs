//! Control packets, port 49152: one request, one reply with the same sequence number.
//!
//! Both are 36 bytes: version, id, sequence number, and 24 bytes that depend on the id. Echo packets may be longer, and
//! that is all they are for. Whatever a device cannot make sense of (a short packet, an unknown id) it answers with
//! [`ControlAnswer::Huh`]; a request with a foreign version it answers as a hello. Both rules are the device's, not the
//! parser's.

mod frame;
mod i2c;
mod register;
mod spi;

pub use i2c::I2cBytes;
pub use register::RegisterAction;
pub use spi::{Edge, SpiTransfer};

use std::net::Ipv4Addr;

use super::registers::version;
use crate::{WireError, words};
use frame::{Body, Head, id};
use i2c::count as i2c_count;

const REQUEST: &str = "control request";
const REPLY: &str = "control reply";

/// A request, host to device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRequest {
    /// Protocol version the host speaks; 12, or 0 in the first hello of a session.
    pub version: u32,
    /// Copied into the reply.
    pub sequence: u32,
    /// The request.
    pub ask: ControlAsk,
}

/// Requests of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlAsk {
    /// Who is there?
    Hello,
    /// Shift bits through a serial bus.
    Spi(SpiTransfer),
    /// Read bytes from an I2C device.
    I2cRead {
        /// 7-bit address.
        address: u8,
        /// How many bytes, at most [`I2cBytes::MAX`].
        count: u8,
    },
    /// Write bytes to an I2C device.
    I2cWrite {
        /// 7-bit address.
        address: u8,
        /// Bytes to write.
        data: I2cBytes,
    },
    /// Access a register.
    Register {
        /// Which space, which direction.
        action: RegisterAction,
        /// Byte address in the FPGA's spaces, cell number in the firmware's.
        address: u32,
        /// Value to poke; 0 for a peek.
        data: u32,
    },
    /// Answer with a datagram of this size.
    Echo {
        /// Bytes of the reply.
        reply_bytes: u32,
    },
    /// An id this protocol does not have.
    Unknown {
        /// The id.
        id: u32,
    },
}

/// A reply, device to host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlReply {
    /// Protocol version of the firmware; 12.
    pub version: u32,
    /// Number of the request.
    pub sequence: u32,
    /// The answer.
    pub answer: ControlAnswer,
}

/// Answers of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ControlAnswer {
    /// Here I am.
    Hello {
        /// Own address; hosts look at the sender's instead.
        address: Ipv4Addr,
        /// It carries [`ControlReply::SOFTWARE`]: the device is a software radio of takt's.
        software: bool,
    },
    /// Bits that came in over the serial bus.
    Spi { data: u32 },
    /// Bytes that were read over I2C.
    I2cRead {
        /// The bytes; hosts check their count.
        data: I2cBytes,
    },
    /// Written.
    I2cWrite { count: u8 },
    /// Done.
    Register {
        /// Value read; after a poke, the value written or 0.
        data: u32,
    },
    /// The echo; write it with [`ControlReply::write_sized`].
    Echo {
        /// Bytes of the request as it arrived.
        request_bytes: u32,
    },
    /// Not understood.
    Huh,
    /// An id this protocol does not have.
    Unknown { id: u32 },
}

impl ControlRequest {
    /// Size of a request, the shortest echo included.
    pub const BYTES: usize = frame::BYTES;

    /// A request as a host makes it once it knows the version.
    #[must_use]
    pub fn new(sequence: u32, ask: ControlAsk) -> Self {
        Self { version: version::FIRMWARE, sequence, ask }
    }

    /// # Errors
    /// `Short` below 36 bytes; `Field` for an I2C count above 20 or an SPI edge that is neither `r` nor `f`.
    /// More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (Head { version, id, sequence }, body) = Head::parse(datagram, REQUEST)?;
        let [first, second, ..] = body.words();
        let ask = match id {
            id::HELLO => ControlAsk::Hello,
            id::SPI => ControlAsk::Spi(SpiTransfer::parse(body)?),
            id::I2C_READ => ControlAsk::I2cRead { address: body.0[0], count: i2c_count(body.0[1])? },
            id::I2C_WRITE => ControlAsk::I2cWrite { address: body.0[0], data: body.i2c_bytes()? },
            id::REGISTER => {
                ControlAsk::Register { action: RegisterAction::from_code(body.0[8]), address: first, data: second }
            }
            id::ECHO => ControlAsk::Echo { reply_bytes: first },
            id => ControlAsk::Unknown { id },
        };
        Ok(Self { version, sequence, ask })
    }

    /// Writes 36 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.write_sized(out, Self::BYTES)
    }

    /// Writes a request of exactly `bytes` bytes, cut or padded with zeros: how a host probes the path with an echo.
    /// `Short` if `out` is smaller.
    pub fn write_sized(&self, out: &mut [u8], bytes: usize) -> Result<usize, WireError> {
        let (id, body) = match self.ask {
            ControlAsk::Hello => (id::HELLO, Body::default()),
            ControlAsk::Spi(transfer) => (id::SPI, transfer.body()),
            ControlAsk::I2cRead { address, count } => (id::I2C_READ, Body::i2c(address, count, I2cBytes::default())),
            ControlAsk::I2cWrite { address, data } => (id::I2C_WRITE, Body::i2c(address, data.count(), data)),
            ControlAsk::Register { action, address, data } => {
                let mut body = Body::of([address, data]);
                body.0[8] = action.code();
                (id::REGISTER, body)
            }
            ControlAsk::Echo { reply_bytes } => (id::ECHO, Body::of([reply_bytes])),
            ControlAsk::Unknown { id } => (id, Body::default()),
        };
        let head = Head { version: self.version, id, sequence: self.sequence };
        head.write(&body, out, bytes, REQUEST)
    }
}

impl ControlReply {
    /// Size of a reply, echoes excepted.
    pub const BYTES: usize = frame::BYTES;
    /// How a software radio of takt's fills the 20 bytes of a hello's answer that the protocol leaves unused, and a real
    /// radio's firmware leaves 0. It is in no memory that a host can write, nor in any request that could be sent back.
    pub const SOFTWARE: &[u8; 20] = b"takt software radio\0";

    /// A reply as a device gives it.
    #[must_use]
    pub fn new(sequence: u32, answer: ControlAnswer) -> Self {
        Self { version: version::FIRMWARE, sequence, answer }
    }

    /// A device's answer to a packet it cannot parse: huh, with the sequence number if there is one.
    #[must_use]
    pub fn huh(datagram: &[u8]) -> Self {
        let sequence = words::read(datagram, REQUEST).map_or(0, |([_, _, sequence], _)| sequence);
        Self::new(sequence, ControlAnswer::Huh)
    }

    /// # Errors
    /// `Short` below 36 bytes; `Field` for an I2C count above 20. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (Head { version, id, sequence }, body) = Head::parse(datagram, REPLY)?;
        let [first, second, ..] = body.words();
        let answer = match id {
            id::HELLO_REPLY => {
                ControlAnswer::Hello { address: Ipv4Addr::from_bits(first), software: body.0.ends_with(Self::SOFTWARE) }
            }
            id::SPI_REPLY => ControlAnswer::Spi { data: second },
            id::I2C_READ_REPLY => ControlAnswer::I2cRead { data: body.i2c_bytes()? },
            id::I2C_WRITE_REPLY => ControlAnswer::I2cWrite { count: i2c_count(body.0[1])? },
            id::REGISTER_REPLY => ControlAnswer::Register { data: second },
            id::ECHO_REPLY => ControlAnswer::Echo { request_bytes: first },
            id::HUH => ControlAnswer::Huh,
            id => ControlAnswer::Unknown { id },
        };
        Ok(Self { version, sequence, answer })
    }

    /// Writes 36 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.write_sized(out, Self::BYTES)
    }

    /// Writes a reply of exactly `bytes` bytes, cut or padded with zeros: what an echo asks for.
    /// `Short` if `out` is smaller.
    pub fn write_sized(&self, out: &mut [u8], bytes: usize) -> Result<usize, WireError> {
        let (id, body) = match self.answer {
            ControlAnswer::Hello { address, software } => {
                let mut body = Body::of([address.to_bits()]);
                if software {
                    body.0[4..].copy_from_slice(Self::SOFTWARE);
                }
                (id::HELLO_REPLY, body)
            }
            ControlAnswer::Spi { data } => (id::SPI_REPLY, Body::of([0, data])),
            ControlAnswer::I2cRead { data } => (id::I2C_READ_REPLY, Body::i2c(0, data.count(), data)),
            ControlAnswer::I2cWrite { count } => (id::I2C_WRITE_REPLY, Body::i2c(0, count, I2cBytes::default())),
            ControlAnswer::Register { data } => (id::REGISTER_REPLY, Body::of([0, data])),
            ControlAnswer::Echo { request_bytes } => (id::ECHO_REPLY, Body::of([request_bytes])),
            ControlAnswer::Huh => (id::HUH, Body::default()),
            ControlAnswer::Unknown { id } => (id, Body::default()),
        };
        let head = Head { version: self.version, id, sequence: self.sequence };
        head.write(&body, out, bytes, REPLY)
    }
}
