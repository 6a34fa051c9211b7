//! Why a waveform can't be run on two nodes.

use std::io;
use std::net::{IpAddr, SocketAddr};

use takt_agent::Failure;
use takt_graph::{GraphError, PlanError, ShareError};
use takt_host::affinity::AffinityError;
use takt_mapper::{CalibrationError, MapError, PlatformError};
use takt_packet::EngineError;
use takt_runtime::costs::CostsError;
use takt_runtime::{NameTaken, OpenError, StartError};

use crate::waveform::WaveformError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    #[error(transparent)]
    Waveform(#[from] WaveformError),
    #[error("parting the waveform")]
    Share(#[from] ShareError),
    #[error("bridges")]
    Bridges(#[from] EngineError),
    #[error("the second node at {at}")]
    Connect { at: SocketAddr, source: io::Error },
    #[error("speaking with the other node")]
    Line(#[source] io::Error),
    #[error("the other node sent {received}, where {expected} was due")]
    Unexpected { received: String, expected: &'static str },
    #[error("the second node: {0}")]
    Refused(Failure),
    #[error("{at} is not at {other}, which asks: nothing is sent there")]
    Elsewhere { at: SocketAddr, other: IpAddr },
    #[error("no component is called `{name}`")]
    NoComponent { name: String },
    #[error("`{name}` is the last: nothing is left for the second node")]
    NothingLeft { name: String },
    #[error("one node has all components: nothing would cross the cable")]
    OneNode,
    #[error("the second node was ready {late_ms} ms after the first slot")]
    Late { late_ms: u64 },
    #[error("the clock of the first node")]
    Clock(#[source] io::Error),
    #[error("{slots} slots of {slot_us} µs: more than the hour that a node gives a run")]
    TooLong { slots: u64, slot_us: f64 },
    #[error("placing a thread")]
    Place(#[from] AffinityError),
    #[error("what the nodes can do")]
    Calibration(#[from] CalibrationError),
    #[error("what components cost")]
    Costs(#[from] CostsError),
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error(transparent)]
    Map(#[from] MapError),
}

impl NodesError {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            NodesError::Waveform(error) => error.fix(),
            NodesError::Share(error) => Some(error.fix()),
            NodesError::Refused(failure) => failure.fix.clone(),
            NodesError::Costs(error) => error.fix(),
            NodesError::Map(error) => Some(error.fix()),
            NodesError::NoComponent { .. } | NodesError::NothingLeft { .. } => {
                Some("cut = \"mapper\", or a component of the chain that is not its last".to_owned())
            }
            NodesError::OneNode => Some("cut = the last component that the first node is to have".to_owned()),
            NodesError::TooLong { .. } => Some("fewer slots".to_owned()),
            _ => None,
        }
    }
}

macro_rules! of_waveforms {
    ($($error:ty),+) => {
        $(impl From<$error> for NodesError {
            fn from(error: $error) -> NodesError {
                NodesError::Waveform(error.into())
            }
        })+
    };
}

of_waveforms!(GraphError, PlanError, OpenError, StartError, NameTaken);
