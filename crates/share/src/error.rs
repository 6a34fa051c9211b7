//! Why a front end can't be shared.

use std::net::Ipv4Addr;

use takt_base::Tick;
use takt_emulator::n200::OptionsError;
use takt_packet::EngineError;
use takt_radio::RadioError;

use crate::carriage::CarriageError;

/// Why a front end can't be shared, or is not any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The physical radio.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// A shared radio's serial or name.
    #[error("radio `{name}` can't have this identity")]
    Identity {
        /// In the file.
        name: String,
        /// Why it is refused.
        #[source]
        source: Box<OptionsError>,
    },
    /// A shared radio's ports.
    #[error("takt can't open the ports of the radio at {addr}")]
    Ports {
        /// Its address.
        addr: Ipv4Addr,
        /// Why.
        #[source]
        source: EngineError,
    },
    /// Somebody has set the front end's clock.
    #[error("the front end's time jumped from tick {} to tick {}", .from.0, .to.0)]
    Jump {
        /// The last tick.
        from: Tick,
        /// The next.
        to: Tick,
    },
    /// A shared radio is where the physical one is.
    #[error("radio `{name}` has the address of the front end, {addr}")]
    OwnAddress {
        /// In the file.
        name: String,
        /// Address of both.
        addr: Ipv4Addr,
    },
    /// An X310 at another clock than shared radios count.
    #[error("the front end's clock runs at {clock_hz} Hz; shared radios need 100 MHz or 200 MHz")]
    Clock {
        /// Clock rate of the X310.
        clock_hz: u32,
    },
    /// An X310's rate of which an N200 has no tick.
    #[error("the front end's rate, {rate_sps} S/s, is not 100 MHz divided by a whole number")]
    Step {
        /// Samples per second.
        rate_sps: f64,
    },
    /// takt has no driver for the boards of an X310.
    #[error("policy `{policy}` tunes the front end, but takt can't tune an X310")]
    Immovable {
        /// By name.
        policy: &'static str,
    },
    /// A radio that can never receive anything.
    #[error("radio `{name}` may use {:.6} to {:.6} MHz; the front end carries {:.6} to {:.6} MHz", .wants_hz[0] / 1e6, .wants_hz[1] / 1e6, .has_hz[0] / 1e6, .has_hz[1] / 1e6)]
    OutOfBand {
        /// In the file.
        name: String,
        /// Its limits.
        wants_hz: [f64; 2],
        /// The front end's band.
        has_hz: [f64; 2],
        /// The nearest centre at which it fits, Hz.
        nearest_hz: f64,
    },
    /// More than this host computes.
    #[error("the front end and {radios} radios need {needed:.2} cores, but --budget allows {allowed:.2}")]
    Cpu {
        /// In the file.
        radios: usize,
        /// Cores, of the front end and all of them.
        needed: f64,
        /// Cores.
        allowed: f64,
        /// How many of them fit, in the order of the file.
        fitting: usize,
        /// The highest front end rate with which all fit, samples per second; `None`: not even the lowest.
        fitting_rate_sps: Option<f64>,
    },
    /// The cost of datagrams can't be measured.
    #[error("takt can't measure the CPU cost of datagrams on this host")]
    Carriage(#[from] CarriageError),
    /// A radio more than this host computes.
    #[error("with radio `{name}`, front end and radios need {needed:.2} cores, but --budget allows {allowed:.2}")]
    NoRoom {
        /// The radio that is to be added.
        name: String,
        /// Cores, of all of them.
        needed: f64,
        /// Cores.
        allowed: f64,
        /// The highest rate of that radio with which all fit, samples per second; `None`: not even the lowest.
        fitting_rate_sps: Option<f64>,
    },
    /// A radio that is to transmit behind a front end that does not.
    #[error("radio `{name}` has transmit = true, but takt opened the front end to receive only")]
    ReceiveOnly {
        /// The radio that is to be added.
        name: String,
    },
}

impl ShareError {
    /// The fix; `None`: the cause says it.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            ShareError::OwnAddress { .. } => "give each radio its own address".to_owned(),
            ShareError::Clock { .. } => "set the X310's master clock to 200 MHz".to_owned(),
            ShareError::Step { .. } => "set rate = 10e6".to_owned(),
            ShareError::Immovable { .. } => "set policy = \"fixed\"".to_owned(),
            ShareError::OutOfBand { nearest_hz, .. } => {
                format!(
                    "set frequency = {nearest_hz}   (of the front end)\nset policy = \"first\"   (the front end then \
                     follows)"
                )
            }
            ShareError::Cpu { fitting, fitting_rate_sps, .. } => {
                let fewer = (*fitting > 0).then(|| format!("keep only the first {fitting} radios of the file"));
                let rate = fitting_rate_sps
                    .map(|rate_sps| format!("set rate = {rate_sps}   (of the front end: all radios fit)"));
                let ways: Vec<String> = fewer.into_iter().chain(rate).collect();
                if ways.is_empty() { "run takt share on a faster host".to_owned() } else { ways.join("\n") }
            }
            ShareError::NoRoom { fitting_rate_sps, .. } => {
                let rate =
                    fitting_rate_sps.map(|rate_sps| format!("set rate = {rate_sps}   (of this radio: it fits)\n"));
                format!("{}remove another radio first: takt share remove NAME", rate.unwrap_or_default())
            }
            ShareError::ReceiveOnly { .. } => {
                "set transmit = false\nstart takt share with a radio that has transmit = true".to_owned()
            }
            ShareError::Carriage(_) => "let this host send UDP datagrams from 127.0.0.1 to itself".to_owned(),
            ShareError::Jump { .. } => "let no other program set the front end's clock while it is shared".to_owned(),
            ShareError::Radio(_) | ShareError::Identity { .. } | ShareError::Ports { .. } => return None,
        })
    }
}
