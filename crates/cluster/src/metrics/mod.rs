//! A node's figures for Prometheus: what it knows of itself anyway, counted once, in the text exposition format.
//!
//! ```text
//!  Prometheus ── GET /metrics ──> server        figures <── counts, totals <── node
//!             <── the page ─────  thread ─────>  (made on request)
//! ```
//!
//! Workers count in words of their own, which anybody may read at any time: nothing here makes one wait.

pub(crate) mod figures;
pub(crate) mod page;
mod server;
pub(crate) mod totals;

pub use server::Server;
