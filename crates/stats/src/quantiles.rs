//! The quantiles of a histogram that are reported.

use serde::{Deserialize, Serialize};

use crate::{Histogram, Ns};

/// Quantiles, microseconds; `None` where nothing was measured, or beyond the bound of the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Quantiles {
    pub min_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p99_9_us: Option<f64>,
    pub max_us: Option<f64>,
}

impl Quantiles {
    /// Those of a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram<Ns>) -> Quantiles {
        let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
        Quantiles {
            min_us: us(histogram.min()),
            p50_us: us(histogram.quantile(0.5)),
            p99_us: us(histogram.quantile(0.99)),
            p99_9_us: us(histogram.quantile(0.999)),
            max_us: us(histogram.max()),
        }
    }
}
