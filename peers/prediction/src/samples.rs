//! Signals and sample formats.

use std::hint::black_box as keep;

use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::{Grid, Resampler, Rotation, estimate_tone, mix, noise, power_spectrum, tone};
use takt_wire::sample::{ByteOrder, sc8, sc16};

use crate::components::{Call, Entry, random};

pub const ALL: &[Entry] = &[
    ("tone", || Box::new(with_rotation(|rotation, out| tone(rotation, 0.5, Tick(12_345), 4, out)))),
    ("mix", || Box::new(with_rotation(|rotation, out| mix(rotation, 1.0, Tick(12_345), 4, out)))),
    ("noise", || Box::new(with_rotation(|_, out| noise(7, 0.1, Tick(12_345), 4, out)))),
    ("resample-shifted", || resample(4, 4, 2)),
    ("resample-25-to-20", || resample(4, 5, 0)),
    ("resample-1-to-25", || resample(100, 4, 0)),
    ("resample-25-to-1", || resample(4, 100, 0)),
    ("estimate-tone", || {
        let samples = floats();
        Box::new(move || {
            keep(estimate_tone(keep(&samples)));
        })
    }),
    ("power-spectrum", || {
        let samples = floats();
        Box::new(move || {
            keep(power_spectrum(keep(&samples), 256));
        })
    }),
    ("sc16-to-f32", || {
        let (wire, mut out) = (bytes(4 * SAMPLES), floats());
        Box::new(move || {
            keep(sc16::unpack_f32(keep(&wire), ByteOrder::Big, 1.0 / 32767.0, keep(&mut out)));
        })
    }),
    ("f32-to-sc16", || {
        let (floats, mut wire) = (floats(), bytes(4 * SAMPLES));
        Box::new(move || {
            keep(sc16::pack_f32(keep(&floats), ByteOrder::Big, 32767.0, keep(&mut wire)));
        })
    }),
    ("sc16-to-i16", || {
        let (wire, mut out) = (bytes(4 * SAMPLES), vec![num_complex::Complex::new(0_i16, 0); SAMPLES]);
        Box::new(move || {
            keep(sc16::unpack_i16(keep(&wire), ByteOrder::Big, keep(&mut out)));
        })
    }),
    ("sc8-to-f32", || {
        let (wire, mut out) = (bytes(2 * SAMPLES), floats());
        Box::new(move || {
            keep(sc8::unpack_f32(keep(&wire), 1.0 / 127.0, keep(&mut out)));
        })
    }),
    ("f32-to-sc8", || {
        let (floats, mut wire) = (floats(), bytes(2 * SAMPLES));
        Box::new(move || {
            keep(sc8::pack_f32(keep(&floats), 127.0, keep(&mut wire)));
        })
    }),
];

const SAMPLES: usize = 1024;

fn floats() -> Vec<Complex32> {
    let part = |word: u64| (word >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let mut words = random().skip(13).map(part);
    (0..SAMPLES).map(|_| Complex32::new(words.next().unwrap_or(0.0), words.next().unwrap_or(0.0))).collect()
}

fn bytes(count: usize) -> Vec<u8> {
    random().map(|word| (word >> 56) as u8).take(count).collect()
}

fn with_rotation(run: fn(Rotation, &mut [Complex32])) -> impl FnMut() {
    let rotation = Rotation::from_hz(123_456.7, TickRate::from_hz(100_000_000).expect("a rate"));
    let mut out = floats();
    move || run(rotation, keep(&mut out))
}

fn resample(inner: u32, outer: u32, offset: u64) -> Call {
    let input: Vec<Complex32> = floats().into_iter().cycle().take(1 << 17).collect();
    let grid = Grid { first: Tick(1_000_000), step: inner, len: input.len() as u64 };
    let mut resampler = Resampler::new();
    let mut out = vec![Complex32::default(); if outer > 50 { 64 } else { 256 }];
    let first = Tick(1_020_000 + offset);
    Box::new(move || {
        resampler.add(grid, 0.0, first, outer, keep(&mut out), |m, block| {
            block.copy_from_slice(&input[m as usize..][..block.len()]);
        });
    })
}
