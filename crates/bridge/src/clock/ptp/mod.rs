//! Slots that begin by PTP's time: nodes whose clocks one grandmaster disciplines need no question between them.
//!
//! ```text
//!  grandmaster ══ PTP ══> ptp4l ── disciplines ──> CLOCK_REALTIME ── read in a bracket ──> CLOCK_MONOTONIC ──> slot 0
//!                           └── read ten times a second: in what state, how far off ──────────> bound
//!  reference ══ takt's own question ═══════════════════════════════════════════════════════════> another opinion
//! ```
//!
//! Slot 0 is agreed as an instant of PTP's time, and each node finds it on its own clock. The two opinions are compared as long as
//! the run lasts; where they are further apart than both can be off, one of them is wrong, and that is on record.

mod beat;
mod card;
mod discipline;
mod error;
mod service;
mod system;

pub use beat::{Agreed, Contradiction, Measured, PtpStatus};
pub use discipline::Disciplined;
pub use error::PtpError;
pub use service::{Service, Synchronised};
pub use takt_wire::ptp::PtpDomain;
