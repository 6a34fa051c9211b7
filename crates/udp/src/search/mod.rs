//! The highest rate that a path carries without loss: RFC 2544's throughput (26.1) and longest burst (26.4), searched as
//! RFC 9004 refines it.
//!
//! * [`Bisection`] is the search, pure: a binary search in which a trial that lost something is repeated before it is
//!   believed, since one stall of a busy host is no property of the path.
//! * Datagrams that the sender could not send are no loss: such a trial says that the sender sets the limit, not the
//!   path.
//! * Short trials find the rate, a long one confirms it; a rate that fails then is lowered until one holds.
//! * The whole search is repeated, and the result carries the interval of its repetitions.

mod bisection;
mod found;
mod options;
mod report;
mod run;

pub use bisection::{Bisection, Goal, Verdict};
pub use found::{Ask, find};
pub use options::SearchOptions;
pub use report::{Bursts, SearchOutcome, SearchProgress, SearchReport, SetBy, SizeFound, Trial, TrialCounts};
pub use run::search;
