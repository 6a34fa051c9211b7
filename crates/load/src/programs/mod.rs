//! Many programs at once, each with a radio: behind one front end, or each with a front end of its own. What does a program get?
//!
//! ```text
//!   shared   program 1 ─┐                                       own   program 1 ── N200 1
//!            program 2 ─┼─ path ─ share ─ N200 of 25 MS/s             program 2 ── N200 2
//!            program 3 ─┘                                             program 3 ── N200 3
//! ```
//!
//! [`run`] is one of these programs. It streams as `takt rate` does, and then receives for a moment more to see how strong its
//! band is, and how long samples are on the way. The first program has a tone in its band, and no other has a signal: what they
//! receive is what leaks. The lab starts the programs, each in a network of its own, and joins what they found.

mod look;
mod outcome;
mod plan;
mod workload;

use std::net::Ipv4Addr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_radio::RadioError;

use crate::rate::{self, RateError, RateOptions};

pub use look::Look;
pub use outcome::{ProgramOutcome, ProgramsOutcome};
pub use plan::{FRONT_END_SPS, SharedRadios, radio_of};
pub(crate) use workload::Programs;

/// Most programs at once.
pub const MOST_PROGRAMS: usize = 16;

/// Options of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramOptions {
    /// Its stream.
    pub rate: RateOptions,
    /// How long it receives afterwards, to look at its band.
    pub look: Duration,
}

/// Why a program has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The stream.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// The look at its band.
    #[error("a look at the band of the radio at {addr}")]
    Look {
        /// Address of the radio.
        addr: Ipv4Addr,
        /// Why.
        #[source]
        source: RadioError,
    },
}

/// Runs one program. `stop` ends it early.
///
/// # Errors
/// The radio can't be had, or is gone.
pub fn run(options: &ProgramOptions, stop: &Stop) -> Result<ProgramOutcome, ProgramError> {
    let rate = rate::run(&options.rate, &mut |_| (), stop)?;
    let look = match options.rate.rx_sps {
        Some(rate_sps) if !stop.requested() => Some(look::look(&options.rate, rate_sps, options.look)?),
        _ => None,
    };
    Ok(ProgramOutcome { rate, look })
}
