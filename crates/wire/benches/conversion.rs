//! Sample conversion in bytes a second: every SIMD level, beside a loop that does one sample at a time as a floor below
//! and memory copies as a ceiling above, all in one run. Ratios are the result; absolute figures depend on the machine.
//!
//! `cargo bench -p takt-wire`

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use num_complex::Complex32;
use takt_wire::sample::full_scale::{SC8, SC16};
use takt_wire::sample::{ByteOrder, Simd, sc8, sc16};

/// Samples: one datagram of 1472 bytes, what a slot of 1 ms holds at 25 MS/s (in the second-level cache), and 32 MiB
/// of floats (in memory).
const SIZES: [(&str, usize); 3] = [("datagram", 363), ("slot", 25_000), ("memory", 4 << 20)];

/// Throughput counts bytes read plus bytes written, so that a copy and a conversion compare.
fn group<'a>(c: &'a mut Criterion, name: &str, samples: usize, wire_bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes((samples * (wire_bytes + 8)) as u64));
    group
}

fn unpack(c: &mut Criterion) {
    for (size, samples) in SIZES {
        let wire: Vec<u8> = (0..samples * 4).map(|at| (at * 7 + at / 251) as u8).collect();
        let mut out = vec![Complex32::default(); samples];
        let mut g = group(c, &format!("sc16_to_f32/{size}"), samples, 4);
        copy_floor(&mut g, samples * 12);
        g.bench_function("one_by_one", |b| {
            b.iter(|| {
                for (out, wire) in out.iter_mut().zip(wire.as_chunks::<4>().0) {
                    let part = |a, b| f32::from(i16::from_be_bytes([a, b])) / SC16;
                    *out = black_box(Complex32::new(part(wire[0], wire[1]), part(wire[2], wire[3])));
                }
            });
        });
        levels(g, |simd| sc16::unpack_f32_with(simd, black_box(&wire), ByteOrder::Big, 1.0 / SC16, &mut out));
        let g = group(c, &format!("sc8_to_f32/{size}"), samples, 2);
        levels(g, |simd| sc8::unpack_f32_with(simd, black_box(&wire), 1.0 / SC8, &mut out));
    }
}

fn pack(c: &mut Criterion) {
    for (size, samples) in SIZES {
        let floats: Vec<_> = (0..samples).map(|at| Complex32::cis(at as f32 * 0.1)).collect();
        let mut wire = vec![0u8; samples * 4];
        let mut g = group(c, &format!("f32_to_sc16/{size}"), samples, 4);
        copy_floor(&mut g, samples * 12);
        g.bench_function("one_by_one", |b| {
            b.iter(|| {
                for (wire, float) in wire.as_chunks_mut::<4>().0.iter_mut().zip(&floats) {
                    let part = |value: f32| ((value * SC16).round_ties_even() as i16).to_be_bytes();
                    let ([a, b], [c, d]) = (part(float.re), part(float.im));
                    *wire = black_box([a, b, c, d]);
                }
            });
        });
        levels(g, |simd| sc16::pack_f32_with(simd, black_box(&floats), ByteOrder::Big, SC16, &mut wire));
        let g = group(c, &format!("f32_to_sc8/{size}"), samples, 2);
        levels(g, |simd| sc8::pack_f32_with(simd, black_box(&floats), SC8, &mut wire));
    }
}

/// A conversion at every level.
fn levels(mut group: BenchmarkGroup<'_, WallTime>, mut convert: impl FnMut(Simd) -> usize) {
    for simd in Simd::available() {
        group.bench_function(simd.name(), |b| b.iter(|| convert(simd)));
    }
    group.finish();
}

/// A copy that reads half of the bytes and writes the other half.
fn copy_floor(group: &mut BenchmarkGroup<'_, WallTime>, bytes: usize) {
    let from = vec![1u8; bytes / 2];
    let mut to = vec![0u8; bytes / 2];
    group.bench_function("memcpy", |b| b.iter(|| black_box(&mut to).copy_from_slice(black_box(&from))));
}

criterion_group!(benches, unpack, pack);
criterion_main!(benches);
