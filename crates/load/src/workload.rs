//! The contract of a workload.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_udp::DEFAULT_PORT;

use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{Setting, Settings};

/// What is run at a point of an experiment: what can be set, how it is run, what its result says.
///
/// A workload is one folder of this crate and one line of [`Kind`](crate::Kind). It measures; it never judges.
pub trait Workload: Sync {
    fn facts(&self) -> Facts;

    /// The options document of a point.
    ///
    /// # Errors
    /// A file that the point names can't be read; a level that this workload can't read.
    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure>;

    /// A setting that another one rules out, what is wrong, and what would fit; `None`: all go together.
    fn contradiction(&self, settings: &Settings) -> Option<Contradiction> {
        let _ = settings;
        None
    }

    /// What a round takes, as far as that is known before.
    fn about(&self, settings: &Settings) -> Duration {
        settings.span("duration") + settings.span("warm_up")
    }

    /// Whether it sends samples to a radio.
    fn transmits(&self, settings: &Settings) -> bool {
        let _ = settings;
        self.facts().peer == Peer::Radio
    }

    /// Runs a round by its options document; returns its result document.
    ///
    /// # Errors
    /// Why there is no result, and what to do about it.
    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure>;

    /// What a round lost, by its result and what its radio says of itself; `None`: nothing that this workload counts can be
    /// lost.
    fn lost(&self, result: &Value, radio: &ExcludedSpans) -> Option<Lost> {
        let _ = (result, radio);
        None
    }

    /// Share of a round that is excluded for what takt's own radio did, 0 to 1; `None`: the workload has no such share.
    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        let _ = (result, radio);
        None
    }
}

/// What is known of a workload before any point.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub peer: Peer,
    /// What can be set, beside where it runs.
    pub settings: &'static [Setting],
    /// What its result says; the most telling first.
    pub quantities: &'static [Quantity],
}

/// What answers on the other side of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// None: there is no path.
    None,
    Radio,
    Server,
    /// A second node, which executes a part of the waveform.
    Node,
}

/// Two settings of a point that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The one to change.
    pub setting: &'static str,
    pub what: String,
    pub remedy: String,
}

/// What a workload runs against, and where.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The radio, or the machine in its place.
    pub addr: Ipv4Addr,
    /// Samples may be sent to it even if it is not takt's own.
    pub transmit: bool,
    /// Cores of the host side.
    pub host_cpus: &'a [usize],
}

impl Target<'_> {
    /// Where a server of datagram load listens.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.addr.into(), DEFAULT_PORT)
    }
}

/// What a round lost of what was sent, 0 to 1; of answers, those that came late or never; of slots, those that were missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lost {
    /// All of it.
    pub share: f64,
    /// The same; 0 where all of it may be the radio's doing.
    pub own_share: f64,
}

impl Lost {
    /// By the host, all of it.
    #[must_use]
    pub fn own(share: f64) -> Lost {
        Lost { share, own_share: share }
    }
}

/// A document that came from elsewhere.
pub(crate) fn read<T: DeserializeOwned>(what: &str, document: Value) -> Result<T, Failure> {
    serde_json::from_value(document).map_err(|error| Failure::saying(format!("{what}: {error}")))
}

pub(crate) fn write(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document).map_err(|error| Failure::of(&error, None))
}
