//! The contract of a workload.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_packet::EngineKind;
use takt_radio::Model;
use takt_udp::DEFAULT_PORT;

use crate::emulated::Played;
use crate::excluded::ExcludedSpans;
use crate::lent::Lent;
use crate::programs::SharedRadios;
use crate::quantity::Quantity;
use crate::rate::Stream;
use crate::setting::{Setting, Settings, UnknownLevel};

/// Workload of experiments: what can be set, how it is run, what its result says.
///
/// A workload is one folder of this crate and one line of [`WorkloadKind`](crate::WorkloadKind). It measures; it never
/// judges. Whoever runs it asks here what it needs, and never which one it is.
pub trait Workload: Sync {
    fn facts(&self) -> Facts;

    /// The workload with the settings of a point.
    ///
    /// # Errors
    /// A level that a setting accepts and that this workload can't read: a fault of takt.
    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel>;

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

    /// The result of a round from those of its programs ([`PointNeeds::programs`]), and from the summary of their share.
    ///
    /// # Errors
    /// A result can't be read.
    fn joined(&self, results: Vec<Value>, share: Option<&Value>) -> Result<Value, Failure> {
        let _ = share;
        Ok(Value::Array(results))
    }

    /// Share of a round that is excluded for what takt's own radio did, 0 to 1; `None`: the workload has no such share.
    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        let _ = (result, radio);
        None
    }
}

/// A workload with the settings of a point. A method that has a default is for the few workloads that differ.
pub trait PointWorkload: fmt::Debug + Send + Sync {
    /// The options document for [`Workload::run`].
    ///
    /// # Errors
    /// A file that the point names can't be read; what it wants can't be had at this target.
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure>;

    /// Expected time of a round, as far as that is known before.
    fn about(&self) -> Duration;

    /// Its needs of the place where it runs.
    fn needs(&self) -> PointNeeds {
        PointNeeds::default()
    }

    /// A setting that another one rules out, what is wrong, and what would fit; `None`: all go together.
    fn contradiction(&self) -> Option<Contradiction> {
        None
    }

    /// The signal that its emulated radio plays.
    fn played(&self) -> Played {
        Played::Usual
    }

    /// The air in which its emulated radios stand, the first of them at `radio`; `None`: one radio by itself.
    fn air(&self, radio: Ipv4Addr) -> Option<EmulatedAir> {
        let _ = radio;
        None
    }

    /// The radios that are emulated for its programs, and what shares one of them; `front_end` is the first address. `None`: one radio
    /// by itself, or an air.
    fn beside(&self, front_end: Ipv4Addr) -> Option<Beside> {
        let _ = front_end;
        None
    }

    /// The same as it is measured once more in the same round, after `times` times: this machine did not keep up.
    /// The result of the first time gets the others' in its list `slower`; the round is judged by the first.
    fn again(&self, times: usize, result: &Value) -> Option<Box<dyn PointWorkload>> {
        let _ = (times, result);
        None
    }

    /// Time from one turn of its emulated radio to the next, microseconds; `None`: the usual one. `real_time`: the emulator has
    /// real-time priority.
    fn beat_us(&self, real_time: bool) -> Option<u32> {
        let _ = real_time;
        None
    }

    /// The CPUs that a disturbance gets, of those of the host side.
    ///
    /// # Errors
    /// The workload wants some for itself, and there are too few.
    fn disturbed_cpus(&self, host_cpus: &[usize]) -> Result<Vec<usize>, Failure> {
        Ok(host_cpus.to_vec())
    }
}

/// Needs of a point of the place where it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointNeeds {
    /// The radio; `None`: none, or the usual one.
    pub model: Option<Model>,
    /// The stream to or from that radio, if that is all it measures.
    pub stream: Option<Stream>,
    /// It sends no samples to its radio. Otherwise takt asks before it runs with one that is not takt's own.
    pub only_receives: bool,
    /// Packet engine of its host side.
    pub engine: Option<EngineKind>,
    /// Payload of each datagram, where all have the same.
    pub payload_bytes: Option<usize>,
    /// CPUs that no other process may use, as under `SCHED_DEADLINE`.
    pub exclusive_cpus: bool,
    /// A process of its own each round.
    pub fresh_process: bool,
    /// A second node in the environment of the first; otherwise it is native.
    pub second_node_inside: bool,
    /// Programs at once, each with a network of its own; 0: one, on the path itself. With programs, `options` has those of each in
    /// its list `programs`.
    pub programs: usize,
}

/// Facts about a workload before any point.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub peer: Peer,
    /// Its settings, beside where it runs.
    pub settings: &'static [Setting],
    /// Quantities of its result; the most telling first.
    pub quantities: &'static [Quantity],
    /// Stops of the host side explain what it loses: takt looks for them while it runs, and an experiment can cause some
    /// (settings `hog`, `freeze`, `stall`).
    pub is_hurt_by_stops: bool,
    /// An experiment can limit the CPU time of its host side (setting `cpu_quota`). Its result then has `/cpu/host_seconds` and
    /// `/wall_s`, since a quota is a share of what it takes without one.
    pub takes_cpu_quota: bool,
    /// Datagrams that its emulated radio did not read in time are among the faults of its result, and excluded there. Otherwise
    /// a round that has some does not count.
    pub excludes_unread_datagrams: bool,
    /// takt can measure it through a device of SoapySDR.
    pub runs_through_a_device: bool,
    /// The fate of the share that [`Workload::lost`] counts, in a word after a number.
    pub lost_is: &'static str,
    /// The work that a lab elsewhere may have it do on a node of a cluster; `None`: nothing. Then it reads files of the node,
    /// reaches other machines from it, or nobody has thought about it.
    pub lent: Option<Lent>,
}

impl Facts {
    /// Facts that hold for most workloads.
    pub(crate) const fn of(peer: Peer, settings: &'static [Setting], quantities: &'static [Quantity]) -> Facts {
        Facts {
            peer,
            settings,
            quantities,
            is_hurt_by_stops: false,
            takes_cpu_quota: false,
            excludes_unread_datagrams: false,
            runs_through_a_device: false,
            lost_is: "lost",
            lent: None,
        }
    }
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

/// Emulated radios of several programs, and what shares one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub radios: EmulatedRadios,
    /// `None`: each program has a radio of its own.
    pub share: Option<SharedRadios>,
}

/// Several emulated radios, each by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedRadios {
    pub addrs: Vec<Ipv4Addr>,
    /// The signal of each, as `takt emulate --source` reads it.
    pub sources: Vec<String>,
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
    /// Rate of the cable between the sides, bits a second, where the point sets it.
    pub cable_bps: Option<f64>,
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
