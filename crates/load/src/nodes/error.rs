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
    #[error("takt can't split the waveform")]
    Share(#[from] ShareError),
    #[error("takt can't open the packet engine of the bridges")]
    Bridges(#[from] EngineError),
    #[error("takt can't reach the second node at {at}")]
    Connect { at: SocketAddr, source: io::Error },
    #[error("the connection to the other node broke")]
    Line(#[source] io::Error),
    #[error("the other node sent {received}; expected: {expected}")]
    Unexpected { received: String, expected: &'static str },
    #[error("the second node failed: {0}")]
    Refused(Failure),
    #[error("{other} asked for datagrams to {at}, which is not its address, so takt sends nothing there")]
    Elsewhere { at: SocketAddr, other: IpAddr },
    #[error("no component is called `{name}`")]
    NoComponent { name: String },
    #[error("`{name}` is the last component, so none is left for the second node")]
    NothingLeft { name: String },
    #[error("one node has all components, so nothing would cross the cable")]
    OneNode,
    #[error("the second node was ready {late_ms} ms after the first slot")]
    Late { late_ms: u64 },
    #[error("the second node can't follow the clock of the first node")]
    Clock(#[source] io::Error),
    #[error("{slots} slots of {slot_us} µs take longer than 1 h, the most that a node gives a run")]
    TooLong { slots: u64, slot_us: f64 },
    #[error("takt can't place a thread")]
    Place(#[from] AffinityError),
    #[error("takt can't calibrate the nodes")]
    Calibration(#[from] CalibrationError),
    #[error("takt can't measure the costs of the components")]
    Costs(#[from] CostsError),
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error(transparent)]
    Map(#[from] MapError),
}

impl NodesError {
    /// The fix, if there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            NodesError::Waveform(error) => error.fix(),
            NodesError::Share(error) => Some(error.fix()),
            NodesError::Refused(failure) => failure.fix.clone(),
            NodesError::Costs(error) => error.fix(),
            NodesError::Map(error) => Some(error.fix()),
            NodesError::NoComponent { .. } | NodesError::NothingLeft { .. } => {
                Some("set cut = \"mapper\", or to a component of the chain that is not its last".to_owned())
            }
            NodesError::OneNode => Some("set cut to the last component that the first node is to have".to_owned()),
            NodesError::TooLong { .. } => Some("give fewer slots".to_owned()),
            NodesError::Late { .. } => Some("end other programs on both nodes, then run it again".to_owned()),
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
