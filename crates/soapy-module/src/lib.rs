//! takt's own driver for programs that use SoapySDR: the other way round from `takt-soapy`.
//!
//! ```text
//!  SoapySDRUtil, GNU Radio, rx_sdr
//!      │ SoapySDR::Device
//!  module.cpp            one C++ class, which packaging/soapy/build compiles
//!      │ functions of c
//!  Device, Receiver, Transmitter
//!      │ RxStreamer, TxStreamer
//!  takt-radio ── an N200 or X310
//! ```
//!
//! Nothing here needs SoapySDR. The functions of [`c`] are its only unsafe code; no panic and no exception crosses them.

#![warn(missing_docs)]

mod args;
pub mod c;
mod code;
mod device;
mod error;
mod facts;
mod receiver;
mod time;
mod transmitter;

pub use args::{Args, StreamArgs, find};
pub use code::{Code, flags};
pub use device::Device;
pub use error::ModuleError;
pub use facts::SideFacts;
pub use receiver::{Receiver, Room, RxReport};
pub use transmitter::{Samples, Transmitter, TxReport};

/// The name under which SoapySDR knows this driver.
pub const DRIVER: &str = "takt";

/// Samples that programs are told to pass at once: some datagrams, and 0.2 ms at 25 MS/s. A call takes more or fewer, too.
pub const MTU_SAMPLES: usize = 4096;
