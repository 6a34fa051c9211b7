//! Measurements made always: in fixed memory, without locks, by the worker itself.
//!
//! A miss can only be explained by what was recorded before it, and none announces itself. So recording
//! has to be cheap enough to stay on: an execution costs two readings of the counter, an addition and a store.
//!
//! Each component has a [`Live`] record, which any thread may read at any time. Each worker has its [`WorkerStats`]: how late
//! and how long its slots were, its last executions, and its first misses with what led to them.

mod live;
mod record;
mod tally;
mod watched;

pub(crate) use live::{BOUND_NS, Live};
pub use live::{ComponentSnapshot, Snapshot, StatsReader};
pub(crate) use record::{EntryStats, Event, RawMiss, WINDOW, WorkerStats};
pub use record::{MissKind, TraceEvent};
pub use tally::ComponentTally;
pub(crate) use watched::{Watched, Watching, watched};
