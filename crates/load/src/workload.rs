//! The contract of a workload.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_udp::DEFAULT_PORT;

use crate::emulated::Played;
use crate::excluded::ExcludedSpans;
use crate::lent::Lent;
use crate::quantity::Quantity;
use crate::setting::{Setting, Settings};

/// Workload that is run at a point of an experiment: what can be set, how it is run, what its result says.
///
/// A workload is one folder of this crate and one line of [`WorkloadKind`](crate::WorkloadKind). It measures; it never
/// judges. Whoever runs it asks here what it needs, and never which one it is: a method that has a default is for the few
/// workloads that differ.
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

    /// Expected time of a round, as far as that is known before.
    fn about(&self, settings: &Settings) -> Duration {
        settings.span("duration") + settings.span("warm_up")
    }

    /// Whether it sends samples to a radio.
    fn transmits(&self, settings: &Settings) -> bool {
        let _ = settings;
        self.facts().peer == Peer::Radio
    }

    /// The signal that its emulated radio plays.
    fn played(&self, settings: &Settings) -> Played {
        let _ = settings;
        Played::Usual
    }

    /// The air in which its emulated radios stand, the first of them at `radio`; `None`: one radio by itself.
    fn air(&self, settings: &Settings, radio: Ipv4Addr) -> Option<EmulatedAir> {
        let _ = (settings, radio);
        None
    }

    /// The settings by which the point is measured once more in the same round, after `times` times: this machine did not keep up.
    /// The result of the first time gets the others' in its list `slower`; the round is judged by the first.
    fn again(&self, settings: &Settings, times: usize, result: &Value) -> Option<Settings> {
        let _ = (settings, times, result);
        None
    }

    /// Time from one turn of its emulated radio to the next, microseconds; `None`: the usual one. `real_time`: the emulator has
    /// real-time priority.
    fn beat_us(&self, settings: &Settings, real_time: bool) -> Option<u32> {
        let _ = (settings, real_time);
        None
    }

    /// Whether its processes need CPUs that no other process may use, as under `SCHED_DEADLINE`.
    fn needs_exclusive_cpus(&self, settings: &Settings) -> bool {
        let _ = settings;
        false
    }

    /// The CPUs that a disturbance gets, of those of the host side.
    ///
    /// # Errors
    /// The workload wants some for itself, and there are too few.
    fn disturbed_cpus(&self, settings: &Settings, host_cpus: &[usize]) -> Result<Vec<usize>, Failure> {
        let _ = settings;
        Ok(host_cpus.to_vec())
    }

    /// Whether stops of the host side explain what it loses: takt looks for them while it runs, and an experiment can cause
    /// some (settings `hog`, `freeze`, `stall`).
    fn is_hurt_by_stops(&self) -> bool {
        false
    }

    /// Whether an experiment can limit the CPU time of its host side (setting `cpu_quota`). Its result then has
    /// `/cpu/host_seconds` and `/wall_s`, since a quota is a share of what it takes without one.
    fn takes_cpu_quota(&self) -> bool {
        false
    }

    /// Whether datagrams that its emulated radio did not read in time are among the faults of its result, and excluded there.
    /// Else a round that has some does not count.
    fn excludes_unread_datagrams(&self) -> bool {
        false
    }

    /// The work that a lab elsewhere may have it do on a node of a cluster; `None`: nothing. Then it reads files of the node,
    /// reaches other machines from it, or nobody has thought about it.
    fn lent(&self) -> Option<Lent> {
        None
    }

    /// Runs a round by its options document; returns its result document.
    ///
    /// # Errors
    /// Why there is no result, and what to do about it.
    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure>;

    /// Loss of a round, by its result and what its radio says of itself; `None`: nothing that this workload counts can
    /// be lost.
    fn lost(&self, result: &Value, radio: &ExcludedSpans) -> Option<Lost> {
        let _ = (result, radio);
        None
    }

    /// The fate of the share that [`Workload::lost`] counts, in a word after a number.
    fn lost_is(&self) -> &'static str {
        "lost"
    }

    /// Share of a round that is excluded for what takt's own radio did, 0 to 1; `None`: the workload has no such share.
    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        let _ = (result, radio);
        None
    }
}

/// Facts about a workload before any point.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub peer: Peer,
    /// Its settings, beside where it runs.
    pub settings: &'static [Setting],
    /// Quantities of its result; the most telling first.
    pub quantities: &'static [Quantity],
}

/// The other side of the path.
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

/// Several emulated radios, and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedAir {
    /// As `takt emulate --config` reads it.
    pub scene: String,
    /// As `takt emulate --speed` reads it.
    pub speed: String,
}

/// The other side of a workload, and its place.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The radio, or the machine in its place.
    pub addr: Ipv4Addr,
    /// Device of SoapySDR through which it is used; `None`: takt's own driver.
    pub device: Option<&'a str>,
    /// Samples may be sent to it even if it is not takt's own.
    pub transmit: bool,
    /// Cores of the host side.
    pub host_cpus: &'a [usize],
}

impl Target<'_> {
    /// Address at which a server of datagram load listens.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.addr.into(), DEFAULT_PORT)
    }
}

/// Share lost of what a round sent, 0 to 1; of answers, those that came late or never; of slots, those that were
/// missed.
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
