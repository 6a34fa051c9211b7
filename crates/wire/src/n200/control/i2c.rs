//! The bytes of an I2C transaction, as a control packet carries them.

use crate::WireError;

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
        bytes.get_mut(..data.len()).ok_or(too_many(data.len() as u64))?.copy_from_slice(data);
        Ok(Self { count: data.len() as u8, bytes })
    }

    /// The field on the wire: the bytes, then zeros.
    pub(super) fn padded(&self) -> &[u8; Self::MAX] {
        &self.bytes
    }

    /// How many.
    pub(super) fn count(&self) -> u8 {
        self.count
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.count)).unwrap_or_default()
    }
}

/// A count from the wire, at most [`I2cBytes::MAX`].
pub(super) fn count(count: u8) -> Result<u8, WireError> {
    if usize::from(count) <= I2cBytes::MAX { Ok(count) } else { Err(too_many(count)) }
}

fn too_many(count: impl Into<u64>) -> WireError {
    WireError::field("I2C byte count", count, "at most 0x14")
}
