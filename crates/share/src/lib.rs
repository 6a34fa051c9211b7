//! One front end, many radios: software N200s that share the band of a physical radio.
//!
//! [`SharedFrontEnd`] is the core, a pure function; [`run()`] puts it between a radio and the ports of this host.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod attend;
mod band;
mod carriage;
mod channels;
pub mod control;
mod cost;
mod counts;
mod error;
mod file;
mod front_end;
mod handover;
mod lag;
mod owner;
mod physical;
mod ports;
mod receiving;
mod report;
mod run;
mod sending;
mod shown;
mod slot;
mod status;
mod streaming;
mod sum;
mod transmitting;

pub use band::{Band, Fit};
pub use carriage::CarriageError;
pub use cost::{CostMeter, admit};
pub use error::ShareError;
pub use file::{
    AnalogPolicy, FrontEndPlan, MOST_RADIOS, RadioLimits, RadioPlan, ShareFileError, ShareFileProblem, SharePlan,
};
pub use front_end::{CoreSettings, Outboxes, SharedFrontEnd, WideBurst};
pub use owner::AnalogWish;
pub use report::{FrontEndReport, ShareReport, SharedRadioReport, SharedRadioSummary, SumReport};
pub use run::{ShareNotice, ShareOptions, run};
pub use slot::{RadioMaker, SharedRadio};
pub use status::{FrontEndStatus, RadioStatus, ShareStatus};
