//! The link layer of LTE for takt: what decides which blocks a base station and a terminal exchange, and what they hold.
//!
//! Two state machines, [`BaseStation`] and [`Terminal`]. Each is told once a subframe what its physical layer heard, and says
//! what to send four subframes later. There is no clock, no thread, no radio in them: equal calls give equal answers.
//!
//! Nothing is encrypted, and nobody proves who he is. Anybody who knows the forms of this crate can attach, listen and disturb.

#![warn(missing_docs)]

mod adaptation;
mod clock;
mod config;
mod counters;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod grant;
mod heard;
mod identity;
mod mac;
mod random;
mod rlc;
mod sizes;
mod station;
mod system_information;
mod terminal;

pub use adaptation::AdaptationConfig;
pub use config::{StationConfig, TERMINALS, TerminalConfig};
pub use counters::{LinkCounters, LinkState, LossCounters, LossReason, TerminalReport, TerminalState};
pub use error::{ConfigError, PacketRefused, ParseError};
pub use grant::{
    AHEAD, DownlinkGrant, PuschShape, REDUNDANCY_VERSIONS, Rnti, SearchSpace, TRANSMISSIONS, UplinkGrant,
    uplink_blocks_within,
};
pub use heard::{
    BlockHeard, DownlinkBlock, DownlinkHeard, DownlinkOrders, DownlinkPlan, Feedback, GrantOrder, PhichOrder,
    PreambleHeard, PreambleOrder, PucchOrder, PuschExpected, PuschHeard, PuschOrder, UplinkHeard, UplinkOrders,
    UplinkPlan,
};
pub use identity::Identity;
pub use mac::message::BearerMode;
pub use rlc::RlcConfig;
pub use sizes::BlockSizes;
pub use station::BaseStation;
pub use station::policy::Policy;
pub use system_information::SystemInformation;
pub use terminal::Terminal;
