//! Results of rounds of measurements, and their doubt: pure functions, no clock, no randomness from outside.
//!
//! **The unit is the round.** Samples, slots and datagrams inside one round are correlated, so no interval here is ever
//! computed from them: what comes in is one number (or one histogram) a round, and `n` counts rounds.
//!
//! Three rules hold for every function of this crate.
//! 1. *Nothing is invented.* Too few rounds, a value that is not finite, a ratio over nothing: the answer is `None`,
//!    never NaN.
//! 2. *No figure without its doubt.* An [`Estimate`] carries point, interval, level, number of rounds and method, and
//!    prints them all. Zero failures in `n` rounds is an upper bound ([`clean_rounds`]), never a probability of zero.
//! 3. *Equal rounds, equal answer.* Nothing is drawn at random; the order of the rounds changes nothing, except where order
//!    is the question ([`drift`], [`order_warning`], pairs in [`compare`] and [`ratio`]).
//!
//! | question | function | method |
//! | --- | --- | --- |
//! | what is the mean? | [`mean`] | Student's t |
//! | the median of rounds? | [`median`] | interpolated order statistics |
//! | CPU seconds per sample (a sum over a sum)? | [`ratio`] | Fieller's interval |
//! | the 99.9 % latency of a round? | [`quantile`] of one [`Histogram`] a round | Student's t on the rounds' own |
//! | how often does it fail? | [`proportion`], [`clean_rounds`] | Clopper-Pearson |
//! | how large may a ratio of failures be that come in clusters? | [`failure_bound`] | Clopper-Pearson over the trials that clusters leave (Korn-Graubard) |
//! | what does each measure buy, alone and together? | [`factorial`] | Yates, t over blocks |
//! | how many rounds would tell? | [`rounds_to_tell`] | Student's t at the spread seen |
//! | is B really less than A? | [`compare`] | t on paired logarithms, against a margin fixed beforehand |
//! | did it change from one run to another? | [`contrast`] | Welch's t on logarithms, or on differences where there are zeros |
//! | does a figure rise through a round, whatever a few outliers say? | [`theil_sen`] | median of pairwise slopes |
//! | did the host change while we measured? | [`order_warning`] | slope and lag-1 autocorrelation |
//!
//! ```
//! let cpu_share = [0.412, 0.405, 0.431, 0.418, 0.411];
//! let mean = takt_stats::mean(&cpu_share, 0.95).unwrap();
//! assert_eq!(mean.to_string(), "0.42 [0.40, 0.43] (95 %, t, n = 5)");
//!
//! let bound = takt_stats::clean_rounds(3, 0, 0.95).unwrap();
//! assert_eq!(bound.to_string(), "three clean rounds leave up to 63 % of rounds unclean possible (95 %)");
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod compare;
mod contrast;
mod dist;
mod estimate;
mod factorial;
mod failures;
mod histogram;
mod jitter;
mod mean;
mod needed;
mod order;
mod proportion;
mod quantiles;
mod rounds;
mod shape;
mod sum;
mod theil;

pub use compare::{Comparison, compare};
pub use contrast::{Contrast, contrast};
pub use estimate::{Estimate, EstimateError, Method};
pub use factorial::{Effect, factorial};
pub use failures::{FailureBound, failure_bound};
pub use histogram::{Histogram, HistogramError, LogLine, Ns, Ticks, Unit, write_log};
pub use jitter::Jitter;
pub use mean::mean;
pub use needed::rounds_to_tell;
pub use order::{OrderWarning, drift, lag1_autocorrelation, order_warning};
pub use proportion::{CleanRounds, clean_rounds, proportion, rounds_to_show};
pub use quantiles::Quantiles;
pub use rounds::{median, quantile, ratio};
pub use shape::{EcdfPoint, FiveNumbers, ecdf, five_numbers, sample_quantile};
pub use sum::sum;
pub use theil::theil_sen;
