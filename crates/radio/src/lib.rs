//! The host side of a radio: discovery, drivers, streamers, flow control, time.
//!
//! No UHD: this crate speaks the radio's own protocol, over the packet engines of `takt-packet`.
//!
//! ```no_run
//! use std::sync::Arc;
//! use takt_base::{Clock, Complex32};
//! use takt_packet::EngineKind;
//! use takt_radio::{RxStream, WallNet, n200};
//!
//! # fn main() -> Result<(), takt_radio::RadioError> {
//! let net = Arc::new(WallNet::new(EngineKind::Mmsg));
//! let mut radio = n200::N200::open(net.clone(), [192, 168, 10, 2].into(), &n200::OpenOptions::default())?;
//! let mut rx = radio.rx_streamer(&n200::RxOptions::new(1e6))?;
//! rx.start(None)?;
//! let mut samples = vec![Complex32::default(); 10_000];
//! let received = rx.recv(&mut [&mut samples], net.now() + std::time::Duration::from_secs(1))?;
//! assert!(received.event.is_none());
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod anchor;
mod any;
pub mod board;
pub mod calibration;
mod claim;
mod clock;
mod error;
mod find;
mod foreign;
mod front_end;
mod model;
pub mod n200;
mod net;
mod ports;
mod probe;
mod rx;
pub mod sigmf;
mod speed;
mod stream;
mod tune;
mod tx;
mod watched;
pub mod x310;

pub use any::{About, AnyIdentity, AnyOptions, Radio, model_at};
pub use clock::ClockReading;
pub use error::RadioError;
pub use find::{FoundRadio, FoundState, find};
pub use front_end::{FrontEnd, FrontEndSet};
pub use model::{Model, UnknownModel};
pub use net::{Net, Role, WallNet};
pub use probe::{Probe, Rates, SideReport, Time, X310Probe, probe, probe_x310};
pub use rx::{RxOptions, RxStats, RxStreamer};
pub use stream::{Burst, Received, RxEvent, RxStream, TxEvent, TxEventKind, TxStream};
pub use tune::{LoOffset, TuneRequest, Tuned, lo_target_hz};
pub use tx::{TxOptions, TxStats, TxStreamer};
pub use watched::{StreamProbe, StreamView, StreamViews, WatchedRx, WatchedTx, watched_stream};
