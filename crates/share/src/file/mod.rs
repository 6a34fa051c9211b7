//! The file of `takt share`: a front end, and the radios that share it. Format: `docs/reference/share.md`.

mod error;
mod read;

use std::net::Ipv4Addr;

use takt_emulator::n200::Board;

use crate::Band;

pub use error::{ShareFileError, ShareFileProblem};

/// Most radios behind one front end.
pub const MOST_RADIOS: usize = 256;

/// A front end, and the radios that share it.
#[derive(Clone, Debug, PartialEq)]
pub struct SharePlan {
    /// The physical side.
    pub front_end: FrontEndPlan,
    /// The radios that programs see, at least one.
    pub radios: Vec<RadioPlan>,
}

/// How the physical radio is set.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontEndPlan {
    /// Samples per second, both ways.
    pub rate_sps: f64,
    /// Radio frequency at the middle of its band, Hz, until a policy moves it.
    pub frequency_hz: f64,
    /// Gain of both boards, dB; `None`: as it is.
    pub gain_db: Option<f64>,
    /// Receive antenna; `None`: as it is.
    pub antenna: Option<String>,
    /// Rule for oscillator and gain.
    pub policy: AnalogPolicy,
}

/// How the front end's oscillator and gain are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnalogPolicy {
    /// The file. Nothing moves them.
    #[default]
    Fixed,
    /// The streaming radio that has streamed the longest decides.
    First,
    /// The streaming radio with the highest priority decides.
    HighestPriority,
    /// The oscillator goes where most of the radios that stream fit; the gain is the file's.
    WidestFit,
}

impl AnalogPolicy {
    pub(crate) const NAMED: [(&'static str, AnalogPolicy); 4] = [
        ("fixed", AnalogPolicy::Fixed),
        ("first", AnalogPolicy::First),
        ("highest-priority", AnalogPolicy::HighestPriority),
        ("widest-fit", AnalogPolicy::WidestFit),
    ];

    /// As the file writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        AnalogPolicy::NAMED.into_iter().find(|(_, policy)| *policy == self).map_or("fixed", |(name, _)| name)
    }
}

/// A radio that programs see.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioPlan {
    /// Its name, different from all others, at most 23 characters.
    pub name: String,
    /// Address at which it listens.
    pub addr: Ipv4Addr,
    /// Serial number, at most 9 characters.
    pub serial: String,
    /// The daughterboards that its programs see; they decide on the frequencies to which UHD tunes.
    pub board: Board,
    /// Higher decides first.
    pub priority: u8,
    /// Its permissions.
    pub limits: RadioLimits,
    /// Whether what it transmits leaves.
    pub transmit: bool,
    /// Whether it may transmit where another one does, if that one may, too.
    pub overlap: bool,
    /// Level change of all that it transmits, dB: 0 or below.
    pub level_db: f64,
}

/// Permissions of a radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioLimits {
    /// Lowest and highest radio frequency of its band's edges, Hz; `None`: any.
    pub frequency_hz: Option<[f64; 2]>,
    /// Highest rate, samples per second.
    pub rate_sps: f64,
}

impl RadioLimits {
    /// Whether a signal of this band may pass.
    #[must_use]
    pub fn permit(&self, band: Band) -> bool {
        let inside = self.frequency_hz.is_none_or(|[low, high]| low <= band.low_hz() && band.high_hz() <= high);
        inside && band.width_hz <= self.rate_sps
    }
}
