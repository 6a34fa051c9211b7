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

use std::net::{IpAddr, Ipv4Addr};
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
    /// Seconds of its radio in a second of this host, as its radio was started. It must say the same.
    pub speed: f64,
}

/// Why a program has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The stream.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// The look at its band.
    #[error("takt can't receive the band of the radio at {addr}")]
    Look {
        /// Address of the radio.
        addr: Ipv4Addr,
        /// Why.
        #[source]
        source: RadioError,
    },
    /// The radio is not as fast as it was to be, so its counts are those of another point.
    #[error("the radio at {addr} runs at {} of real time, but the point wants {wanted}", .found.unwrap_or(1.0))]
    Speed {
        /// Address of the radio.
        addr: IpAddr,
        /// Seconds of the radio in a second of this host, as it says; `None`: it says nothing, as hardware.
        found: Option<f64>,
        /// The same, as the point wants it.
        wanted: f64,
    },
}

/// Runs one program. `stop` ends it early.
///
/// # Errors
/// The radio can't be had, or is gone.
pub fn run(options: &ProgramOptions, stop: &Stop) -> Result<ProgramOutcome, ProgramError> {
    let rate = rate::run(&options.rate, &mut |_| (), stop)?;
    check_speed(options, [rate.radio_speed, rate.radio_speed_at_end])?;
    let look = match options.rate.rx_sps {
        Some(rate_sps) if !stop.requested() => Some(look::look(&options.rate, rate_sps, options.look)?),
        _ => None,
    };
    Ok(ProgramOutcome { rate, look })
}

/// Compares what the radio said at the start and at the end. Under load it may not answer at the end.
fn check_speed(options: &ProgramOptions, [at_start, at_end]: [Option<f64>; 2]) -> Result<(), ProgramError> {
    let (addr, wanted) = (options.rate.addr, options.speed);
    let differs = |found: &Option<f64>| found.unwrap_or(1.0) != wanted;
    let wrong = [at_start, at_end.or(at_start)].into_iter().find(differs);
    wrong.map_or(Ok(()), |found| Err(ProgramError::Speed { addr, found, wanted }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radio_at_another_speed_than_the_points_has_no_result() {
        let said = |wanted, said: [Option<f64>; 2]| {
            let options = ProgramOptions { rate: RateOptions::default(), look: Duration::ZERO, speed: wanted };
            check_speed(&options, said).map_err(|error| error.to_string())
        };
        for right in [said(1.0, [Some(1.0); 2]), said(1.0, [None; 2]), said(0.1, [Some(0.1), None])] {
            assert_eq!(right, Ok(()));
        }
        for wrong in [said(0.1, [None; 2]), said(0.1, [Some(1.0); 2]), said(0.1, [Some(0.1), Some(1.0)])] {
            let complaint = wrong.expect_err("another speed");
            assert!(complaint.ends_with("runs at 1 of real time, but the point wants 0.1"), "{complaint}");
        }
    }
}
