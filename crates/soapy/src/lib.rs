//! Devices of SoapySDR behind takt's streams.
//!
//! takt drives the N200 and its own X310 itself. For every other radio SoapySDR has a driver, as a module that it loads.
//! This crate makes such a device an [`RxStream`](takt_radio::RxStream) and a [`TxStream`](takt_radio::TxStream). It counts a loss
//! that the device's time stamps or its driver show. A loss that neither can show is unknown: `None`, and never 0.
//!
//! Calls into SoapySDR may block and allocate, for as long as a driver likes. They run on ordinary threads of the command, which
//! have no priority and no core of their own, and never on a thread that works slot by slot.
//!
//! SoapySDR's library comes with the feature `library`. Without it this crate is the same, and refuses to open a device.
//!
//! ```
//! use takt_soapy::{DeviceSpec, find};
//! let spec: DeviceSpec = "soapy:driver=uhd,addr=192.168.10.2".parse().unwrap();
//! assert_eq!(spec.get("driver"), Some("uhd"));
//! # if false {
//! for device in find(&spec).unwrap() {
//!     println!("{}", device.device);
//! }
//! # }
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod device;
mod error;
#[cfg(test)]
mod fake;
mod find;
mod grid;
#[cfg(feature = "library")]
mod library;
#[cfg(not(feature = "library"))]
#[path = "library_missing.rs"]
mod library;
mod measure;
mod meter;
mod outcome;
mod probe;
mod radio;
mod ranges;
mod rx;
mod session;
mod spec;
mod stamps;
mod tx;

/// SoapySDR's library is in this build; otherwise every device is refused with [`SoapyError::NotBuilt`].
pub const IS_BUILT: bool = cfg!(feature = "library");

pub use device::{About, Device, Fault, FaultKind, RxPort, Status, StreamFormat, TxPort};
pub use error::SoapyError;
pub use find::{FoundDevice, find};
pub use measure::{Notice, RatePlan, measure, measure_seen};
pub use outcome::{RxCounts, SoapyRate, TimeStamps, TxCounts};
pub use probe::{ChannelReport, SoapyProbe, probe};
pub use radio::{Settings, SoapyRadio};
pub use rx::{RxSeen, SoapyRx};
pub use session::{PlayWish, RecordWish, SoapyPlayed, SoapyRecorded, play, record};
pub use spec::{DeviceSpec, SpecError};
pub use tx::SoapyTx;
