//! Control packets, port 49152: one request, one reply with the same sequence number.
//!
//! Both are 36 bytes: version, id, sequence number, and 24 bytes that depend on the id. Echo packets may be longer, and
//! that is all they are for. Whatever a device cannot make sense of (a short packet, an unknown id) it answers with
//! [`ControlAnswer::Huh`]; a request with a foreign version it answers as a hello. Both rules are the device's, not the
//! parser's.

use std::net::Ipv4Addr;

use super::registers::version;
use crate::{WireError, words};

const REQUEST: &str = "control request";
const REPLY: &str = "control reply";

/// A request, host to device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRequest {
    /// Protocol version the host speaks; 12, or 0 in the first hello of a session.
    pub version: u32,
    /// Copied into the reply.
    pub sequence: u32,
    /// What is asked.
    pub ask: ControlAsk,
}

/// What a host can ask.
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
        /// What to write.
        data: I2cBytes,
    },
    /// Access a register.
    Register {
        /// Which space, which direction.
        action: RegisterAction,
        /// Byte address in the FPGA's spaces, cell number in the firmware's.
        address: u32,
        /// What to poke; 0 for a peek.
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
    /// Of the request.
    pub sequence: u32,
    /// What is answered.
    pub answer: ControlAnswer,
}

/// What a device can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlAnswer {
    /// Here I am.
    Hello {
        /// Own address; hosts look at the sender's instead.
        address: Ipv4Addr,
    },
    /// What came in over the serial bus.
    Spi {
        /// The word read.
        data: u32,
    },
    /// What was read over I2C.
    I2cRead {
        /// The bytes; hosts check their count.
        data: I2cBytes,
    },
    /// Written.
    I2cWrite {
        /// How many bytes.
        count: u8,
    },
    /// Done.
    Register {
        /// What was read; after a poke, what was written or 0.
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
    Unknown {
        /// The id.
        id: u32,
    },
}

impl ControlRequest {
    /// Size of a request, the shortest echo included.
    pub const BYTES: usize = 36;

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

    /// Writes 36 bytes.
    ///
    /// # Errors
    /// `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.write_sized(out, Self::BYTES)
    }

    /// Writes a request of exactly `bytes` bytes, cut or padded with zeros: how a host probes the path with an echo.
    ///
    /// # Errors
    /// `Short` if `out` is smaller.
    pub fn write_sized(&self, out: &mut [u8], bytes: usize) -> Result<usize, WireError> {
        let (id, body) = match self.ask {
            ControlAsk::Hello => (id::HELLO, Body::default()),
            ControlAsk::Spi(transfer) => (id::SPI, transfer.body()),
            ControlAsk::I2cRead { address, count } => (id::I2C_READ, Body::i2c(address, count, I2cBytes::default())),
            ControlAsk::I2cWrite { address, data } => (id::I2C_WRITE, Body::i2c(address, data.count, data)),
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
    pub const BYTES: usize = 36;

    /// A reply as a device gives it.
    #[must_use]
    pub fn new(sequence: u32, answer: ControlAnswer) -> Self {
        Self { version: version::FIRMWARE, sequence, answer }
    }

    /// What a device answers to a packet it cannot parse: huh, with the sequence number if there is one.
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
            id::HELLO_REPLY => ControlAnswer::Hello { address: Ipv4Addr::from_bits(first) },
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

    /// Writes 36 bytes.
    ///
    /// # Errors
    /// `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.write_sized(out, Self::BYTES)
    }

    /// Writes a reply of exactly `bytes` bytes, cut or padded with zeros: what an echo asks for.
    ///
    /// # Errors
    /// `Short` if `out` is smaller.
    pub fn write_sized(&self, out: &mut [u8], bytes: usize) -> Result<usize, WireError> {
        let (id, body) = match self.answer {
            ControlAnswer::Hello { address } => (id::HELLO_REPLY, Body::of([address.to_bits()])),
            ControlAnswer::Spi { data } => (id::SPI_REPLY, Body::of([0, data])),
            ControlAnswer::I2cRead { data } => (id::I2C_READ_REPLY, Body::i2c(0, data.count, data)),
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

/// What to do with a register. Hosts of an N200 use only the 32-bit and firmware actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAction {
    /// Read 32 bits from the FPGA.
    Peek32,
    /// Read 16 bits from the FPGA.
    Peek16,
    /// Write 32 bits to the FPGA.
    Poke32,
    /// Write 16 bits to the FPGA.
    Poke16,
    /// Read a firmware cell.
    FirmwarePeek,
    /// Write a firmware cell.
    FirmwarePoke,
    /// Any other code.
    Other(u8),
}

impl RegisterAction {
    /// The action of a code; codes with a name never become [`RegisterAction::Other`].
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Peek32,
            2 => Self::Peek16,
            3 => Self::Poke32,
            4 => Self::Poke16,
            5 => Self::FirmwarePeek,
            6 => Self::FirmwarePoke,
            other => Self::Other(other),
        }
    }

    /// The code on the wire.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Peek32 => 1,
            Self::Peek16 => 2,
            Self::Poke32 => 3,
            Self::Poke16 => 4,
            Self::FirmwarePeek => 5,
            Self::FirmwarePoke => 6,
            Self::Other(code) => code,
        }
    }
}

/// A serial-bus transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiTransfer {
    /// Which slaves; see [`registers::spi`](super::registers::spi).
    pub slaves: u32,
    /// What to shift out.
    pub data: u32,
    /// Edge on which input is taken.
    pub input: Edge,
    /// Edge on which output changes.
    pub output: Edge,
    /// Number of bits.
    pub bits: u8,
    /// Whether the reply shall carry what came in.
    pub readback: bool,
}

/// A clock edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Rising, `r`.
    Rising,
    /// Falling, `f`.
    Falling,
}

impl Edge {
    fn parse(byte: u8) -> Result<Self, WireError> {
        match byte {
            b'r' => Ok(Self::Rising),
            b'f' => Ok(Self::Falling),
            got => Err(WireError::Field { what: "SPI edge", got: got.into(), want: "0x72 'r' or 0x66 'f'" }),
        }
    }

    fn byte(self) -> u8 {
        match self {
            Self::Rising => b'r',
            Self::Falling => b'f',
        }
    }
}

impl SpiTransfer {
    fn parse(body: Body) -> Result<Self, WireError> {
        let [slaves, data, ..] = body.words();
        let [_, _, _, _, _, _, _, _, input, output, bits, readback, ..] = body.0;
        Ok(Self {
            slaves,
            data,
            input: Edge::parse(input)?,
            output: Edge::parse(output)?,
            bits,
            readback: readback != 0,
        })
    }

    fn body(self) -> Body {
        let mut body = Body::of([self.slaves, self.data]);
        body.0[8..12].copy_from_slice(&[self.input.byte(), self.output.byte(), self.bits, self.readback.into()]);
        body
    }
}

/// The bytes of an I2C transaction: at most 20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct I2cBytes {
    count: u8,
    bytes: [u8; Self::MAX], // zero beyond `count`
}

impl I2cBytes {
    /// Most bytes in one transaction.
    pub const MAX: usize = 20;

    /// # Errors
    /// `Field` for more than 20 bytes.
    pub fn new(data: &[u8]) -> Result<Self, WireError> {
        let mut bytes = [0; Self::MAX];
        let field = WireError::Field { what: "I2C byte count", got: data.len() as u64, want: "at most 0x14" };
        bytes.get_mut(..data.len()).ok_or(field)?.copy_from_slice(data);
        Ok(Self { count: data.len() as u8, bytes })
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.count)).unwrap_or_default()
    }
}

fn i2c_count(count: u8) -> Result<u8, WireError> {
    if usize::from(count) > I2cBytes::MAX {
        return Err(WireError::Field { what: "I2C byte count", got: count.into(), want: "at most 0x14" });
    }
    Ok(count)
}

mod id {
    pub(super) const HELLO: u32 = b'a' as u32;
    pub(super) const HELLO_REPLY: u32 = b'A' as u32;
    pub(super) const SPI: u32 = b's' as u32;
    pub(super) const SPI_REPLY: u32 = b'S' as u32;
    pub(super) const I2C_READ: u32 = b'i' as u32;
    pub(super) const I2C_READ_REPLY: u32 = b'I' as u32;
    pub(super) const I2C_WRITE: u32 = b'h' as u32;
    pub(super) const I2C_WRITE_REPLY: u32 = b'H' as u32;
    pub(super) const REGISTER: u32 = b'r' as u32;
    pub(super) const REGISTER_REPLY: u32 = b'R' as u32;
    pub(super) const ECHO: u32 = b'l' as u32;
    pub(super) const ECHO_REPLY: u32 = b'L' as u32;
    pub(super) const HUH: u32 = b' ' as u32;
}

struct Head {
    version: u32,
    id: u32,
    sequence: u32,
}

impl Head {
    fn parse(datagram: &[u8], what: &'static str) -> Result<(Self, Body), WireError> {
        let short = WireError::Short { what, need: ControlRequest::BYTES, have: datagram.len() };
        let ([version, id, sequence], rest) = words::read(datagram, what).map_err(|_| short)?;
        let body = rest.first_chunk::<24>().ok_or(short)?;
        Ok((Self { version, id, sequence }, Body(*body)))
    }

    fn write(&self, body: &Body, out: &mut [u8], bytes: usize, what: &'static str) -> Result<usize, WireError> {
        let mut packet = [0; ControlRequest::BYTES];
        words::write(&mut packet, what, [self.version, self.id, self.sequence])?;
        packet[12..].copy_from_slice(&body.0);
        let short = WireError::Short { what, need: bytes, have: out.len() };
        let room = out.get_mut(..bytes).ok_or(short)?;
        let (head, padding) = room.split_at_mut(bytes.min(packet.len()));
        head.copy_from_slice(&packet[..head.len()]);
        padding.fill(0);
        Ok(bytes)
    }
}

/// The 24 bytes whose meaning depends on the id.
#[derive(Clone, Copy, Default)]
struct Body([u8; 24]);

impl Body {
    fn of<const N: usize>(words: [u32; N]) -> Self {
        let mut body = Self::default();
        for (bytes, word) in body.0.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        body
    }

    fn i2c(address: u8, count: u8, data: I2cBytes) -> Self {
        let mut body = Self::default();
        body.0[0] = address;
        body.0[1] = count;
        body.0[2..2 + I2cBytes::MAX].copy_from_slice(&data.bytes);
        body
    }

    fn words(&self) -> [u32; 6] {
        let mut words = [0; 6];
        for (word, bytes) in words.iter_mut().zip(self.0.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        words
    }

    fn i2c_bytes(&self) -> Result<I2cBytes, WireError> {
        let [_, count, data @ ..] = &self.0;
        let count = i2c_count(*count)?;
        I2cBytes::new(data.get(..usize::from(count)).unwrap_or_default())
    }
}
