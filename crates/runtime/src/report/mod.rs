//! Report of a run that has ended.
//!
//! In a slot there is time to record, not to explain. All that needs names, sorting or text is done here, from what the
//! workers recorded.
//!
//! [`report()`] makes the [`Report`] of workers that have ended. Its [`Miss`]es name a [`Culprit`] each, and
//! [`Report::to_perfetto`] draws the last executions.

mod hash;
mod miss;
mod outcome;
mod perfetto;
mod run;

pub use hash::{SinkHash, output_hash};
pub(crate) use miss::blame;
pub use miss::{Before, Culprit, Miss};
pub(crate) use outcome::Outcome;
pub(crate) use run::report;
pub use run::{ComponentReport, Granted, OutputReport, Quantiles, Report, WorkerReport};
