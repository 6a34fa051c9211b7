//! How a sample lies in a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use num_complex::Complex32;
use takt_wire::sample::full_scale;

use crate::simd::vectorised;

/// A sample format that takt writes: little-endian I and Q, one after the other. On this side 1.0 is full scale, as
/// [`full_scale`] says. A [`Datatype`](super::Datatype) is one of all that takt reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleFormat {
    /// Two 16-bit integers, k / 32767. UHD's `sc16`, SigMF's `ci16_le`.
    Sc16,
    /// Two 8-bit integers, each the upper byte of 16 bits: 256 k / 32767. UHD's `sc8`, SigMF's `ci8`.
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

    /// SigMF's name for it in `core:datatype`.
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

    /// Writes all samples as the nearest integers; answers how many were clipped, being beyond full scale. Samples decoded
    /// from integers of the same format become these integers again.
    ///
    /// # Panics
    /// If `bytes` has not just the room.
    pub fn encode(self, samples: &[Complex32], bytes: &mut [u8]) -> u64 {
        assert_eq!(bytes.len(), samples.len() * self.sample_bytes(), "room for every sample");
        let mut clipped = 0;
        match self {
            SampleFormat::Sc16 => {
                for (x, out) in samples.iter().zip(bytes.as_chunks_mut::<4>().0) {
                    let ([i, q], over) = Integers::SC16.nearest(*x);
                    let ([a, b], [c, d]) = ((i as i16).to_le_bytes(), (q as i16).to_le_bytes());
                    *out = [a, b, c, d];
                    clipped += u64::from(over);
                }
            }
            SampleFormat::Sc8 => {
                for (x, out) in samples.iter().zip(bytes.as_chunks_mut::<2>().0) {
                    let ([i, q], over) = Integers::SC8.nearest(*x);
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
        *out = Complex32::new(f32::from(i), f32::from(q)).scale(1.0 / full_scale::SC16);
    }
}

#[inline(always)]
fn decode_sc8_scalar(bytes: &[u8], out: &mut [Complex32]) {
    for (b, out) in bytes.as_chunks::<2>().0.iter().zip(out) {
        *out = Complex32::new(f32::from(b[0] as i8), f32::from(b[1] as i8)).scale(1.0 / full_scale::SC8);
    }
}

fn decode_fc32(bytes: &[u8], out: &mut [Complex32]) {
    for (b, out) in bytes.as_chunks::<8>().0.iter().zip(out) {
        let (i, q) = (f32::from_le_bytes([b[0], b[1], b[2], b[3]]), f32::from_le_bytes([b[4], b[5], b[6], b[7]]));
        *out = Complex32::new(finite(i), finite(q));
    }
}

/// A float of a file: nothing after it expects one that is not finite.
#[inline]
pub(super) fn finite(x: f32) -> f32 {
    if x.is_finite() { x } else { 0.0 }
}

/// Integers of a format, and the one that is 1.0.
struct Integers {
    full_scale: f32,
    least: f32,
    most: f32,
}

impl Integers {
    const SC16: Integers =
        Integers { full_scale: full_scale::SC16, least: full_scale::SC16_LEAST, most: full_scale::SC16 };
    const SC8: Integers = Integers { full_scale: full_scale::SC8, least: -128.0, most: 127.0 };

    /// The nearest integers to I and Q, and whether one of them was clipped. 1.0 never is, though no byte is that large.
    #[inline]
    fn nearest(&self, x: Complex32) -> ([i32; 2], bool) {
        let whole = [x.re, x.im].map(|part| (part * self.full_scale).round_ties_even());
        let fits = |part: f32, whole: f32| whole >= self.least && (whole <= self.most || part <= 1.0);
        let clip = |whole: f32| whole.clamp(self.least, self.most) as i32; // not a number: 0
        (whole.map(clip), !fits(x.re, whole[0]) || !fits(x.im, whole[1]))
    }
}

impl fmt::Display for SampleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A format by a name that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a sample format; expected: sc16, sc8 or fc32 (ci16_le, ci8 and cf32_le in SigMF)")]
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
        assert_eq!(bytes[..4], [0x00, 0x40, 0x01, 0x80]);
        assert_eq!(SampleFormat::Sc8.encode(&x, &mut bytes[..2]), 0);
        assert_eq!(bytes[..2], [0x40, 0x80]);
        assert_eq!(SampleFormat::Fc32.encode(&x, &mut bytes), 0);
        assert_eq!(bytes, [0, 0, 0, 0x3F, 0, 0, 0x80, 0xBF]);
    }

    #[test]
    fn what_is_too_large_is_clipped_and_counted() {
        let x = [Complex32::new(1.001, 0.0), Complex32::new(0.0, -7.0), Complex32::new(f32::NAN, 0.1)];
        let mut bytes = [0; 12];
        assert_eq!(SampleFormat::Sc16.encode(&x, &mut bytes), 3);
        assert_eq!(bytes[..8], [0xFF, 0x7F, 0, 0, 0, 0, 0x00, 0x80]);
        assert_eq!(bytes[8..10], [0, 0], "not a number");
        let x = [Complex32::new(0.0, 1.001), Complex32::new(-1.01, 0.0), Complex32::new(0.1, f32::NAN)];
        assert_eq!(SampleFormat::Sc8.encode(&x, &mut bytes[..6]), 3);
        assert_eq!(bytes[..6], [0, 127, 0x80, 0, 13, 0]);
    }

    #[test]
    fn full_scale_is_not_clipped() {
        let x = [Complex32::new(1.0, -1.0), Complex32::new(0.0, -1.000_030_5)];
        let mut bytes = [0; 8];
        assert_eq!(SampleFormat::Sc16.encode(&x, &mut bytes), 0);
        assert_eq!(bytes, [0xFF, 0x7F, 0x01, 0x80, 0, 0, 0x00, 0x80]);
        assert_eq!(SampleFormat::Sc8.encode(&x, &mut bytes[..4]), 0);
        assert_eq!(bytes[..4], [127, 0x80, 0, 0x80]);
    }

    /// All integers of a format as I, and as many others as Q.
    fn all_integers(format: SampleFormat) -> Vec<u8> {
        match format {
            SampleFormat::Sc8 => (i8::MIN..=i8::MAX).flat_map(|k| [k as u8, !k as u8]).collect(),
            _ => (i16::MIN..=i16::MAX).flat_map(|k| [k.to_le_bytes(), (!k).to_le_bytes()]).flatten().collect(),
        }
    }

    #[test]
    fn every_integer_survives_both_ways_and_none_counts_as_clipped() {
        for format in [SampleFormat::Sc16, SampleFormat::Sc8] {
            let bytes = all_integers(format);
            let mut samples = vec![Complex32::default(); bytes.len() / format.sample_bytes()];
            format.decode(&bytes, &mut samples);
            let mut again = vec![0; bytes.len()];
            assert_eq!(format.encode(&samples, &mut again), 0, "{format}");
            assert!(again == bytes, "{format}");
        }
    }

    #[test] // what a radio sends is what is recorded, and what is played is what it is sent
    fn a_file_has_the_integers_of_the_wire() {
        use takt_wire::sample::{ByteOrder, sc16};
        let (format, bytes) = (SampleFormat::Sc16, all_integers(SampleFormat::Sc16));
        let mut samples = vec![Complex32::default(); 1 << 16];
        let (mut wire, mut file) = (vec![0; bytes.len()], vec![0; bytes.len()]);
        for order in [ByteOrder::Big, ByteOrder::Little] {
            format.decode(&bytes, &mut samples);
            sc16::pack_f32(&samples, order, full_scale::SC16, &mut wire);
            sc16::unpack_f32(&wire, order, 1.0 / full_scale::SC16, &mut samples);
            assert_eq!(format.encode(&samples, &mut file), 0, "{order:?}");
            assert!(file == bytes, "{order:?}");
        }
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
