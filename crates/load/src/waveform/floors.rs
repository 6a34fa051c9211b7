//! Lower limits for everything else, measured where and when the rest is.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use takt_mapper::cost::kernels::{Kernels, MACS};
use takt_stats::{Histogram, Ns};

/// Floors of one process on one core; medians of some turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// One reading of the clock that execution is timed with, nanoseconds.
    pub clock_read_ns: f64,
    /// A call through a pointer, nanoseconds.
    pub null_call_ns: f64,
    /// Such a call between two readings of that clock, the difference counted in a histogram, nanoseconds: what measuring
    /// a component takes at least.
    pub measured_call_ns: f64,
    /// Copying 16 KiB that lie in the cache, bytes a second.
    pub memcpy_bytes_per_s: f64,
    /// Multiply-accumulates a second of one after the other, the metric of ALOE.
    #[serde(default)]
    pub mac_per_s: f64,
}

/// Measures them: some milliseconds.
#[must_use]
pub fn floors() -> Floors {
    Floors {
        clock_read_ns: of_turns(clock_read),
        null_call_ns: of_turns(null_call),
        measured_call_ns: of_turns(measured_call),
        memcpy_bytes_per_s: 1e9 / of_turns(memcpy_ns_per_byte),
        mac_per_s: 1e9 / of_turns(mac_ns()),
    }
}

const TURNS: usize = 5;
const CALLS: u32 = 20_000;

fn of_turns(mut measure: impl FnMut() -> f64) -> f64 {
    median((0..TURNS).map(|_| measure()).collect())
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn per_call(begun: Instant) -> f64 {
    begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn clock_read() -> f64 {
    let clock = quanta::Clock::new();
    let begun = Instant::now();
    for _ in 0..CALLS {
        black_box(clock.raw());
    }
    per_call(begun)
}

fn calls() -> Vec<Box<dyn Fn(u32) -> u32>> {
    (0..16_u32).map(|own| Box::new(move |n: u32| black_box(n) ^ own) as Box<dyn Fn(u32) -> u32>).collect()
}

fn null_call() -> f64 {
    let calls = black_box(calls());
    let begun = Instant::now();
    for (n, call) in (0..CALLS).zip(calls.iter().cycle()) {
        black_box(call(n));
    }
    per_call(begun)
}

fn measured_call() -> f64 {
    let (calls, clock) = (black_box(calls()), quanta::Clock::new());
    let mut histogram = Histogram::<Ns>::with_bound(1_000_000_000);
    let begun = Instant::now();
    for (n, call) in (0..CALLS).zip(calls.iter().cycle()) {
        let before = clock.raw();
        black_box(call(n));
        histogram.record_saturating(clock.delta_as_nanos(before, clock.raw()));
    }
    per_call(begun)
}

/// As `takt calibrate` measures it.
fn mac_ns() -> impl FnMut() -> f64 {
    let (mut kernels, iterations) = (Kernels::new(), 300);
    move || {
        let begun = Instant::now();
        black_box(kernels.mac(iterations));
        begun.elapsed().as_nanos() as f64 / (iterations * MACS) as f64
    }
}

fn memcpy_ns_per_byte() -> f64 {
    let from = vec![1_u8; 16 << 10];
    let mut to = vec![0_u8; from.len()];
    let turns = 200;
    let begun = Instant::now();
    for _ in 0..turns {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
    }
    begun.elapsed().as_nanos() as f64 / (turns * from.len()) as f64
}
