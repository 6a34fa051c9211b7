//! Time of a wide sample with K channels of 50 kS/s, and with 8 of 1 MS/s, in a band of 25 MS/s.
//!
//! `cargo bench -p takt-dsp --bench shared_band`. A call is a block; the throughput is in wide samples. The time of a block grows
//! with K by one short transform each: `a short transform` is what the transform alone takes.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::Rotation;
use takt_dsp::shared_band::{BandCombiner, BandPlan, BandSplitter, NarrowBand, WideBand};

/// Ticks of a wide sample.
const WIDE: u32 = 4;

/// K channels of a step, and the longest block in ticks. The last has no shared transform.
const CASES: [(&str, usize, u32, u64); 13] = [
    ("50 kS/s", 1, 2000, 1 << 20),
    ("50 kS/s", 2, 2000, 1 << 20),
    ("50 kS/s", 4, 2000, 1 << 20),
    ("50 kS/s", 8, 2000, 1 << 20),
    ("50 kS/s", 16, 2000, 1 << 20),
    ("50 kS/s", 32, 2000, 1 << 20),
    ("50 kS/s", 64, 2000, 1 << 20),
    ("50 kS/s", 128, 2000, 1 << 20),
    ("50 kS/s", 256, 2000, 1 << 20),
    ("1 MS/s", 1, 100, 1 << 20),
    ("1 MS/s", 8, 100, 1 << 20),
    ("1 MS/s, blocks of 0.1 ms", 8, 100, 10_000),
    ("1 MS/s, direct", 1, 100, 4000),
];

fn plan(name: &str, count: usize, step: u32, longest: u64) -> BandPlan {
    let steps = if name.ends_with("direct") { vec![] } else { vec![step; count] };
    BandPlan::new(WideBand { first: Tick(0), step: WIDE }, &steps, Ticks(longest)).unwrap()
}

/// Channels side by side, as far as the band goes, then overlapping.
fn centre(k: usize, step: u32) -> Rotation {
    Rotation::from_turns((k as f64 * 1.01 / f64::from(step)) % 0.2 - 0.1)
}

fn receive(c: &mut Criterion) {
    let mut group = c.benchmark_group("receive");
    for (name, count, step, longest) in CASES {
        let plan = plan(name, count, step, longest);
        let mut splitter = BandSplitter::new(&plan);
        for k in 0..count {
            splitter.open(NarrowBand { centre: centre(k, step), first: Tick(k as u64), step }).unwrap();
        }
        let mut wide = vec![Complex32::default(); plan.block_len()];
        takt_dsp::noise(7, 0.1, Tick(0), WIDE, &mut wide);
        let mut tick = 0;
        group.throughput(Throughput::Elements(wide.len() as u64));
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| {
                splitter.feed(Tick(tick), black_box(&wide), |_, _, samples| _ = black_box(samples)).unwrap();
                tick += u64::from(WIDE) * wide.len() as u64;
            });
        });
    }
    group.finish();
}

fn transmit(c: &mut Criterion) {
    let mut group = c.benchmark_group("transmit");
    for (name, count, step, longest) in CASES {
        let plan = plan(name, count, step, longest);
        let mut combiner = BandCombiner::new(&plan, Tick(1 << 20)).unwrap();
        let keys: Vec<_> = (0..count).map(|_| combiner.open(step, Ticks(0)).unwrap()).collect();
        let mut samples = vec![Complex32::default(); plan.block_len() + 100];
        takt_dsp::noise(7, 0.1, Tick(0), step, &mut samples);
        let mut block = vec![Complex32::default(); plan.block_len()];
        let mut next = vec![combiner.earliest(keys[0]).unwrap().0; count];
        group.throughput(Throughput::Elements(block.len() as u64));
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| {
                for (k, key) in keys.iter().enumerate() {
                    let until = combiner.needed_until(*key).unwrap().0;
                    let need = (until.saturating_sub(next[k])).div_ceil(u64::from(step)) as usize;
                    let placed = combiner.place(*key, centre(k, step), Tick(next[k]), &samples[..need]).unwrap();
                    next[k] += placed as u64 * u64::from(step);
                }
                combiner.take(black_box(&mut block)).unwrap();
            });
        });
    }
    group.finish();
}

/// Times the short transform, by which the growth with K is measured.
fn floor(c: &mut Criterion) {
    let mut group = c.benchmark_group("a short transform");
    for step in [2000, 100] {
        let plan = plan("", 256, step, 1 << 20);
        let len = plan.transform_len().unwrap() * WIDE as usize / step as usize;
        let transform = takt_fft::inverse(len);
        let mut values = vec![Complex32::new(1e-3, 0.0); len];
        let mut scratch = values.clone();
        group.throughput(Throughput::Elements(plan.block_len() as u64));
        group.bench_function(format!("of {len}, for a block of {}", plan.block_len()), |b| {
            b.iter(|| {
                values.fill(Complex32::new(1e-3, 0.0));
                transform.process_with_scratch(black_box(&mut values), &mut scratch);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, receive, transmit, floor);
criterion_main!(benches);
