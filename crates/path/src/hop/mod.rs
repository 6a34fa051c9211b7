//! A hop between two interfaces of this machine: frames in by one, through the [`model`](crate::model), out by the other.
//!
//! One thread, memory taken when it is opened, no lock that it could wait for, no log. It sleeps until something arrives
//! or is due; how late frames left is in its report, and what it lost by being late or short of memory is counted apart
//! from what the model drops.

mod frames;
mod report;
mod thread;

use serde::{Deserialize, Serialize};

use crate::model::HopSpec;
pub use report::{Lateness, Report};
pub use thread::Hop;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HopOptions {
    pub spec: HopSpec,
    /// Its interfaces. Everything that crosses them belongs to the hop, so the kernel should have no address there.
    pub ports: [String; 2],
    /// The largest packet, without the Ethernet header, bytes.
    pub mtu_bytes: u32,
    /// Buffer in the kernel before each port, bytes as the kernel counts them (about 768 for a small frame). Large, where
    /// the model has the device's buffers in it; where the hop itself is the device it is the ring of its network card.
    pub buffer_bytes: u32,
    /// Real-time priority of its thread; refused or `None`: none, and the report says so.
    pub priority: Option<u8>,
}

/// A buffer that is never the limit while the hop gets its share of a processor.
pub const LARGE_BUFFER_BYTES: u32 = 8 << 20;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HopError {
    /// Packet sockets are for the privileged.
    #[error("a hop needs CAP_NET_RAW, which this process lacks")]
    NotPermitted,
    #[error("a hop can't use interface {name}")]
    Port { name: String, source: std::io::Error },
}
