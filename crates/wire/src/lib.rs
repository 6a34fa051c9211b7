//! Bytes on the wire: packets of Ethernet radios as views on byte slices, and sample formats.
//!
//! Pure functions: no I/O, no clock, no allocation, no state. A parser takes a datagram, compares every length in it
//! with what is there, and returns a small `Copy` value that may borrow the payload; after that nothing can fail. A
//! writer fills the front of the caller's slice and returns how many bytes count. Nothing a datagram contains can
//! panic or read beyond it. Time stamps are raw `u64` ticks here; newtypes begin above this crate.
//!
//! | module | holds |
//! | --- | --- |
//! | [`bridge`] | packets of a waveform between two nodes: VITA-49, a slot as a sample frame |
//! | [`chdr`] | CHDR of RFNoC radios: management, control, credits, samples |
//! | [`clock`] | the time of another machine, requested over the network |
//! | [`lag`] | how late an emulated radio was itself, requested over the network |
//! | [`n200`] | USRP N200: control, register FIFO, sample and report packets, EEPROMs, rates, scale and frequency words |
//! | [`ptp`] | questions to a PTP service on this machine: management messages of IEEE 1588 |
//! | [`sample`] | sc16 and sc8 to complex numbers and back |
//! | [`x310`] | USRP X310 beside CHDR: registers of its board, frame size probe, EEPROM |

#![warn(missing_docs)]
#![deny(unsafe_code)]

pub mod bridge;
pub mod chdr;
pub mod clock;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod lag;
pub mod n200;
pub mod ptp;
pub mod sample;
mod words;
pub mod x310;

pub use error::WireError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
