//! When samples reach the program after they were on the air, and how evenly.

use std::time::Duration;

use takt_stats::{Histogram, Ns, Quantiles};

use crate::rate::outcome::Delivery;

/// RFC 3550, A.8: a new difference weighs a sixteenth.
const WEIGHT: f64 = 1.0 / 16.0;

/// Notes each delivery of the measured part. Never allocates after it was made.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    delays: Histogram<Ns>,
    last: Option<Duration>,
    jitter_ns: f64,
    jitter_sum_ns: f64,
    deliveries: u64,
}

impl Recorder {
    /// A call brought samples, the last of which had been on the air that long before.
    pub(super) fn note(&mut self, delay: Duration) {
        self.delays.record_saturating(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        if let Some(last) = self.last.replace(delay) {
            let difference_ns = delay.abs_diff(last).as_nanos() as f64;
            self.jitter_ns += (difference_ns - self.jitter_ns) * WEIGHT;
        }
        self.jitter_sum_ns += self.jitter_ns;
        self.deliveries += 1;
    }

    pub(super) fn end(&self) -> Delivery {
        let mean_ns = (self.deliveries > 1).then(|| self.jitter_sum_ns / self.deliveries as f64);
        Delivery {
            deliveries: self.deliveries,
            jitter_us: mean_ns.map(|ns| ns / 1e3),
            delay: Quantiles::of(&self.delays),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays_us: impl IntoIterator<Item = u64>) -> Delivery {
        let mut recorder = Recorder::default();
        delays_us.into_iter().for_each(|us| recorder.note(Duration::from_micros(us)));
        recorder.end()
    }

    #[test]
    fn even_deliveries_have_no_jitter_however_late() {
        let late = of([900; 50]);
        assert_eq!((late.deliveries, late.jitter_us), (50, Some(0.0)));
        assert!((late.delay.p50_us.unwrap() - 900.0).abs() < 1.0);
        assert_eq!(of([5]).jitter_us, None, "one alone differs from none");
    }

    /// By RFC 3550: with differences of always 16 us the estimate goes 1, 1.9375, ... to 16.
    #[test]
    fn jitter_is_the_running_mean_of_differences() {
        let alternating = |n: u64| of((0..n).map(|n| 100 + 16 * (n % 2)));
        assert!((alternating(3).jitter_us.unwrap() - (0.0 + 1.0 + 1.9375) / 3.0).abs() < 1e-9);
        let long = alternating(100_000).jitter_us.unwrap();
        assert!((15.9..=16.0).contains(&long), "{long}");
    }
}
