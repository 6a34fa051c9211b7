//! The radio's input: a downlink as a file that an emulated radio plays over and over.

use std::fs;
use std::io;
use std::path::Path;

use takt_base::Complex32;
use takt_dsp::tdscdma::{CHIPS, Cell, Converter, Downlink, Error, SAMPLES};
use takt_wire::sample::full_scale;

/// Subframes in the file; their payloads differ.
pub(super) const SUBFRAMES: u64 = 32;
/// The chips' mean power is 1: their peaks must fit.
const AMPLITUDE: f32 = 0.15;

/// The payload of subframe `number`, counted from the stream's first sample.
pub(super) fn payload(downlink: &Downlink, seed: u64, number: u64, payload: &mut [u8]) {
    downlink.payload(seed, number % SUBFRAMES, payload);
}

/// Writes it as 16-bit integers, I before Q, little-endian.
///
/// # Errors
/// The file can't be written, or there are not 1 to 16 codes.
pub fn write_downlink(file: &Path, codes: usize, seed: u64) -> io::Result<()> {
    let samples = samples(codes, seed).map_err(io::Error::other)?;
    let integer = |value: f32| ((value * AMPLITUDE * full_scale::SC16).round() as i16).to_le_bytes(); // saturates
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| [integer(sample.re), integer(sample.im)]).flatten().collect();
    fs::write(file, bytes)
}

fn samples(codes: usize, seed: u64) -> Result<Vec<Complex32>, Error> {
    let mut downlink = Downlink::new(Cell::default(), codes)?;
    let mut converter = Converter::new();
    let mut bits = vec![0; downlink.payload_bits()];
    let mut chips = vec![Complex32::default(); CHIPS];
    let mut samples = vec![Complex32::default(); SAMPLES * SUBFRAMES as usize];
    for (number, subframe) in (0..SUBFRAMES).zip(samples.chunks_exact_mut(SAMPLES)) {
        payload(&downlink, seed, number, &mut bits);
        downlink.transmit(&bits, &mut chips);
        converter.to_samples(&chips, subframe);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_dsp::tdscdma::{BlockAnswer, Receiver};

    #[test]
    fn a_receiver_at_the_radios_rate_decodes_every_subframe() {
        let (mut receiver, mut converter) = (Receiver::new(Cell::default(), 16).unwrap(), Converter::new());
        let downlink = Downlink::new(Cell::default(), 16).unwrap();
        let (mut expected, mut decoded) = (vec![0; downlink.payload_bits()], vec![0; downlink.payload_bits()]);
        let mut chips = vec![Complex32::default(); CHIPS];
        for (number, subframe) in (0..).zip(samples(16, 7).unwrap().chunks_exact(SAMPLES)) {
            converter.to_chips(subframe, &mut chips);
            assert_eq!(receiver.receive(&chips, &mut decoded).answer, BlockAnswer::Ack, "subframe {number}");
            payload(&downlink, 7, number, &mut expected);
            assert_eq!(decoded, expected);
        }
    }
}
