//! The identity of a terminal: 48 bits that it sends in message 3 and that message 4 echoes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ConfigError;

/// The identity of a terminal, 48 bits. The user gives each terminal of a network another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Identity(u64);

impl Identity {
    /// # Errors
    /// Above 48 bits.
    pub fn new(value: u64) -> Result<Identity, ConfigError> {
        if value >> 48 == 0 {
            return Ok(Identity(value));
        }
        Err(ConfigError { key: "identity", value: value.to_string(), expected: "48 bits: 0 to 281474976710655" })
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    pub(crate) fn bytes(self) -> [u8; 6] {
        let [_, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    pub(crate) fn of_bytes(bytes: [u8; 6]) -> Identity {
        let [a, b, c, d, e, f] = bytes;
        Identity(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

impl TryFrom<u64> for Identity {
    type Error = ConfigError;

    fn try_from(value: u64) -> Result<Identity, ConfigError> {
        Identity::new(value)
    }
}

impl From<Identity> for u64 {
    fn from(identity: Identity) -> u64 {
        identity.0
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}
