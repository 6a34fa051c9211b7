//! Nodes joined over Zenoh: who is there, what they offer, and waveforms that run on several of them.
//!
//! ```text
//!  manager ── Zenoh, QUIC, TLS ───> node a          node b
//!    who is there, what they offer      workers         workers
//!    the plan, begin, end, report       bridge ══ VITA-49 over UDP ══> bridge
//!                                       clock <── what time is it? ──  clock
//! ```
//!
//! Zenoh carries what is not in the slot path: discovery, orders, statistics. Samples go over the packet engines, with at least
//! one slot to travel; every slot begins everywhere at one instant of the reference's clock, as far as that is known, and how
//! far it is known is said. Every node has the whole order, and takes its own part: what is computed is what one machine would
//! compute.
//!
//! Permission to have a node do something is [`tenant`]'s and [`seal`]'s matter; what a node lets in, [`gate`]'s.

#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "zenoh"), allow(dead_code, reason = "what is built for the fuzzer uses a part"))]

pub mod certificates;
mod check;
pub mod clock;
#[cfg(feature = "zenoh")]
mod control;
#[cfg(feature = "zenoh")]
pub mod cost;
pub mod counts;
mod destination;
mod error;
mod folder;
pub mod gate;
#[cfg(feature = "zenoh")]
pub mod manager;
#[cfg(feature = "zenoh")]
mod membership;
pub mod message;
#[cfg(feature = "zenoh")]
pub mod metrics;
#[cfg(feature = "zenoh")]
mod node;
mod private_key;
pub mod quorum;
pub mod seal;
mod sealed;
pub mod statement;
pub mod tenant;
#[cfg(feature = "zenoh")]
mod trace;
mod trust;

#[cfg(feature = "zenoh")]
pub use control::Control;
pub use destination::{Network, NoNetwork};
pub use error::ClusterError;
pub use folder::{Folder, PtpSettings, Settings};
#[cfg(feature = "zenoh")]
pub use manager::Manager;
#[cfg(feature = "zenoh")]
pub use membership::LEASE;
#[cfg(feature = "zenoh")]
pub use node::{Node, Offer};
#[cfg(feature = "zenoh")]
pub use trace::Trace;
