//! Inline messages, device to host on a receive port: what happened to the stream, and when.

use super::RxData;
use crate::WireError;
use crate::words::{self, codes};

const WHAT: &str = "RX message";
const HEADER: u32 = 0x5010_0005;
const COUNT: u32 = 0x000F_0000;

/// An inline message: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxMessage {
    /// The count of the next data packet; a message does not count.
    pub count: u8,
    /// As in the data packets.
    pub stream_id: u32,
    /// When it happened.
    pub tick: u64,
    /// Its event.
    pub event: RxEvent,
}

/// Event of an inline message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxEvent {
    /// A command came after its time and was dropped.
    LateCommand,
    /// "And more" was promised and nothing was queued.
    BrokenChain,
    /// The output was blocked; streaming has stopped.
    Overflow,
    /// A stop while idle.
    StopWhileIdle,
    /// Any other code.
    Other(u32),
}

codes!(RxEvent: u32 { LateCommand = 0x2, BrokenChain = 0x4, Overflow = 0x8, StopWhileIdle = 0x10 });

impl RxMessage {
    /// Size of a message.
    pub const BYTES: usize = 20;

    /// # Errors
    /// `Short` below 20 bytes; `Field` if it is no inline message. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([header, stream_id, high, low, code], _) = words::read(datagram, WHAT)?;
        if header & !COUNT != HEADER {
            return Err(WireError::field("RX message header", header, "0x501n0005"));
        }
        Ok(Self {
            count: (header >> 16) as u8 & 15,
            stream_id,
            tick: words::join(high, low),
            event: RxEvent::from_code(code),
        })
    }

    /// Writes 20 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let [high, low] = words::split(self.tick);
        let header = HEADER | u32::from(self.count & 15) << 16;
        words::write(out, WHAT, [header, self.stream_id, high, low, self.event.code()])
    }
}

/// Either of the packets a receive port sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxPacket<'a> {
    /// Samples.
    Data(RxData<'a>),
    /// A message.
    Message(RxMessage),
}

impl<'a> RxPacket<'a> {
    /// # Errors
    /// As [`RxData::parse`] or [`RxMessage::parse`], by the packet type; data if the type is neither.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        if datagram.first().is_some_and(|byte| byte >> 4 == 5) {
            RxMessage::parse(datagram).map(Self::Message)
        } else {
            RxData::parse(datagram).map(Self::Data)
        }
    }
}
