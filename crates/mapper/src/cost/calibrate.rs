//! [`calibrate`]: what this processor can do, by the kernels. Pure but for the clock it is handed.

use std::hint::black_box;

use super::kernels::{Kernels, MACS, operations};
use super::prices::{Prices, Timed};
use super::probes;
use super::work::{Capacities, PerWork, Work};

/// Shortest time of a round that counts, nanoseconds: long beside the resolution of any clock.
const ROUND_NS: u64 = 2_000_000;
/// Rounds of each kernel, in turns, so that a disturbance meets all alike; the fastest counts.
const ROUNDS: usize = 7;
/// Iterations beyond which a clock that still shows nothing is taken for one that stands.
const MOST: u64 = 1 << 40;

/// The clock is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the clock shows only {shown_ns} ns after {iterations} iterations of the {kernel} kernel")]
pub struct CalibrationError {
    pub kernel: &'static str,
    pub iterations: u64,
    pub shown_ns: u64,
}

/// Runs each kernel a few times; under half a second on a processor of today. `time` runs what it is given once and says
/// how many nanoseconds that took; the caller pins the thread and warms the core up.
///
/// The fastest of the rounds counts: a capacity is what a core can do undisturbed.
///
/// # Errors
/// The clock does not go.
///
/// ```
/// let clock = |work: &mut dyn FnMut()| {
///     let start = std::time::Instant::now();
///     work();
///     start.elapsed().as_nanos() as u64
/// };
/// let capacities = takt_mapper::calibrate(clock).unwrap();
/// assert_eq!(capacities.wrong(), None);
/// ```
pub fn calibrate(mut time: impl FnMut(&mut dyn FnMut()) -> u64) -> Result<Capacities, CalibrationError> {
    let mut kernels = Kernels::new();
    // The last one is the MAC kernel.
    let names = || Work::ALL.map(Some).into_iter().chain([None]);
    let mut iterations = Vec::new();
    for kernel in names() {
        let name = kernel.map_or("mac", Work::name);
        iterations.push(enough(name, ROUND_NS, |count| timed(&mut kernels, kernel, count, &mut time))?);
    }
    let mut fastest = vec![u64::MAX; iterations.len()];
    for _ in 0..ROUNDS {
        for ((kernel, &count), best) in names().zip(&iterations).zip(&mut fastest) {
            *best = (*best).min(timed(&mut kernels, kernel, count, &mut time));
        }
    }
    let rate = |index: usize, operations: u64| {
        iterations[index] as f64 * operations as f64 * 1e9 / fastest[index].max(1) as f64
    };
    let work_per_s = PerWork::from_fn(|work| rate(work as usize, operations(work)));
    Ok(Capacities { mac_per_s: rate(Work::ALL.len(), MACS), work_per_s: Some(work_per_s) })
}

/// Shortest time of a batch of calls of a probe, nanoseconds, and how many batches are timed.
const PROBE_NS: u64 = 500_000;
const PROBE_ROUNDS: usize = 5;

/// Time of each [probe](probes) on this processor, ns a call, and what it executes; under half a second. `time` as for
/// [`calibrate`]. [`Prices::learn`] makes prices of it.
///
/// # Errors
/// The clock does not go.
pub fn time_probes(
    mut time: impl FnMut(&mut dyn FnMut()) -> u64,
) -> Result<Vec<(&'static str, Timed)>, CalibrationError> {
    let profiles = probes::profiles();
    let mut timed = Vec::new();
    for &(name, open) in probes::ALL {
        let mut call = open();
        let mut batch = |calls: u64| time(&mut || (0..calls).for_each(|_| call()));
        let calls = enough(name, PROBE_NS, &mut batch)?;
        let fastest = (0..PROBE_ROUNDS).map(|_| batch(calls)).min().unwrap_or(u64::MAX);
        let Some(&profile) = profiles.get(name) else { continue };
        timed.push((name, Timed { profile, ns: fastest.max(1) as f64 / calls as f64 }));
    }
    Ok(timed)
}

/// Time of an instruction of each kind on this processor: [`time_probes`], and prices of it.
///
/// # Errors
/// The clock does not go.
///
/// ```
/// let clock = |work: &mut dyn FnMut()| {
///     let start = std::time::Instant::now();
///     work();
///     start.elapsed().as_nanos() as u64
/// };
/// assert_eq!(takt_mapper::calibrate_prices(clock).unwrap().wrong(), None);
/// ```
pub fn calibrate_prices(time: impl FnMut(&mut dyn FnMut()) -> u64) -> Result<Prices, CalibrationError> {
    let timed: Vec<Timed> = time_probes(time)?.into_iter().map(|(_, timed)| timed).collect();
    // Every probe has counts, as a test sees to, and a time.
    Prices::learn(&timed).ok_or(CalibrationError { kernel: "probe", iterations: 0, shown_ns: 0 })
}

fn timed(
    kernels: &mut Kernels,
    kernel: Option<Work>,
    iterations: u64,
    time: &mut impl FnMut(&mut dyn FnMut()) -> u64,
) -> u64 {
    time(&mut || {
        black_box(match kernel {
            Some(work) => kernels.run(work, iterations),
            None => kernels.mac(iterations),
        });
    })
}

/// Iterations that take long enough to be timed well: `least_ns`.
fn enough(kernel: &'static str, least_ns: u64, mut timed: impl FnMut(u64) -> u64) -> Result<u64, CalibrationError> {
    let (mut iterations, mut standing) = (1_u64, 0);
    loop {
        let shown_ns = timed(iterations);
        if shown_ns >= least_ns {
            return Ok(iterations);
        }
        // A clock of coarse steps may show nothing for a while, but not for a million times the work.
        standing = if shown_ns == 0 { standing + 1 } else { 0 };
        if standing > 20 || iterations >= MOST {
            return Err(CalibrationError { kernel, iterations, shown_ns });
        }
        iterations *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_is_an_error_and_not_an_endless_calibration() {
        let error = calibrate(|work| {
            work();
            0
        });
        assert_eq!(error.expect_err("refused").kernel, "integer");
    }

    #[test]
    fn probes_take_the_fastest_batch_over_its_calls() {
        let mut batch = 0;
        let timed = time_probes(|work| {
            work();
            batch += 1;
            if batch % 2 == 0 { 900_000 } else { 600_000 }
        })
        .expect("it goes");
        assert_eq!(timed.len(), probes::ALL.len());
        assert!(timed.iter().all(|(_, timed)| timed.ns == 600_000.0));
        assert_eq!(time_probes(|_| 0).expect_err("refused").kernel, probes::ALL[0].0);
    }

    #[test]
    fn capacities_are_operations_over_the_fastest_round() {
        // A clock by which a round takes 2 ms, every third one twice as long.
        let mut round = 0;
        let capacities = calibrate(|work| {
            work();
            round += 1;
            if round % 3 == 0 { 4_000_000 } else { 2_000_000 }
        })
        .expect("it goes");
        // One iteration is enough for this clock.
        assert_eq!(capacities.mac_per_s, MACS as f64 / 2e-3);
        let rates = capacities.work_per_s.expect("all kinds");
        for work in Work::ALL {
            assert_eq!(rates.get(work), operations(work) as f64 / 2e-3, "{work:?}");
        }
    }
}
