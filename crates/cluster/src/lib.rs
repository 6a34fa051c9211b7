//! Nodes joined over Zenoh: who is there, what they offer, and waveforms that run on several of them.
//!
//! ```text
//!  manager ── Zenoh, TLS both ways ──> node a          node b
//!    who is there, what they offer      workers         workers
//!    the plan, begin, end, report       bridge ══ VITA-49 over UDP ══> bridge
//!                                       clock <── what time is it? ──  clock
//! ```
//!
//! Zenoh carries what is not in the slot path: discovery, orders, statistics. Samples go over the packet engines, with at least
//! one slot to travel; every slot begins everywhere at one instant of the reference's clock, as far as that is known, and how
//! far it is known is said. Every node has the whole order, and takes its own part: what is computed is what one machine would
//! compute.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod bridge;
pub mod certificates;
pub mod clock;
mod control;
mod error;
mod folder;
pub mod manager;
mod membership;
pub mod message;
mod node;
pub mod quorum;

pub use control::Control;
pub use error::ClusterError;
pub use folder::{Folder, Settings};
pub use manager::Manager;
pub use membership::LEASE;
pub use node::{Node, Offer};
