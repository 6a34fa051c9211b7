//! A base station and a terminal of LTE on radios: what [`takt_lte_link`] orders becomes samples of [`takt_lte`]'s channels, on the
//! clock of a radio.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod allocation;
pub mod demo;
mod drive;
pub mod ends;
mod error;
mod open;
mod oscillator;
pub mod pair;
mod ports;
mod processes;
mod reader;
mod resampled;
mod search_thread;
mod sizes;
mod station_core;
mod station_phy;
mod station_receiver;
mod station_threads;
mod station_transmitter;
mod terminal_core;
mod terminal_receiver;
mod terminal_sync;
mod terminal_transmitter;
mod terminal_uplink;
pub mod traffic;
mod watched;

pub use drive::{EndCounts, EndStreams, PacketPort, ThreadUse};
pub use error::AirError;
pub use open::{EndRadio, RadioWish};
pub use ports::{StationTraffic, TerminalTraffic, TrafficPlan, TunCounts, TunPort};
pub use reader::{SampleClock, SubframeRead, SubframeReader};
pub use sizes::{CellSizes, usual_cfi};
pub use station_core::StationCore;
pub use station_phy::{AirSettings, StationPhy};
pub use station_receiver::{PreambleReceiver, StationReceiver};
pub use station_transmitter::StationTransmitter;
pub use terminal_core::{TerminalCore, TerminalStep};
pub use terminal_receiver::{Followed, TerminalReceiver};
pub use terminal_sync::{CellStage, FollowedCell, SyncStep, TerminalCounts, TerminalSettings, TerminalSync};
pub use terminal_transmitter::TerminalTransmitter;
pub use terminal_uplink::TerminalUplink;
pub use watched::{EndProbe, LinkProbe, LinkView, watched_link, watched_station, watched_terminal};
