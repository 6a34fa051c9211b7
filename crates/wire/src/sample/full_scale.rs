//! Full scale: the integers that stand for 1.0, the same on the wire, in files, and in every source and sink.
//!
//! The convention is UHD's. An integer k of sc16 is k / 32767 as a float, so 32767 is 1.0 and -32768 is -1.0000305. An integer
//! of sc8 is the upper byte of one of sc16, as an N200 sends and plays it: k is 256 k / 32767.
//!
//! A float becomes the nearest integer, and is clipped only if there is none. So integers go from any place to any other through
//! floats, and arrive bit for bit:
//!
//! ```
//! use takt_wire::sample::full_scale;
//! for k in i16::MIN..=i16::MAX {
//!     let sample = f32::from(k) * (1.0 / full_scale::SC16);
//!     assert_eq!((sample * full_scale::SC16).round_ties_even(), f32::from(k));
//! }
//! ```

/// The integer of sc16 that is 1.0.
pub const SC16: f32 = 32_767.0;

/// The least integer of sc16; the most is [`SC16`].
pub const SC16_LEAST: f32 = -32_768.0;

/// The number of sc8 that is 1.0, 127.996: that of sc16 without its lower byte. The nearest integer, 128, does not exist, so 1.0
/// becomes 127.
pub const SC8: f32 = SC16 / 256.0;
