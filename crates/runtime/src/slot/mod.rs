//! Time in slots: when a slot begins, and how long an execution in it takes.
//!
//! The two have clocks of their own. [`SlotClock`] sets the beat; it follows the host's clock or a radio's, and a worker may
//! sleep on it. [`Timer`] times executions; it reads the processor's time-stamp counter, which costs a few nanoseconds.
//!
//! A worker waits for a slot by [`Edges::wait`], and reads its [`Timer`] right before and behind each `tick`.

mod clock;
mod timer;

pub use clock::{Edges, SlotClock, wait_until};
pub(crate) use clock::{Patience, WallEdges};
pub(crate) use timer::Timer;
