//! Where measurements take place: network paths, environments at their ends, and what disturbs or impairs a side.
//!
//! ```text
//!   host side  <==== a path: namespaces, cables, switches, routers ====>  radio side
//!   agent in an environment: native,                                      agent: emulator,
//!   container, virtual machine                                            or a radio that is there
//! ```
//!
//! What this crate starts it removes on every way out, and names it in the registry of leftovers before it exists.
#![forbid(unsafe_code)]

pub mod disturbance;
mod duty;
pub mod environment;
pub mod impairment;
mod lateness;
pub mod net;

pub use duty::serve;
pub use lateness::{Lateness, OwnLag, RadioLateness, Unread};
