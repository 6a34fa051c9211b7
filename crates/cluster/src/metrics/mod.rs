//! A node's figures for Prometheus: what it knows of itself anyway, counted once, in the text exposition format.
//!
//! ```text
//!  Prometheus ── GET /metrics ──> server        figures <── counts, totals <── node
//!             <── the page ─────  threads ────>  (made on request)
//! ```
//!
//! Workers count in words of their own, which anybody may read at any time: nothing here makes one wait.

pub(crate) mod counts;
pub(crate) mod figures;
pub mod request;
mod server;
mod text;
pub(crate) mod totals;

pub use counts::{Reason, Uncounted};
pub use server::Server;
