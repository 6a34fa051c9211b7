//! Small pieces of code of many kinds, by which what one instruction of a kind takes on a processor is found: each is counted
//! once, where instructions can be counted, and timed on every processor. Pure functions; who calls them holds the clock.
//!
//! Unlike [`super::kernels`], which stand for one kind each, these are written as signal processing is, loads, stores and loops
//! included, and a compiler may make vectors of them; what it made is what is counted.

use std::collections::BTreeMap;
use std::hint::black_box as keep;

use super::operations::Profile;

/// A probe: its name, and a call of it on data of its own.
pub type Probe = (&'static str, fn() -> Box<dyn FnMut()>);

/// Items each works on: they fit into any first-level cache.
const N: usize = 1024;

/// The parts of `x` are made once; then `run` is called with it. `a <- b: value` sets every item of a from that of b.
macro_rules! probe {
    ($name:literal, [$($x:ident = $make:expr),*] $a:ident <- $b:ident: $value:expr) => {
        probe!($name, [$($x = $make),*] $a.iter_mut().zip(&*$b).for_each(|($a, $b)| *$a = $value))
    };
    ($name:literal, [$($x:ident = $make:expr),*] $run:expr) => {
        ($name, || {
            $(let mut $x = $make;)*
            Box::new(move || {
                $(let $x = keep(&mut $x);)*
                keep($run);
            })
        })
    };
}

#[allow(clippy::manual_clamp, reason = "the order of minimum and maximum that signal code has")]
pub const ALL: &[Probe] = &[
    probe!("add-i8", [a = bytes(), b = bytes()] a <- b: a.wrapping_add(*b)),
    probe!("xor-u8", [a = bytes(), b = bytes()] a.iter_mut().zip(&*b).for_each(|(a, b)| *a ^= b)),
    probe!("saturate-i8", [a = soft(), b = soft()] a <- b: a.saturating_add(*b).saturating_neg().max(-100)),
    probe!("maximum-i16", [a = shorts(), b = shorts()] a <- b: a.saturating_sub(*b).max(b.saturating_add(3))),
    probe!("multiply-i16", [a = shorts(), b = shorts()] a <- b: a.wrapping_mul(*b).wrapping_add(1)),
    probe!("multiply-u32", [a = words()] a.iter_mut().for_each(|a| *a = a.wrapping_mul(0x9e37_79b9).rotate_left(7))),
    probe!("hash-u64", [a = longs()] a.iter_mut().for_each(|a| *a = hash(*a))),
    probe!("widen-u8", [a = bytes(), b = shorts()] b <- a: i16::from(*a) - 7),
    probe!("narrow-i16", [a = shorts(), b = soft()] b <- a: (*a >> 3).clamp(-128, 127) as i8),
    probe!("swap-bytes", [a = shorts()] a.iter_mut().for_each(|a| *a = a.swap_bytes())),
    probe!("interleave", [a = bytes(), b = bytes()] a
        .as_chunks_mut::<2>()
        .0
        .iter_mut()
        .zip(&*b)
        .for_each(|(a, b)| *a = [*b, b ^ 1])),
    probe!("deinterleave", [a = bytes(), b = bytes()] a
        .iter_mut()
        .zip(b.as_chunks::<2>().0)
        .for_each(|(a, b)| *a = b[0].max(b[1]))),
    probe!("sum-u8", [a = bytes()] a.iter().map(|a| u32::from(*a)).sum::<u32>()),
    probe!("count-u8", [a = bytes(), b = bytes()] a.iter().zip(&*b).filter(|(a, b)| a != b).count()),
    probe!("select-i16", [a = bytes(), b = shorts()] b <- a: if a & 1 == 0 { 4096 } else { -4096 }),
    probe!("multiply-f32", [a = floats(), b = floats()] a <- b: *b * 0.7),
    probe!("add-f32", [a = floats(), b = floats()] a <- b: *b + 0.7),
    probe!("limit-f32", [a = floats(), b = floats()] a <- b: b.abs().min(0.5).max(0.1)),
    probe!("divide-f32", [a = floats(), b = floats()] a <- b: 1.0 / (*b + 2.0)),
    probe!("root-f32", [a = floats(), b = floats()] a <- b: (b + 2.0).sqrt()),
    probe!("f32-to-i16", [a = floats(), b = shorts()] b <- a: (a * 1000.0).round_ties_even() as i16),
    probe!("f32-to-i32", [a = floats(), b = words()] b <- a: (a * 9.0) as i32 as u32),
    probe!("i16-to-f32", [a = floats(), b = shorts()] a <- b: f32::from(*b)),
    probe!("i8-to-f32", [a = floats(), b = soft()] a <- b: f32::from(*b) * 0.1),
    probe!("complex-multiply", [a = floats(), b = floats(), c = floats()] a
        .as_chunks_mut::<2>()
        .0
        .iter_mut()
        .zip(b.as_chunks::<2>().0.iter().zip(c.as_chunks::<2>().0))
        .for_each(|(a, ([x, y], [u, v]))| *a = [x * u - y * v, x * v + y * u])),
    probe!("dot-f32", [a = floats(), b = floats()] {
        let mut sums = [0.0_f32; 8];
        for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
            sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
        }
        sums
    }),
    probe!("multiply-f64", [a = doubles()] a.iter_mut().for_each(|a| *a = *a * 0.999 + 0.001)),
    probe!("scalar-f64", [a = doubles()] a.iter().fold(0.3, |sum, a| (sum * 0.5 + a) * 0.3)),
    probe!("scalar-f32", [a = floats()] a.iter().fold(0.3, |sum, a| (sum - a) * 0.5 + a * 0.25)),
    probe!("sine-f64", [a = doubles()] a.iter().take(64).map(|a| a.sin()).sum::<f64>()),
    probe!("logarithm-f32", [a = floats()] a.iter().take(64).map(|a| (a + 2.0).ln()).sum::<f32>()),
    probe!("map-u8", [a = bytes(), table = bytes()] a
        .iter_mut()
        .for_each(|a| *a = table[usize::from(*a) & (N - 1)])),
    probe!("permute", [a = bytes(), b = bytes(), at = places()] a <- at: b[usize::from(*at) % N]),
    probe!("scatter", [a = bytes(), b = bytes(), at = places()] b
        .iter()
        .zip(&*at)
        .for_each(|(b, at)| a[usize::from(*at) % N] = *b)),
    probe!("walk", [at = places()](0..N).fold(0_u16, |here, _| at[usize::from(here) % N])),
    probe!("histogram", [a = bytes(), counts = words()] a.iter().for_each(|a| counts[usize::from(*a)] += 1)),
    probe!(
        "transpose",
        [a = bytes(), b = bytes()](0..32).for_each(|column| {
            b.iter().skip(column).step_by(32).zip(&mut a[32 * column..]).for_each(|(b, a)| *a = *b);
        })
    ),
    probe!("register", [a = longs()] a.iter().fold(1_u64, |state, a| state >> 1 ^ (state & 1).wrapping_neg() & 0xd800 ^ a)),
    probe!("parity", [a = longs()] a.iter().map(|a| (a & 0x1234_5678_9abc).count_ones() & 1).sum::<u32>()),
    probe!("pack-bits", [a = bytes(), b = bytes()] b
        .iter_mut()
        .zip(a.as_chunks::<8>().0)
        .for_each(|(b, a)| *b = a.iter().fold(0, |byte, bit| byte << 1 | bit & 1))),
    probe!("unpack-bits", [a = longs(), b = bytes()] b
        .as_chunks_mut::<64>()
        .0
        .iter_mut()
        .zip(&*a)
        .for_each(|(b, a)| b.iter_mut().zip(0..).for_each(|(b, bit)| *b = (a >> bit) as u8 & 1))),
    probe!("divide-u32", [a = words()] a.iter_mut().take(128).for_each(|a| *a = (*a | 1 << 31) / (*a >> 16 | 1))),
    probe!("if-else", [a = bytes()] a.iter().fold((0_u32, 1_u32), |(x, y), a| {
        // Kept apart, so that it stays a decision.
        if a & 4 == 0 { (keep(x) + 1, y) } else { (x, keep(y) ^ u32::from(*a)) }
    })),
    probe!("state-machine", [a = bytes(), next = bytes()] a.iter().fold(0_usize, |state, a| {
        usize::from(next[(state ^ usize::from(*a)) & (N - 1)])
    })),
    probe!("calls", [a = words()] a.iter().fold(0, |sum, a| called(sum, *a))),
    probe!("calls-by-table", [a = bytes()] a
        .iter()
        .fold(1, |sum, a| keep([called as fn(u32, u32) -> u32, other][usize::from(a & 1)])(sum, 3))),
    probe!("copy-pieces", [a = bytes(), b = bytes(), length = 7_usize] a
        .as_chunks_mut::<16>()
        .0
        .iter_mut()
        .zip(b.as_chunks::<16>().0)
        .for_each(|(a, b)| a[..*keep(&*length)].copy_from_slice(&b[..*keep(&*length)]))),
    probe!("copy", [a = longs(), b = longs()] a.copy_from_slice(b)),
    probe!("fill", [a = longs(), with = 1_u64] a.fill(*with)),
    probe!("delay-line", [a = shorts()] {
        a.copy_within(1.., 0);
        a[N - 1] = a[0];
    }),
    probe!("rows", [a = floats(), b = floats()] a.chunks_mut(12).zip(b.chunks(12)).for_each(|(a, b)| {
        // Rows too short for vectors to pay.
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    })),
];

/// Instructions of each in a call, by name, as counted on x86-64. `peers/prediction/run --probes` writes them, to be
/// run again where a probe or the compiler has changed.
#[must_use]
pub fn profiles() -> BTreeMap<String, Profile> {
    // Tested below to be there for every probe.
    toml::from_str(include_str!("probes.toml")).unwrap_or_default()
}

#[inline(never)]
fn called(sum: u32, a: u32) -> u32 {
    sum.rotate_left(3) ^ a
}

#[inline(never)]
fn other(sum: u32, a: u32) -> u32 {
    sum.wrapping_mul(a)
}

fn hash(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word ^ (word >> 27)
}

fn longs() -> Vec<u64> {
    (1..=N as u64).map(|n| hash(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

fn bytes() -> Vec<u8> {
    longs().iter().map(|word| (word >> 40) as u8).collect()
}

fn soft() -> Vec<i8> {
    longs().iter().map(|word| (word >> 33) as i8).collect()
}

fn shorts() -> Vec<i16> {
    longs().iter().map(|word| (word >> 21) as i16).collect()
}

fn words() -> Vec<u32> {
    longs().iter().map(|word| (word >> 9) as u32).collect()
}

fn floats() -> Vec<f32> {
    longs().iter().map(|word| (word >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

fn doubles() -> Vec<f64> {
    longs().iter().map(|word| (word >> 11) as f64 / (1_u64 << 53) as f64).collect()
}

/// One cycle through all places.
fn places() -> Vec<u16> {
    let mut places: Vec<u16> = (0..N as u16).collect();
    for (i, word) in (1..N).rev().zip(longs()) {
        places.swap(i, word as usize % i);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_have_names_of_their_own_and_run() {
        let mut names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for (_, open) in ALL {
            let mut call = open();
            (0..3).for_each(|_| call());
        }
    }

    #[test]
    fn every_probe_has_been_counted_and_nothing_else_has() {
        let profiles = profiles();
        for (name, _) in ALL {
            assert!(profiles.get(*name).is_some_and(Profile::is_sound), "{name}: run peers/prediction/run --probes");
        }
        assert_eq!(profiles.len(), ALL.len());
    }

    #[test]
    fn a_walk_comes_by_every_place() {
        let places = places();
        let mut here = 0;
        for _ in 1..N {
            here = places[usize::from(here)];
            assert_ne!(here, 0);
        }
        assert_eq!(places[usize::from(here)], 0);
    }
}
