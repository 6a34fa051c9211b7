//! Bit 0 is the positive amplitude, bit 1 the negative; a mark for DTX, 2, is silence.

use crate::items::llrs_mut;
use takt_runtime::{Bit, Llr, component};

/// Makes a 16-bit sample of each bit: 0 is the positive amplitude, 1 the negative; 0 of what is marked for DTX (2).
#[component(name = "bpsk-modulate")]
fn bpsk_modulate(
    input: In<Bit>,
    mut output: Out<i16>,
    /// Amplitude of a sample, full scale 32767.
    #[param(range = 1..=32767, default = 4096)]
    amplitude: i16,
) {
    let of = |bit: u8| if bit == 0 { amplitude } else { 0 } - if bit == 1 { amplitude } else { 0 };
    output.iter_mut().zip(input).for_each(|(sample, bit)| *sample = of(bit.0));
}

/// Decides each sample's bit by its sign; 0 counts as positive.
#[component(name = "bpsk-demodulate")]
fn bpsk_demodulate(input: In<i16>, mut output: Out<Bit>) {
    output.iter_mut().zip(input).for_each(|(bit, sample)| *bit = Bit(u8::from(*sample < 0)));
}

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
    takt_dsp::bpsk_soft(amplitude, loudness, &input, llrs_mut(&mut output));
}
