//! What a stream is to be.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_packet::EngineKind;
use takt_radio::n200::{ClockSource, FrameBytes, exact_rate};

use super::RateError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Rx,
    Tx,
    /// Both at once, at the same rate.
    Duplex,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// 16 bits each for I and Q.
    #[default]
    Sc16,
    Sc8,
}

impl WireFormat {
    #[must_use]
    pub fn format(self) -> takt_wire::sample::Format {
        match self {
            WireFormat::Sc16 => takt_wire::sample::Format::Sc16,
            WireFormat::Sc8 => takt_wire::sample::Format::Sc8,
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WireFormat::Sc16 => "sc16",
            WireFormat::Sc8 => "sc8",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    #[default]
    Two,
    One,
}

/// What a stream is to be. Start from [`Options::default`] and change what matters; at least one rate must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    pub addr: IpAddr,
    /// Samples a second to receive, on each channel.
    pub rx_sps: Option<f64>,
    /// Samples a second to transmit.
    pub tx_sps: Option<f64>,
    pub duration: Duration,
    pub warm_up: Duration,
    pub format: WireFormat,
    pub rx_channels: Vec<u8>,
    pub engine: EngineKind,
    /// Let the kernel split aggregates on the way out (UDP GSO).
    pub aggregate: bool,
    /// Largest datagram, bytes; the path is probed up to it.
    pub frame_bytes: usize,
    /// Samples in a datagram; `None` = as many as fit.
    pub samples_per_datagram: Option<usize>,
    /// How long received samples may lie in the socket, so that one wake-up fetches many.
    pub coalesce: Duration,
    /// Receive buffer, bytes, taken by privilege beyond `net.core.rmem_max`; `None` = what an ordinary program gets when it
    /// asks for what UHD asks for.
    pub recv_buffer_bytes: Option<usize>,
    /// The radio plays a `counter`: count samples by their numbers too.
    pub counter: bool,
    pub threads: Threads,
    /// CPUs the streaming threads may use: the first for receiving, the second for transmitting, or the one for both; empty =
    /// those they have.
    pub cpus: Vec<usize>,
    /// `SCHED_FIFO` priority of the streaming threads; `None` = the one they have.
    pub priority: Option<u8>,
    pub force: bool,
    /// Send samples even to a radio that is not takt's own.
    pub transmit: bool,
    pub reference: ClockSource,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            addr: Ipv4Addr::LOCALHOST.into(),
            rx_sps: None,
            tx_sps: None,
            duration: Duration::from_secs(10),
            warm_up: Duration::from_millis(500),
            format: WireFormat::Sc16,
            rx_channels: vec![0],
            engine: EngineKind::Mmsg,
            aggregate: false,
            frame_bytes: FrameBytes::ETHERNET.receive,
            samples_per_datagram: None,
            coalesce: Duration::from_millis(2),
            recv_buffer_bytes: None,
            counter: false,
            threads: Threads::Two,
            cpus: Vec::new(),
            priority: None,
            force: false,
            transmit: false,
            reference: ClockSource::Internal,
        }
    }
}

impl Options {
    /// Whether a buffer that was asked for by size is there.
    pub(super) fn check_buffer(&self, granted_bytes: usize) -> Result<(), RateError> {
        match self.recv_buffer_bytes {
            Some(asked_bytes) if granted_bytes < asked_bytes => Err(RateError::Buffer { asked_bytes, granted_bytes }),
            _ => Ok(()),
        }
    }

    /// Whether such a round can be run, as far as that can be known before asking the radio.
    ///
    /// # Errors
    /// `NoRate`, `NoTime` or `Counter`; `Radio` for a rate that no N200 has.
    pub fn check(&self) -> Result<(), RateError> {
        if self.rx_sps.is_none() && self.tx_sps.is_none() {
            return Err(RateError::NoRate);
        }
        if self.duration.is_zero() {
            return Err(RateError::NoTime);
        }
        if self.counter && self.format != WireFormat::Sc16 {
            return Err(RateError::Counter);
        }
        for rate in [self.rx_sps, self.tx_sps].into_iter().flatten() {
            exact_rate(rate)?;
        }
        Ok(())
    }
}
