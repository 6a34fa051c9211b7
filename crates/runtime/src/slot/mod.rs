//! Time in slots: when a slot begins, and how long an execution in it takes.
//!
//! The two have clocks of their own. [`SlotClock`] sets the beat; it follows the host's clock or a radio's, and a worker may
//! sleep on it. [`Timer`] times executions; it reads the processor's time-stamp counter, which costs a few nanoseconds.
//!
//! A worker waits for a slot by [`Edges::wait`], with a [`Sleeper`] that learns how late its sleeps end, and reads its [`Timer`]
//! behind each `tick`.

mod clock;
mod sleeper;
mod timer;

pub use clock::{Edges, SlotClock};
pub(crate) use clock::{Patience, WallEdges};
pub use sleeper::{Sleeper, wait_until};
pub(crate) use timer::Timer;
