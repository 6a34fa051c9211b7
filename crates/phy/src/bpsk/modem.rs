//! Bit 0 is the positive amplitude, bit 1 the negative.

use takt_runtime::{Bit, component};

/// Makes a 16-bit sample of each bit: 0 is the positive amplitude, 1 the negative.
#[component(name = "bpsk-modulate")]
fn bpsk_modulate(
    input: In<Bit>,
    mut output: Out<i16>,
    /// Of a sample, full scale 32767.
    #[param(range = 1..=32767, default = 4096)]
    amplitude: i16,
) {
    output.iter_mut().zip(input).for_each(|(sample, bit)| *sample = if bit.0 == 0 { amplitude } else { -amplitude });
}

/// Decides each sample's bit by its sign; 0 counts as positive.
#[component(name = "bpsk-demodulate")]
fn bpsk_demodulate(input: In<i16>, mut output: Out<Bit>) {
    output.iter_mut().zip(input).for_each(|(bit, sample)| *bit = Bit(u8::from(*sample < 0)));
}
