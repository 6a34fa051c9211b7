//! Time a sample of each kernel, beside the floor: copying as many samples, in the same run.
//!
//! `cargo bench -p takt-dsp`; divide by the 4096 samples of a call, or read the throughput.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::{Grid, Interpolator, PathParams, Places, Resampler, Rotation, Taps, mix, noise, tone};

const SAMPLES: usize = 4096;

fn kernels(c: &mut Criterion) {
    let clock = TickRate::from_hz(100_000_000).unwrap();
    let rotation = Rotation::from_hz(123_456.7, clock);
    let mut group = c.benchmark_group("kernels");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    let input = vec![Complex32::new(0.1, 0.2); SAMPLES];
    let mut out = input.clone();
    group.bench_function("floor: memcpy", |b| b.iter(|| black_box(&mut out).copy_from_slice(black_box(&input))));
    group.bench_function("tone", |b| b.iter(|| tone(rotation, 0.5, Tick(12345), 4, black_box(&mut out))));
    group.bench_function("mix", |b| b.iter(|| mix(rotation, 1.0, Tick(12345), 4, black_box(&mut out))));
    group.bench_function("noise", |b| b.iter(|| noise(7, 0.1, Tick(12345), 4, black_box(&mut out))));
    group.finish();
}

/// Per output; where the output is slower, divide by the ratio for the cost per input.
fn resampler(c: &mut Criterion) {
    let mut group = c.benchmark_group("resampler");
    let input = vec![Complex32::new(0.1, 0.2); 1 << 20];
    let mut out = vec![Complex32::default(); SAMPLES];
    for (name, inner, outer, offset) in [
        ("same grid", 4, 4, 0),
        ("25 MS/s, half a sample apart", 4, 4, 2),
        ("25 to 20 MS/s", 4, 5, 0),
        ("20 to 25 MS/s", 5, 4, 0),
        ("1 to 25 MS/s", 100, 4, 0),
        ("25 to 1 MS/s", 4, 100, 0),
        ("50 MS/s to 195 kS/s", 2, 512, 0),
    ] {
        let samples = if outer > inner { SAMPLES / (outer / inner) as usize } else { SAMPLES };
        let grid = Grid { first: Tick(1_000_000), step: inner, len: input.len() as u64 };
        let mut resampler = Resampler::new();
        group.throughput(Throughput::Elements(samples as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                resampler.add(
                    grid,
                    0.0,
                    Tick(1_020_000 + offset),
                    outer,
                    black_box(&mut out[..samples]),
                    |m, block| {
                        block.copy_from_slice(&input[m as usize..][..block.len()]);
                    },
                );
            });
        });
    }
    group.throughput(Throughput::Elements(1));
    group.bench_function("new taps, 50 MS/s to 195 kS/s and back", |b| {
        let mut resampler = Resampler::new();
        b.iter(|| {
            for (inner, outer) in [(2, 512), (512, 2)] {
                let grid = Grid { first: Tick(0), step: inner, len: 0 };
                resampler.add(grid, 0.0, Tick(0), outer, black_box(&mut out[..1]), |_, _| {});
            }
        });
    });
    group.finish();
}

/// Per output, beside the resampler where that can do the same.
fn interpolator(c: &mut Criterion) {
    let mut group = c.benchmark_group("interpolator");
    let input = vec![Complex32::new(0.1, 0.2); 1 << 20];
    let mut out = vec![Complex32::default(); SAMPLES];
    let line = |den: u64, step_whole, step_part, lag| Places { whole: 5000, part: 0, den, step_whole, step_part, lag };
    for (name, places, shift_turns) in [
        ("one by one", line(1, 1, 0, 0.0), 0.0),
        ("25 MS/s, a third of a sample apart", line(1, 1, 0, 1.0 / 3.0), 0.0),
        ("25 MS/s, 500 Hz apart", line(1, 1, 0, 0.0), 2e-5),
        ("25 to 20 MS/s", line(4, 1, 1, 0.0), 0.0),
        ("30.72 MS/s of LTE to 25 MS/s, a third of a sample apart", line(625, 1, 143, 1.0 / 3.0), 0.0),
    ] {
        let passage = PathParams {
            places,
            len: input.len() as u64,
            shift_turns,
            input: (Tick(0), 4),
            output: (Tick(0), 4),
            delay: 0.0,
            gain: Complex32::new(1.0, 0.0),
        };
        let (mut interpolator, mut taps) = (Interpolator::new(), Taps::new());
        group.throughput(Throughput::Elements(SAMPLES as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                interpolator.add(&mut taps, passage, black_box(&mut out), |m, block| {
                    block.copy_from_slice(&input[m as usize..][..block.len()]);
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, kernels, resampler, interpolator);
criterion_main!(benches);
