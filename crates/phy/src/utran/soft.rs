//! Soft decisions on BPSK samples.

use takt_runtime::{Llr, component};

/// Soft values of 16-bit BPSK samples: positive for bit 0, a sample of the modulator's amplitude becomes `loudness`.
#[component(name = "bpsk-demodulate-soft")]
fn bpsk_demodulate_soft(
    input: In<i16>,
    mut output: Out<Llr>,
    /// Amplitude of the signal: that of the modulator.
    #[param(range = 1..=32767, default = 4096)]
    amplitude: i16,
    /// Soft value of a sample without noise. The turbo decoder likes 10 to 30.
    #[param(range = 1..=127, default = 20)]
    loudness: i16,
) {
    let (amplitude, loudness) = (i32::from(amplitude), i32::from(loudness));
    let soft = |sample: i16| (i32::from(sample) * loudness / amplitude).clamp(-127, 127) as i8;
    output.iter_mut().zip(input).for_each(|(llr, sample)| *llr = Llr(soft(*sample)));
}
