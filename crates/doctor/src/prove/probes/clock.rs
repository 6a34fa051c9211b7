//! Time per reading of the clock.

use takt_base::{Clock, WallClock};
use takt_stats::sample_quantile;

const READINGS: u64 = 1000;
const SERIES: usize = 100;

/// The median of short series, nanoseconds.
pub(super) fn reading_ns() -> f64 {
    let series = || {
        let start = WallClock.now();
        for _ in 1..READINGS {
            std::hint::black_box(WallClock.now());
        }
        WallClock.now().saturating_since(start).as_nanos() as f64 / READINGS as f64
    };
    let mut all: Vec<f64> = (0..SERIES).map(|_| series()).collect();
    all.sort_by(f64::total_cmp);
    sample_quantile(&all, 0.5).unwrap_or(f64::NAN)
}
