//! Spectra and constellations, made of samples and symbols where there is a tap.

use serde::{Deserialize, Serialize};

/// The lowest level of a bin, dBFS: JSON has no minus infinity.
pub const FLOOR_DBFS: f32 = -200.0;

/// Spectrum of the newest samples of a tap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// The tap, for people.
    pub name: String,
    /// Carrier, the middle bin's, Hz; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq_hz: Option<f64>,
    /// Distance from the lower end of the first bin to the upper end of the last, Hz: the sample rate.
    pub span_hz: f64,
    /// Power of each bin, dB relative to a full-scale complex tone. The carrier is bin `len / 2`.
    pub dbfs: Vec<f32>,
}

/// Received symbols of a tap, the newest last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Constellation {
    /// The tap, for people.
    pub name: String,
    /// Modulation, as `qpsk`; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulation: Option<String>,
    /// In-phase and quadrature part of each symbol; 1 is the root of the mean power.
    pub points: Vec<[f32; 2]>,
}
