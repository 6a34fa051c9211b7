//! The device side of Ethernet radios: a software N200 and a software X310 that unmodified UHD takes for real ones.
//!
//! The device is a function of time ([`Device`]): datagrams and instants in, datagrams out, and the instant at which it
//! wants to be called again. It has no socket, no clock, no thread and no randomness of its own. Two drivers run it: one
//! on the host's clock and a packet engine, one on a virtual clock, where seconds of protocol take microseconds.

#![forbid(unsafe_code)]

pub mod air;
mod device;
pub mod drive;
pub mod emulate;
pub mod fault;
mod front_end;
pub mod loopback;
pub mod n200;
mod options;
pub mod policy;
mod sample_ring;
mod shared;
pub mod signals;
pub mod sink;
pub mod source;
mod text;
mod timebase;
pub mod x310;

pub use device::{Device, Outbox, Port, Sent};
pub use timebase::Timebase;
