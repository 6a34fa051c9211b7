//! How a sample lies in a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use num_complex::Complex32;

use crate::simd::vectorised;

/// A sample format: little-endian I and Q, one after the other. Full scale is 1.0 on this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleFormat {
    /// Two 16-bit integers, k / 32768. UHD's `sc16`, SigMF's `ci16_le`.
    Sc16,
    /// Two 8-bit integers, k / 128. UHD's `sc8`, SigMF's `ci8`.
    Sc8,
    /// Two 32-bit floats as they are. UHD's `fc32`, SigMF's `cf32_le`.
    Fc32,
}

impl SampleFormat {
    /// All of them.
    pub const ALL: [SampleFormat; 3] = [SampleFormat::Sc16, SampleFormat::Sc8, SampleFormat::Fc32];

    /// Bytes of a sample, UHD's name and SigMF's.
    const fn row(self) -> (usize, &'static str, &'static str) {
        match self {
            SampleFormat::Sc16 => (4, "sc16", "ci16_le"),
            SampleFormat::Sc8 => (2, "sc8", "ci8"),
            SampleFormat::Fc32 => (8, "fc32", "cf32_le"),
        }
    }

    /// Bytes a complex sample takes.
    #[must_use]
    pub const fn sample_bytes(self) -> usize {
        self.row().0
    }

    /// UHD's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// What SigMF calls it in `core:datatype`.
    #[must_use]
    pub const fn sigmf_name(self) -> &'static str {
        self.row().2
    }

    /// The format a file's name promises: its extension is `sc16`, `sc8`, `fc32`, or what other programs write for the same,
    /// `cs16`, `cs8`, `cf32`, `cfile`.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<SampleFormat> {
        match path.extension()?.to_str()? {
            "sc16" | "cs16" => Some(SampleFormat::Sc16),
            "sc8" | "cs8" => Some(SampleFormat::Sc8),
            "fc32" | "cf32" | "cfile" => Some(SampleFormat::Fc32),
            _ => None,
        }
    }

    /// Reads `out.len()` samples. Floats that are not finite become 0: nothing after this expects them.
    ///
    /// # Panics
    /// If `bytes` holds another number of samples.
    pub fn decode(self, bytes: &[u8], out: &mut [Complex32]) {
        assert_eq!(bytes.len(), out.len() * self.sample_bytes(), "bytes for every sample");
        match self {
            SampleFormat::Sc16 => decode_sc16(bytes, out),
            SampleFormat::Sc8 => decode_sc8(bytes, out),
            SampleFormat::Fc32 => decode_fc32(bytes, out),
        }
    }

    /// Writes all samples, rounding to nearest and clipping; answers how many were clipped.
    ///
    /// # Panics
    /// If `bytes` has not just the room.
    pub fn encode(self, samples: &[Complex32], bytes: &mut [u8]) -> u64 {
        assert_eq!(bytes.len(), samples.len() * self.sample_bytes(), "room for every sample");
        let mut clipped = 0;
        match self {
            SampleFormat::Sc16 => {
                for (x, out) in samples.iter().zip(bytes.as_chunks_mut::<4>().0) {
                    let ([i, q], over) = quantise(*x, 32_768.0);
                    let ([a, b], [c, d]) = ((i as i16).to_le_bytes(), (q as i16).to_le_bytes());
                    *out = [a, b, c, d];
                    clipped += u64::from(over);
                }
            }
            SampleFormat::Sc8 => {
                for (x, out) in samples.iter().zip(bytes.as_chunks_mut::<2>().0) {
                    let ([i, q], over) = quantise(*x, 128.0);
                    *out = [i as i8 as u8, q as i8 as u8];
                    clipped += u64::from(over);
                }
            }
            SampleFormat::Fc32 => {
                for (x, out) in samples.iter().zip(bytes.as_chunks_mut::<8>().0) {
                    out[..4].copy_from_slice(&x.re.to_le_bytes());
                    out[4..].copy_from_slice(&x.im.to_le_bytes());
                }
            }
        }
        clipped
    }
}

vectorised!(fn decode_sc16(bytes: &[u8], out: &mut [Complex32]) = decode_sc16_scalar);
vectorised!(fn decode_sc8(bytes: &[u8], out: &mut [Complex32]) = decode_sc8_scalar);

#[inline(always)]
fn decode_sc16_scalar(bytes: &[u8], out: &mut [Complex32]) {
    for (b, out) in bytes.as_chunks::<4>().0.iter().zip(out) {
        let (i, q) = (i16::from_le_bytes([b[0], b[1]]), i16::from_le_bytes([b[2], b[3]]));
        *out = Complex32::new(f32::from(i), f32::from(q)).scale(1.0 / 32_768.0);
    }
}

#[inline(always)]
fn decode_sc8_scalar(bytes: &[u8], out: &mut [Complex32]) {
    for (b, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
        *out = Complex32::new(f32::from(b[0] as i8), f32::from(b[1] as i8)).scale(1.0 / 128.0);
    }
}

fn decode_fc32(bytes: &[u8], out: &mut [Complex32]) {
    let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
    for (b, out) in bytes.as_chunks::<8>().0.iter().zip(out) {
        let (i, q) = (f32::from_le_bytes([b[0], b[1], b[2], b[3]]), f32::from_le_bytes([b[4], b[5], b[6], b[7]]));
        *out = Complex32::new(finite(i), finite(q));
    }
}

/// I and Q times `scale` as whole numbers from `-scale` to `scale - 1`, and whether one had to be clipped.
#[inline]
fn quantise(x: Complex32, scale: f32) -> ([i32; 2], bool) {
    let (i, q) = ((x.re * scale).round_ties_even(), (x.im * scale).round_ties_even());
    let (low, high) = (-scale, scale - 1.0);
    let clip = |v: f32| v.clamp(low, high) as i32; // not a number: 0
    ([clip(i), clip(q)], !(low..=high).contains(&i) || !(low..=high).contains(&q))
}

impl fmt::Display for SampleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A format by a name that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a sample format; there are sc16, sc8 and fc32 (ci16_le, ci8 and cf32_le in SigMF)")]
pub struct FormatError {
    /// The name as given.
    pub got: String,
}

impl FromStr for SampleFormat {
    type Err = FormatError;
    /// By UHD's name or by SigMF's.
    fn from_str(name: &str) -> Result<SampleFormat, FormatError> {
        SampleFormat::ALL
            .into_iter()
            .find(|format| format.name() == name || format.sigmf_name() == name)
            .ok_or_else(|| FormatError { got: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_lie_as_the_formats_say() {
        let x = [Complex32::new(0.5, -1.0)];
        let mut bytes = [0; 8];
        assert_eq!(SampleFormat::Sc16.encode(&x, &mut bytes[..4]), 0);
        assert_eq!(bytes[..4], [0x00, 0x40, 0x00, 0x80]);
        assert_eq!(SampleFormat::Sc8.encode(&x, &mut bytes[..2]), 0);
        assert_eq!(bytes[..2], [0x40, 0x80]);
        assert_eq!(SampleFormat::Fc32.encode(&x, &mut bytes), 0);
        assert_eq!(bytes, [0, 0, 0, 0x3F, 0, 0, 0x80, 0xBF]);
    }

    #[test]
    fn what_is_too_large_is_clipped_and_counted() {
        let x =
            [Complex32::new(1.0, 0.0), Complex32::new(0.0, -7.0), Complex32::new(f32::NAN, 0.1), Complex32::default()];
        let mut bytes = [0; 16];
        assert_eq!(SampleFormat::Sc16.encode(&x, &mut bytes), 3);
        assert_eq!(bytes[..8], [0xFF, 0x7F, 0, 0, 0, 0, 0x00, 0x80]);
        assert_eq!(bytes[8..10], [0, 0], "not a number");
    }

    #[test]
    fn a_name_is_uhds_or_sigmfs() {
        for format in SampleFormat::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(format.sigmf_name().parse(), Ok(format));
            assert_eq!(SampleFormat::of_path(Path::new(&format!("/tmp/a.b.{format}"))), Some(format));
        }
        assert!("ci16_be".parse::<SampleFormat>().is_err());
        assert_eq!(SampleFormat::of_path(Path::new("/tmp/sc16")), None);
    }

    proptest! {
        #[test]
        fn integers_survive_both_ways_bit_for_bit(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for format in [SampleFormat::Sc16, SampleFormat::Sc8] {
                let n = bytes.len() / format.sample_bytes();
                let bytes = &bytes[..n * format.sample_bytes()];
                let mut samples = vec![Complex32::default(); n];
                format.decode(bytes, &mut samples);
                let mut again = vec![0; bytes.len()];
                prop_assert_eq!(format.encode(&samples, &mut again), 0);
                prop_assert_eq!(bytes, &again);
            }
        }

        #[test]
        fn floats_survive_unless_they_are_none(bytes in prop::collection::vec(any::<u8>(), 80)) {
            let mut samples = [Complex32::default(); 10];
            SampleFormat::Fc32.decode(&bytes, &mut samples);
            let mut again = [0; 80];
            SampleFormat::Fc32.encode(&samples, &mut again);
            for (was, now) in bytes.as_chunks::<4>().0.iter().zip(again.as_chunks::<4>().0) {
                prop_assert!(was == now || !f32::from_le_bytes(*was).is_finite() && *now == [0; 4]);
            }
        }
    }
}
