//! Sample formats on the wire, and complex numbers on this side of it.
//!
//! | format | bytes a sample | order |
//! | --- | --- | --- |
//! | [`sc16`] | 4 | I then Q, 16 bit signed; big-endian from an N200, little-endian from an X310 |
//! | [`sc8`] | 2 | I then Q, 8 bit signed |
//!
//! The integer that is 1.0 stands in [`full_scale`], for this crate and all others.
//!
//! A float becomes an integer by multiplication with a scale, rounding to the nearest (ties to even) and saturation; what
//! is not a number becomes 0. The bits are the same at every SIMD level: each level is the same code, compiled for more
//! instructions.

use std::str::FromStr;

pub mod full_scale;
mod round;
pub mod sc16;
pub mod sc8;
mod simd;

pub use simd::Simd;

/// A sample format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Format {
    /// 16 bits each for I and Q.
    #[default]
    Sc16,
    /// 8 bits each for I and Q.
    Sc8,
}

impl Format {
    /// `sc16` or `sc8`, as UHD writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sc16 => "sc16",
            Self::Sc8 => "sc8",
        }
    }

    /// Bytes of one sample on the wire.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sc16 => sc16::BYTES,
            Self::Sc8 => sc8::BYTES,
        }
    }
}

impl FromStr for Format {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        [Self::Sc16, Self::Sc8].into_iter().find(|format| format.name() == text).ok_or("expected sc16 or sc8")
    }
}

/// The order of the bytes of a 16-bit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant byte first: N200.
    Big,
    /// Least significant byte first: X310.
    Little,
}
