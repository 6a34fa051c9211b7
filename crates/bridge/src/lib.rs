//! Links between machines: what a waveform's links carry from one to another, and one beat for all of them.
//!
//! ```text
//!  worker ─> bridge-send ── parcels ──> thread ══ VITA-49 over UDP ══> thread ── parcels ──> bridge-receive ─> worker
//!            copies a packet            cuts, turns bytes              puts together         copies it out
//! ```
//!
//! A packet has the slots to travel that the plan gave its link. A packet that has not come by then is lost to its
//! slot: the components behind find it missing, as they find any packet missing. Nothing is sent twice, nobody waits.
//!
//! A crate above decides which machine runs what.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod assemble;
mod bridges;
pub mod clock;
mod ends;
mod lane;
mod links;
mod marks;
mod order;
mod thread;

pub use bridges::{Bridges, datagrams};
pub use links::{LinkReader, LinkTally};
pub use thread::Running;
