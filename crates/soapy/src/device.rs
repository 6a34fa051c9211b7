//! The calls that takt needs of a device. Those of SoapySDR's library implement them, and so does the one of the tests.
//!
//! Each call may block for as long as the driver likes, and none is made by a real-time thread.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::Complex32;
use takt_radio::board::{Range, Side};

/// No stream hands over or takes more samples at once, whatever its driver says.
pub(crate) const MOST_SAMPLES: usize = 1 << 20;

/// The description that a device gives of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// Key of its driver: `b200`.
    pub driver: String,
    /// Key of the hardware: `B210`.
    pub hardware: String,
    /// Whatever else, by the driver's own keys.
    pub info: BTreeMap<String, String>,
}

/// How samples pass between takt and a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StreamFormat {
    /// Complex floats of 32 bits, full scale 1.0.
    Cf32,
    /// Complex integers of 16 bits.
    Cs16,
}

impl StreamFormat {
    /// All, the best first.
    pub const ALL: [StreamFormat; 2] = [StreamFormat::Cf32, StreamFormat::Cs16];

    /// As SoapySDR writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            StreamFormat::Cf32 => "CF32",
            StreamFormat::Cs16 => "CS16",
        }
    }
}

/// Why a call failed, in SoapySDR's kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Nothing came, or nothing was taken, in the time given.
    Timeout,
    /// Something with the stream that has no kind of its own.
    Stream,
    /// Data that make no sense, or a gap on the way to the device.
    Corruption,
    /// Samples were lost, in the device or on the way from it: a driver may not tell which.
    Overflow,
    /// The driver has no such function.
    NotSupported,
    /// A time that had passed.
    Time,
    /// The device ran out of samples.
    Underflow,
    /// Anything else.
    Other,
}

impl FaultKind {
    /// SoapySDR's number for it, without its sign.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            FaultKind::Other => 0,
            FaultKind::Timeout => 1,
            FaultKind::Stream => 2,
            FaultKind::Corruption => 3,
            FaultKind::Overflow => 4,
            FaultKind::NotSupported => 5,
            FaultKind::Time => 6,
            FaultKind::Underflow => 7,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            FaultKind::Timeout => "nothing happened in time",
            FaultKind::Stream => "the stream is broken",
            FaultKind::Corruption => "the data are broken",
            FaultKind::Overflow => "overflow",
            FaultKind::NotSupported => "the driver does not support it",
            FaultKind::Time => "the time had passed",
            FaultKind::Underflow => "underflow",
            FaultKind::Other => "the driver does not say why",
        }
    }
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// The driver's own words.
    pub text: String,
}

impl Fault {
    /// With the driver's own words, or those of its kind where it has none.
    #[must_use]
    pub fn new(kind: FaultKind, text: &str) -> Fault {
        let text = if text.trim().is_empty() { kind.words() } else { text.trim() };
        Fault { kind, text: text.to_owned() }
    }
}

/// A device that is open. Frequencies are in Hz, gains in dB, rates in samples a second; channels count from 0.
pub trait Device: Send {
    /// The description that it gives of itself. Fails as every call here does: with the driver's words.
    fn about(&self) -> Result<About, Fault>;
    /// Its channels of a side.
    fn channels(&self, side: Side) -> Result<usize, Fault>;
    /// Whether it sends while it receives.
    fn full_duplex(&self, side: Side, channel: usize) -> Result<bool, Fault>;
    /// The formats in which its samples can be had, by SoapySDR's names.
    fn formats(&self, side: Side, channel: usize) -> Result<Vec<String>, Fault>;
    /// The rates that it has.
    fn rates(&self, side: Side, channel: usize) -> Result<Vec<Range>, Fault>;
    /// Sets a rate. Returns the one that the driver chose, which may be another.
    fn set_rate(&self, side: Side, channel: usize, sps: f64) -> Result<f64, Fault>;
    /// The frequencies that it can be tuned to.
    fn frequencies(&self, side: Side, channel: usize) -> Result<Vec<Range>, Fault>;
    /// The frequency that it is tuned to.
    fn frequency(&self, side: Side, channel: usize) -> Result<f64, Fault>;
    /// Tunes it. Returns the frequency that it has then.
    fn set_frequency(&self, side: Side, channel: usize, hz: f64) -> Result<f64, Fault>;
    /// The gains that it has; from 0 to 0 where it has none.
    fn gains(&self, side: Side, channel: usize) -> Result<Range, Fault>;
    /// Its gain.
    fn gain(&self, side: Side, channel: usize) -> Result<f64, Fault>;
    /// Sets its gain. Returns the one that it has then.
    fn set_gain(&self, side: Side, channel: usize, db: f64) -> Result<f64, Fault>;
    /// Its antennas.
    fn antennas(&self, side: Side, channel: usize) -> Result<Vec<String>, Fault>;
    /// The antenna in use.
    fn antenna(&self, side: Side, channel: usize) -> Result<String, Fault>;
    /// Chooses an antenna.
    fn set_antenna(&self, side: Side, channel: usize, name: &str) -> Result<(), Fault>;
    /// The clock from which it makes its rates; `None`: the driver does not say.
    fn master_clock_hz(&self) -> Result<Option<f64>, Fault>;
    /// Its clock, nanoseconds; `None`: it has none that can be read.
    fn time_ns(&self) -> Result<Option<i64>, Fault>;
    /// Makes a receive stream. `wire`: the format between device and host, for drivers that have a choice.
    fn rx_port(&self, channels: &[usize], format: StreamFormat, wire: Option<&str>) -> Result<Box<dyn RxPort>, Fault>;
    /// Makes a transmit stream; `wire` as in [`Device::rx_port`].
    fn tx_port(&self, channels: &[usize], format: StreamFormat, wire: Option<&str>) -> Result<Box<dyn TxPort>, Fault>;
}

/// A receive stream of a device. It ends when it is dropped.
pub trait RxPort: Send {
    /// Samples that the driver hands over at once.
    fn mtu(&self) -> Result<usize, Fault>;
    /// Starts it.
    fn activate(&mut self) -> Result<(), Fault>;
    /// Stops it; it may be started again.
    fn deactivate(&mut self) -> Result<(), Fault>;
    /// Fills `out[channel][sample]`, full scale 1.0, all channels alike, as far as samples come within `wait`. How many did.
    fn read(&mut self, out: &mut [&mut [Complex32]], wait: Duration) -> Result<usize, Fault>;
    /// The time stamp that the last read left, nanoseconds; as before where the driver gave none.
    fn time_ns(&self) -> i64;
}

/// A transmit stream of a device. It ends when it is dropped.
pub trait TxPort: Send {
    /// Samples that the driver takes at once.
    fn mtu(&self) -> Result<usize, Fault>;
    /// Starts it.
    fn activate(&mut self) -> Result<(), Fault>;
    /// Stops it.
    fn deactivate(&mut self) -> Result<(), Fault>;
    /// Sends `samples[channel][sample]`, all channels alike, the first at a time of the device's clock or at once. How many of each
    /// were taken within `wait`. `ends`: the last one ends a burst.
    fn write(
        &mut self,
        samples: &[&[Complex32]],
        at_ns: Option<i64>,
        ends: bool,
        wait: Duration,
    ) -> Result<usize, Fault>;
    /// The next report about what was sent, if one comes within `wait`.
    fn status(&mut self, wait: Duration) -> Status;
}

/// A report about what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The fault, if something went wrong. `NotSupported`: the driver never reports anything.
    pub outcome: Result<(), Fault>,
    /// The channels it is about, a bit each.
    pub channel_mask: usize,
    /// A burst has ended.
    pub ended_burst: bool,
    /// When, nanoseconds of the device's clock, if the driver says so.
    pub time_ns: Option<i64>,
}

/// The direction in words.
pub(crate) const fn way(side: Side) -> &'static str {
    match side {
        Side::Rx => "receive",
        Side::Tx => "transmit",
    }
}
