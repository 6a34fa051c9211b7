//! The errors of a device of SoapySDR, with what is needed to mend them.
#![allow(missing_docs, reason = "names and messages say it")]

use takt_radio::RadioError;
use takt_radio::n200::{ALLOW_TRANSMIT, Emission};

use crate::{DeviceSpec, Fault};

/// The name of takt's own driver among those of SoapySDR.
pub(crate) const OWN_DRIVER: &str = "takt";

/// How a program gets SoapySDR.
const BUILD: &str = "cargo build --release --features soapy   (needs Debian's libsoapysdr-dev and pkg-config)";

/// Why a device could not do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SoapyError {
    #[error("this build lacks SoapySDR's library, which is off by default")]
    NotBuilt,
    #[error("SoapySDR has no module for a driver `{driver}`")]
    NoModule {
        driver: String,
        /// Devices that there are, as a user names them.
        found: Vec<String>,
    },
    #[error("SoapySDR can't open {device}")]
    NoDevice {
        device: String,
        /// Devices that there are, as a user names them.
        found: Vec<String>,
        #[source]
        fault: Fault,
    },
    #[error("`soapy:` alone names no device")]
    Unnamed {
        /// Devices that there are, as a user names them.
        found: Vec<String>,
    },
    /// SoapySDR would lead back to takt.
    #[error("driver=takt is takt's own driver: through SoapySDR it would only take a longer way")]
    Own {
        /// The radio's address, where it was given.
        addr: Option<String>,
    },
    /// A call of the library's.
    #[error("{what} failed")]
    Call {
        /// The purpose of the call: `setting the antenna`.
        what: &'static str,
        #[source]
        fault: Fault,
    },
    #[error("the device has no {way} channel {channel}: it has {channels}")]
    Channel {
        /// `receive` or `transmit`.
        way: &'static str,
        channel: usize,
        /// How many there are.
        channels: usize,
    },
    #[error("a {way} stream needs at least one channel")]
    NoChannel { way: &'static str },
    #[error("the device does not {way} at {requested_sps} S/s{}", chosen(*chosen_sps))]
    Rate {
        way: &'static str,
        requested_sps: f64,
        /// The rate that the driver would have taken instead, if it took any.
        chosen_sps: Option<f64>,
        /// The nearest below and above of which the driver says that it has them.
        nearest_sps: [Option<f64>; 2],
    },
    /// A value outside of what the device can do.
    #[error("{what} {got} is outside {low} to {high}")]
    Range {
        /// The quantity, with its unit.
        what: &'static str,
        got: f64,
        low: f64,
        high: f64,
    },
    #[error("the device has no antenna `{got}`; it has {}", .known.join(", "))]
    Antenna { got: String, known: Vec<String> },
    #[error("the driver's samples are {}, but takt needs CF32 or CS16", .offered.join(", "))]
    Format { offered: Vec<String> },
    #[error("the device does not transmit while it receives")]
    HalfDuplex,
    #[error("SoapySDR can't tell takt whether {} has an antenna: it would transmit {emission}", .emission.radio)]
    Transmit {
        /// The settings that it would transmit with.
        emission: Box<Emission>,
    },
    #[error("no rate was given, neither to receive nor to transmit")]
    NoRate,
    #[error("the recording does not name its rate")]
    NoRecordedRate,
    #[error("the recording has {captures} captures, but the device has no clock to keep the gaps between them")]
    NoClock { captures: usize },
    #[error("the recording changes its frequency, from {} MHz to {} MHz", first_hz / 1e6, hz / 1e6)]
    Hops {
        /// The frequency of the first capture that names one.
        first_hz: f64,
        /// The frequency of another capture.
        hz: f64,
    },
    #[error("the device has no clock that takt can read, so it can't send at a given time")]
    Untimed,
    #[error("the duration is 0")]
    NoTime,
    /// Samples were flowing.
    #[error(transparent)]
    Stream(#[from] RadioError),
    #[error("takt can't start a thread")]
    Thread(#[source] std::io::Error),
}

fn chosen(sps: Option<f64>) -> String {
    sps.map_or_else(String::new, |sps| format!(", its driver would take {sps}"))
}

impl SoapyError {
    /// The ways to mend it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            SoapyError::NotBuilt => BUILD.to_owned(),
            SoapyError::NoModule { found, .. } => {
                alternatives("install its module: apt search soapysdr-module lists those of Debian".to_owned(), found)
            }
            SoapyError::NoDevice { found, .. } => alternatives("check power, cable and address".to_owned(), found),
            SoapyError::Unnamed { found } if found.is_empty() => {
                "connect a device and install its module: SoapySDR finds none".to_owned()
            }
            SoapyError::Unnamed { found } => found.iter().map(|device| named(device)).collect::<Vec<_>>().join("\n"),
            SoapyError::Own { addr } => {
                format!("give --addr {} in place of --device", addr.as_deref().unwrap_or("ADDRESS"))
            }
            SoapyError::Channel { channels, .. } if *channels > 0 => format!("give a channel below {channels}"),
            SoapyError::Range { low, high, .. } => format!("give a value from {low} to {high}"),
            SoapyError::Antenna { known, .. } => format!("give one of {}", known.join(", ")),
            SoapyError::HalfDuplex => "receive or transmit, not both".to_owned(),
            SoapyError::Transmit { .. } => ALLOW_TRANSMIT.to_owned(),
            SoapyError::Untimed => "omit the transmitter: this device can only receive slots".to_owned(),
            SoapyError::NoChannel { .. } => "name a channel, such as 0".to_owned(),
            SoapyError::NoRate => "give --rx 1M, --tx 1M or both".to_owned(),
            SoapyError::NoTime => "give a longer duration".to_owned(),
            SoapyError::NoRecordedRate => "name the rate: --rate 1M".to_owned(),
            SoapyError::NoClock { .. } => "play a recording without gaps".to_owned(),
            SoapyError::Hops { .. } => "give --freq, to tune the device to one frequency for all of it".to_owned(),
            _ => return None,
        })
    }
}

fn alternatives(first: String, found: &[String]) -> String {
    let found = found.iter().map(|device| named(device));
    std::iter::once(first).chain(found).collect::<Vec<_>>().join("\n")
}

fn named(device: &str) -> String {
    format!("give --device {device}   (SoapySDR finds it)")
}

/// Refuses takt's own driver, whose module for SoapySDR is `takt-soapy-module`.
pub(crate) fn refuse_own(driver: Option<&str>, spec: &DeviceSpec) -> Result<(), SoapyError> {
    if driver == Some(OWN_DRIVER) {
        return Err(SoapyError::Own { addr: spec.get("addr").map(str::to_owned) });
    }
    Ok(())
}

/// A fault of a driver while samples flow.
pub(crate) fn foreign(fault: Fault) -> RadioError {
    RadioError::Foreign { driver: "SoapySDR", source: Box::new(fault) }
}

/// A fault of a call that was for this.
pub(crate) fn call(what: &'static str) -> impl FnOnce(Fault) -> SoapyError {
    move |fault| SoapyError::Call { what, fault }
}
