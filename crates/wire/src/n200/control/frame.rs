//! The common frame of control packets: 12 bytes of head, 24 of body.

use super::i2c::{I2cBytes, count as i2c_count};
use crate::{WireError, words};

/// Size of a control packet.
pub(super) const BYTES: usize = 36;

/// Head of every control packet.
pub(super) struct Head {
    pub(super) version: u32,
    pub(super) id: u32,
    pub(super) sequence: u32,
}

impl Head {
    pub(super) fn parse(datagram: &[u8], what: &'static str) -> Result<(Self, Body), WireError> {
        let short = WireError::Short { what, need: BYTES, have: datagram.len() };
        let ([version, id, sequence], rest) = words::read(datagram, what).map_err(|_| short)?;
        let body = rest.first_chunk::<24>().ok_or(short)?;
        Ok((Self { version, id, sequence }, Body(*body)))
    }

    pub(super) fn write(
        &self,
        body: &Body,
        out: &mut [u8],
        bytes: usize,
        what: &'static str,
    ) -> Result<usize, WireError> {
        let mut packet = [0; BYTES];
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
pub(super) struct Body(pub(super) [u8; 24]);

impl Body {
    pub(super) fn of<const N: usize>(words: [u32; N]) -> Self {
        let mut body = Self::default();
        words::put(&mut body.0, words);
        body
    }

    pub(super) fn i2c(address: u8, count: u8, data: I2cBytes) -> Self {
        let mut body = Self::default();
        body.0[0] = address;
        body.0[1] = count;
        body.0[2..2 + I2cBytes::MAX].copy_from_slice(data.padded());
        body
    }

    pub(super) fn words(&self) -> [u32; 6] {
        words::get(&self.0)
    }

    pub(super) fn i2c_bytes(&self) -> Result<I2cBytes, WireError> {
        let [_, count, data @ ..] = &self.0;
        let count = i2c_count(*count)?;
        I2cBytes::new(data.get(..usize::from(count)).unwrap_or_default())
    }
}

/// The ids, ASCII characters.
pub(super) mod id {
    pub(in super::super) const HELLO: u32 = b'a' as u32;
    pub(in super::super) const HELLO_REPLY: u32 = b'A' as u32;
    pub(in super::super) const SPI: u32 = b's' as u32;
    pub(in super::super) const SPI_REPLY: u32 = b'S' as u32;
    pub(in super::super) const I2C_READ: u32 = b'i' as u32;
    pub(in super::super) const I2C_READ_REPLY: u32 = b'I' as u32;
    pub(in super::super) const I2C_WRITE: u32 = b'h' as u32;
    pub(in super::super) const I2C_WRITE_REPLY: u32 = b'H' as u32;
    pub(in super::super) const REGISTER: u32 = b'r' as u32;
    pub(in super::super) const REGISTER_REPLY: u32 = b'R' as u32;
    pub(in super::super) const ECHO: u32 = b'l' as u32;
    pub(in super::super) const ECHO_REPLY: u32 = b'L' as u32;
    pub(in super::super) const HUH: u32 = b' ' as u32;
}
