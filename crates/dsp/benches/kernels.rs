//! Time a sample of each kernel, beside the floor: copying as many samples, in the same run.
//!
//! `cargo bench -p takt-dsp`; divide by the 4096 samples of a call, or read the throughput.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::{Grid, Resampler, Rotation, mix, noise, tone};

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

criterion_group!(benches, kernels, resampler);
criterion_main!(benches);
