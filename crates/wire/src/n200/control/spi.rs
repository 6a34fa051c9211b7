//! A transaction of the serial bus, as a control packet carries it.

use super::frame::Body;
use crate::WireError;

/// A serial-bus transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiTransfer {
    /// Which slaves; see [`registers::spi`](crate::n200::registers::spi).
    pub slaves: u32,
    /// Bits to shift out.
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
            got => Err(WireError::field("SPI edge", got, "0x72 'r' or 0x66 'f'")),
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
    pub(super) fn parse(body: Body) -> Result<Self, WireError> {
        let [slaves, data, ..] = body.words();
        let [_, _, _, _, _, _, _, _, input, output, bits, readback, ..] = body.0;
        let (input, output) = (Edge::parse(input)?, Edge::parse(output)?);
        Ok(Self { slaves, data, input, output, bits, readback: readback != 0 })
    }

    pub(super) fn body(self) -> Body {
        let mut body = Body::of([self.slaves, self.data]);
        body.0[8..12].copy_from_slice(&[self.input.byte(), self.output.byte(), self.bits, self.readback.into()]);
        body
    }
}
