//! Options of a stream.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(feature = "clap")]
use takt_base::{QuantityError, parse_bytes, parse_duration, parse_ip, parse_number};
#[cfg(feature = "clap")]
use takt_host::policy::PolicySpec;
use takt_packet::EngineKind;
use takt_radio::calibration::CalibrationUse;
use takt_radio::n200::{ClockSource, exact_rate};
use takt_radio::{Model, x310};
use takt_wire::sample::Format;

use super::intervals::{MOST, SHORTEST};
use super::{CALL_DATAGRAMS, RateError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Rx,
    Tx,
    /// Both at once, at the same rate.
    Duplex,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    #[cfg_attr(feature = "clap", value(name = "1"))]
    One,
    #[default]
    #[cfg_attr(feature = "clap", value(name = "2"))]
    Two,
}

/// The options of a stream. Start from [`RateOptions::default`], which the flags of `takt rate` have as well, and change
/// what matters; at least one rate must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct RateOptions {
    /// Address of the radio.
    #[cfg_attr(feature = "clap", arg(long, default_value = "127.0.0.1", value_parser = parse_ip))]
    pub addr: IpAddr,
    /// The radio's model; `None`: any that answers.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// Device of SoapySDR instead of the radio at `addr`, as a user names it; `None`: takt's own driver.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Rate to receive, in samples/s: 100 MHz (X310: 200 or 184.32 MHz) divided by a whole number.
    // On each channel.
    #[cfg_attr(feature = "clap", arg(long = "rx", value_name = "RATE", value_parser = parse_number))]
    pub rx_sps: Option<f64>,
    /// Rate to transmit, in samples/s.
    // On each channel.
    #[cfg_attr(feature = "clap", arg(long = "tx", value_name = "RATE", value_parser = parse_number))]
    pub tx_sps: Option<f64>,
    /// How long to measure.
    #[cfg_attr(feature = "clap", arg(long, short = 't', value_name = "TIME", default_value = "10s", value_parser = parse_duration))]
    pub duration: Duration,
    /// How long to stream before the measurement begins.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration))]
    pub warm_up: Duration,
    /// Print a line for each interval of this length, at least 100ms, as it ends.
    #[cfg_attr(feature = "clap", arg(long, short = 'i', value_name = "TIME", value_parser = parse_duration))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Packet engine.
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            help = format!("Packet engine: {}. Not with --device", EngineKind::FORMS),
            value_name = "ENGINE",
            default_value = "mmsg"
        )
    )]
    pub engine: EngineKind,
    /// Sample format on the wire: sc16 or sc8.
    #[cfg_attr(feature = "clap", arg(long = "wire", value_name = "FORMAT", default_value = "sc16"))]
    pub format: Format,
    /// Center frequency of both directions in Hz (N200, or with --device).
    #[cfg_attr(feature = "clap", arg(long = "freq", value_name = "HZ", value_parser = parse_number))]
    pub frequency_hz: Option<f64>,
    /// Gain of both directions in dB (N200, or with --device).
    #[cfg_attr(feature = "clap", arg(long = "gain", value_name = "DB"))]
    pub gain_db: Option<f64>,
    /// Antenna (N200, or with --device) of the receiver with --rx, otherwise of the transmitter. `takt probe` lists them.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub antenna: Option<String>,
    /// Receive channels: 0, 1 or 0,1.
    #[cfg_attr(feature = "clap", arg(long = "channels", value_name = "N", default_value = "0", value_delimiter = ','))]
    pub rx_channels: Vec<u8>,
    /// Transmit channels (X310 only): 0, 1 or 0,1.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value = "0", value_delimiter = ','))]
    pub tx_channels: Vec<u8>,
    /// Largest datagram to use, if the path carries it [default: 1472; X310: 8000].
    #[cfg_attr(feature = "clap", arg(long = "frame", value_name = "BYTES", value_parser = bytes))]
    pub frame_bytes: Option<usize>,
    /// Samples per datagram [default: as many as fit].
    #[cfg_attr(feature = "clap", arg(long = "spp", value_name = "N"))]
    pub samples_per_datagram: Option<usize>,
    /// Let the kernel split and join aggregates of datagrams (UDP GSO and GRO).
    #[cfg_attr(feature = "clap", arg(long))]
    pub aggregate: bool,
    /// Longest time that received samples may wait, so that one wake-up fetches a batch. With 0s, takt wakes up for each
    /// datagram.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value = "2ms", value_parser = parse_duration))]
    pub coalesce: Duration,
    /// Poll for samples instead of sleeping. Uses a whole core; with --engine xdp, also does the driver's work.
    #[cfg_attr(feature = "clap", arg(long))]
    pub busy_poll: bool,
    /// Datagrams' worth of samples that a call asks for; 1: each datagram is handed over as it comes.
    #[cfg_attr(feature = "clap", arg(skip = CALL_DATAGRAMS))]
    pub call_datagrams: usize,
    /// Size of the socket's receive buffer. CAP_NET_ADMIN allows more than net.core.rmem_max [default: what an ordinary program
    /// gets].
    // That is what the kernel gives one that asks for what UHD asks for.
    #[cfg_attr(feature = "clap", arg(long = "recv-buffer", value_name = "BYTES", value_parser = bytes))]
    pub recv_buffer_bytes: Option<usize>,
    /// The radio plays a `counter`: count samples by their numbers too.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub counter: bool,
    /// Number of streaming threads: one for each direction, or one for both.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value = "2"))]
    pub threads: Threads,
    /// Cores for the streaming threads, the receiving one first [default: any]. Not with --device.
    // One core alone is for both; without any they keep those they have.
    #[cfg_attr(feature = "clap", arg(long = "cores", value_name = "CORES", value_delimiter = ','))]
    pub cpus: Vec<usize>,
    /// Scheduling policy of the streaming threads: other, or fifo:PRIORITY. Not with --device.
    // The type is written out so that `other` is a value, and not the lack of one.
    #[cfg_attr(feature = "clap", arg(long = "policy", value_name = "POLICY", default_value = "other", value_parser = PolicySpec::fifo_priority))]
    pub priority: std::option::Option<u8>,
    /// Clock reference of the radio: internal, external or mimo. External and mimo must lock. Not with --device.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SOURCE", default_value = "internal"))]
    pub reference: ClockSource,
    /// Calibration files to apply when tuning (N200 only): uhd (those of `takt radio calibrate` and UHD) or off.
    // An experiment applies none: its result does not depend on files of a user.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILES", default_value = "uhd"))]
    #[serde(default, skip_serializing_if = "CalibrationUse::is_off")]
    pub calibration: CalibrationUse,
    /// Transmit even if the radio is not takt's emulator.
    #[cfg_attr(feature = "clap", arg(long))]
    pub transmit: bool,
    /// Take over the radio even if another host uses it.
    #[cfg_attr(feature = "clap", arg(long))]
    pub force: bool,
}

#[cfg(feature = "clap")]
fn bytes(text: &str) -> Result<usize, QuantityError> {
    parse_bytes(text).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

impl Default for RateOptions {
    fn default() -> RateOptions {
        RateOptions {
            addr: Ipv4Addr::LOCALHOST.into(),
            model: None,
            device: None,
            rx_sps: None,
            tx_sps: None,
            duration: Duration::from_secs(10),
            warm_up: Duration::from_millis(500),
            interval: None,
            format: Format::Sc16,
            frequency_hz: None,
            gain_db: None,
            antenna: None,
            rx_channels: vec![0],
            tx_channels: vec![0],
            engine: EngineKind::Mmsg,
            aggregate: false,
            frame_bytes: None,
            samples_per_datagram: None,
            coalesce: Duration::from_millis(2),
            busy_poll: false,
            call_datagrams: CALL_DATAGRAMS,
            recv_buffer_bytes: None,
            counter: false,
            threads: Threads::Two,
            cpus: Vec::new(),
            priority: None,
            force: false,
            transmit: false,
            reference: ClockSource::Internal,
            calibration: CalibrationUse::Off,
        }
    }
}

/// Whether the radio that was opened is the one that is wanted.
///
/// # Errors
/// `OtherModel` if it is not.
pub(crate) fn check_model(wanted: Option<Model>, is: Model, addr: IpAddr) -> Result<(), RateError> {
    match wanted {
        Some(wanted) if wanted != is => Err(RateError::OtherModel { addr, is, wanted }),
        _ => Ok(()),
    }
}

/// Whether such a radio makes a rate exactly; `None`: any of them.
///
/// # Errors
/// `Radio` if it does not.
pub(crate) fn check_rate(model: Option<Model>, rate_sps: f64) -> Result<(), RateError> {
    let [n200, x310] = [|sps| exact_rate(sps).map(drop), |sps| x310::exact_rate(sps).map(drop)];
    Ok(match model {
        Some(Model::N200) => n200(rate_sps),
        Some(Model::X310) => x310(rate_sps),
        // Which radio it is, nobody knows yet.
        None => n200(rate_sps).or_else(|error| x310(rate_sps).map_err(|_| error)),
    }?)
}

impl RateOptions {
    /// Whether a buffer that was requested by size is there.
    pub(super) fn check_buffer(&self, granted_bytes: usize) -> Result<(), RateError> {
        match self.recv_buffer_bytes {
            Some(requested_bytes) if granted_bytes < requested_bytes => {
                Err(RateError::Buffer { requested_bytes, granted_bytes })
            }
            _ => Ok(()),
        }
    }

    fn takes_interval(&self, interval: Duration) -> bool {
        interval >= SHORTEST && self.duration.as_nanos() / interval.as_nanos() <= MOST
    }

    /// Whether such a round can be run, as far as that can be known before asking the radio.
    ///
    /// # Errors
    /// `NoRate`, `NoTime`, `Interval` or `Counter`; `Radio` for a rate that no radio has.
    pub fn check(&self) -> Result<(), RateError> {
        if self.rx_sps.is_none() && self.tx_sps.is_none() {
            return Err(RateError::NoRate);
        }
        if self.duration.is_zero() {
            return Err(RateError::NoTime);
        }
        if let Some(interval) = self.interval.filter(|interval| !self.takes_interval(*interval)) {
            return Err(RateError::Interval { interval, duration: self.duration });
        }
        if self.counter && self.format != Format::Sc16 {
            return Err(RateError::Counter);
        }
        for rate in [self.rx_sps, self.tx_sps].into_iter().flatten() {
            check_rate(self.model, rate)?;
        }
        Ok(())
    }
}
