//! Flow control and async messages, device to host from the transmit port.

use crate::WireError;
use crate::words::{self, codes};

const WHAT: &str = "TX report";
const HEADER: u32 = 0x5010_0006;
const COUNT: u32 = 0x000F_0000;

/// A report: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxReport {
    /// 0 to 15; counts reports, hosts ignore it.
    pub count: u8,
    /// The host's value of the report stream id register; hosts drop any other.
    pub stream_id: u32,
    /// When it happened.
    pub tick: u64,
    /// Its event.
    pub event: TxEvent,
    /// Sequence number of the last packet taken by the DSP; all ones before the first.
    pub sequence: u32,
}

/// Event of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxEvent {
    /// How far the device has come; never reaches the user.
    FlowControl,
    /// The last sample of a burst has left.
    BurstAck,
    /// No packet was there when the next sample was due.
    Underflow,
    /// The first packet of a burst had a wrong number.
    SequenceError,
    /// The first packet of a burst came after its time.
    TimeError,
    /// Underflow in the middle of a packet; hardware only.
    UnderflowInPacket,
    /// A packet inside a burst had a wrong number.
    SequenceErrorInBurst,
    /// Any other code.
    Other(u16),
}

codes!(TxEvent: u16 {
    FlowControl = 0x00,
    BurstAck = 0x01,
    Underflow = 0x02,
    SequenceError = 0x04,
    TimeError = 0x08,
    UnderflowInPacket = 0x10,
    SequenceErrorInBurst = 0x20
});

impl TxReport {
    /// Size of a report.
    pub const BYTES: usize = 24;

    /// # Errors
    /// `Short` below 24 bytes; `Field` if it is no report. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([header, stream_id, high, low, code, sequence], _) = words::read(datagram, WHAT)?;
        if header & !COUNT != HEADER {
            return Err(WireError::field("TX report header", header, "0x501n0006"));
        }
        Ok(Self {
            count: (header >> 16) as u8 & 15,
            stream_id,
            tick: words::join(high, low),
            event: TxEvent::from_code(code as u16),
            sequence,
        })
    }

    /// Writes 24 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let [high, low] = words::split(self.tick);
        let header = HEADER | u32::from(self.count & 15) << 16;
        let code = (self.sequence & 15) << 16 | u32::from(self.event.code());
        words::write(out, WHAT, [header, self.stream_id, high, low, code, self.sequence])
    }
}
