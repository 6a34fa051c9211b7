//! Choosing by instructions: 64 items at a time where the processor can compress and expand bytes (AVX-512 VBMI2), else 8 by a
//! shuffle looked up in a table (SSSE3). BMI2's bit extraction would do the latter without a table, but takes microseconds a
//! block on processors that have it in microcode.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

/// Instructions that the processor was found to have: there is no other way to a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Compress,
    Shuffle,
}

impl Level {
    /// The fastest, if there is one.
    #[inline]
    pub(super) fn best() -> Option<Level> {
        Level::all().next()
    }

    /// All there are, the fastest first.
    #[inline]
    pub(super) fn all() -> impl Iterator<Item = Level> {
        let counts = is_x86_feature_detected!("popcnt");
        let compress = counts && is_x86_feature_detected!("avx512vbmi2") && is_x86_feature_detected!("avx512bw");
        let shuffle = counts && is_x86_feature_detected!("ssse3");
        let found = [compress.then_some(Level(Kind::Compress)), shuffle.then_some(Level(Kind::Shuffle))];
        found.into_iter().flatten()
    }

    /// As [`Selection::take`](super::Selection::take).
    pub(super) fn take(self, words: &[u64], from: &[u8], to: &mut [u8]) {
        // SAFETY: the only condition of these is the instructions that a `Level` stands for, found when it was made.
        #[allow(unsafe_code)]
        unsafe {
            match self.0 {
                Kind::Compress => take_64(words, from, to),
                Kind::Shuffle => take_8(words, from, to),
            }
        }
    }

    /// As [`Selection::put`](super::Selection::put).
    pub(super) fn put(self, words: &[u64], from: &[u8], to: &mut [u8]) {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe {
            match self.0 {
                Kind::Compress => put_64(words, from, to),
                Kind::Shuffle => put_8(words, from, to),
            }
        }
    }
}

#[target_feature(enable = "avx512vbmi2,avx512bw,popcnt")]
fn take_64(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (word, items) in words.iter().zip(from.chunks(64)) {
        let chosen = _mm512_maskz_compress_epi8(*word, bytemuck::cast(load::<64>(items)));
        store::<64>(bytemuck::cast(chosen), &mut to[at..], word.count_ones() as usize);
        at += word.count_ones() as usize;
    }
}

#[target_feature(enable = "avx512vbmi2,avx512bw,popcnt")]
fn put_64(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (word, items) in words.iter().zip(to.chunks_mut(64)) {
        let count = items.len();
        let spread = _mm512_maskz_expand_epi8(*word, bytemuck::cast(load::<64>(&from[at..])));
        store::<64>(bytemuck::cast(spread), items, count);
        at += word.count_ones() as usize;
    }
}

#[target_feature(enable = "ssse3,popcnt")]
fn take_8(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (chosen, items) in bytemuck::cast_slice::<u64, u8>(words).iter().zip(from.chunks(8)) {
        let count = chosen.count_ones() as usize;
        store::<8>(shuffle(load(items), TAKE[usize::from(*chosen)]), &mut to[at..], count);
        at += count;
    }
}

#[target_feature(enable = "ssse3,popcnt")]
fn put_8(words: &[u64], from: &[u8], to: &mut [u8]) {
    let mut at = 0;
    for (chosen, items) in bytemuck::cast_slice::<u64, u8>(words).iter().zip(to.chunks_mut(8)) {
        let count = items.len();
        store::<8>(shuffle(load(&from[at..]), PUT[usize::from(*chosen)]), items, count);
        at += chosen.count_ones() as usize;
    }
}

/// Item `places[i]` at place i; 0 where that is [`NONE`].
#[target_feature(enable = "ssse3")]
#[inline]
fn shuffle(items: [u8; 8], places: [u8; 8]) -> [u8; 8] {
    let [items, places] = [items, places].map(|eight| _mm_cvtsi64_si128(i64::from_le_bytes(eight)));
    _mm_cvtsi128_si64(_mm_shuffle_epi8(items, places)).to_le_bytes()
}

const NONE: u8 = 0x80;

/// For each choice of eight, which item goes to each place.
static TAKE: [[u8; 8]; 256] = tables().0;
static PUT: [[u8; 8]; 256] = tables().1;

const fn tables() -> ([[u8; 8]; 256], [[u8; 8]; 256]) {
    let (mut take, mut put, mut chosen) = ([[NONE; 8]; 256], [[NONE; 8]; 256], 0);
    while chosen < 256 {
        let (mut item, mut at) = (0, 0);
        while item < 8 {
            if (chosen >> item) & 1 == 1 {
                take[chosen][at] = item as u8;
                put[chosen][item] = at as u8;
                at += 1;
            }
            item += 1;
        }
        chosen += 1;
    }
    (take, put)
}

/// The first items, zeros where there are no more.
#[inline(always)]
fn load<const N: usize>(items: &[u8]) -> [u8; N] {
    items.first_chunk::<N>().copied().unwrap_or_else(|| {
        let mut padded = [0; N];
        padded[..items.len()].copy_from_slice(items);
        padded
    })
}

/// The first `count` items, and more where there is room: what follows is written later.
#[inline(always)]
fn store<const N: usize>(items: [u8; N], to: &mut [u8], count: usize) {
    match to.first_chunk_mut::<N>() {
        Some(whole) => *whole = items,
        None => to[..count].copy_from_slice(&items[..count]),
    }
}
