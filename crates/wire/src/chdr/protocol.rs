//! Versions of RFNoC's protocol: of all packets, only those of control differ, and the number in those of management.

use std::fmt;

/// The version of the protocol that a radio announces, and that its host must speak (x310.md 18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// 1.0: UHD 4.0 to 4.10.
    #[default]
    V1,
    /// 2.0: UHD 4.11.
    V2,
}

impl Protocol {
    /// All of them, the oldest first.
    pub const ALL: [Protocol; 2] = [Protocol::V1, Protocol::V2];

    /// The number in registers and in packets of management: major version in bits 15:8, minor in 7:0.
    ///
    /// ```
    /// use takt_wire::chdr::Protocol;
    /// assert_eq!(Protocol::ALL.map(Protocol::code), [0x0100, 0x0200]);
    /// assert_eq!(Protocol::from_code(0x0203), Some(Protocol::V2)); // the minor version is nobody's concern
    /// assert_eq!(Protocol::from_code(0x0300), None);
    /// ```
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Protocol::V1 => 0x0100,
            Protocol::V2 => 0x0200,
        }
    }

    /// The version with this number; `None` for a major version without a name.
    #[must_use]
    pub const fn from_code(code: u16) -> Option<Protocol> {
        match code >> 8 {
            1 => Some(Protocol::V1),
            2 => Some(Protocol::V2),
            _ => None,
        }
    }

    /// The number of a control packet that follows `sequence` on its port: 6 bits count, in 2.0 all 8.
    #[must_use]
    pub const fn next_sequence(self, sequence: u8) -> u8 {
        match self {
            Protocol::V1 => sequence.wrapping_add(1) & 63,
            Protocol::V2 => sequence.wrapping_add(1),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.code() >> 8, self.code() & 0xFF)
    }
}
