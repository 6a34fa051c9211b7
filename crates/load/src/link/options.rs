//! Settings of a link.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_lte::Bandwidth;
use takt_lte_link::BearerMode;
use takt_packet::EngineKind;

/// A link to try, and the load that it carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkOptions {
    /// The base station's radio.
    pub station: Ipv4Addr,
    /// The terminal's radio.
    pub terminal: Ipv4Addr,
    /// Resource blocks.
    pub prb: Bandwidth,
    /// Bits of IP packets a second, to the terminal.
    pub down_bps: f64,
    /// Bytes of such a packet, 48 to 1500.
    pub packet_bytes: usize,
    /// How long the load lasts, in the link's own time.
    pub duration: Duration,
    /// How often the link is tried.
    pub attempts: usize,
    /// How long it may take to come up, in its own time.
    pub patience: Duration,
    pub bearer: LinkBearer,
    /// Packet engine of the base station. The terminal has `mmsg`, whatever this is.
    pub engine: EngineKind,
    /// Seconds of the radios in a second of this host.
    pub speed: f64,
    /// Priority of both ends under `SCHED_FIFO`, where the host grants it.
    pub priority: Option<u8>,
    /// Transmit even with a radio that is not takt's own.
    pub transmit: bool,
    /// Whether the point is tried at lower speeds if the ends do not keep up; the lab does that.
    pub falls: bool,
}

/// Whether what is lost on the air is sent again by the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkBearer {
    Am,
    Um,
}

impl From<LinkBearer> for BearerMode {
    fn from(bearer: LinkBearer) -> BearerMode {
        match bearer {
            LinkBearer::Am => BearerMode::Acknowledged,
            LinkBearer::Um => BearerMode::Unacknowledged,
        }
    }
}

impl Default for LinkOptions {
    fn default() -> LinkOptions {
        LinkOptions {
            station: Ipv4Addr::LOCALHOST,
            terminal: super::terminal_radio(Ipv4Addr::LOCALHOST),
            prb: Bandwidth::Prb25,
            down_bps: 1e6,
            packet_bytes: 1400,
            duration: Duration::from_secs(1),
            attempts: 1,
            patience: Duration::from_secs(3),
            bearer: LinkBearer::Am,
            engine: EngineKind::Mmsg,
            speed: 1.0,
            priority: None,
            transmit: false,
            falls: false,
        }
    }
}
