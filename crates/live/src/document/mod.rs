//! The document `takt.live/1`: every line that either side sends.
//!
//! A process sends [`Line`]s, and a reader sends [`Request`]s. Each is one JSON object with one key, which names its kind:
//! `{"hello":{…}}`, `{"snapshot":{…}}`, `{"set":{…}}`, `{"end":{…}}` from the process, `{"every_ms":50}`,
//! `{"set":{…}}` and `{"taps":[…]}` from the reader. A reader ignores kinds and keys that it does not know.

mod bounded;
mod radio;
mod request;
mod run;
mod tap;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use bounded::cut_text;
pub use radio::{Direction, Letters, Link, Radio};
pub use request::{Request, SetAnswer, SetVariable, Variable, VariableValue};
pub use run::{Component, LatenessBar, Miss, Node, Slots};
pub use tap::{Constellation, FLOOR_DBFS, Spectrum};

/// Name and version of this document.
pub const SCHEMA: &str = "takt.live/1";

/// A line of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Hello(Hello),
    /// Counts of the process, at an instant.
    Snapshot(Box<Snapshot>),
    /// Answer to [`Request::Set`].
    Set(SetAnswer),
    /// The last line; the process closes the connection behind it.
    End(End),
}

/// Introduction of the process. The first line of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`SCHEMA`].
    pub schema: String,
    /// Number of the process, as it sees itself.
    pub pid: u32,
    /// The command that runs.
    pub kind: Kind,
    /// Subject of its work, for people: the radio's address, the waveform's name.
    pub title: String,
    /// The command line, as a person can type it.
    pub command: String,
    /// Version of takt.
    pub version: String,
    /// When it began, ns since 1970 (UTC); absent: the host has no time of day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_unix_ns: Option<u64>,
}

/// The command of a process that shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `takt rate`.
    Rate,
    /// `takt run`.
    Run,
    /// `takt emulate`.
    Emulate,
    /// `takt share`.
    Share,
    /// `takt link`.
    Link,
    /// `takt record`.
    Record,
    /// `takt play`.
    Play,
    /// `takt node`.
    Node,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] =
        [Kind::Rate, Kind::Run, Kind::Emulate, Kind::Share, Kind::Link, Kind::Record, Kind::Play, Kind::Node];

    /// As in the document, in the socket's name, and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rate => "rate",
            Kind::Run => "run",
            Kind::Emulate => "emulate",
            Kind::Share => "share",
            Kind::Link => "link",
            Kind::Record => "record",
            Kind::Play => "play",
            Kind::Node => "node",
        }
    }
}

/// Counts of a process, at an instant. They are since it began and never fall. A list that is absent is empty: the process
/// has none. Anything else that is absent is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was taken, ns since the process began, by its monotonic clock.
    pub t_ns: u64,
    /// Seconds of the radio's time in a second of the host's: 1, unless an emulated radio is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// One entry a radio and direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<Radio>,
    /// The beat of a waveform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// Components of a waveform, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
    /// Links over the air, one entry a terminal and direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Nodes of the cluster, this one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Variables that a reader can read, and perhaps set, while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// Outputs of components that a reader can tap, as `COMPONENT.OUTPUT`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Spectra of the samples, one a tap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spectra: Vec<Spectrum>,
    /// Received symbols, one entry a tap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constellations: Vec<Constellation>,
    /// Entries of all these lists that exceed their [`limits`](crate::limits) and are not here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// The last line of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Why there is nothing more, for people: `the process has ended`, `16 readers already watch`.
    pub why: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
