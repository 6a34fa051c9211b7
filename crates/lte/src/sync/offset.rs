//! The frequency offset: the phase from secondary to primary signal, and that from each prefix to its symbol's end.

use std::f32::consts::PI;

use num_complex::Complex32;

use super::elements::{AVERAGED, Pair, smooth};
use super::{FFT_LEN, FIRST_PREFIX, HALF_FRAMES, LEN, PREFIX, RATE_SPS, SLOT, SYMBOL};
use crate::SYMBOLS_OF_SLOT;

/// How far both estimates may differ beyond their noise, Hz: as a sampling offset or a second path has it.
const SLACK_HZ: f32 = 50.0;

/// An estimate and its variance.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    hz: f32,
    variance: f32,
}

/// The offset that the phase from primary to secondary signal shows, within 7 kHz.
pub(super) fn of_phase(radians: f32) -> f32 {
    // The primary signal comes later.
    -hz_of(radians, SYMBOL)
}

/// Powers of an element of the synchronisation signals: what both agree on, and the rest.
pub(super) fn powers(pairs: &[Pair; HALF_FRAMES]) -> (f32, f32) {
    let mut common = Complex32::default();
    let mut all = 0.0;
    for (primary, secondary) in pairs.iter().flat_map(|pair| pair.primary.iter().zip(&pair.secondary)) {
        common += primary.conj() * secondary;
        all += (primary.norm_sqr() + secondary.norm_sqr()) / 2.0;
    }
    let elements = (HALF_FRAMES * LEN) as f32;
    // By chance a little may be missing; more than 60 dB is nothing that this can tell.
    let (signal, all) = (common.norm() / elements, all / elements);
    (signal, (all - signal).max(signal * 1e-6))
}

/// The rest of the frequency after `taken_hz` was taken from the pairs and not from the samples; `frame_begin` is any begin of
/// a slot.
///
/// Prefixes are many, and see the whole middle of the carrier, but they show the strongest of several cells and little of a cell
/// without traffic. They count by their noise, and not at all where they contradict the synchronisation signals.
pub(super) fn residual(pairs: &[Pair; HALF_FRAMES], samples: &[Complex32], frame_begin: usize, taken_hz: f32) -> f32 {
    let signals = of_signals(pairs);
    let Some(mut prefixes) = of_prefixes(samples, frame_begin % SLOT) else { return signals.hz };
    prefixes.hz -= taken_hz;
    let spacing = RATE_SPS as f32 / FFT_LEN as f32;
    prefixes.hz -= spacing * ((prefixes.hz - signals.hz) / spacing).round();
    let apart = (prefixes.hz - signals.hz).powi(2);
    if apart > 16.0 * (signals.variance + prefixes.variance + SLACK_HZ.powi(2)) {
        return signals.hz;
    }
    (signals.hz * prefixes.variance + prefixes.hz * signals.variance) / (signals.variance + prefixes.variance)
}

/// From one synchronisation signal to the other; the pairs' secondary elements are gains.
fn of_signals(pairs: &[Pair; HALF_FRAMES]) -> Estimate {
    let common = |pair: &Pair| -> Complex32 {
        let gains = smooth(&pair.primary);
        gains.iter().zip(&pair.secondary).map(|(gain, element)| element * gain.conj()).sum()
    };
    let (signal, noise) = powers(pairs);
    let inverse = noise / signal;
    let elements = (HALF_FRAMES * LEN) as f32;
    let radians = (2.0 * inverse + inverse * inverse / AVERAGED as f32) / (2.0 * elements);
    Estimate {
        hz: of_phase(pairs.iter().map(common).sum::<Complex32>().arg()),
        variance: hz_of(radians.sqrt(), SYMBOL).powi(2),
    }
}

/// From all prefixes to the ends of their symbols, modulo 15 kHz.
fn of_prefixes(samples: &[Complex32], slot_begin: usize) -> Option<Estimate> {
    let (mut common, mut energy, mut count) = (Complex32::default(), 0.0, 0);
    for slot in samples[slot_begin..].chunks_exact(SLOT) {
        for symbol in 0..SYMBOLS_OF_SLOT {
            let begin = if symbol == 0 { 0 } else { FIRST_PREFIX - PREFIX + symbol * SYMBOL };
            let len = if symbol == 0 { FIRST_PREFIX } else { PREFIX };
            let (prefix, end) = (&slot[begin..][..len], &slot[begin + FFT_LEN..][..len]);
            for (prefix, end) in prefix.iter().zip(end) {
                common += end * prefix.conj();
                energy += (prefix.norm_sqr() + end.norm_sqr()) / 2.0;
            }
            count += len;
        }
    }
    let coherence = (common.norm() / energy).min(0.9999);
    let radians = (1.0 - coherence.powi(2)) / (2.0 * count as f32 * coherence.powi(2));
    // Beyond half a radian an angle wraps, and is no estimate.
    (radians < 0.25)
        .then(|| Estimate { hz: hz_of(common.arg(), FFT_LEN), variance: hz_of(radians.sqrt(), FFT_LEN).powi(2) })
}

/// The frequency that turns by this in so many samples.
fn hz_of(radians: f32, samples: usize) -> f32 {
    radians / (2.0 * PI) * RATE_SPS as f32 / samples as f32
}
