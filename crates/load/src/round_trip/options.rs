//! Options of a round of answers.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_packet::EngineKind;
use takt_radio::Model;

use crate::rate::{RateError, check_rate};

/// The options of a round of answers. Start from [`RoundTripOptions::default`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundTripOptions {
    pub addr: IpAddr,
    /// The radio's model; `None`: any that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// Samples a second, both ways.
    pub rate_sps: f64,
    /// From the last sample of a block to the first of its answer. Several are taken in turn, answer by answer, so that what
    /// drifts hits all alike.
    pub delays: Vec<Duration>,
    pub duration: Duration,
    pub warm_up: Duration,
    /// Samples in a block; `None` = a datagram's worth.
    pub block_samples: Option<usize>,
    pub engine: EngineKind,
    /// CPU for the thread, the first of these; empty = those it has.
    pub cpus: Vec<usize>,
    /// `SCHED_FIFO` priority of the thread; `None` = the one it has.
    pub priority: Option<u8>,
    pub force: bool,
    pub transmit: bool,
}

impl Default for RoundTripOptions {
    fn default() -> RoundTripOptions {
        RoundTripOptions {
            addr: Ipv4Addr::LOCALHOST.into(),
            model: None,
            rate_sps: 5e6,
            delays: vec![Duration::from_millis(1)],
            duration: Duration::from_secs(5),
            warm_up: Duration::from_millis(500),
            block_samples: None,
            engine: EngineKind::Mmsg,
            cpus: Vec::new(),
            priority: None,
            force: false,
            transmit: false,
        }
    }
}

impl RoundTripOptions {
    /// Whether such a round can be run, as far as that can be known before asking the radio.
    ///
    /// # Errors
    /// `NoTime` without a duration or a delay; `Radio` for a rate that the radio does not have or an empty block.
    pub fn check(&self) -> Result<(), RateError> {
        if self.duration.is_zero() || self.delays.is_empty() {
            return Err(RateError::NoTime);
        }
        if self.block_samples == Some(0) {
            let what = "samples in a block";
            return Err(takt_radio::RadioError::Range { what, got: 0.0, low: 1.0, high: 1e9 }.into());
        }
        check_rate(self.model, self.rate_sps)?;
        Ok(())
    }
}
